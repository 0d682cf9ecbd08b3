package hull

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
)

// solved is a layer of the members of a group.
type solved struct {
	points, weights []*mat.Dense // X, N×d, and 1×d, see encode
	fixed           []*fixedPoint
	// Resident values: the kernel matrices "k" (m×n×n); the inputs of the active
	// members; the solutions of each run of a problem, then the last ones of all members.
	kernels, inputs engine.Values
	runs, resident  []run
	// solutions of each member on the host, in the samples' own coordinates: [B', b], N×(p+1)
	// and the rows of the padding, []float64 or []float32.
	solutions []any
}

// run holds the solutions of one run.
type run struct {
	solutions *engine.Resident // one for each of members
	members   []int
	last      []int // the rows of members that take no further step
}

// close frees the memory of the backend.
func (s *solved) close() {
	s.kernels.Close()
	s.inputs.Close()
	closeRuns(s.runs)
	closeRuns(s.resident)
	s.runs, s.resident = nil, nil
}

// closeRuns frees the solutions of runs.
func closeRuns(runs []run) {
	for _, one := range runs {
		one.solutions.Close()
	}
}

// problem is the fixed-point equation e = R(e, τ) (Eq. 41) of each member of a layer. A program
// that reads "lambda" and in has the output "norm", which gives R (Eq. 42).
type problem struct {
	program func(members int) engine.Program
	in      engine.Values
	// rough problems use a sketch, and only improve the start of the next one.
	rough bool
	// known problems have been solved; one run gives the solutions at the fixed points.
	known bool
	// solves keeps the solutions at the last λ of each member.
	solves bool
	// active are the members whose fixed point is not found yet, rows their rows of in.
	active, rows []int
}

// solve computes the layers of a group, and adds them to its results. A device computes several
// layers before their solutions are copied to the host with one wait.
//
// For each layer it computes the kernel matrices K (m×n×n), iterates to the fixed points of λ, and
// keeps the solutions (K+λI)⁻¹[Y−1μ, 1] (n×(p+1)) of each member.
func (g *group) solve() error {
	defer g.close()
	if err := g.prepare(); err != nil {
		return fmt.Errorf("kernel affine hull machine: %w", err)
	}
	layers, bytes := min(g.opts.Layers, g.dim), 0
	for g.layer = range layers {
		one, err := g.encode(g.dim - g.layer)
		if err != nil {
			return err
		}
		g.layers = append(g.layers, one)
		for _, s := range g.problems(one) {
			s.active = g.members()
			for s.rows = s.active; len(s.active) > 0; {
				if err := g.step(one, s); err != nil {
					return err
				}
			}
			one.inputs.Close()
			if s.rough {
				for _, x := range one.fixed {
					x.restart(g.opts.Tolerance)
				}
			}
		}
		if err := g.gather(one); err != nil {
			return err
		}
		bytes += one.bytes()
		if g.layer < layers-1 && g.e.Backend() != "cpu" && bytes < residentBytes {
			continue
		}
		if err := g.take(); err != nil {
			return err
		}
		if err := g.add(g, g.layers); err != nil {
			return err
		}
		for _, one := range g.layers {
			one.close()
		}
		g.layers, bytes = nil, 0
	}
	return nil
}

// members returns the members of a group without an error.
func (g *group) members() (all []int) {
	for i, f := range g.fits {
		if f.err == nil {
			all = append(all, i)
		}
	}
	return all
}

// residentBytes bounds the solutions of layers that stay on a device before they are copied to
// the host.
const residentBytes = 1 << 30

// encode begins the layer of the leading d directions: encodings, kernel matrices, and the start
// of each fixed point.
//
// The kernel of a layer is exp(−‖x−x′‖²/2) of x_j = z_j/√(dθ_j), which is Eq. (35) with n = d,
// because θ is diagonal in principal coordinates z. A direction without variance has weight zero.
func (g *group) encode(d int) (*solved, error) {
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
		scale := f.square / (float64(f.p) * float64(f.n)) // ‖Y‖²_F/(pN)
		one.fixed[i] = &fixedPoint{tau: 2 * scale, single: g.e.ElementType() == tensor.Float32,
			iteration: g.opts.Iteration, tolerance: g.opts.Tolerance}
		one.fixed[i].begin(f.found)
		f.found = append(f.found, one.fixed[i])
	}
	x, err := batch.Matrices(g.e.ElementType(), g.n, d, one.points)
	if err != nil {
		return nil, err
	}
	one.kernels, err = g.e.Run(g.ctx, kernelProgram(m, g.n, d), engine.Values{"x": x, "count": g.counts},
		engine.Stay("k"))
	return one, err
}

