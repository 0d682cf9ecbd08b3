package hull

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
)

// solved is a layer of the members of a group, in the samples' own coordinates: points X
// (N×d), weights (1×d), and solutions [B', b], N×(p+1) and the rows of the padding, in the
// element type of the engine. The kernel matrices "k" (m×n×n) stay where they are, and are
// closed where no λ reaches directFrom; the solutions stay until the host takes them.
type solved struct {
	points, weights []*mat.Dense
	kernels         residents
	fixed           []*fixedPoint
	resident        []run
	solutions       []any
}

// close frees what stays.
func (s *solved) close() {
	s.kernels.close()
	closeRuns(s.resident)
	s.resident = nil
}

// bytes is the memory of the solutions that stay.
func (s *solved) bytes() (n int) {
	for _, one := range s.resident {
		n += int(one.solutions.MemSize())
	}
	return n
}

// encode returns the layers of the leading d directions without their solutions.
//
// The kernel of the layer is exp(−|x−x′|²/2) of x_j = z_j/√(dθ_j), which is Eq. (35)
// with n = d: θ is diagonal in principal coordinates. A direction without variance has
// the weight zero.
func (g *group) encode(ctx context.Context, d int) (*solved, error) {
	m := len(g.fits)
	one := &solved{points: make([]*mat.Dense, m), weights: make([]*mat.Dense, m), fixed: make([]*fixedPoint, m),
		solutions: make([]any, m)}
	for i, f := range g.fits {
		points, weights := mat.NewDense(f.n, d, nil), mat.NewDense(1, d, nil)
		for j := range d {
			if f.variances[j] > 0 {
				weights.Set(0, j, 1/math.Sqrt(float64(d)*f.variances[j]))
			}
			for r := range f.n {
				points.Set(r, j, f.scores.At(r, j)*weights.At(0, j))
			}
		}
		one.points[i], one.weights[i] = points, weights
	}
	x, err := batch.Matrices(g.e.ElementType(), g.n, d, one.points)
	if err != nil {
		return nil, err
	}
	out, err := g.e.Run(ctx, kernelProgram(m, g.n, d), engine.Values{"x": x, "count": g.counts}, engine.Stay("k"))
	if err != nil {
		return nil, err
	}
	one.kernels = residents{"k": out["k"].(*engine.Resident)}
	return one, nil
}

// layer solves the KAHM of the leading d directions of every member. The fixed points of its
// layers before say where the iteration starts.
//
// While λ changes, K, T and μ stay on the device; each evaluation of R is one Cholesky
// factorisation, N³/3 operations, and a solve. Where no line of fixed points gives a good
// start, estimates of R from a few right-hand sides take the first steps.
//
// The solution that remains is that of the last λ at which R was evaluated, fixed.at,
// which is within the tolerance of λ*, not λ* itself: one factorisation less.
func (g *group) layer(ctx context.Context, d int, before [][]*fixedPoint) (_ *solved, err error) {
	one, err := g.encode(ctx, d)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			one.close()
		}
	}()
	for i, f := range g.fits {
		// ‖Y‖²/(pN), of which τ in Eq. (40) is twice and e₀ in Eq. (44) the half.
		scale := f.square / (float64(f.p) * float64(f.n))
		one.fixed[i] = &fixedPoint{tau: 2 * scale, single: g.e.ElementType() == tensor.Float32,
			iteration: g.opts.Iteration, tolerance: g.opts.Tolerance}
		one.fixed[i].begin(before[i])
	}
	if g.sketch != nil && g.dim-d < 2 {
		if err := g.estimate(ctx, one); err != nil {
			return nil, err
		}
	}
	full := g.ridge(one, g.targets)
	if g.gram != nil {
		// The norm from the Gram matrix; the solutions once, at the end.
		norms := problem{program: func(m int) engine.Program { return gramNormProgram(m, g.n) },
			in: residents{"k": one.kernels["k"], "gram": g.gram["gram"]}}
		if _, err := g.find(ctx, norms, one.fixed); err != nil {
			return nil, err
		}
		full.known = true
	}
	full.solutions = true
	runs, err := g.find(ctx, full, one.fixed)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(one.fixed, func(x *fixedPoint) bool { return x.at >= directFrom }) {
		one.kernels.close() // nothing reads them any more
	}
	return one, g.stay(ctx, one, runs)
}

// estimate takes the first steps of the fixed points of a layer by the sketch.
func (g *group) estimate(ctx context.Context, one *solved) error {
	rough := make([]*fixedPoint, len(one.fixed))
	for i, x := range one.fixed {
		rough[i] = &fixedPoint{tau: x.tau, e: x.e, slope: x.slope, tolerance: sketchTolerance}
	}
	if _, err := g.find(ctx, g.ridge(one, g.sketch), rough); err != nil {
		return err
	}
	for i, x := range rough {
		one.fixed[i].e, one.fixed[i].slope = x.e, x.slope
	}
	return nil
}

// problem is what R (Eq. 42) is computed by: the program for a number of members, whose
// output is their "norm", and what it reads of all members beside "lambda".
type problem struct {
	program func(members int) engine.Program
	in      residents
	// solutions says that those at the last λ of a member are wanted, known that the fixed
	// points have been found, and no more than the solutions there is missing.
	solutions, known bool
}

