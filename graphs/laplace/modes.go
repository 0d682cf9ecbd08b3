package laplace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
)

// Problem is one of several classifiers whose modes are found together.
type Problem struct {
	Model *Model
	// Sums holds the sum of the labels (±1) at each training input.
	Sums []float64
}

// Mode is the result of Newton's method.
type Mode struct {
	// Err is the error of this problem. No other field is set then.
	Err error
	// Latent is f at the training inputs, Dual the coefficients of predictions, see [Step].
	Latent, Dual []float64
	// Steps is the number of steps taken.
	Steps int
	// Change is the size of the last step before halving: the largest change of a latent value,
	// relative to the larger of the value and 1.
	Change float64
}

// Tolerance returns the [Mode.Change] at which steps have converged, the size of rounding errors
// of the engine's element type.
func Tolerance(e *engine.Engine) float64 { return tolerance(e.ElementType()) }

// Modes makes Newton steps from f = 0 for each problem until they converge, at most the given
// number. All models belong to the engine.
//
// A step that lowers the posterior is halved until it does not, because with a large kernel
// variance the plain iteration alternates between two points. Steps have converged when a whole
// step changes f by rounding errors only; a step that is small after halving does not count.
//
// On a device, problems of one size class, such as the folds of a data set, form one batch, whose
// latent functions stay on the device; each run copies the change, the log posterior and the step
// count of each problem to the host. A problem has the same bits alone and in any batch. On the
// CPU problems are solved independently: for five problems of 10, 64, 160 and 480 inputs this
// took .6, .72, .74 and .62 of the time of a batch, because halving in the graph adds fifty
// vector operations to a run.
//
// A problem for which a step fails has an error of its own, and the others are solved.
func Modes(ctx context.Context, e *engine.Engine, problems []Problem, most int) ([]Mode, error) {
	for i, p := range problems {
		if len(p.Sums) != p.Model.n {
			return nil, batch.OfProblem(fmt.Errorf("the Laplace approximation: %d sums of labels for %d training inputs",
				len(p.Sums), p.Model.n), i, len(problems))
		}
		if err := check("the vector of sums of labels", mat.NewDense(len(p.Sums), 1, p.Sums)); err != nil {
			return nil, batch.OfProblem(err, i, len(problems))
		}
	}
	if e.Backend() == "cpu" {
		return apart(ctx, e, problems, most)
	}
	return together(ctx, e, problems, most)
}

// together finds the modes in batches.
func together(ctx context.Context, e *engine.Engine, problems []Problem, most int) ([]Mode, error) {
	modes := make([]Mode, len(problems))
	groups := divide(problems)
	err := e.ParallelFor(ctx, len(groups), 1, func(i, _ int) error {
		return groups[i].find(ctx, e, most, modes)
	})
	return modes, err
}

// group is a batch of problems of one size class n×cols, all with full covariances or all of low
// rank.
type group struct {
	n, cols  int
	full     bool
	problems []Problem
	of       []int // indices of the problems
}

// divide puts problems into batches.
func divide(problems []Problem) []*group {
	var all []*group
	for _, full := range []bool{true, false} {
		var numbers []int
		var factors []*mat.Dense
		for i, p := range problems {
			if (p.Model.rank == 0) == full {
				numbers, factors = append(numbers, i), append(factors, p.Model.factors)
			}
		}
		for _, members := range batch.Divide(factors, func(n, cols int) int { return batchElements / (n * cols) }) {
			g := &group{n: members.Rows, cols: members.Cols, full: full}
			for _, i := range members.Members {
				g.of, g.problems = append(g.of, numbers[i]), append(g.problems, problems[numbers[i]])
			}
			all = append(all, g)
		}
	}
	return all
}

// batchElements bounds the elements of the covariances of one batch, 32 MiB in float64. A step
// takes two further matrices of this size.
const batchElements = 1 << 22

// Changes that are larger than any real one, and representable in both element types.
const (
	atFirst = 1e30 // the change of a member before its first step
	never   = 2e30 // the wanted change of a member that makes no further step
)

// search is the state of a batch on the host: for each member the change and the log posterior of
// its last step, the number of steps, and its error.
type search struct {
	*group
	e                 *engine.Engine
	most              int
	constant          engine.Values // constant inputs
	at                engine.Values // "f" and "dual", resident
	change, posterior []float64
	steps             []int
	failed            []error
}

// find makes the steps of all problems together until each has ended, and sets their modes.
func (g *group) find(ctx context.Context, e *engine.Engine, most int, modes []Mode) error {
	s, err := g.search(e, most)
	if err != nil {
		return err
	}
	defer func() { s.constant.Close(); s.at.Close() }()
	halve := false
	for {
		wanted, ended := s.wanted()
		if ended {
			return s.finish(ctx, modes)
		}
		if halve, err = s.run(ctx, wanted, halve); err != nil {
			return err
		}
	}
}

