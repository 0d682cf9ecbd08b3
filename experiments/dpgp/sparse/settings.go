package sparse

import (
	_ "embed"
	"fmt"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[Budget](source) }

// Bounds on the settings of a trial, far above useful ones.
const (
	MaxInducing = 500 // inducing inputs
	// MaxKernel bounds the elements of the kernel matrix between data and inducing
	// inputs, which every worker holds twice: 160 MB in float64.
	MaxKernel = 2e7
)

// Budget is that of every experiment with noise.
type Budget struct {
	mechanism.Budget `default:"delta: 1e-4"`
}

// Guarantee is the budget as a text.
func (b *Budget) Guarantee() string {
	return fmt.Sprintf("(%s, %s)-DP", experiment.FormatNumber(b.Epsilon), experiment.FormatNumber(b.Delta))
}

// NoiseRatio is σ_a/σ_b.
type NoiseRatio struct {
	// standard deviation of the noise in A over that in B
	Ratio float64 `name:"ratio" default:"1" above:"0"`
}

// Lambda selects the ridge that keeps the update positive definite (Eq. 10).
type Lambda struct {
	// lambda as in Eq. (10), or with the square root of its last factor
	Regularisation Regularisation `name:"regularisation" default:"as-published" when:"epsilon is not inf"`
	// rho in lambda: the probability with which the noise may exceed its bound
	Rho float64 `name:"rho" default:"0.01" above:"0" below:"1" when:"epsilon is not inf"`
}

// DiagonalJitter keeps the covariance of the inducing inputs positive definite.
type DiagonalJitter struct {
	// added to the diagonal of the inducing inputs' covariance
	Jitter float64 `name:"jitter" default:"0" min:"0"`
}

// NoiseMetrics describe the noise of the sums.
type NoiseMetrics struct {
	// Delta of Eq. (6), of A and ratio·B together
	Sensitivity float64 `name:"sensitivity"`
	NoiseDeviation
}

// NoiseDeviation is the scale of the noise.
type NoiseDeviation struct {
	// standard deviation of the noise in every element of A; that of the diagonal of B is sigma_a/ratio
	SigmaA float64 `name:"sigma_a"`
}

// FitMetrics are those of every fit of one model.
type FitMetrics struct {
	NoiseMetrics
	// lambda of Eq. (10)
	Lambda float64 `name:"lambda"`
}
