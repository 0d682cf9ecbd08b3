package sparse

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

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

// Features are the vectors of rows whose products are summed.
type Features int

// The features.
const (
	KernelFeatures   Features = iota // k of the inducing inputs
	WhitenedFeatures                 // L⁻¹k ([Whitening])
)

// Choices are the names of the features.
func (Features) Choices() []string { return []string{"kernel", "whitened"} }

func (f Features) String() string { return experiment.NameOf(f) }

// DiagonalJitter keeps the covariance of the inducing inputs positive definite.
type DiagonalJitter struct {
	// added to the diagonal of the inducing inputs' covariance
	Jitter float64 `name:"jitter" default:"0" min:"0"`
}

// InducingInputs are the inputs Z at which the posterior is known.
type InducingInputs struct {
	// inducing inputs: how many on a regular grid from low to high, or a list; they are public. Of own data the grid is
	// from input_low to input_high in every input (9, where it has more than 500 points, stands for 50 in all), and from
	// 23 on, of several inputs, it is how many in all, on a Halton sequence
	Inducing experiment.Points `name:"inducing" default:"9"`
	// lower end of the grid of inducing inputs
	Low float64 `name:"low" default:"-3"`
	// upper end of the grid of inducing inputs
	High float64 `name:"high" default:"3"`
}

// Number returns the number of inducing inputs.
func (s *InducingInputs) Number() int { return max(s.Inducing.Count, len(s.Inducing.Values)) }

// Points returns the inducing inputs, as they are given or on a grid.
func (s *InducingInputs) Points() []float64 {
	z := s.Inducing
	switch {
	case z.Values != nil:
		return z.Values
	case z.Count == 1:
		return []float64{s.Low + (s.High-s.Low)/2}
	}
	grid := make([]float64, z.Count)
	for i := range grid {
		grid[i] = s.Low + (s.High-s.Low)*float64(i)/float64(z.Count-1)
	}
	return grid
}

// Model returns the model with these inducing inputs, for observations with noise of standard
// deviation sigma.
func (s *InducingInputs) Model(k EQKernel, sigma, jitter float64) *Model {
	return NewModel(Column(s.Points()), k.Lengthscale, k.KernelVariance, sigma*sigma, jitter)
}

// Check refuses inducing inputs that no model can have.
func (s *InducingInputs) Check() error {
	if !(s.Low < s.High) {
		return fmt.Errorf("low = %g, high = %g: low must be below high", s.Low, s.High)
	}
	if n := s.Number(); n > MaxInducing {
		return fmt.Errorf("inducing: %d inducing inputs; at most %d are possible", n, MaxInducing)
	}
	z := slices.Sorted(slices.Values(s.Points()))
	for i, v := range z {
		if i > 0 && v == z[i-1] {
			return fmt.Errorf("inducing: %g is given twice; equal inducing inputs make their covariance singular", v)
		}
	}
	return nil
}

// CheckRows refuses settings that no trial with n rows can have.
func (s *InducingInputs) CheckRows(n int) error {
	if err := s.Check(); err != nil {
		return err
	}
	if z := s.Number(); n*z > MaxKernel {
		return fmt.Errorf("n = %d with %d inducing inputs: their kernel matrix has more than %.0e elements; use fewer "+
			"of either", n, z, MaxKernel)
	}
	return nil
}

// Memory estimates the memory of a trial with n rows, in bytes: a number of n×M matrices in
// addition to the process. With 9 inducing inputs and 100,000 observations 77 MiB were measured for
// inference, 99 to 126 for classification and 137 for hyperparameters, for inference of 200,000 it
// was 105; with few observations 53 to 70, for hyperparameters 95.
func (s *InducingInputs) Memory(n int, matrices int64) int64 {
	const process, float = 98 << 20, 8
	return process + matrices*float*int64(n)*int64(s.Number())
}

// InducingGrid holds inducing inputs whose range serves nothing else.
type InducingGrid struct {
	InducingInputs `when:"low: inducing is a count || high: inducing is a count"`
}

// SignalVariance is the variance σ_f² of the kernel at one input.
type SignalVariance struct {
	// variance of the kernel
	KernelVariance float64 `name:"kernel_variance" default:"1" above:"0"`
}

// EQKernel is σ_f² exp(−(x − x')²/(2l²)).
type EQKernel struct {
	// lengthscale of the EQ kernel
	Lengthscale float64 `name:"lengthscale" default:"1" above:"0"`
	SignalVariance
}

