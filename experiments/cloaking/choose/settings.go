package choose

import (
	_ "embed"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed settings.go
var settingsSource string

func init() { experiment.Document[selectionSettings](settingsSource) }

// Bound is how the sensitivity of a sum of squared errors is bounded.
type Bound int

// The bounds.
const (
	Exact     Bound = iota // the largest change, see [exactSensitivity]
	Published              // Eq. (9), see [publishedSensitivity]
)

// Choices are the names of the bounds.
func (Bound) Choices() []string { return []string{"exact", "as-published"} }

// Expectation stands for the mean over infinitely many draws of the noise.
type Expectation int

// Expected is the word's only value.
const Expected Expectation = 0

// Choices are the word.
func (Expectation) Choices() []string { return []string{"expected"} }

// Split is which rows a configuration is selected on.
type Split int

// The splits.
const (
	FirstHalf Split = iota
	SecondHalf
	EveryOther // the even rows
	RandomHalf
	All
)

// Choices are the names of the splits.
func (Split) Choices() []string {
	return []string{"first-144", "last-143", "interleaved", "random", "all"}
}

// candidates are the lists whose product is the grid.
type candidates struct {
	// lengthscales of the grid
	Lengthscales []float64 `name:"lengthscales" default:"1,5,25,125,625" unit:"years or kg" above:"0"`
	// variances of the observation noise of the grid
	NoiseVariances []float64 `name:"noise_variances" default:"0.2,1,5,25" above:"0"`
	// variances of the kernel of the grid; only their ratio to the noise's matters
	KernelVariances []float64 `name:"kernel_variances" default:"1,5,25,125" above:"0"`
}

// algorithm selects the rule by which one of the candidates is chosen.
type algorithm struct {
	// privacy parameter of the exponential mechanism; epsilon and delta are those of the
	// regression after it, whose noise counts in the errors
	SelectionEpsilon float64 `name:"selection_epsilon" default:"1" above:"0"`
	// bound on the change of a sum of squared errors: the exact one for outputs in an
	// interval of length d = sensitivity_cm, or Eq. (9), which is no valid bound
	Bound Bound `name:"sensitivity" default:"exact"`
	// configurations with a larger sensitivity are left out (Section 4); this uses public
	// inputs only
	Threshold method.End `name:"threshold" default:"none" unit:"d²" above:"0"`
	// configurations with a larger sum of squared errors, noise included, are left out, which
	// is not private: what the zeros of Table 2 look like
	Cut method.End `name:"sse_cut" default:"none" unit:"d²" above:"0"`
	// the rows that the configuration is selected on: the first half of the 287 rows, the
	// second, every other one, a random half, or all
	Split Split `name:"split" default:"first-144"`

	selectionNoise   `when:"noise_in_errors: epsilon is not inf"`
	selectionFolds   `default:"folds: 5" choices:"fold_scheme: contiguous,interleaved,random"`
	regressionBudget `also:"epsilon: inf adds none. That of Algorithm 1 itself is selection_epsilon"`
	selectionHeights `also:"normalisation: auto: public constants with sensitivity=exact, otherwise as published"`
	cloak.NoiseSolver
}

type selectionNoise struct {
	// what the noise of the regression adds to the squared errors: its expectation, or the mean
	// over that many draws in every fold, as Section 4 has it, which no sensitivity here bounds
	NoiseInErrors experiment.Or[Expectation, int] `name:"noise_in_errors" default:"expected" min:"1" max:"1e6"`
}

type selectionFolds struct {
	cloak.Folds `doc:"folds: folds of the cross-validation inside these rows, at most as many as rows"`
}

type regressionBudget struct {
	cloak.GaussianBudget `doc:"epsilon: privacy parameter of the regression, whose noise counts in the errors"`
}

type selectionHeights struct {
	cloak.Heights `default:"normalisation: auto" choices:"normalisation: auto,as-published,public"`
}

// selectionSettings are those of a choice of hyper-parameters.
type selectionSettings struct {
	cloak.CensusInputs
	candidates
	algorithm
}

// publicLow is the condition under which the lower end of the interval of heights is a setting: no
// tag can express it, because the meaning of auto depends on the bound.
var publicLow = experiment.Rule[*selectionSettings]{
	To:        func(s *selectionSettings) []any { return []any{&s.PublicLow} },
	DecidedBy: func(s *selectionSettings) []any { return []any{&s.Normalisation, &s.Bound} },
	Words:     "normalisation is public, or auto with sensitivity=exact",
	Holds:     func(s *selectionSettings) bool { return s.heights().Normalisation == cloak.Public },
}

// heights returns the protected heights, with the normalisation that auto stands for: an exact
// bound needs constants.
func (a *algorithm) heights() *cloak.Heights {
	h := a.Heights
	switch {
	case h.Normalisation != cloak.Automatic:
	case a.Bound == Exact:
		h.Normalisation = cloak.Public
	default:
		h.Normalisation = cloak.AsPublished
	}
	return &h
}

// within reports whether a value is at most a bound that may be absent.
func within(value float64, bound method.End) bool {
	return bound.Is(method.Absent) || value <= bound.Number
}
