package cloak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/graphs/interior"
)

// Caps limit the steps of iterative methods. A method that stops at its cap, short of its
// tolerance, fails the trial.
type Caps struct {
	Design   int // steps of the interior-point method
	Clusters int // Lloyd iterations of a run of k-means
}

// DefaultCaps returns the caps of all trials.
func DefaultCaps() Caps { return Caps{Design: design.MaxIterations, Clusters: learn.KMeansIterations} }

// Work holds the resources of the solution of designs.
type Work struct {
	Engine *engine.Engine
	*Solver
	MaxSteps int // cap on the steps of the interior-point method
	// Stream are the trial's random numbers for a purpose, which the number of a set and
	// that of a start are part of.
	Stream func(purpose string) *rand.Rand
	// OnHost makes the certified solver compute on the host for any backend of the engine, as
	// releases do.
	OnHost bool
	// Progress, if not nil, is called with the steps of the gradient descent.
	Progress func(done, total int)
}

// SolveDesigns finds the noise covariances for a batch of cloaking matrices (P×N
// each).
func SolveDesigns(ctx context.Context, w *Work, cs []*mat.Dense) ([]*design.Range, []*design.Design, error) {
	ranges, err := design.Whiten(ctx, w.Engine, cs, w.Directions(), RankTolerance(w.Engine))
	if one, ok := errors.AsType[*design.MatrixError](err); ok {
		return nil, nil, InBatch(one.Err, one.Matrix, len(cs))
	} else if err != nil {
		return nil, nil, err
	}
	designs, err := SolveRanges(ctx, w, ranges)
	return ranges, designs, err
}

// SolveRanges is [SolveDesigns] where the ranges are known.
func SolveRanges(ctx context.Context, w *Work, ranges []*design.Range) ([]*design.Design, error) {
	if w.Algorithm == Gradient {
		return w.descend(ctx, ranges)
	}
	designs := make([]*design.Design, len(ranges))
	large := slices.ContainsFunc(ranges, func(r *design.Range) bool { return len(r.Distinct()) > design.FewColumns })
	if w.Engine.Backend() != "cpu" && !w.OnHost && !large {
		if err := w.together(ctx, ranges, designs, w.MaxSteps); err != nil {
			return nil, err
		}
	}
	err := w.Engine.ParallelFor(ctx, len(ranges), 1, func(i, _ int) (err error) {
		if designs[i] == nil {
			designs[i], err = design.Solve(ctx, ranges[i], 0, w.MaxSteps)
		}
		return InBatch(err, i, len(ranges))
	})
	return designs, err
}

// together solves all sets as one batch on the engine, in at most the given number of steps,
// and leaves nil where that does not reach the certificate. On a CPU the method alone, which
// drops columns on the way, takes a third of the time or less.
func (w *Work) together(ctx context.Context, ranges []*design.Range, designs []*design.Design, most int) error {
	problems := make([]*mat.Dense, len(ranges))
	for i, r := range ranges {
		problems[i] = r.Columns(r.Distinct())
	}
	found, err := interior.Solve(ctx, w.Engine, problems, design.DefaultGap, most)
	if err != nil {
		return err
	}
	for i, one := range found {
		if one.Lambda == nil {
			continue
		}
		if d, err := design.FromInterior(ranges[i], ranges[i].Distinct(), one.Lambda, one.Steps); err == nil {
			designs[i] = d
		}
	}
	return nil
}

// RankTolerance is the relative threshold of numerical ranks.
func RankTolerance(e *engine.Engine) float64 {
	if SinglePrecision(e) {
		return design.Tolerance32
	}
	return design.Tolerance64
}

// SinglePrecision reports whether cloaking matrices are computed in float32. Their small singular
// values are then rounding errors, so that the numerical rank cannot be decided as in float64,
// although designs always are float64.
func SinglePrecision(e *engine.Engine) bool { return e.DType() == "float32" }

// SetError is the failure of one of several sets of predictions, counted from 0.
type SetError struct {
	Set, Of int
	Err     error
}

func (e *SetError) Error() string {
	return fmt.Sprintf("set of predictions %d of %d: %v", e.Set+1, e.Of, e.Err)
}

// Unwrap is the error without the number of the set.
func (e *SetError) Unwrap() error { return e.Err }

// InBatch adds the number of the failed problem to an error.
func InBatch(err error, i, of int) error {
	if err == nil || of == 1 {
		return err
	}
	return &SetError{i, of, err}
}

// InPart is the error of some sets, the first of which has that number, of the given number in all.
func InPart(err error, first, sets, of int) error {
	var set *SetError
	switch {
	case err != nil && errors.As(err, &set):
		return &SetError{first + set.Set, of, set.Err}
	case sets == 1:
		return InBatch(err, first, of)
	}
	return err
}
