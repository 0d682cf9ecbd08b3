package recognise

import (
	_ "embed"

	"privkern/graphs/discriminant"
	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[Compression](source) }

// Compression are the settings of the discriminant component analysis, with the
// paper's values.
type Compression struct {
	// ρ, ridge of the scatter of all samples (Eq. 8)
	Rho float64 `name:"rho" default:"10" above:"0"`
	// ρ', ridge of the scatter between classes (Eq. 8)
	RhoPrime float64 `name:"rho_prime" default:"1e-4" min:"0"`
	// Q, components of each compressive kernel, at most one less than there are classes
	Components int `name:"components" default:"5" min:"1" max:"100"`
}

func (c *Compression) options() discriminant.Options {
	return discriminant.Options{Ridge: c.Rho, SignalRidge: c.RhoPrime, Components: c.Components}
}

// Split is which windows are tested on.
type Split int

// The splits.
const (
	SplitLast Split = iota
	SplitRandom
)

// Choices are the names of the splits.
func (Split) Choices() []string { return []string{"last", "random"} }

// CrossValidation is the word in place of C.
type CrossValidation int

// CrossValidated is the C that is chosen by cross-validation.
const CrossValidated CrossValidation = 0

// Choices is the word.
func (CrossValidation) Choices() []string { return []string{"cv"} }

// Adversaries is how many adversaries recognise people.
type Adversaries int

// The values of the setting.
const (
	FewAdversaries Adversaries = iota
	AllAdversaries
)

// Choices are the names of the values.
func (Adversaries) Choices() []string { return []string{"few", "all"} }

// Recognition are the settings of the experiments in which activities and people are
// recognised, but for the data set and its kernels.
type Recognition struct {
	// weights of the kernels: uniform, alignment (with the utility labels), snr, upr
	// (utility-to-privacy ratio), utility-privacy (Eq. 26), or single:KERNEL for one
	// kernel of the experiment, such as single:rbf:0.001 or, where there is one of its
	// kind, single:linear
	Method string `name:"method" default:"snr"`
	// ridge term of snr (Eq. 20) and upr (Eq. 23)
	RhoSNR float64 `name:"rho_snr" default:"0.1" min:"0" when:"method is snr or upr"`
	Compression
	// test windows of each person and activity: the last in time, or drawn at random,
	// which leaks where windows overlap
	Split Split `name:"split" default:"last"`
	// C of the support vector machine, or cv for cross-validation on the training
	// samples
	C experiment.Or[CrossValidation, float64] `name:"c" default:"100" above:"0"`
	// scale every column to mean zero and variance one over the training samples
	Standardise bool `name:"standardise" default:"false"`
	// few: a support vector machine, nearest neighbours and a forest recognise people; all: so do five that
	// are tuned further, among them boosted trees and a network, and the one that is best in parts of the
	// training samples has an interval
	Adversaries Adversaries `name:"adversaries" default:"few" later:"yes"`
}

// HARData is a data set of the windows of smartphones.
type HARData int

// The published features, those computed from the recordings, and simulated ones.
const (
	HAR HARData = iota
	HARReconstructed
	HARSurrogate
)

// Choices are the names of the data sets.
func (HARData) Choices() []string { return []string{"har", "har-reconstructed", "har-surrogate"} }

// HARSettings are the settings of multikernel/har.
type HARSettings struct {
	// data set; har-surrogate is simulated windows of the same size: nobody's data,
	// computed from the seed
	Dataset HARData `name:"dataset" default:"har"`
	// kernels: 1 for rbf:0.01+rbf:0.001+rbf:0.0001+rbf:0.00001, 2 for
	// linear+rbf:0.001+laplacian:0.001+sigmoid:0.001:1
	Experiment int `name:"experiment" default:"1" min:"1" max:"2"`
	Recognition
}

// MHEALTHData is a data set of body-worn sensors.
type MHEALTHData int

// The data set with all channels, and a part of it with six.
const (
	MHEALTH MHEALTHData = iota
	MHEALTH6
)

