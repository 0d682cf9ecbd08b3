package tradeoff

import (
	_ "embed"

	"privkern/experiments/dataset/table"
	"privkern/experiments/multikernel/recognise"
	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[Settings](source) }

// Settings are those of multikernel/learn.
type Settings struct {
	// formula, 240 rows made by a formula, or your own data: csv:PATH, parquet:PATH, npy:PATH or images:FOLDER
	Dataset string `name:"dataset" default:"formula"`
	// names of the columns that are compressed, joined by + or commas, or *, every column of numbers
	Inputs string `name:"inputs" default:"*" when:"dataset is not formula"`
	// the column whose classes the features are to tell, or several joined by +: then they are compressed for the
	// combinations of their classes
	Utility string `name:"utility" default:"kind" when:"dataset is not formula"`
	// the column whose classes the features are to hide
	Privacy string `name:"privacy" default:"person" when:"dataset is not formula"`
	// a column whose rows of one value are never on both sides of a split, such as a recording; empty for none
	Group string `name:"group" default:"" when:"dataset is not formula"`

	table.Reading

	// last: what is tested comes last in the file, within each combination of classes; random: it is drawn
	Split recognise.Split `name:"split" default:"last"`
	// 1: a part is held out; more: cross-validation, in which every row is tested once
	Folds int `name:"folds" default:"1" min:"1" max:"100"`
	// share of the rows that is held out, of each combination of classes
	TestShare float64 `name:"test_share" default:"0.25" above:"0" max:"0.9" when:"folds is 1"`
	// kernels with + between them: linear, polynomial:γ:degree:c0, rbf:γ, laplacian:γ and sigmoid:γ:c0
	Kernels string `name:"kernels" default:"linear+rbf:0.01+laplacian:0.1"`
	// given: γ is that of kernels; cv: each kernel has the one of gamma_grid with which, alone, it recognises the
	// utility classes best in three parts of the training rows
	Gamma origin `name:"gamma" default:"given"`
	// the γ of cv; kernels that differ in nothing else get the best ones in their order
	GammaGrid []float64 `name:"gamma_grid" default:"0.0001,0.001,0.01,0.1,1" when:"gamma is cv"`
	// dca: the directions that tell the utility classes (Eq. 8); pca: those in which rows differ most; rdca: those,
	// but for what tells the privacy classes apart; pca and rdca do not look at the utility
	Projection projection `name:"projection" default:"dca"`
	// ρ, ridge of the scatter of all samples (Eq. 8), for rdca of that between the privacy classes; cv: the one of
	// rho_grid, chosen as gamma is
	Rho penalty `name:"rho" default:"10" above:"0" when:"projection is dca or rdca"`
	// the ρ of cv
	RhoGrid []float64 `name:"rho_grid" default:"0.1,1,10,100" when:"rho is cv"`
	// ρ', ridge of the scatter between classes (Eq. 8)
	RhoPrime float64 `name:"rho_prime" default:"1e-4" min:"0" when:"projection is dca"`
	// Q, components of each kernel; classes: one less than there are (combinations of) utility classes
	Components experiment.Or[ofClasses, int] `name:"components" default:"classes" min:"1" max:"100"`
	// public rows with the columns of the inputs, csv:PATH or what dataset takes, with which kernels compare in
	// the place of the training rows: an export then holds no training row; empty for none
	Landmarks string `name:"landmarks" default:"" when:"dataset is not formula"`
	// training rows, drawn at random, with which kernels compare in the place of all, so that time and memory grow with
	// the rows and not with their square or cube (Nyström's method; 1000 suit most data); an export then holds these
	// rows. 0: all, at most 10,000
	Nystrom int `name:"nystrom" default:"0" later:"yes" min:"0" max:"5000"`
	// weights of the kernels: uniform, alignment (with the utility labels), snr, upr (utility-to-privacy ratio),
	// utility-privacy (Eq. 26), or single:KERNEL for one of kernels, such as single:linear
	Method string `name:"method" default:"snr"`
	// ridge term of snr (Eq. 20) and upr (Eq. 23)
	RhoSNR float64 `name:"rho_snr" default:"0.1" min:"0" when:"method is snr or upr"`
	// C of the support vector machine, or cv: 0.1, 1, 10 or 100 times the number of training rows, by cross-validation
	// on these
	C penalty `name:"c" default:"cv" above:"0"`
	// scale every input to mean zero and variance one over the training rows
	Standardise bool `name:"standardise" default:"true"`
}

// penalty is a number, or cv.
type penalty = experiment.Or[recognise.CrossValidation, float64]

// origin selects the source of γ.
type origin int

const (
	given origin = iota
	crossValidated
)

