package regress

import (
	_ "embed"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed settings.go
var settingsSource string

func init() { experiment.Document[curveSettings](settingsSource) }

// inducing are the inducing inputs of the sparse method.
type inducing struct {
	// sparse: how many inducing inputs k-means places on the training inputs; with
	// inputs=age also the inducing inputs themselves
	Inducing experiment.Points `name:"inducing" default:"5" unit:"years" when:"method is sparse"`
}

// processMethod is the model of all that predicts outputs.
type processMethod struct {
	// GP, sparse GP (FITC), GP with Gibbs' nonstationary kernel, or weighted sum of two GPs, one
	// with lengthscale and one with max_lengthscale (Section 5.3)
	Method cloak.Method `name:"method" default:"standard"`
}

// prediction are the settings of everything that predicts outputs, but for inputs and
// method, which stand before those of an experiment.
type prediction struct {
	cloak.GaussianBudget
	cloak.Heights         `when:"public_low_cm: normalisation is public"`
	cloak.Hyperparameters `when:"lengthscale: method is not nonstationary"`
	inducing
	cloak.Density
	cloak.NoiseSolver
}

// curveSettings are those of predictions over age.
type curveSettings struct {
	cloak.CensusInputs
	processMethod
	// ages at which predictions are released together
	Ages []float64 `name:"ages" default:"0..110 step 2" unit:"years"`
	// inputs age+weight: the weight at all of these ages
	Weight float64 `name:"weight_kg" default:"50" unit:"kg" above:"0" when:"inputs is age+weight"`
	// the one of these ages that noise_sd_cm and mean_cm are reported for
	AtAge float64 `name:"at_age" default:"60" unit:"years" min:"0"`
	prediction
}

// surfaceSettings are those of predictions over weight and age.
type surfaceSettings struct {
	cloak.CensusInputs `default:"inputs: age+weight" choices:"inputs: age+weight"`
	processMethod
	// weights of the grid, increasing; predictions at all pairs of weight and age are
	// released together
	Weights []float64 `name:"weights" default:"5..60 step 5" unit:"kg"`
	// ages of the grid, increasing
	Ages []float64 `name:"ages" default:"0..90 step 5" unit:"years"`
	// the one of these weights that noise_sd_cm and mean_cm are reported for
	AtWeight float64 `name:"at_weight" default:"50" unit:"kg" above:"0"`
	// the one of these ages that noise_sd_cm and mean_cm are reported for
	AtAge float64 `name:"at_age" default:"60" unit:"years" min:"0"`
	prediction
}

// designSettings are those of a noise covariance by itself.
type designSettings struct {
	// public training inputs: the ages of the !Kung females, or 120 ages from the formula
	// 84·((i+1/2)/120)^(3/2), which needs no data
	Inputs cloak.Inputs `name:"inputs" default:"age" choices:"age,synthetic"`
	// inputs at which predictions are released
	TestPoints []float64 `name:"test_points" default:"0..84 step 7" unit:"years"`
	cloak.Hyperparameters
	// GP or sparse GP (FITC)
	Method   cloak.Method `name:"method" default:"standard" choices:"standard,sparse"`
	inducing `name:"inducing: inducing_points" doc:"inducing: sparse: the inducing inputs, or how many k-means places"`
	cloak.Solver
}

// nonstationaryKernel is how a lengthscale varies over the inputs.
type nonstationaryKernel int

// The kernels.
const (
	gibbs       nonstationaryKernel = iota // Eq. (11)
	weightedSum                            // Section 5.3, after Herlands et al. 2016
)

// Choices are the names of the kernels.
func (nonstationaryKernel) Choices() []string { return []string{"gibbs", "weighted-sum"} }

// regimeSettings are those of two regions and of a clique.
type regimeSettings struct {
	// Gibbs' kernel with a lengthscale of its own at each point, or the sum of two functions
	// with weights that vary
	Kernel nonstationaryKernel `name:"kernel" default:"gibbs"`
	// lengthscale of the dense region
	Short float64 `name:"short" default:"5" above:"0"`
	// lengthscale of the outliers' region, and of the clique
	Long float64 `name:"long" default:"50" above:"0"`
	// distance of two points
	Distance float64 `name:"distance" default:"5" above:"0"`
	// weighted-sum: weight of the short function in the dense region, and of the long one in
	// the other
	Weight float64 `name:"weight" default:"0.95" min:"0" max:"1" when:"kernel is weighted-sum"`
	// number of points in the clique
	Clique int `name:"clique" default:"20" min:"1" max:"2000"`
	// how far the points of the clique spread around the test point
	Extent float64 `name:"extent" default:"1" min:"0"`
	// variance of the observation noise in the clique, over the kernel's
	Noise float64 `name:"noise_variance" default:"1" above:"0"`
}

// ownData are the data of a regression, see [cloak.OwnData].
type ownData struct {
	// kung, heights of the census, or your own data: csv:PATH, comma-separated values with a
	// header, parquet:PATH, npy:PATH or images:FOLDER: at most 10,000 rows, with method=sparse
	// 1,000,000. Lengths are in the unit of your inputs
	Dataset string `name:"dataset" default:"kung"`
	// what is predicted from: age or age+weight; of your own data the names of columns, joined by +
	// or commas, or * for every numeric one
	Inputs string `name:"inputs" default:"age"`
	// the column that is predicted and protected (of your own data, where it must be given)
	Output string `name:"output" default:"" when:"dataset is not kung"`
	// lower end of the public range of the output, to which it is clipped (of your own data,
	// where it must be given); its length is the sensitivity. It must not be read off the data
	Low method.End `name:"low" default:"none" when:"dataset is not kung"`
	// upper end of the public range of the output, to which it is clipped (of your own data,
	// where it must be given); its length is the sensitivity. It must not be read off the data
	High method.End `name:"high" default:"none" when:"dataset is not kung"`

	table.Reading
	method.Person  `when:"person: dataset is not kung" also:"person: of their rows it protects the outputs alone"`
	method.Invalid `when:"invalid: dataset is not kung" also:"invalid: it counts as the middle of the range"`
}

func (d *ownData) own() *cloak.OwnData { return (*cloak.OwnData)(d) }

// regressionSettings are those of a cross-validation, and of a release.
type regressionSettings struct {
	ownData
	processMethod
	cloak.Folds `also:"folds: inducing inputs that are not given are placed in every fold"`
	// draws of the noise in every fold
	Draws int `name:"draws" default:"100" min:"1" max:"1e6" when:"epsilon is not inf"`
	// where a release (run trial --release) predicts: at the distinct training inputs, which
	// are public, or at the rows of csv:PATH, a file with a column for every input
	Predict       string `name:"predict" default:"training"`
	ownPrediction `when:"sensitivity_cm: dataset is kung || normalisation: dataset is kung"`
}

// ownPrediction completes the settings for a user's file; see [cloak.OwnData.Complete].
type ownPrediction struct {
	ownDelta `also:"calibration: csv: analytic by default || kernel_variance: csv: in squares of (high - low)/4"`
}

// ownLengthscales are one for all inputs or, of a user's file, one for each.
type ownLengthscales struct {
	prediction `also:"lengthscale: csv: or one for each input, joined by commas in their order (standard, sparse)"`
}

// autoLengthscales follow from the inputs of a user's file.
type autoLengthscales struct {
	ownLengthscales `also:"lengthscale: csv: auto, the default of these methods, is a share of the range of each"`
}

type ownDelta struct {
	autoLengthscales `several:"lengthscale: yes" also:"delta: csv: it must be given, far below 1/n for n rows"`
}
