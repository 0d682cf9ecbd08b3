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

// solve computes the layers of groups, and adds them to their results. The groups take every step at the same time,
// and share its wait. A device computes several layers before their solutions are copied to the host with one wait.
//
// For each layer it computes the kernel matrices K (m×n×n), iterates to the fixed points of λ, and
// keeps the solutions (K+λI)⁻¹[Y−1μ, 1] (n×(p+1)) of each member.
func (c *call) solve(groups []*group) error {
	last := 0
	for _, g := range groups {
		defer g.close()
		if err := g.prepare(); err != nil {
			return fmt.Errorf("kernel affine hull machine: %w", err)
		}
		last = max(last, g.depth())
	}
	bytes := 0
	for layer := range last {
		var now []*group
		for _, g := range groups {
			if layer < g.depth() {
				g.layer = layer
				now = append(now, g)
			}
		}
		if err := c.iterate(now); err != nil {
			return err
		}
		var ready []*group
		for _, g := range now {
			bytes += g.layers[len(g.layers)-1].bytes()
		}
		for _, g := range now {
			if layer == g.depth()-1 || c.e.Backend() == "cpu" || bytes >= residentBytes {
				ready = append(ready, g)
			}
		}
		if len(ready) == len(now) {
			bytes = 0
		}
		if err := c.take(ready); err != nil {
			return err
		}
	}
	return nil
}

// depth returns the number of layers.
func (g *group) depth() int { return min(g.opts.Layers, g.dim) }

// march is a group on its way through the problems of a layer.
type march struct {
	*group
	one  *solved
	left []*problem    // the first one is being solved
	out  engine.Values // nil once they have been read
	// The evaluation that has been queued last.
	lambdas []float64
	failed  []error // of its members
}

// iterate computes a layer of groups up to their solutions.
func (c *call) iterate(groups []*group) error {
	all := make([]*march, len(groups))
	for i, g := range groups {
		one, err := g.encode(g.dim - g.layer)
		if err != nil {
			return err
		}
		g.layers = append(g.layers, one)
		all[i] = &march{group: g, one: one, left: g.problems(one)}
		all[i].begin()
	}
	for {
		var open []*march
		for _, m := range all {
			if m.advance() {
				open = append(open, m)
			}
		}
		if open == nil {
			break
		}
		if err := c.evaluate(open); err != nil {
			return err
		}
	}
	for _, m := range all {
		if err := m.gather(m.one); err != nil {
			return err
		}
	}
	return nil
}

// begin makes all members active in the next problem.
func (m *march) begin() {
	if len(m.left) > 0 {
		m.left[0].active = m.members()
		m.left[0].rows = m.left[0].active
	}
}

// advance ends problems without active members. It reports whether there is an evaluation to make.
func (m *march) advance() bool {
	for len(m.left) > 0 && len(m.left[0].active) == 0 {
		m.one.inputs.Close()
		if m.left[0].rough {
			for _, x := range m.one.fixed {
				x.restart(m.opts.Tolerance)
			}
		}
		m.left = m.left[1:]
		m.begin()
	}
	return len(m.left) > 0
}

// evaluate evaluates R for the active members of groups with one wait, and moves their fixed points.
func (c *call) evaluate(open []*march) error {
	norms := engine.Values{}
	defer func() {
		norms.Close()
		for _, m := range open { // after a failure, those that have not been read
			m.out.Close()
		}
	}()
	for i, m := range open {
		if err := m.queue(); err != nil {
			return err
		}
		norms[fmt.Sprint(i)] = m.out["norm"]
	}
	host, failed := engine.Host(c.ctx, norms)
	if err := known(failed); err != nil {
		return err
	}
	for i, m := range open {
		norm := engine.Values{"": norms[fmt.Sprint(i)]}
		if failed != nil { // perhaps of another group
			var err error
			if norm, err = engine.Host(c.ctx, norm); err != nil {
				m.failed, err = failures(m.program(), err, len(m.failed))
			}
			if err != nil {
				return err
			}
		} else {
			norm[""] = host[fmt.Sprint(i)]
		}
		if err := m.read(norm[""]); err != nil {
			return err
		}
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
			iteration: g.opts.Iteration, tolerance: g.opts.Tolerance, absolute: g.opts.Change, given: g.known(f)}
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

// known returns the λ of the layer that a machine was given; 0 for none.
func (g *group) known(f *fit) float64 {
	if f.index >= len(g.opts.Lambdas) || g.layer >= len(g.opts.Lambdas[f.index]) {
		return 0
	}
	return g.opts.Lambdas[f.index][g.layer]
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

// program returns the program of the evaluation.
func (m *march) program() engine.Program { return m.left[0].program(len(m.left[0].active)) }

// queue starts the evaluation of R for the active members of a problem. Of resident batches, only the rows of these
// members are read: they are picked from those of the step before.
func (m *march) queue() error {
	s, one := m.left[0], m.one
	picked, err := pick(m.ctx, m.e, m.e.ElementType(), s.in, s.rows)
	if err != nil {
		return err
	}
	one.inputs.Close()
	one.inputs, s.in = picked, picked
	m.lambdas = make([]float64, len(s.active))
	for row, i := range s.active {
		m.lambdas[row] = one.fixed[i].next()
	}
	in := maps.Clone(picked)
	if in["lambda"], err = batch.Scalars(m.e.ElementType(), m.lambdas); err != nil {
		return err
	}
	stay := []string{"norm"}
	if in["targets"] != nil {
		stay = append(stay, "solutions")
	}
	m.out, err = m.e.Run(m.ctx, m.program(), in, engine.Stay(stay...))
	m.failed, err = failures(m.program(), err, len(s.active))
	return err
}

// read takes the norms of an evaluation. Members whose fixed point is not found stay active; a member
// with an error leaves this problem and those that follow.
func (m *march) read(norm gorgonia.Value) error {
	s, one := m.left[0], m.one
	now := run{members: s.active}
	norms, err := engine.Floats(norm)
	if err != nil {
		return err
	}
	now.solutions, _ = m.out["solutions"].(*engine.Resident)
	m.out, s.rows = nil, nil
	for row, i := range s.active {
		f, done, err := m.fits[i], s.known, m.failed[row]
		if err == nil && !done {
			r := m.lambdas[row] * m.lambdas[row] * norms[row] / (float64(f.p) * float64(f.n)) // Eq. (42)
			done, err = one.fixed[i].take(r)
		}
		switch {
		case err != nil:
			f.err = fmt.Errorf("layer %d: %w", m.layer+1, err)
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

// take copies the solutions of the groups' layers to the host with one wait, frees them on the backend, and adds the
// layers to the groups' results.
func (c *call) take(groups []*group) error {
	var values []*engine.Resident
	for _, g := range groups {
		for _, one := range g.layers {
			for _, r := range one.resident {
				values = append(values, r.solutions)
			}
		}
	}
	all, err := hosts(c.ctx, values)
	if err != nil {
		return err
	}
	for _, g := range groups {
		for _, one := range g.layers {
			for _, r := range one.resident {
				for at, member := range r.members {
					one.solutions[member] = memberOf(all[0], at)
				}
				all[0] = nil
				all = all[1:]
			}
			closeRuns(one.resident)
			one.resident = nil
		}
	}
	for _, g := range groups {
		if err := c.add(g, g.layers); err != nil {
			return err
		}
		for _, one := range g.layers {
			one.close()
		}
		g.layers = nil
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
