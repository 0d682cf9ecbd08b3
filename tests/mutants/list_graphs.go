package main

const (
	engine = "./graphs/engine"
	op     = "./graphs/op"
)

// graphMutants are wrong lines of operations and of their execution on the host.
var graphMutants = []Mutant{
	// Kernels and operations.
	{Name: "solve: an inverse by panels", File: "graphs/op/solve.go", Package: "./graphs/op",
		Tests: "TestInverseByPanels", Old: `at+cols, cols, n-at, 1,`, New: `at+cols, cols, n-at-1, 1,`},
	{Name: "kernel: exponentiated quadratic", File: "graphs/op/kernel.go", Package: "./graphs/kernel",
		Old: `vector.ScaledExp(row, row, 0, -rate, scale)`,
		New: `vector.ScaledExp(row, row, 0, -rate*(1+1e-9), scale)`},
	{Name: "kernel: Matérn 5/2", File: "graphs/op/kernel.go", Package: "./graphs/kernel",
		Old: `scale, -scale, T(p.Scale/3))`, New: `scale, -scale, T(p.Scale/2))`},
	{Name: "kernel: derivative of Matérn 3/2", File: "graphs/op/kernelslope.go", Package: "./graphs/kernel",
		Tests: "Gradient", Old: `-p.Scale*p.Rate*p.Rate/2`, New: `-p.Scale*p.Rate*p.Rate/3`},
	{Name: "kernel: derivative of Matérn 1/2", File: "graphs/op/kernelslope.go", Package: "./graphs/gp",
		Tests: "Evaluate", Old: `p.Scale *= -p.Rate / 2`, New: `p.Scale *= -p.Rate`},
	{Name: "kernel: weights of a derivative", File: "graphs/op/kernelslope.go", Package: op,
		Tests: "Single|Gradients", Old: `c.in[2].row(i)[first:first+len(row)]`,
		New: `c.in[2].row(0)[first:first+len(row)]`},
	{Name: "kernel: row sums of a derivative", File: "graphs/op/metricgradient.go", Package: op, Tests: "Gradient",
		Old: `2*sum(w.row(i))`, New: `sum(w.row(i))`},
	{Name: "kernel: centre of a derivative", File: "graphs/op/metricgradient.go", Package: op,
		Tests: "CloseAndDistant", Old: `centre := columnMeans(y)`, New: `centre := make([]float64, d)`},
	{Name: "kernel: sign of an L1 derivative", File: "graphs/op/metricgradient.go", Package: op, Tests: "Gradients",
		Old: `return above - below`, New: `return below - above`},
	{Name: "likelihood: covariance with noise", File: "graphs/op/solve.go", Package: op, Tests: "Gradients",
		Old: `c.out.data[i*n+i] += s`, New: `c.out.data[i*n+i] += s * s`},
	{Name: "likelihood: determinant", File: "graphs/gp/program.go", Package: "./graphs/gp", Tests: "Evaluate",
		Old: `b.Add(fit, b.LogDet(cov))`, New: `b.Sub(fit, b.LogDet(cov))`},
	{Name: "likelihood: units of the outputs", File: "graphs/gp/search.go", Package: "./graphs/gp",
		Tests: "Units", Old: `-best.F - float64(p.n)*math.Log(p.size)`, New: `-best.F`},
	{Name: "likelihood: slope of the bounds", File: "graphs/gp/search.go", Package: "./graphs/gp",
		Tests: "ScikitLearn", Old: `width*s*(1-s)`, New: `-width*s*(1-s)`},
	{Name: "likelihood: a search that stops short", File: "graphs/gp/search.go", Package: "./graphs/gp",
		Tests: "Short", Old: `if !f.Converged {`, New: `if f.Converged {`},
	{Name: "kernel: distances that cancel", File: "graphs/op/distance.go", Package: op, Tests: "Cancel",
		Old: `if s < t.near*norms {`, New: `if s < 0*norms {`},
	{Name: "kernel: symmetry", File: "graphs/op/distance.go", Package: "./graphs/kernel",
		Old: `r0[j], r1[j], r2[j]`, New: `r0[j], r2[j], r1[j]`},
	{Name: "kernel: matrix that is not positive definite", File: "graphs/op/cholesky.go", Package: op, Tests: "Positive",
		Old: `if failed == 0 {
		return nil
	}
	shifted`, New: `if failed >= 0 {
		return nil
	}
	shifted`},
	{Name: "eigenpairs: residual", File: "graphs/op/leading.go", Package: op, Tests: "LeadingEigen",
		Old: `residual += d * d`, New: `residual += d * d / 4`},
	{Name: "eigenpairs: second projection", File: "graphs/op/leading.go", Package: op, Tests: "LeadingEigen",
		Old: `*float64(s.first)*s.size {`, New: `*0*s.size {`},
	{Name: "kernel: eigenvalues beside a block", File: "graphs/op/eigen.go", Package: op, Tests: "LeftOut",
		Old: `w[k-1] < 0 {`, New: `w[k-1] < -1e30 {`},
	{Name: "kernel: zeros beside a block", File: "graphs/op/padding.go", Package: op, Tests: "LeftOut",
		Old: `row[i] != d ||`, New: `row[i] != d &&`},
	{Name: "kernel: variance of a weighted sum", File: "experiments/cloaking/cloak/model.go", Package: cloak,
		Tests: "Variance", Old: `out[i] *= v*v + (1-v)*(1-v)`, New: `out[i] *= v + (1 - v)`},
	{Name: "kernel: a lengthscale for each input", File: "experiments/cloaking/cloak/lengthscales.go", Package: regress,
		Tests: "Lengthscale", Old: `row[j] /= l`, New: `row[j] /= k.Lengthscale.Numbers[0]`},
	{Name: "coverage: the noise is part of a region", File: "experiments/cloaking/regress/regression.go",
		Package: regress, Tests: "Coverage", Old: `math.Hypot(s.observationSD[i], s.noiseSD[i])`,
		New: `s.observationSD[i]`},
	{Name: "batch: each member has operands of its own", File: "graphs/op/batch.go", Package: op,
		Tests: "Members", Old: `c.in[j] = memberOf(data, member[j], i)`, New: `c.in[j] = memberOf(data, member[j], 0)`},
	{Name: "batch: the first failure of a member stands", File: "graphs/op/members.go", Package: op,
		Tests: "Failures", Old: `known.find(failure.Member); !found {`, New: `known.find(failure.Member); found || !found {`},

	// Programs and their execution.
	{Name: "builder: an error ends the construction", File: "graphs/engine/program.go", Package: engine, Tests: "Build",
		Old: `return nil, fmt.Errorf("building the graph of %s: %w", p.Name, b.err)`, New: `return b.graph, nil`},
	{Name: "builder: the first error stays", File: "graphs/engine/program.go", Package: engine, Tests: "FirstError",
		Old: `Fail(err error) {
	if b.err == nil && err`, New: `Fail(err error) {
	if err`},
	{Name: "builder: nothing is added after an error", File: "graphs/engine/formula.go", Package: engine,
		Tests: "FirstError", Old: `if b.err != nil {
		return b.none
	}
	for`, New: `if b.graph == nil {
		return b.none
	}
	for`},
	{Name: "executor: operands after a rewritten node", File: "graphs/engine/executor.go", Package: engine,
		Tests: "Rewritten", Old: `operands := children(x.graph.needed, n)`, New: `operands := children(x.graph.Expr, n)`},
	{Name: "executor: random numbers of every run", File: "graphs/engine/executor.go", Package: engine,
		Tests: "Random", Old: `len(operands) == 0 && !op.Random(n.Op())`, New: `len(operands) == 0 && !op.Random(nil)`},
	{Name: "executor: what is read outside of a chain", File: "graphs/engine/fusion.go", Package: engine,
		Tests: "Fused", Old: `if readers[s.out] > inside[s.out] {`, New: `if readers[s.out] < inside[s.out] {`},
	{Name: "executor: arguments of a chain's kernel", File: "graphs/engine/fusion.go", Package: engine,
		Tests: "Fus", Old: `readers) > limit {`, New: `readers) > 1<<20 {`},
	{Name: "executor: memory of a chain", File: "graphs/engine/fusion.go", Package: engine, Tests: "Fused",
		Old: `c.dead = append(c.dead, s.dead...)`, New: `c.dead = s.dead`},
	{Name: "executor: shape of a result", File: "graphs/engine/host.go", Package: engine, Tests: "Shapes",
		Old: `if v, err = shaped(v, out); err != nil {`,
		New: `if _, err = shaped(v, out); err != nil {`},
	{Name: "executor: operands of another shape", File: "graphs/engine/value.go", Package: engine,
		Tests: "Refuses", Old: `case !slices.Equal(longer(have), longer(want)):`, New: `case longer(have) == nil:`},
	{Name: "executor: a queued run uses what it writes", File: "graphs/engine/leases.go", Package: engine,
		Tests: "Queued", Old: `append(l.reads, m.retain())`, New: `l.reads`},
	{Name: "executor: failures of what a run reads", File: "graphs/engine/residents.go", Package: engine,
		Tests: "Failure", Old: `u.err = failed.Keep(m.settle())`, New: `_ = m.settle()`},
	{Name: "executor: elements of its own for each resident value", File: "graphs/engine/host.go",
		Package: engine, Tests: "Stay", Old: `if buf.borrowed || buf.shared {`, New: `if buf.value == nil {`},
	{Name: "operation: a launch of every one", File: "graphs/op/rows.go", Package: op, Tests: "EveryOperation",
		Old: `t.Launch(kernels.SumDiagonal{A: t.In(0), N: t.In(0).Rows, Out: t.Out()})`, New: `_ = kernels.SumDiagonal{}`},
	{Name: "operation: a case of every one", File: "graphs/op/rows.go", Package: op, Tests: "EveryOperation",
		Old: `return []Case{applied("Trace", Trace(), 10, s.normal(small, small))}`, New: `return nil`},
	{Name: "operation: parameters of a kernel", File: "graphs/kernels/source.go", Package: "./graphs/kernels",
		Tests: "Check", Old: `!slices.Equal(got, want) {`, New: `slices.Equal(got, nil) {`},
	{Name: "operation: place of a kernel's parameter", File: "graphs/kernels/factor.go",
		Package: "./graphs/kernels", Tests: "Agree", Old: `N, K int`, New: `K, N int`},
}
