package cloak

import (
	_ "embed"
	"fmt"
	"math"
	"slices"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed settings.go
var settingsSource string

func init() { experiment.Document[Kernel](settingsSource) }

// MaxPoints bounds the number of predictions that are released together, far above useful numbers,
// because a slip of the pen would cost hours or all memory.
const MaxPoints = 2000

// Method is the Gaussian process that predicts.
type Method int

// The methods.
const (
	Standard      Method = iota // exponentiated quadratic kernel
	Sparse                      // FITC, with few inducing inputs
	Nonstationary               // Gibbs' kernel, its lengthscale by the density of the inputs
	WeightedSum                 // a short and a long EQ kernel, weighted by the density of the inputs
)

// Choices are the names of the methods.
func (Method) Choices() []string {
	return []string{"standard", "sparse", "nonstationary", "weighted-sum"}
}

// ByDensity is whether the method's kernel follows the density of the inputs.
func (m Method) ByDensity() bool { return m == Nonstationary || m == WeightedSum }

// String is the name of the method.
func (m Method) String() string { return experiment.NameOf(m) }

// Kernel are the hyper-parameters of the exponentiated quadratic kernel,
// k(x, y) = v exp(−Σᵢ (xᵢ − yᵢ)²/(2ℓᵢ²)). On the papers' data there is one lengthscale;
// experiments on a user's own (several:"lengthscale: yes") may have one for each input, or
// follow from the inputs ([Kernel.FitInputs]).
type Kernel struct {
	// lengthscale of the EQ kernel, the same in all dimensions
	Lengthscale method.Lengthscale `name:"lengthscale" default:"15" unit:"years or kg" above:"0" several:"no"`
	// variance of the kernel
	KernelVariance float64 `name:"kernel_variance" default:"1" above:"0"`
}

// Hyperparameters are those of the kernel and of the likelihood. Outputs are measured
// in units in which the kernel's variance is v; only its ratio to the noise's matters.
type Hyperparameters struct {
	Kernel
	// variance of the observation noise, in the unit of the kernel's
	NoiseVariance float64 `name:"noise_variance" default:"2" above:"0"`
}

// Density is the lengthscale of the nonstationary kernel, and the weight of a weighted sum, see
// [DensityLengthscale].
type Density struct {
	// nonstationary, weighted-sum: bandwidth of the density estimate, per dimension
	Width float64 `name:"kde_bandwidth" default:"6" unit:"years or kg" above:"0" when:"method is not standard or sparse"`
	// nonstationary: n in l = 1/(1/m + density/n), the rows wanted within a lengthscale;
	// weighted-sum: n in w = 1 - l/m = density/(density + n/m)
	Rows float64 `name:"kde_rows" default:"160" above:"0" when:"method is not standard or sparse"`
	// nonstationary: m in l = 1/(1/m + density/n), the largest lengthscale; weighted-sum: that
	// of the second function
	Cap float64 `name:"max_lengthscale" default:"100" unit:"years or kg" above:"0" when:"method is not standard or sparse"`
	// nonstationary, weighted-sum: the density at an input is the smallest within this distance, so that dense
	// regions beside sparse ones have a long lengthscale, too (Section 2.1); 0 is the density there
	Window float64 `name:"kde_window" default:"0" unit:"years or kg" min:"0" when:"method is not standard or sparse"`
}

// Algorithm finds the noise covariance.
type Algorithm int

// The algorithms.
const (
	Certified Algorithm = iota // interior point
	Gradient                   // the paper's projected gradient descent
)

// Choices are the names of the algorithms.
func (Algorithm) Choices() []string { return []string{"certified", "gradient"} }

// Full stands for the numerical rank in place of a number of directions.
type Full int

// FullRank releases all directions of the cloaking matrix.
const FullRank Full = 0

// Choices are the word.
func (Full) Choices() []string { return []string{"full"} }

// Weights stand for a number in place of one.
type Weights int

// The first weights that are no number.
const (
	UniformStart Weights = iota // the rank divided by the number of columns
	RandomStart                 // drawn evenly
)

// Choices are the words.
func (Weights) Choices() []string { return []string{"uniform", "random"} }

// Columns is which columns of a cloaking matrix have a weight of their own.
type Columns int

// The columns.
const (
	Distinct Columns = iota // equal ones share one
	Separate
)

// Choices are the names.
func (Columns) Choices() []string { return []string{"distinct", "all"} }

// Scaling is the factor that fits the noise of a covariance M to the sensitivity.
type Scaling int

// The scalings.
const (
	Norm    Scaling = iota // max √(cᵀM⁻¹c)
	Squared                // max cᵀM⁻¹c, as in the authors' code
)

// Choices are the names.
func (Scaling) Choices() []string { return []string{"norm", "squared-norm"} }

// Inverse is the replacement of M⁻¹ in a descent.
type Inverse int

// The inverses.
const (
	OnRange Inverse = iota // M has the rank of the cloaking matrix
	Pseudo                 // M⁺, as in the authors' code, see [design.PseudoInverse]
)

// Choices are the names.
func (Inverse) Choices() []string { return []string{"range", "pseudo-inverse"} }

// Solver is the method that finds the noise covariance of a cloaking matrix.
type Solver struct {
	// how the noise covariance is found: interior point, which ends at a certified gap of
	// 2e-8 nats or fails, or the paper's projected gradient descent, whose value after the
	// given number of steps is an upper bound (metric gap)
	Algorithm Algorithm `name:"solver" default:"certified"`
	// number of public directions that are released; full is the numerical rank of the
	// cloaking matrix
	Rank experiment.Or[Full, int] `name:"rank" default:"full" min:"1" max:"2000"`
	// gradient: number of steps, fewer where the gap falls to 1e-8 nats
	Steps int `name:"iterations" default:"2000" min:"1" max:"1e9" when:"solver is gradient"`
	// gradient: length of a step
	LearningRate float64 `name:"learning_rate" default:"0.05" above:"0" when:"solver is gradient"`
	// gradient: first weight of every column; uniform is rank divided by their number, random
	// draws each by itself
	Start experiment.Or[Weights, float64] `name:"start" default:"uniform" above:"0" when:"solver is gradient"`
	// gradient from random weights: the largest that is drawn
	StartBelow float64 `name:"start_below" default:"0.08" above:"0" when:"start is random"`
	// gradient from random weights: how many descents, of which the least covariance is taken
	// that some reach
	Starts int `name:"starts" default:"1" min:"1" max:"1000" when:"start is random"`
	// gradient: which columns have a weight of their own; distinct gives equal ones, of equal
	// inputs, one weight between them
	Columns Columns `name:"columns" default:"distinct" when:"solver is gradient"`
	// gradient: what the noise is multiplied by, so that it fits the sensitivity: the largest
	// Mahalanobis norm of a column, or its square, which is the authors' code and no guarantee
	Scaling Scaling `name:"scaling" default:"norm" when:"solver is gradient"`
	// gradient: what stands for M⁻¹; range keeps all directions of the cloaking matrix that are
	// not rounding, and fails where weights leave one without noise; pseudo-inverse drops those
	// below 1e-15 of M's largest eigenvalue, which is the authors' code and no guarantee
	Inverse Inverse `name:"inverse" default:"range" when:"solver is gradient"`
}

// Directions returns the rank as [design.Whiten] takes it.
func (s *Solver) Directions() int {
	if s.Rank.Is(FullRank) {
		return design.FullRank
	}
	return s.Rank.Number
}

// NoiseSolver is the solver of an experiment in which it is for nothing but the noise.
type NoiseSolver struct {
	Solver `when:"solver: epsilon is not inf || rank: epsilon is not inf"`
}

// GaussianBudget is the budget of Gaussian noise.
type GaussianBudget struct {
	mechanism.Budget
	// ratio of noise to sensitivity: Hall et al. 2013 (epsilon <= 1 only), or the exact one
	// of Balle and Wang 2018
	Calibration mechanism.Calibration `name:"calibration" default:"hall" when:"epsilon is not inf"`
}

// Composition is how steps of Gaussian noise share a budget.
type Composition int

// The compositions.
const (
	Basic    Composition = iota // an equal part of ε and of δ for each
	Gaussian                    // Gaussian differential privacy, which is exact
)

// Choices are the names of the compositions.
func (Composition) Choices() []string { return []string{"basic", "gaussian"} }

// Steps are the queries that share a budget.
type Steps struct {
	Number      int
	Composition Composition
}

// OneStep is a single query.
var OneStep = Steps{Number: 1}

// Normalisation is where the clipping interval and the prior mean of the census come
// from.
type Normalisation int

// The normalisations.
const (
	Automatic   Normalisation = iota // requirements of the sensitivity of a choice
	AsPublished                      // the private heights
	Public                           // constants
)

// Choices are the names of the normalisations.
func (Normalisation) Choices() []string { return []string{"auto", "as-published", "public"} }

// Heights selects the protected heights of the census.
type Heights struct {
	// largest change of one height; heights are clipped to an interval of this length
	Sensitivity float64 `name:"sensitivity_cm" default:"100" unit:"cm" above:"0"`
	// where the clipping interval and the prior mean come from: the private heights (as
	// published) or public constants
	Normalisation Normalisation `name:"normalisation" default:"as-published" choices:"as-published,public"`
	// normalisation public: lower end of the interval of heights; the prior mean is its
	// middle
	PublicLow float64 `name:"public_low_cm" default:"60" unit:"cm" above:"0"`
}

// ClippedHeights counts the heights of the census that the interval clips, with noise or without.
type ClippedHeights struct {
	// number of heights outside the interval of length sensitivity_cm, which were clipped to
	// it: predictions are made from the clipped heights, and errors are measured against
	// them
	ClippedHeights *float64 `name:"clipped_heights"`
}

// Inputs selects the inputs of the prediction of heights.
type Inputs int

// The inputs.
const (
	Age Inputs = iota
	AgeAndWeight
	Synthetic // ages by a formula, see [SyntheticInputs]
)

// Choices are the names of the inputs.
func (Inputs) Choices() []string { return []string{"age", "age+weight", "synthetic"} }

// CensusInputs are the inputs of the census.
type CensusInputs struct {
	// what heights are predicted from
	Inputs Inputs `name:"inputs" default:"age" choices:"age,age+weight"`
}

// FoldScheme is how rows are put into folds.
type FoldScheme int

// The schemes.
const (
	Contiguous FoldScheme = iota
	Interleaved
	Random
	Common // one fold: the rows that every method holds out
)

// Choices are the names of the schemes.
func (FoldScheme) Choices() []string {
	return []string{"contiguous", "interleaved", "random", "common"}
}

// Folds are those of a cross-validation.
type Folds struct {
	// folds of the cross-validation, at most as many as rows
	Folds int `name:"folds" default:"14" min:"2"`
	// how rows are put into folds; common is a single fold of one in folds of the rows, drawn by the seed and their
	// number alone, so that other methods hold out the same rows (splits=common)
	FoldScheme FoldScheme `name:"fold_scheme" default:"contiguous"`
}

// FoldsError is that of more folds than rows.
func FoldsError(folds, rows int) error { return tooManyFolds(folds, rows, "row") }

func tooManyFolds(folds, n int, of string) error {
	if n == 1 {
		return fmt.Errorf("folds = %d: there is one %s, and a cross-validation needs two or more", folds, of)
	}
	return fmt.Errorf("folds = %d: there are %d %ss, and there cannot be more folds than %[3]ss", folds, n, of)
}

// Of returns the folds of that number of rows, or of their persons, whose rows stay together; random ones are drawn
// from the stream "folds".
func (f *Folds) Of(t *experiment.Trial, people *table.People, rows int) ([]learn.Fold, error) {
	return method.Folds(people, rows, func(n int) ([]learn.Fold, error) {
		switch {
		case n < f.Folds && people != nil:
			return nil, tooManyFolds(f.Folds, n, "person")
		case n < f.Folds:
			return nil, FoldsError(f.Folds, n)
		case f.FoldScheme == Interleaved:
			return learn.InterleavedFolds(n, f.Folds)
		case f.FoldScheme == Random:
			return learn.RandomFolds(n, f.Folds, t.Stream("folds"))
		case f.FoldScheme == Common:
			tests := int(math.Round(float64(n) / float64(f.Folds)))
			return []learn.Fold{method.CommonSplit(t.Seed, 0, n, tests)}, nil
		}
		return learn.ContiguousFolds(n, f.Folds)
	})
}

// Tested returns the rows of the test parts, in increasing order: all rows, of a cross-validation.
func Tested(folds []learn.Fold) []int {
	var rows []int
	for _, f := range folds {
		rows = append(rows, f.Test...)
	}
	slices.Sort(rows)
	return rows
}
