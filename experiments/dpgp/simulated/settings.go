package simulated

import (
	_ "embed"

	"privkern/experiments/dpgp/sparse"
	"privkern/runner/experiment"
)

//go:embed settings.go
var settingsSource string

func init() { experiment.Document[fitSettings](settingsSource) }

// fitSettings select the fit of a model to simulated observations.
type fitSettings struct {
	sparse.ObservationNoise
	sparse.ClippedOutputs
	sparse.NoiseRatio
	sparse.RowBound
	sparse.UpdateSettings
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
	sparse.InducingGrid
	sparse.EQKernel
	sparse.ClippedOutputs
	sparse.NoiseRatio
	sparse.LeastSpacing
}

type inferenceSettings struct {
	sparse.Budget
	sparse.InducingInputs
	sparse.EQKernel
	// observations of sin(2x)/(2x), at inputs uniform on [-4, 4]
	N                  int `name:"n" default:"1024" min:"1" max:"1000000"`
	fitSettings        `choices:"covariance: corrected,as-published,naive"`
	sparse.Repetitions `default:"repeats: 1"`
}

type calibrationSettings struct {
	sparse.Budget
	sparse.InducingGrid `default:"inducing: 15 || low: -3.5 || high: 3.5"`
	sparse.EQKernel
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
	sparse.InducingGrid
	sparse.EQKernel
	sparse.ClippedOutputs
	sparse.NoiseRatio
	sparse.RowBound
	// least variance of an observation's noise
	VarianceLow float64 `name:"variance_low" default:"0.01" above:"0"`
	// largest variance of an observation's noise: R_sigma of the text
	VarianceHigh float64 `name:"variance_high" default:"0.01" above:"0"`
}

// regularisationSettings are those of the noise that λ is to cover.
type regularisationSettings struct {
	mechanismSettings
	sparse.InducingGrid
	sparse.EQKernel
	// inputs, uniform on [-4, 4]
	N int `name:"n" default:"1024" min:"1" max:"1000000"`
	sparse.ObservationNoise
	sparse.ClippedOutputs
	sparse.NoiseRatio
	sparse.RowBound
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
	Sigmas              []float64 `name:"sigmas" default:"0.03, 0.1, 0.3" above:"0"`
	sparse.InducingGrid `default:"inducing: 15 || low: -3.5 || high: 3.5"`
	sparse.EQKernel
	// observations of a function drawn from the GP, at inputs uniform on [-4, 4]; the first half is for
	// training
	N                     int `name:"n" default:"1024" min:"2" max:"1000000"`
	sparse.ClippedOutputs `default:"r_y: 2"`
	sparse.NoiseRatio
	sparse.RowBound
	sparse.CovarianceChoice
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
