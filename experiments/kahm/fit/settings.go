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
	Lambda map[string]float64 `name:"lambda_*"`
	// iterations_c0_l1: how many iterations that took
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
	Time float64 `name:"time_s" unit:"s" timing:"yes"`
	// rate, counting what no implementation does without: N·p·min(N,p) for the Gram or
	// covariance matrix, N³/3 for a Cholesky factor, 2N²(p+1) for a solve
	Rate float64 `name:"gflops" unit:"GFLOP/s" timing:"yes"`
	// evaluations of R (Eq. 42)
	FixedPointEvaluations float64 `name:"fixed_point_evaluations"`
}