// Choices are the names of the data sets.
func (MHEALTHData) Choices() []string { return []string{"mhealth", "mhealth-6ch"} }

// MHEALTHSettings are the settings of multikernel/mhealth.
type MHEALTHSettings struct {
	// data set
	Dataset MHEALTHData `name:"dataset" default:"mhealth"`
	// kernels: 1 for rbf:0.01+rbf:0.03+rbf:0.0005, 2 for
	// polynomial:1:3:1+rbf:0.01+laplacian:0.1
	Experiment int `name:"experiment" default:"1" min:"1" max:"2"`
	Recognition
	// the activities that are distinguished, by their numbers in the data set; the
	// paper has six of the twelve and does not say which
	Activities []float64 `name:"activities" default:"1,2,3,4,5,6" min:"1" max:"12"`
}

// EigenproblemSettings are the settings of multikernel/eigenproblem.
type EigenproblemSettings struct {
	// data set
	Dataset HARData `name:"dataset" default:"har"`
	// windows trained on, drawn at random; half as many others are tested on. A general
	// eigenproblem grows with their third power: 600 take seconds, the paper's 5,451 hours
	Samples int `name:"samples" default:"600" min:"20" max:"2000"`
	// features, drawn at random: 62 of 600 samples are the paper's 561 of 5,451
	Features int `name:"features" default:"62" min:"1" max:"561"`
	// kernel: linear, polynomial:γ:degree:c0, rbf:γ, laplacian:γ or sigmoid:γ:c0
	Kernel string `name:"kernel" default:"linear"`
	// C of the support vector machine
	C float64 `name:"c" default:"100" above:"0"`
	Compression
}

// EigenproblemMetrics compare two solutions of one eigenproblem.
type EigenproblemMetrics struct {
	// test windows of which a support vector machine recognises the activity, with
	// Eq. (8) solved on the range of the kernel
	Range float64 `name:"utility_range_percent" unit:"%" best:"high" result:"yes"`
	// the same, with Eq. (8) given to a general solver as it is printed
	Printed float64 `name:"utility_printed_percent" unit:"%" best:"high" result:"yes"`
	// utility_range_percent less utility_printed_percent
	Loss float64 `name:"loss_percent" unit:"%" result:"yes"`
	// largest discriminant power on the range, at most one
	LargestRange float64 `name:"largest_power_range"`
	// largest real part of the eigenvalues of the general solver
	Largest float64 `name:"largest_power_printed"`
	// rank of the centred kernel matrix
	Rank float64 `name:"rank"`
}

// RecognitionMetrics are the accuracies of the classifiers.
type RecognitionMetrics struct {
	// test samples of which the support vector machine recognises the activity
	Utility float64 `name:"utility_percent" unit:"%" best:"high" result:"yes"`
	// test samples of which the same machine, with the same C, recognises the person:
	// what the paper calls privacy, where small is good
	Privacy float64 `name:"privacy_percent" unit:"%" best:"low" result:"yes"`
	// the largest of the adversary_*_percent that judge single samples: what the
	// compressed features reveal of the person at least
	Adversary float64 `name:"adversary_percent" unit:"%" best:"low" result:"yes"`
	// people recognised by an RBF machine on standardised features, its C and γ
	// cross-validated
	AdversarySVM float64 `name:"adversary_svm_percent" unit:"%" best:"low"`
	// the same machine, its decisions summed over the test samples of a person at one
	// activity
	AdversaryActivity float64 `name:"adversary_activity_percent" unit:"%" best:"low"`
	// the same machine, its decisions summed over all test samples of a person
	AdversaryPerson float64 `name:"adversary_person_percent" unit:"%" best:"low"`
	// people recognised by nearest neighbours on standardised features, their number
	// cross-validated
	AdversaryNeighbours float64 `name:"adversary_knn_percent" unit:"%" best:"low"`
	// people recognised by a random forest of 300 trees
	AdversaryForest float64 `name:"adversary_forest_percent" unit:"%" best:"low"`
	ChosenMetrics
	// C of the machine behind utility_percent and privacy_percent: as given, or as
	// cross-validated for activities
	C float64 `name:"c"`
	// rank of the multi-kernel
	Rank float64 `name:"rank"`
	// samples trained on
	TrainSamples float64 `name:"train_samples"`
	// samples tested on
	TestSamples float64 `name:"test_samples"`
	// weight_rbf: weight of the kernel; kernels of one family are numbered from 1 in
	// their order, as weight_rbf_1
	Weight map[string]float64 `name:"weight_*"`
	// score of the kernel (Eq. 20), with the method snr
	SNR map[string]float64 `name:"snr_*"`
	// utility-to-privacy ratio of the kernel (Eq. 23), with the method upr
	UPR map[string]float64 `name:"upr_*"`
}

