// Package fault plants faults into releases and solvers, so that audits and tests
// can show what they find. A fault is carried by the context; no command and no
// setting leads here, and nothing outside of the experiments can import this
// package.
package fault

import "context"

// Faults says what is wrong with the releases under a context. The zero value is an
// honest release.
type Faults struct {
	// NoiseTimes multiplies the noise that is drawn, not what is stated; 0 stands
	// for 1.
	NoiseTimes float64
	// Float, if not nil, draws Gaussian noise in floating point, and the grid is
	// left out: *rand.Rand of math/rand/v2 is one.
	Float interface{ NormFloat64() float64 }
	// Reused draws every coordinate's noise from the first one.
	Reused bool
	// DeltaTimes multiplies δ in the calibration; 0 stands for 1.
	DeltaTimes float64
	// PerCoordinate calibrates to the largest change of one coordinate in place of
	// the norm of all.
	PerCoordinate bool
	// RankOfData leaves the last coordinate out where the sum of the query is
	// negative.
	RankOfData bool
	// Unclipped bounds private values in the sensitivity alone.
	Unclipped bool
	// Scored publishes the score of a selection beside the choice.
	Scored bool
	// StepsForgotten gives each of several steps, or of several classes, the whole budget.
	StepsForgotten bool
	// BlocksShared scores each block of a choice by the rows of all.
	BlocksShared bool
	// Cap, if not 0, lowers the caps on the steps of the iterative methods of a
	// trial, so that they stop short of their tolerances.
	Cap int
}

type key struct{}

// With returns a context under which releases have the planned faults.
func With(ctx context.Context, p Faults) context.Context { return context.WithValue(ctx, key{}, p) }

// In returns the plan of a context, the zero value where there is none.
func In(ctx context.Context) Faults {
	p, _ := ctx.Value(key{}).(Faults)
	return p
}

// Capped returns the cap on the steps of an iterative method under a context: the
// method's own one, or a lower one that is planted.
func Capped(ctx context.Context, own int) int {
	if c := In(ctx).Cap; c > 0 {
		return min(c, own)
	}
	return own
}
