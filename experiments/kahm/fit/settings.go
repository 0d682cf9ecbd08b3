package fit

import (
	_ "embed"

	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[ReferenceSettings](source) }

// ReferenceSettings are those of kahm/reference.
type ReferenceSettings struct {
	// samples of each of the three classes: Y_ij = sin(0.37ij + i + c) + 0.6c·cos(0.5j)
	Rows int `name:"rows" default:"40" min:"2" max:"2000"`
	// columns
	Dim int `name:"dim" default:"12" min:"1" max:"2000"`
	// subspace dimension
	N int `name:"n" default:"5" min:"1" max:"1000"`
	// layers, at most n
	Layers int `name:"layers" default:"3" min:"1" max:"1000"`
}

// ReferenceMetrics are those of kahm/reference: families by class and layer, by query
// and class, or by query.
type ReferenceMetrics struct {
	// lambda_c0_l1: regularisation parameter λ* of class 0, layer 1, found by the paper's
	// iteration (43)
	Lambda map[string]float64 `name:"lambda_*" result:"yes"`
	// iterations_c0_l1: number of these iterations
	Iterations map[string]float64 `name:"iterations_*"`
	// gamma_q1_c0: distance of query 1 to class 0 (Eq. 53)
	Gamma map[string]float64 `name:"gamma_*"`
	// class_q1: class of query 1, from 0
	Class map[string]float64 `name:"class_*"`
}

// TimingSettings are those of kahm/timing.
type TimingSettings struct {
	// N, samples
	Rows int `name:"rows" default:"1000" min:"1" max:"10000"`
	// p, columns
	Dim int `name:"dim" default:"10000" min:"1" max:"100000"`
	// subspace dimension
	N int `name:"n" default:"20" min:"1" max:"1000"`
	// machines that are computed, one after another; the median time is reported
	Repeats int `name:"repeats" default:"3" min:"1" max:"100"`
}

// entries returns the number N·p of entries of the data.
func (s *TimingSettings) entries() int { return s.Rows * s.Dim }

// TimingMetrics are those of kahm/timing.
type TimingMetrics struct {
	// median wall time of a machine: principal directions, kernel matrix, fixed point,
	// solutions
	Time float64 `name:"time_s" unit:"s" timing:"yes" best:"low" result:"yes"`
	// rate, counting operations that every implementation needs: N·p·min(N,p) for the Gram or
	// covariance matrix, N³/3 for a Cholesky factor, 2N²(p+1) for a solve
	Rate float64 `name:"gflops" unit:"GFLOP/s" timing:"yes" best:"high" result:"yes"`
	// evaluations of R (Eq. 42)
	FixedPointEvaluations float64 `name:"fixed_point_evaluations"`
}

// Samples is a set of samples of kahm/bounds.
type Samples int

// The values of the setting "samples".
const (
	Formula        Samples = iota // class 0 of kahm/reference
	Counterexample                // six points of the plane, with queries on a ray
)

// Choices returns the names of the values.
func (Samples) Choices() []string { return []string{"formula", "counterexample"} }

// BoundsSettings are those of kahm/bounds.
type BoundsSettings struct {
	// the samples: formula, class 0 of kahm/reference, with queries about them;
	// counterexample, six points of the plane (n = p = L = 2, one branch) with queries on a
	// ray that ends where the sum of memberships is negative
	Samples Samples `name:"samples" default:"formula"`
	// samples of the formula
	Rows int `name:"rows" default:"60" min:"10" max:"500" when:"samples is formula"`
	// columns of the formula
	Dim int `name:"dim" default:"12" min:"1" max:"100" when:"samples is formula"`
	// subspace dimension
	N int `name:"n" default:"5" min:"1" max:"100" when:"samples is formula"`
	// L, layers of a machine; at most n
	Layers int `name:"layers" default:"3" min:"1" max:"100" when:"samples is formula"`
	// S, clusters with a machine each (Theorem 5)
	Branches int `name:"branches" default:"3" min:"1" max:"10" when:"samples is formula"`
	// queries
	Queries int `name:"queries" default:"2000" min:"1" max:"100000"`
	// smoothing steps (Theorem 6)
	Smoothing int `name:"smoothing" default:"20" min:"0" max:"1000"`
}

// BoundsMetrics are those of kahm/bounds. Shares that the theorems put below one are
// quotients of a quantity and its bound.
type BoundsMetrics struct {
	// λ* (Eq. 40), found by the paper's iteration (43)
	Lambda float64 `name:"lambda" result:"yes"`
	// number of these iterations
	Iterations float64 `name:"iterations"`
	// R at the fixed point (Eq. 42)
	Residual float64 `name:"residual"`
	// its bound ‖Y‖²_F/(pN) (Theorem 1, 22)
	ResidualBound float64 `name:"residual_bound"`
	// largest quotient of the slope of R in e and its bound 2‖Y‖²_F/(pN(e+τ)) (23), over a
	// thousand e below the bound (26)
	SlopeShare float64 `name:"slope_share"`
	// largest slope of R (128): an upper bound on the factor by which an iteration changes the
	// distance of e to the fixed point
	Contraction float64 `name:"contraction"`
	// fixed points of R: sign changes of R − e between the thousand e
	FixedPoints float64 `name:"fixed_points"`
	// largest norm of an image (Theorem 2)
	NormMax float64 `name:"norm_max"`
	// its first bound (46), from the eigenvalues of the kernel matrix
	NormBound float64 `name:"norm_bound"`
	// its second bound, from the norm of the samples
	NormBoundSimple float64 `name:"norm_bound_simple"`
	// largest quotient of the distance to a machine of one layer and ‖[y−y¹ … y−yᴺ]‖₂
	// (Theorem 3)
	RatioMax float64 `name:"ratio_max" result:"yes"`
	// its first bound (49)
	RatioBound float64 `name:"ratio_bound" result:"yes"`
	// its second bound
	RatioBoundSimple float64 `name:"ratio_bound_simple"`
	// the same quotient of a conditionally deep machine (Theorem 4)
	RatioDeepMax float64 `name:"ratio_deep_max"`
	// largest quotient of the distance to a wide machine and ‖[y−y¹ … y−yᴺ]‖_F (Theorem 5)
	RatioWideMax float64 `name:"ratio_wide_max"`
	// its bound (61)
	RatioWideBound float64 `name:"ratio_wide_bound"`
	// share of the queries without an image: the sum of memberships is not safely positive,
	// where (148) has it positive
	WithoutImage float64 `name:"without_image"`
	// modelling error after the smoothing steps, as a share of that of the samples (Theorem 6)
	SmoothedError float64 `name:"smoothed_error"`
}