// ChosenMetrics are those of the adversary that is chosen among all.
type ChosenMetrics struct {
	// with all adversaries: people recognised, from single samples, by the one of five that is best in parts of the
	// training samples; each is tuned there (support vector machine, nearest neighbours, random forest, boosted trees,
	// network)
	Chosen *float64 `name:"adversary_chosen_percent" unit:"%" best:"low"`
	// lower end of the 95 % interval of adversary_chosen_percent, with people as independent units
	ChosenLow *float64 `name:"adversary_chosen_low_percent" unit:"%" best:"low"`
	// upper end of that interval
	ChosenHigh *float64 `name:"adversary_chosen_high_percent" unit:"%" best:"low"`
	// the same adversary: people named when all test samples of a person are pooled
	ChosenPerson *float64 `name:"adversary_chosen_person_percent" unit:"%" best:"low"`
	// lower end of the 95 % interval of adversary_chosen_person_percent
	ChosenPersonLow *float64 `name:"adversary_chosen_person_low_percent" unit:"%" best:"low"`
	// upper end of that interval
	ChosenPersonHigh *float64 `name:"adversary_chosen_person_high_percent" unit:"%" best:"low"`
}

// ReferenceSettings are the settings of multikernel/reference.
type ReferenceSettings struct {
	// samples: X_ij = sin(0.7i + 1.3j) + 0.1cos(ij) + 0.6sin(2(i mod 3) + j) +
	// 0.4cos(3(i mod 4) + 2j), i and j from 0, with the utility label i mod 3 and the
	// privacy label i mod 4
	//
	// The formula has three classes, and kernel matrices grow with the square of the
	// rows.
	Rows int `name:"rows" default:"60" min:"4" max:"5000"`
	// columns
	Features int `name:"features" default:"7" min:"1" max:"1000"`
	// kernels with + between them: linear, polynomial:γ:degree:c0, rbf:γ, laplacian:γ
	// and sigmoid:γ:c0
	Kernels     string `name:"kernels" default:"linear+rbf:0.01+laplacian:0.1"`
	Compression `default:"components: 2"`
}

// ReferenceMetrics are compared with those of another implementation.
type ReferenceMetrics struct {
	// trace_rbf: trace of the compressive kernel before it is scaled to one; kernels of
	// one family are numbered from 1 in their order, as trace_rbf_1
	Trace map[string]float64 `name:"trace_*"`
	// SNR with the ridge term 0 (Eq. 20)
	SNR0 map[string]float64 `name:"snr0_*"`
	// SNR with the ridge term 0.1
	SNR01 map[string]float64 `name:"snr01_*"`
	// weight of the kernel, its share of the SNR with 0.1 (Eq. 21)
	Weight map[string]float64 `name:"weight_*"`
	// utility-to-privacy ratio with the ridge term 0.1 (Eq. 23)
	UPR01 map[string]float64 `name:"upr01_*"`
	// Frobenius norm of the multi-kernel with these weights
	Frobenius float64 `name:"frobenius" result:"yes"`
	// its rank
	Rank float64 `name:"rank"`
}
