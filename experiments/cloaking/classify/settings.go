package classify

import (
	_ "embed"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed settings.go
var settingsSource string

func init() { experiment.Document[processMethod](settingsSource) }

// processMethod is the Gaussian process that classifies.
type processMethod struct {
	// GP, or sparse GP with inducing inputs (Eq. 7)
	Method cloak.Method `name:"method" default:"standard" choices:"standard,sparse"`
}

// Auto stands for the number of Newton steps that the privacy parameters ask for.
type Auto int

// AutoSteps is one step with noise, and without noise as many as converge.
const AutoSteps Auto = 0

// Choices are the word.
func (Auto) Choices() []string { return []string{"auto"} }

// Approximation selects the starting value of the posterior variance in the sparse method.
type Approximation int

// The approximations.
const (
	DTC Approximation = iota // deterministic training conditional
	SoR                      // subset of regressors
)

// Choices are the names of the approximations.
func (Approximation) Choices() []string { return []string{"dtc", "sor"} }

// Probability is how the probability of a class follows from the posterior.
type Probability int

// The probabilities.
const (
	AtMean   Probability = iota // logistic function of the posterior mean
	Averaged                    // mean of the logistic function over the posterior
)

// Choices are the names of the probabilities.
func (Probability) Choices() []string { return []string{"at-mean", "averaged"} }

// sharing is how steps with noise share the budget.
type sharing struct {
	// how several steps share epsilon and delta: equal parts by basic composition (as
	// published), or by Gaussian differential privacy, which is exact and needs less noise
	Composition cloak.Composition `name:"composition" default:"basic" later:"yes" when:"iterations is not auto or 1"`
}

// ClassifierSettings are those of everything that classifies, but for the method,
// which stands before those of an experiment.
type ClassifierSettings struct {
	cloak.GaussianBudget
	// Newton steps of the Laplace approximation, which share epsilon and delta; auto is one
	// step with noise, and without noise as many as converge (at most 100, else the trial fails)
	Iterations experiment.Or[Auto, int] `name:"iterations" default:"auto" min:"1" max:"1000"`
	sharing    `when:"composition: epsilon is not inf"`
	// draws of the noise, each a release of its own (with noise only)
	Draws        int `name:"draws" default:"25" min:"1" max:"1e5" when:"epsilon is not inf"`
	cloak.Kernel `default:"lengthscale: 3" unit:"lengthscale: "`
	// sparse: how many inducing inputs k-means places on the training inputs
	Inducing int `name:"inducing" default:"5" min:"1" max:"2000" when:"method is sparse"`
	// sparse: posterior variance of the deterministic training conditional or of the subset
	// of regressors; their means are equal
	Approximation Approximation `name:"approximation" default:"dtc" when:"method is sparse and probability is averaged"`
	// probability of a class: logistic function of the posterior mean (as in the paper), or
	// averaged over the posterior
	Probability       Probability `name:"probability" default:"at-mean"`
	cloak.NoiseSolver `name:"iterations: solver_iterations" never:"columns: labels of equal inputs are taken together"`
}

// ownData are the data of a classification, see [cloak.OwnData].
type ownData struct {
	// hmeq, whether home equity loans default, or your own data: csv:PATH, comma-separated
	// values with a header, parquet:PATH, npy:PATH or images:FOLDER
	Dataset string `name:"dataset" default:"hmeq"`
	// names of the columns that the class is predicted from, joined by + or commas, or * for
	// every numeric one of your own data
	Inputs string `name:"inputs" default:"DELINQ"`
	// the column with the class, which is protected (of your own data, where it must be given);
	// of texts with its two classes, NAME[NEGATIVE|POSITIVE]
	Output string `name:"output" default:"" when:"dataset is not hmeq"`
	// the output that is the negative class (of your own data, of numbers; both are public)
	Low method.End `name:"low" default:"none" when:"dataset is not hmeq"`
	// the output that is the positive class (of your own data, of numbers; both are public)
	High method.End `name:"high" default:"none" when:"dataset is not hmeq"`

	table.Reading
	method.Person  `when:"person: dataset is not hmeq" also:"person: of their rows it protects the classes alone"`
	method.Invalid `when:"invalid: dataset is not hmeq" also:"invalid: a class counts as the negative one"`
}

func (d *ownData) own() *cloak.OwnData { return (*cloak.OwnData)(d) }

// All stands for the number of all rows.
type All int

// AllRows draws no rows.
const AllRows All = 0

// Choices are the word.
func (All) Choices() []string { return []string{"all"} }

type severalLengthscales struct {
	ClassifierSettings `several:"lengthscale: yes"`
}

// ownLengthscales are one for all inputs or, of a user's file, one for each.
type ownLengthscales struct {
	severalLengthscales `also:"lengthscale: csv: or one for each input, joined by commas in their order"`
}

// autoLengthscales follow from the inputs of a user's file.
type autoLengthscales struct {
	ownLengthscales `also:"lengthscale: csv: auto, the default, is a share of the range of each"`
}

// ownClassifier are the settings of a classifier of a user's rows.
type ownClassifier struct {
	processMethod
	autoLengthscales `unit:"lengthscale: unit of the inputs"`
}

// ownSteps compose exactly where nothing else is asked for.
type ownSteps struct {
	ownClassifier `also:"composition: csv: gaussian by default with calibration=analytic"`
}

// classificationSettings are those of a cross-validation, and of a release.
type classificationSettings struct {
	ownData
	// how many rows are drawn at random, without looking at the classes
	Rows experiment.Or[All, int] `name:"rows" default:"all" min:"4" max:"1e7"`
	// where a release (run trial --release) predicts: at the different training inputs, or
	// at the rows of csv:PATH, a file with the columns of the inputs; all other results come
	// from the cross-validation
	Predict     string `name:"predict" default:"training"`
	cloak.Folds `default:"folds: 5 || fold_scheme: random" max:"folds: 1e6"`
	ownSteps    `also:"delta: csv: it must be given, far below 1/n for n rows || calibration: csv: analytic by default"`
}

// hmeqSettings are those of the loans.
type hmeqSettings struct {
	processMethod
	// loans, drawn with weights that balance the numbers of credit lines and, less so, the
	// outcomes: about four of five have defaulted
	Rows               int `name:"rows" default:"200" min:"2" max:"2000"`
	ClassifierSettings `default:"draws: 100" unit:"lengthscale: credit lines"`
}

// stripesSettings are those of the stripes.
type stripesSettings struct {
	processMethod
	// training points
	Points int `name:"points" default:"200" min:"2" max:"2000"`
	// the class changes where x + y + ½ is a multiple of it
	Width float64 `name:"stripe_width" default:"5" above:"0"`
	// standard deviation of what is added to x + y before the class is read off: noise at
	// the edges of the stripes
	Jitter float64 `name:"jitter" default:"0.5" min:"0"`
	// by how much of its value at the bottom the concentration of points falls towards the
	// top, linearly
	Gradient           float64 `name:"gradient" default:"0.9" min:"0" max:"1"`
	ClassifierSettings `default:"lengthscale: 3.5"`
}

// digitsClassifier is the classifier of the digits, in grey levels.
type digitsClassifier struct {
	ClassifierSettings `default:"lengthscale: 672 || inducing: 15" unit:"lengthscale: grey levels"`
}

// digitsSettings are those of the digits.
type digitsSettings struct {
	processMethod `default:"method: sparse"`
	// training images, drawn from the training file
	Train int `name:"train" default:"256" min:"2" max:"2000"`
	// test images, drawn from the test file
	Test             int `name:"test" default:"100" min:"2" max:"10000"`
	digitsClassifier `never:"probability: an accuracy follows from the sign of the posterior mean alone"`
}

// referenceSettings are those of the ten points.
type referenceSettings struct {
	// the GP, or its subset-of-regressors approximation with the inducing inputs 0, 3, 6 and
	// 9 (Eq. 7)
	Method       cloak.Method `name:"method" default:"standard" choices:"standard,sparse"`
	cloak.Kernel `default:"lengthscale: 2" unit:"lengthscale: " doc:"lengthscale: lengthscale of the EQ kernel"`
	// test input
	At float64 `name:"at" default:"3.2"`
}