// Choices are the names of the origins.
func (origin) Choices() []string { return []string{"given", "cv"} }

// projection selects the compression of a kernel.
type projection int

const (
	dca projection = iota
	pca
	rdca
)

// Choices are the names of the projections.
func (projection) Choices() []string { return []string{"dca", "pca", "rdca"} }

func (p projection) String() string { return experiment.NameOf(p) }

// ofClasses is the word for a number of components by the number of classes.
type ofClasses int

const byClasses ofClasses = 0

// Choices is the word.
func (ofClasses) Choices() []string { return []string{"classes"} }

// Metrics measure recognition and disclosure, as means over the folds.
type Metrics struct {
	// test rows of which the support vector machine recognises the utility class; of several utilities the mean
	Utility float64 `name:"utility_percent" unit:"%" best:"high" result:"yes"`
	// the same, of each of several utilities: utility_percent_NAME
	Utilities map[string]float64 `name:"utility_percent_*" unit:"%" best:"high"`
	// test rows that are of the largest utility class of the training rows: right answers of always the largest class; of
	// several utilities the mean
	UtilityBaseline float64 `name:"baseline_utility_percent" unit:"%"`
	// the same, of each of several utilities
	UtilityBaselines map[string]float64 `name:"baseline_utility_percent_*" unit:"%"`
	// test rows of which the same machine, with the same C (that of the first utility), recognises the privacy class:
	// what the paper calls privacy, where small is good
	Privacy float64 `name:"privacy_percent" unit:"%" best:"low" result:"yes"`
	// test rows that are of the largest privacy class of the training rows
	PrivacyBaseline float64 `name:"baseline_privacy_percent" unit:"%"`
	// of each column of classes, by its name, the same machine: area under the ROC curve of one class against the
	// others, by the sums of its decisions, mean over the classes; always the largest class has 0.5
	AUC map[string]float64 `name:"auc_*"`
	// the same: test rows of a class that are recognised, mean over the classes
	Balanced map[string]float64 `name:"balanced_percent_*" unit:"%"`
	// the same of always the largest class: 100 over the number of classes that are tested
	BalancedBaseline map[string]float64 `name:"baseline_balanced_percent_*" unit:"%"`
	// the same: mean of -ln of the probability of a row's own class. The probabilities are Platt's, by sigmoids of the
	// decisions of each two classes in three parts of the training rows, coupled (Wu, Lin and Weng 2004); the features
	// have seen the classes of these rows, which makes the probabilities of dca rather too sure
	LogLoss map[string]float64 `name:"log_loss_*"`
	// the same of the shares of the classes of the training rows, with one row of each added
	LogLossBaseline map[string]float64 `name:"baseline_log_loss_*"`
	// confusion_COLUMN_A_as_B: test rows of the class A that the machine takes for B (of at most ten classes)
	Confusion map[string]float64 `name:"confusion_*"`
	// the largest of the adversary_*_percent that judge single rows: what the compressed features reveal of the
	// privacy class at least
	Adversary float64 `name:"adversary_percent" unit:"%" best:"low" result:"yes"`
	// privacy classes recognised by an RBF machine on standardised features, its C and γ cross-validated
	AdversarySVM float64 `name:"adversary_svm_percent" unit:"%" best:"low"`
	// the same machine, its decisions summed over rows that are known to be of one privacy class, named by the columns:
	// adversary_pooled_percent_PRIVACY of all its test rows, adversary_pooled_percent_PRIVACY_in_utility of those of a
	// utility class (of several utilities, of a combination of their classes)
	AdversaryPooled map[string]float64 `name:"adversary_pooled_percent_*" unit:"%"`
	// privacy classes recognised by nearest neighbours on standardised features, their number cross-validated
	AdversaryNeighbours float64 `name:"adversary_knn_percent" unit:"%" best:"low"`
	// privacy classes recognised by a random forest of 300 trees
	AdversaryForest float64 `name:"adversary_forest_percent" unit:"%" best:"low"`
	// C of the machine behind utility_percent, of the first utility
	C float64 `name:"c"`
	// ρ with which kernels are compressed
	Rho *float64 `name:"rho"`
	// components of each kernel
	Components float64 `name:"components"`
	// rank of the multi-kernel
	Rank float64 `name:"rank"`
	// rows trained on
	TrainSamples float64 `name:"train_samples"`
	// rows tested on
	TestSamples float64 `name:"test_samples"`
	// weight_rbf: weight of the kernel; kernels of one family are numbered from 1 in their order, as weight_rbf_1
	Weight map[string]float64 `name:"weight_*"`
	// γ of the kernel, where it is cross-validated
	Gamma map[string]float64 `name:"gamma_*"`
}
