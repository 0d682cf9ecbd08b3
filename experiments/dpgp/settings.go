package dpgp

import (
	_ "embed"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed settings.go
var settingsSource string

func init() { experiment.Document[inducingInputs](settingsSource) }

// inducingInputs are the inputs Z at which the posterior is known.
type inducingInputs struct {
	// inducing inputs: how many on a regular grid from low to high, or a list; they are public
	Inducing experiment.Points `name:"inducing" default:"9"`
	// lower end of the grid of inducing inputs
	Low float64 `name:"low" default:"-3"`
	// upper end of the grid of inducing inputs
	High float64 `name:"high" default:"3"`
}

// inducingGrid are inducing inputs whose range serves nothing else.
type inducingGrid struct {
	inducingInputs `when:"low: inducing is a count || high: inducing is a count"`
}

type kernelVariance struct {
	// variance of the kernel
	KernelVariance float64 `name:"kernel_variance" default:"1" above:"0"`
}

// eqKernel is σ_f² exp(−(x − x')²/(2l²)).
type eqKernel struct {
	// lengthscale of the EQ kernel
	Lengthscale float64 `name:"lengthscale" default:"1" above:"0"`
	kernelVariance
}

// severalKernel is eqKernel with a lengthscale for each input.
type severalKernel struct {
	// lengthscale of the EQ kernel; of your own data one for all inputs or one for each, joined by commas
	// in the order of inputs and in their units
	Lengthscale experiment.Several `name:"lengthscale" default:"1" above:"0"`
	kernelVariance
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
	// lower end of the grid of inducing inputs, one for all inputs or one for each; it must not be read off
	// the data
	InputLow method.Ends `name:"input_low" default:"none" later:"yes" when:"inducing_file is none"`
	// upper end of that grid, one for all inputs or one for each
	InputHigh method.Ends `name:"input_high" default:"none" later:"yes" when:"inducing_file is none"`
	// inducing inputs in place of a grid: csv:PATH, a file with the columns of the inputs, which are public
	InducingFile string `name:"inducing_file" default:"none" later:"yes" when:"dataset is not simulated"`
	// share of the rows that is drawn for testing; a release is made from all rows
	Holdout float64 `name:"holdout" default:"0.2" above:"0" below:"1" later:"yes" when:"dataset is not simulated"`
}

type observationNoise struct {
	// standard deviation of the observation noise, taken as known
	Sigma float64 `name:"sigma" default:"0.1" above:"0"`
}

type outputBound struct {
	// bound on the size of an output
	OutputBound float64 `name:"r_y" default:"1" above:"0"`
}

// auto is the word of a setting that follows from others.
type auto int

const automatic auto = 0

func (auto) Choices() []string { return []string{"auto"} }

type spacing struct {
	// least distance of inducing inputs that Eqs. (7) and (8) assume; auto is the one they have, and a
	// larger one is refused
	Spacing experiment.Or[auto, float64] `name:"spacing" default:"auto" above:"0"`
}

// rowBound is the bound on the contribution of a row to the sums.
type rowBound struct {
	// bound on the norm of a row's kernel vector: Eq. (4), (7) as printed or corrected, (8), or the exact
	// maximum for the inducing inputs, which is bounded from above to 1e-12 of it, on dense grids to 1e-6
	Bound   sparse.Bound `name:"bound" default:"eq7-printed"`
	spacing `when:"spacing: bound is eq7-printed or eq7 or eq8"`
}

type covariance struct {
	// what the noise adds to the posterior's covariance: Eq. (14) with symmetric noise, Eq. (14) as
	// printed, or nothing
	Covariance sparse.Covariance `name:"covariance" default:"corrected" choices:"corrected,as-published"`
}

// update returns the update that the settings select.
func (s *updateSettings) update() sparse.Update {
	return sparse.Update{Rho: s.Rho, Regularisation: s.Regularisation, Covariance: s.Covariance}
}

// updateSettings select the computation of the posterior from noisy sums (Eqs. 9 to 15).
type updateSettings struct {
	covariance `when:"covariance: epsilon is not inf"`
	sparse.Lambda
	sparse.DiagonalJitter
}

type repeats struct {
	// data sets, each simulated and fitted anew; metrics are means over them, the series are of the first
	Repeats int `name:"repeats" default:"10" min:"1" max:"100000"`
}

// fitSettings select the fit of a model to simulated observations.
type fitSettings struct {
	observationNoise
	outputBound
	sparse.NoiseRatio
	rowBound
	updateSettings
	// refuse outputs beyond r_y instead of clipping them
	Strict bool `name:"strict" default:"no"`
}

type mechanismSettings struct {
	// privacy parameter
	Epsilon float64 `name:"epsilon" default:"1" above:"0"`
	// privacy parameter
	Delta float64 `name:"delta" default:"1e-4" above:"0" below:"1"`
}

type sensitivitySettings struct {
	inducingGrid
	eqKernel
	outputBound
	sparse.NoiseRatio
	spacing
}

type inferenceSettings struct {
	sparse.Budget
	inducingInputs
	eqKernel
	// observations of sin(2x)/(2x), at inputs uniform on [-4, 4]
	N           int `name:"n" default:"1024" min:"1" max:"1000000"`
	fitSettings `choices:"covariance: corrected,as-published,naive"`
	repeats     `default:"repeats: 1"`
}

type calibrationSettings struct {
	sparse.Budget
	inducingGrid `default:"inducing: 15 || low: -3.5 || high: 3.5"`
	eqKernel
	// observations of a function drawn from the GP, at inputs uniform on [-4, 4]; the first half is for
	// training
	N           int `name:"n" default:"1024" min:"2" max:"1000000"`
	fitSettings `default:"r_y: 2"`
	// what is to be covered: test observations, with the variance of their noise, or the true function
	Cover cover `name:"cover" default:"observations"`
	// functions, each drawn, observed and fitted anew; metrics are means over them
	Repeats int `name:"repeats" default:"40" min:"1" max:"100000"`
}

// heteroscedasticSettings are those of Appendix D's sensitivity.
type heteroscedasticSettings struct {
	inducingGrid
	eqKernel
	outputBound
	sparse.NoiseRatio
	rowBound
	// least variance of an observation's noise
	VarianceLow float64 `name:"variance_low" default:"0.01" above:"0"`
	// largest variance of an observation's noise: R_sigma of the text
	VarianceHigh float64 `name:"variance_high" default:"0.01" above:"0"`
}

// regularisationSettings are those of the noise that λ is to cover.
type regularisationSettings struct {
	mechanismSettings
	inducingGrid
	eqKernel
	// inputs, uniform on [-4, 4]
	N int `name:"n" default:"1024" min:"1" max:"1000000"`
	observationNoise
	outputBound
	sparse.NoiseRatio
	rowBound
	// rho in lambda: the probability with which the noise may exceed its bound
	Rho float64 `name:"rho" default:"0.01" above:"0" below:"1"`
	sparse.DiagonalJitter
	// draws of the noise, each in the sums of inputs of its own
	Repeats int `name:"repeats" default:"1000" min:"1" max:"1000000"`
}

// scenarioSettings are those of all of Fig. 2. Every scenario has noise, so that settings of the
// noise have no condition.
type scenarioSettings struct {
	// privacy parameter
	Delta float64 `name:"delta" default:"1e-4" above:"0" below:"1"`
	// privacy levels
	Epsilons []float64 `name:"epsilons" default:"1, 3, 10, 30" above:"0"`
	// standard deviations of the observation noise, each taken as known
	Sigmas       []float64 `name:"sigmas" default:"0.03, 0.1, 0.3" above:"0"`
	inducingGrid `default:"inducing: 15 || low: -3.5 || high: 3.5"`
	eqKernel
	// observations of a function drawn from the GP, at inputs uniform on [-4, 4]; the first half is for
	// training
	N           int `name:"n" default:"1024" min:"2" max:"1000000"`
	outputBound `default:"r_y: 2"`
	sparse.NoiseRatio
	rowBound
	covariance
	// lambda as in Eq. (10), or with the square root of its last factor
	Regularisation sparse.Regularisation `name:"regularisation" default:"as-published"`
	// rho in lambda: the probability with which the noise may exceed its bound
	Rho float64 `name:"rho" default:"0.01" above:"0" below:"1"`
	sparse.DiagonalJitter
	// what is to be covered: test observations, with the variance of their noise, or the true function
	Cover cover `name:"cover" default:"observations"`
	// functions, each drawn, observed and fitted anew in every scenario
	Repeats int `name:"repeats" default:"40" min:"1" max:"100000"`
}

// cover is the quantity that a posterior's regions are to cover.
type cover int

const (
	coverObservations cover = iota
	coverFunction
)

func (cover) Choices() []string { return []string{"observations", "function"} }

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
	inducingGrid
	kernelVariance
	// observations of sin(2x)/(2x), at inputs uniform on [-4, 4]; the first half is for training, the
	// other for validation
	N                int `name:"n" default:"2048" min:"2" max:"1000000"`
	observationNoise `doc:"sigma: standard deviation of the observation noise that is simulated"`
	outputBound
	// No metric has the sensitivity: without noise nothing depends on ratio and bound.
	sparse.NoiseRatio `when:"ratio: epsilon is not inf"`
	rowBound          `when:"bound: epsilon is not inf"`
	// The inducing inputs are near each other for the longest lengthscale.
	updateSettings `default:"jitter: 1e-8"`
	repeats        `default:"repeats: 100" doc:"repeats: data sets, each simulated and searched anew"`
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
	// the regularisation constant alpha_epsilon of Eq. (21)
	Alpha float64 `name:"alpha" default:"0.01" min:"1e-6" below:"1"`
	// classes
	Classes      int `name:"classes" default:"3" min:"2" max:"20" when:"dataset is simulated"`
	inducingGrid `default:"low: -3.5 || high: 3.5" when:"low: dataset is simulated || high: dataset is simulated"`
	severalKernel
	// labels, drawn by the softmax of 4 cos(pi x/4 - 2 pi c/classes), c = 0, 1, ..., at inputs uniform on
	// [-4, 4]; the first half is for training
	N int `name:"n" default:"2048" min:"2" max:"1000000" when:"dataset is simulated"`
	sparse.NoiseRatio
	rowBound    `also:"bound: of your own data exact by default; more than six inputs that are no grid need eq8 given"`
	classUpdate `also:"regularisation: of your own data corrected by default"`
	repeats     `also:"repeats: of your own data splits into rows for training and testing"`
	ownColumns  `also:"output: labels, which may be texts; kind[a|b|c] names the classes, which are public"`
}

// classUpdate is the update of every class.
type classUpdate struct {
	updateSettings `never:"covariance: classes and series follow from posterior means alone"`
}

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