// ObservationNoise is the noise of an output.
type ObservationNoise struct {
	// standard deviation of the observation noise, taken as known
	Sigma float64 `name:"sigma" default:"0.1" above:"0"`
}

// ClippedOutputs is the range to which outputs are clipped.
type ClippedOutputs struct {
	// bound on the size of an output
	OutputBound float64 `name:"r_y" default:"1" above:"0"`
}

// Auto is the word auto, for a setting that follows from others.
type Auto int

const automatic Auto = 0

// Choices returns the word.
func (Auto) Choices() []string { return []string{"auto"} }

// LeastSpacing is the spacing of the inducing inputs that a bound assumes.
type LeastSpacing struct {
	// least distance of inducing inputs that Eqs. (7) and (8) assume; auto is the one they have, and a
	// larger one is refused
	Spacing experiment.Or[Auto, float64] `name:"spacing" default:"auto" above:"0"`
}

// AssumedSpacing returns the spacing that is given; 0 stands for the least distance of the inducing
// inputs.
func (s *LeastSpacing) AssumedSpacing() float64 {
	if s.Spacing.Is(automatic) {
		return 0
	}
	return s.Spacing.Number
}

// RowBound is the bound on the contribution of a row to the sums.
type RowBound struct {
	// bound on the norm of a row's kernel vector: Eq. (4), (7) as printed or corrected, (8), or the exact
	// maximum for the inducing inputs, which is bounded from above to 1e-12 of it, on dense grids to 1e-6
	Bound        Bound `name:"bound" default:"eq7-printed"`
	LeastSpacing `when:"spacing: bound is eq7-printed or eq7 or eq8"`
}

// CheapBound returns a bound that is as finite as the chosen one and needs no search,
// which is no part of a check: ledgers hold hundreds of settings.
func (s *RowBound) CheapBound() Bound {
	if s.Bound == Exact {
		return Eq4
	}
	return s.Bound
}

// CovarianceChoice is the treatment of the noise in the posterior's covariance.
type CovarianceChoice struct {
	// what the noise adds to the posterior's covariance: Eq. (14) with symmetric noise, Eq. (14) as
	// printed, or nothing
	Covariance Covariance `name:"covariance" default:"corrected" choices:"corrected,as-published"`
}

// UpdateSettings select the computation of the posterior from noisy sums (Eqs. 9 to 15).
type UpdateSettings struct {
	CovarianceChoice `when:"covariance: epsilon is not inf"`
	Lambda
	DiagonalJitter
}

// Update returns the update that the settings select.
func (s *UpdateSettings) Update() Update {
	return Update{Rho: s.Rho, Regularisation: s.Regularisation, Covariance: s.Covariance}
}

// Repetitions are the data sets of a trial.
type Repetitions struct {
	// data sets, each simulated and fitted anew; metrics are means over them, the series are of the first
	Repeats int `name:"repeats" default:"10" min:"1" max:"100000"`
}

// MemberOf returns the name of a candidate's value among the members of a family of metrics.
func MemberOf(v float64) string {
	return strings.NewReplacer(".", "_", "-", "m", "+", "").Replace(fmt.Sprintf("%.3g", v))
}

// CheckCandidates refuses candidates of the named setting that have the same name in metrics.
func CheckCandidates(name string, values []float64) error {
	seen := map[string]bool{}
	for _, v := range values {
		if seen[MemberOf(v)] {
			return fmt.Errorf("%s: two values are %.3g in three digits; candidates must differ in them", name, v)
		}
		seen[MemberOf(v)] = true
	}
	return nil
}

// NoiseMetrics describe the noise of the sums.
type NoiseMetrics struct {
	// Delta of Eq. (6), of A and ratio·B together
	Sensitivity float64 `name:"sensitivity" best:"low"`
	NoiseDeviation
}

// NoiseDeviation is the scale of the noise.
type NoiseDeviation struct {
	// standard deviation of the noise in every element of A; that of the diagonal of B is sigma_a/ratio
	SigmaA float64 `name:"sigma_a" best:"low"`
}

// FitMetrics are those of every fit of one model.
type FitMetrics struct {
	NoiseMetrics
	// lambda of Eq. (10)
	Lambda float64 `name:"lambda"`
}