// ridge is the problem of a layer with its targets as right-hand sides.
func (g *group) ridge(one *solved, t *targets) problem {
	return problem{program: func(m int) engine.Program { return ridgeProgram(m, g.n, t.columns) },
		in: residents{"k": one.kernels["k"], "targets": t.values["targets"], "mean": t.values["mean"]}}
}

// run is the solutions of one run, of some members, and the rows of those for which it was the
// last.
type run struct {
	solutions *engine.Resident
	members   []int
	last      []int
}

// find advances the fixed points of all members together until each has been found. A run
// evaluates R for those that are still searched for, whose inputs are taken out of the batch
// where others have been found. What fails for a member ends its search.
//
// The runs that it returns have the solutions of the members, where they are wanted. The
// caller closes them.
func (g *group) find(ctx context.Context, of problem, points []*fixedPoint) (runs []run, err error) {
	var active []int
	for i, f := range g.fits {
		if f.err == nil {
			active = append(active, i)
		}
	}
	in, rows := of.in, active
	var own residents // of the members that are searched for
	defer func() {
		own.close()
		if err != nil {
			closeRuns(runs)
		}
	}()
	for len(active) > 0 {
		picked, err := pick(ctx, g.e, g.e.ElementType(), in, rows)
		if err != nil {
			return runs, err
		}
		own.close()
		own = picked
		one, rest, err := g.evaluate(ctx, of, picked, active, points)
		if err != nil {
			return runs, err
		}
		if one.last != nil && of.solutions {
			runs = append(runs, one)
		} else if one.solutions != nil {
			one.solutions.Close()
		}
		active = nil
		for _, row := range rest {
			active = append(active, one.members[row])
		}
		in, rows = picked, rest
	}
	return runs, nil
}

// evaluate computes R for the active members, of which the inputs are, and takes a step of
// their fixed points. The rows of the members that go on are the rest.
func (g *group) evaluate(ctx context.Context, of problem, in residents, active []int, points []*fixedPoint,
) (one run, rest []int, err error) {
	program, lambdas := of.program(len(active)), make([]float64, len(active))
	for row, i := range active {
		lambdas[row] = points[i].next()
	}
	values := in.values()
	if values["lambda"], err = batch.Scalars(g.e.ElementType(), lambdas); err != nil {
		return one, nil, err
	}
	var stay []engine.RunOption
	if in["targets"] != nil {
		stay = append(stay, engine.Stay("solutions"))
	}
	out, err := g.e.Run(ctx, program, values, stay...)
	failed, err := failures(program, err, len(active))
	if err != nil {
		return one, nil, err
	}
	one.members = active
	if v, ok := out["solutions"].(*engine.Resident); ok {
		one.solutions = v
	}
	norms, err := engine.Floats(out["norm"])
	if err != nil {
		return one, nil, err
	}
	for row, i := range active {
		f, done, err := g.fits[i], of.known, failed[row]
		if err == nil && !done {
			r := lambdas[row] * lambdas[row] * norms[row] / (float64(f.p) * float64(f.n)) // Eq. (42)
			done, err = points[i].take(r)
		}
		switch {
		case err != nil:
			g.failed(i, err)
		case done:
			one.last = append(one.last, row)
		default:
			rest = append(rest, row)
		}
	}
	return one, rest, nil
}

// closeRuns frees the solutions of runs.
func closeRuns(runs []run) {
	for _, one := range runs {
		one.solutions.Close()
	}
}

// stay lets the last solutions of all members stay where they are, and closes the runs.
func (g *group) stay(ctx context.Context, one *solved, runs []run) error {
	defer closeRuns(runs)
	for _, r := range runs {
		picked, err := pick(ctx, g.e, g.e.ElementType(), residents{"solutions": r.solutions}, r.last)
		if err != nil {
			return err
		}
		members := make([]int, len(r.last))
		for i, row := range r.last {
			members[i] = r.members[row]
		}
		one.resident = append(one.resident, run{solutions: picked["solutions"], members: members})
	}
	return nil
}

// take copies the solutions of layers to the host, all in one go, and frees them there.
func (g *group) take(ctx context.Context, layers ...*solved) error {
	var values []*engine.Resident
	for _, one := range layers {
		for _, r := range one.resident {
			values = append(values, r.solutions)
		}
	}
	all, err := hosts(ctx, values)
	if err != nil {
		return err
	}
	for _, one := range layers {
		for _, r := range one.resident {
			for at, member := range r.members {
				one.solutions[member] = memberOf(all[0], at)
			}
			all = all[1:]
		}
		closeRuns(one.resident)
		one.resident = nil
	}
	return nil
}

// memberOf are the elements of a member of a batch, which share its memory.
func memberOf(v gorgonia.Value, i int) any {
	size := v.Shape().TotalSize() / v.Shape()[0]
	if data, ok := engine.Data(v).([]float64); ok {
		return data[i*size : (i+1)*size]
	}
	return engine.Data(v).([]float32)[i*size : (i+1)*size]
}