// search returns the state at f = 0.
func (g *group) search(e *engine.Engine, most int) (*search, error) {
	m := len(g.problems)
	s := &search{group: g, e: e, most: most, change: make([]float64, m), posterior: make([]float64, m),
		steps: make([]int, m), failed: make([]error, m)}
	factors, counts := make([]*mat.Dense, m), make([]*mat.Dense, m)
	sums, ones, none := make([]*mat.Dense, m), make([]*mat.Dense, m), make([]*mat.Dense, m)
	unit, one := make([]float64, m), mat.NewDense(g.n, 1, nil)
	one.Apply(func(int, int, float64) float64 { return 1 }, one)
	for i, p := range g.problems {
		n := p.Model.n
		factors[i], counts[i] = p.Model.factors, mat.NewDense(n, 1, p.Model.counts)
		sums[i], ones[i], none[i], unit[i] = mat.NewDense(n, 1, p.Sums), one, mat.NewDense(1, 1, nil), 1
		s.change[i] = atFirst
		for _, c := range p.Model.counts {
			s.posterior[i] -= c * math.Ln2
		}
	}
	values := engine.Values{}
	var err error
	for name, v := range map[string]struct {
		rows, cols int
		members    []*mat.Dense
	}{"factors": {g.n, g.cols, factors}, "count": {g.n, 1, counts}, "sums": {g.n, 1, sums}, "ones": {g.n, 1, ones},
		"f": {g.n, 1, none}, "dual": {g.cols, 1, none}} {
		t, e := batch.Matrices(e.ElementType(), v.rows, v.cols, v.members)
		values[name], err = t, errors.Join(err, e)
	}
	u, e2 := batch.Scalars(e.ElementType(), unit)
	if err = errors.Join(err, e2); err != nil {
		return nil, err
	}
	values["unit"] = u
	s.at = engine.Values{"f": values["f"], "dual": values["dual"]}
	delete(values, "f")
	delete(values, "dual")
	s.constant, err = batch.Keep(e, values)
	return s, err
}

// wanted returns the change at which each member ends, and reports whether all have ended.
func (s *search) wanted() (wanted []float64, ended bool) {
	wanted, ended = make([]float64, len(s.steps)), true
	for i, steps := range s.steps {
		wanted[i] = never
		if s.goesOn(i) && steps < s.most {
			wanted[i], ended = Tolerance(s.e), false
		}
	}
	return wanted, ended
}

// goesOn reports whether member i has neither converged nor failed.
func (s *search) goesOn(i int) bool { return s.failed[i] == nil && s.change[i] > Tolerance(s.e) }

// run makes a step of all members and copies their changes, log posteriors and step counts. With
// halve, steps are halved as long as they lower the posterior. Otherwise they are whole, and run
// reports whether a member refused its step, so that the next run has to halve.
func (s *search) run(ctx context.Context, wanted []float64, halve bool) (refused bool, err error) {
	m, dtype, parts := len(s.steps), s.e.ElementType(), 1
	in := engine.Values{"f": s.at["f"], "dual": s.at["dual"]}
	maps.Copy(in, s.constant)
	if halve {
		parts = maxHalvings + 1
		whole, rest := mat.NewDense(parts, 1, nil), mat.NewDense(parts, 1, nil)
		for i := range parts {
			t := math.Pow(0.5, float64(i))
			whole.Set(i, 0, t)
			rest.Set(i, 0, 1-t)
		}
		in["whole"], in["rest"] = s.e.Matrix(whole), s.e.Matrix(rest)
	}
	for name, v := range map[string][]float64{"change": s.change, "posterior": s.posterior, "wanted": wanted} {
		if in[name], err = batch.Scalars(dtype, v); err != nil {
			return false, err
		}
	}
	out, err := s.e.Run(ctx, newtonProgram(m, s.n, s.cols, s.full, parts), in, engine.Stay("f", "dual"))
	if err = batch.Failures(err, s.failed); err != nil {
		return false, err
	}
	s.at.Close()
	s.at = engine.Values{"f": out["f"], "dual": out["dual"]}
	r := engine.Read(out)
	var taken []float64
	s.change, s.posterior, taken = r.Floats("change"), r.Floats("posterior"), r.Floats("taken")
	if err := r.Err(); err != nil {
		return false, err
	}
	for i, v := range taken {
		s.steps[i] += int(v)
		if math.IsNaN(s.change[i]) && s.failed[i] == nil {
			s.failed[i] = errNotFinite
		}
		refused = refused || wanted[i] != never && s.goesOn(i) && v == 0
	}
	return refused, nil
}

var errNotFinite = errors.New("the latent function is not finite")

// finish copies the last latent functions to the modes.
func (s *search) finish(ctx context.Context, modes []Mode) error {
	host, err := engine.Host(ctx, s.at)
	if err = batch.Failures(err, s.failed); err != nil {
		return err
	}
	r := engine.Read(host)
	f, dual := r.Floats("f"), r.Floats("dual")
	if err := r.Err(); err != nil {
		return err
	}
	for i, number := range s.of {
		if s.failed[i] != nil {
			modes[number] = Mode{Err: fmt.Errorf("step %d of the Laplace approximation: %w", s.steps[i]+1, s.failed[i])}
			continue
		}
		m := s.problems[i].Model
		coefficients := m.n
		if !s.full {
			coefficients = m.rank
		}
		modes[number] = Mode{
			Latent: append([]float64(nil), f[i*s.n:i*s.n+m.n]...),
			Dual:   append([]float64(nil), dual[i*s.cols:i*s.cols+coefficients]...),
			Steps:  s.steps[i], Change: s.change[i],
		}
	}
	return nil
}
