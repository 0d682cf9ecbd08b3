package dpgp

import (
	_ "embed"

	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/own"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed settings.go
var settingsSource string

func init() { experiment.Document[ClassificationSettings](settingsSource) }

// severalKernel is [sparse.EQKernel] with a lengthscale for each input.
type severalKernel struct {
	// lengthscale of the EQ kernel; of your own data one for all inputs or one for each, joined by commas
	// in the order of inputs and in their units, or auto, the default there: a tenth of the range of one input, of d
	// inputs sqrt(d)/4 of each range, and at least half the distance of inducing inputs whose number is given
	Lengthscale method.Lengthscale `name:"lengthscale" default:"1" above:"0"`
	sparse.SignalVariance
}

// ownColumns names the columns of a user's own data. All of them came later.
type ownColumns struct {
	// simulated, or your own data: csv:PATH, parquet:PATH, npy:PATH, images:FOLDER
	Dataset string `name:"dataset" default:"simulated" later:"yes"`
	// names of the columns that are predicted from, joined by + or commas, or * for every numeric one;
	// they are protected. A category names its levels: colour[red|green]
	Inputs string `name:"inputs" default:"x" later:"yes" when:"dataset is not simulated"`
	// the column that is predicted; it is protected
	Output string `name:"output" default:"y" later:"yes" when:"dataset is not simulated"`
	// lower end of the range of inducing inputs, one for all inputs or one for each (of a category it is not read); it
	// must not be read off the data
	InputLow method.Ends `name:"input_low" default:"none" later:"yes" when:"inducing_file is none"`
	// upper end of that range, one for all inputs or one for each
	InputHigh method.Ends `name:"input_high" default:"none" later:"yes" when:"inducing_file is none"`
	// inducing inputs in place of a grid: csv:PATH, a file with the columns of the inputs, which are public
	InducingFile string `name:"inducing_file" default:"none" later:"yes" when:"dataset is not simulated"`
	own.Centres  `when:"inducing_centres: inducing_file is not none"`
	// share of the rows that is drawn for testing; a release is made from all rows
	Holdout float64 `name:"holdout" default:"0.2" above:"0" below:"1" later:"yes" when:"dataset is not simulated"`

	table.Reading
	method.Person  `when:"person: dataset is not simulated"`
	method.Invalid `when:"invalid: dataset is not simulated"`
}

type hyperparameterSettings struct {
	sparse.Budget
	// probability to stop after a draw: 1/gamma draws are made on the average
	Gamma float64 `name:"gamma" default:"0.01" above:"0" max:"1" when:"epsilon is not inf"`
	// which scores are taken: those that the bound of one log-likelihood allows for their sum, or, as
	// Algorithm 2 is printed, those below the bound of a single one
	Rule mechanism.SelectionRule `name:"rule" default:"corrected" when:"epsilon is not inf"`
	// intervals of CoinPress: as its authors publish them, or cut with the interval in which
	// log-likelihoods are taken to lie, beyond which noise is spent for nothing
	CoinPress mechanism.Intervals `name:"coinpress" default:"cut" when:"epsilon is not inf"`
	// standard deviations of the observation noise to choose from
	Sigmas []float64 `name:"sigmas" default:"0.03333333333333333, 0.1, 0.3" above:"0"`
	// lengthscales to choose from
	Lengthscales []float64 `name:"lengthscales" default:"0.3333333333333333, 1, 3" above:"0"`
	autoInducing
	sparse.SignalVariance `also:"kernel_variance: of your own data 0.25 by default"`
	// observations of sin(2x)/(2x), at inputs uniform on [-4, 4]; the first half is for training, the
	// other for validation
	N                       int `name:"n" default:"2048" min:"2" max:"1000000"`
	sparse.ObservationNoise `doc:"sigma: standard deviation of the observation noise that is simulated"`
	sparse.ClippedOutputs
	// No metric has the sensitivity: without noise nothing depends on ratio and bound.
	sparse.NoiseRatio `when:"ratio: epsilon is not inf"`
	sparse.RowBound   `when:"bound: epsilon is not inf"`
	// The inducing inputs are near each other for the longest lengthscale.
	sparse.UpdateSettings `default:"jitter: 1e-8"`
	sparse.Repetitions    `default:"repeats: 100" doc:"repeats: data sets, each simulated and searched anew"`
}

// searchSettings are those of dpgp/hyperparameters: those of a search in simulated data, and the
// columns of a user's own.
type searchSettings struct {
	hyperparameterSettings `also:"sigmas: of your own data for outputs scaled to [-1, 1]"`
	ownColumns
	// lower end of the public range of the output, to which it is clipped; it must be given for your own
	// data, and must not be read off them
	OutputLow ownEnd `name:"output_low" default:"none" later:"yes" when:"dataset is not simulated"`
	// upper end of the public range of the output
	OutputHigh ownEnd `name:"output_high" default:"none" later:"yes" when:"dataset is not simulated"`
	// features of the models that are scored: whitened, the only ones for your own data
	Features sparse.Features `name:"features" default:"kernel" later:"yes" when:"dataset is not simulated"`
	// blocks into which the rows are drawn for a choice from your own data: each scores all candidates by
	// held-out rows of its own, and a substituted row moves the scores of one block alone
	Blocks int `name:"blocks" default:"20" min:"1" max:"100000" later:"yes" when:"dataset is not simulated"`
	// by how much a mean log-likelihood below the best of a block counts as worst
	ScoreRange float64 `name:"score_range" default:"1" above:"0" later:"yes" when:"dataset is not simulated"`
}

// ownEnd is an end of a public range, where one is given.
type ownEnd = experiment.Or[method.None, float64]

// ClassificationSettings are those of dpgp/classification.
type ClassificationSettings struct {
	sparse.Budget
	// how the classes share the budget: their sums are one query, each has an equal share, or, as the
	// text has it, each has the whole with the sensitivity of Appendix D, and the guarantee is that of
	// all together
	Composition composition `name:"composition" default:"joint"`
	// what is taken off the transformed labels: what makes |y|/sigma alike for both labels, what makes
	// the sensitivity least for the composition, or nothing, as published; it is public, and the same
	// for all classes. balanced is more sensitive than nothing for joint and split, and has the best
	// accuracy where epsilon is small
	Centre centre `name:"centre" default:"balanced"`
	// the regularisation constant alpha_epsilon of Eq. (21); of your own data 0.5 by default,
	// of kernel features 0.1
	Alpha float64 `name:"alpha" default:"0.01" min:"1e-6" below:"1"`
	// classes
	Classes int `name:"classes" default:"3" min:"2" max:"20" when:"dataset is simulated"`
	// vectors of which the rows' products are summed: kernel, k of the inducing inputs, as published; whitened, of your
	// own data the default, L^-1 k with the Cholesky factor L of their covariance, whose norm does not grow where kernels
	// overlap, so that there is less noise where rows differ
	Features sparse.Features `name:"features" default:"kernel" later:"yes" when:"dataset is not simulated"`
	// probabilities of your own data's classes: shares, the default, of which their functions are the means, or softmax of
	// the functions, which is taken for a small alpha in any case, and is not for a release
	Probabilities probabilityForm `name:"probabilities" default:"softmax" later:"yes" when:"dataset is not simulated"`
	autoInducing  `default:"low: -3.5 || high: 3.5" when:"low: dataset is simulated || high: dataset is simulated"`
	severalKernel
	// labels, drawn by the softmax of 4 cos(pi x/4 - 2 pi c/classes), c = 0, 1, ..., at inputs uniform on
	// [-4, 4]; the first half is for training
	N                 int `name:"n" default:"2048" min:"2" max:"1000000" when:"dataset is simulated"`
	sparse.NoiseRatio `also:"ratio: of your own data 1/sqrt(2 kernel_variance), of kernel features 1/kernel_variance"`
	sparse.RowBound   `also:"bound: of your own data exact by default; by eigenvalues for more than six inputs, no grid"`

	method.Neighbours
	classUpdate        `also:"regularisation: of your own data corrected || rho: of your own data 0.5"`
	sparse.Repetitions `also:"repeats: of your own data splits into rows for training and testing"`
	ownColumns         `also:"output: labels, which may be texts; kind[a|b|c] names the classes, which are public"`
	method.CommonRows  `when:"splits: dataset is not simulated"`
	method.Recorded    `when:"membership: dataset is not simulated"`
	method.Planted     `when:"canaries: dataset is not simulated and membership is true"`
}

// autoInducing are inducing inputs that the rule may lay.
type autoInducing struct {
	sparse.InducingGrid `words:"inducing: auto" also:"inducing: auto, the default of your own data, lays a few"`
}

// classUpdate is the update of every class.
type classUpdate struct {
	sparse.UpdateSettings `never:"covariance: classes and series follow from posterior means alone"`
}

// probabilityForm is how probabilities follow from the functions of the classes.
type probabilityForm int

const (
	softmaxForm probabilityForm = iota
	sharesForm
)

func (probabilityForm) Choices() []string { return []string{"softmax", "shares"} }

// composition is how the classes share the budget: a row has a part in the sums of
// every class.
type composition int

const (
	// jointly takes the sums of all classes for one query.
	jointly composition = iota
	// equalShares gives each class the same share of ε and of δ.
	equalShares
	// wholeBudgets gives each class the whole budget, as the paper's text amounts to: C
	// classes then spend C budgets.
	wholeBudgets
)

func (composition) Choices() []string { return []string{"joint", "split", "as-published"} }

// centre is the value subtracted from the transformed labels of Eq. (21).
type centre int

const (
	balancedCentre centre = iota // makes |ỹ|/σ̃ alike for both labels
	leastCentre                  // minimises the sensitivity
	noCentre                     // nothing, as published
)

func (centre) Choices() []string { return []string{"balanced", "least", "as-published"} }