// problems returns the problems of a layer, in the order in which they are solved.
//
// One evaluation of R is a Cholesky factorisation, n³/3 operations, and a solve. The last problem
// keeps the solutions at the λ of the last evaluation, fixed.at, which is within the tolerance of
// λ*, not at λ* itself; that saves a factorisation.
//
//   - A sketch takes the first steps where fewer than two layers came before, so that no line of
//     fixed points gives a good start.
//   - With Gram matrices R is evaluated without solutions, which are computed once, at the end.
func (g *group) problems(one *solved) (all []*problem) {
	ridge := func(t *targets) *problem {
		return &problem{program: func(m int) engine.Program { return ridgeProgram(m, g.n, t.columns) },
			in: engine.Values{"k": one.kernels["k"], "targets": t.values["targets"], "mean": t.values["mean"]}}
	}
	if g.sketch != nil && g.layer < 2 {
		rough := ridge(g.sketch)
		rough.rough = true
		for _, x := range one.fixed {
			x.tolerance = sketchTolerance
		}
		all = append(all, rough)
	}
	if g.gram != nil {
		all = append(all, &problem{program: func(m int) engine.Program { return gramNormProgram(m, g.n) },
			in: engine.Values{"k": one.kernels["k"], "gram": g.gram["gram"]}})
	}
	full := ridge(g.targets)
	full.known, full.solves = g.gram != nil, true
	return append(all, full)
}

// step evaluates R for the active members of a problem, and moves their fixed points. Of
// resident batches, only the rows of these members are read: they are picked from those of the
// step before.
func (g *group) step(one *solved, s *problem) error {
	picked, err := pick(g.ctx, g.e, g.e.ElementType(), s.in, s.rows)
	if err != nil {
		return err
	}
	one.inputs.Close()
	one.inputs, s.in = picked, picked
	lambdas := make([]float64, len(s.active))
	for row, i := range s.active {
		lambdas[row] = one.fixed[i].next()
	}
	in := maps.Clone(picked)
	if in["lambda"], err = batch.Scalars(g.e.ElementType(), lambdas); err != nil {
		return err
	}
	var stay []engine.RunOption
	if in["targets"] != nil {
		stay = append(stay, engine.Stay("solutions"))
	}
	program := s.program(len(s.active))
	out, err := g.e.Run(g.ctx, program, in, stay...)
	failed, err := failures(program, err, len(s.active))
	if err != nil {
		return err
	}
	return g.read(one, s, out, lambdas, failed)
}

// read takes the outputs of a step. Members whose fixed point is not found stay active; a member
// with an error leaves this problem and those that follow.
func (g *group) read(one *solved, s *problem, out engine.Values, lambdas []float64, failed []error) error {
	now := run{members: s.active}
	now.solutions, _ = out["solutions"].(*engine.Resident)
	norms, err := engine.Floats(out["norm"])
	if err != nil {
		out.Close()
		return err
	}
	s.rows = nil
	for row, i := range s.active {
		f, done, err := g.fits[i], s.known, failed[row]
		if err == nil && !done {
			r := lambdas[row] * lambdas[row] * norms[row] / (float64(f.p) * float64(f.n)) // Eq. (42)
			done, err = one.fixed[i].take(r)
		}
		switch {
		case err != nil:
			f.err = fmt.Errorf("layer %d: %w", g.layer+1, err)
		case done:
			now.last = append(now.last, row)
		default:
			s.rows = append(s.rows, row)
		}
	}
	if s.solves && now.last != nil {
		one.runs = append(one.runs, now)
	} else if now.solutions != nil {
		now.solutions.Close()
	}
	s.active = nil
	for _, row := range s.rows {
		s.active = append(s.active, now.members[row])
	}
	return nil
}

// gather keeps the last solutions of all members, and frees everything else that no later
// computation reads.
func (g *group) gather(one *solved) error {
	for _, r := range one.runs {
		picked, err := pick(g.ctx, g.e, g.e.ElementType(), engine.Values{"solutions": r.solutions}, r.last)
		if err != nil {
			return err
		}
		members := make([]int, len(r.last))
		for i, row := range r.last {
			members[i] = r.members[row]
		}
		one.resident = append(one.resident, run{solutions: picked["solutions"].(*engine.Resident), members: members})
	}
	closeRuns(one.runs)
	one.runs = nil
	if !g.model || !slices.ContainsFunc(one.fixed, func(x *fixedPoint) bool { return x.at >= directFrom }) {
		one.kernels.Close()
	}
	return nil
}

// bytes returns the memory of the solutions that stay.
func (s *solved) bytes() (n int) {
	for _, one := range s.resident {
		n += int(one.solutions.MemSize())
	}
	return n
}

// take copies the solutions of the group's layers to the host with one wait, and frees them on
// the backend.
func (g *group) take() error {
	var values []*engine.Resident
	for _, one := range g.layers {
		for _, r := range one.resident {
			values = append(values, r.solutions)
		}
	}
	all, err := hosts(g.ctx, values)
	if err != nil {
		return err
	}
	for _, one := range g.layers {
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

// memberOf returns the elements of member i of a batch, which share its memory.
func memberOf(v gorgonia.Value, i int) any {
	size := v.Shape().TotalSize() / v.Shape()[0]
	if data, ok := engine.Data(v).([]float64); ok {
		return data[i*size : (i+1)*size]
	}
	return engine.Data(v).([]float32)[i*size : (i+1)*size]
}
