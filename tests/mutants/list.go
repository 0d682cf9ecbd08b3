package main

const (
	cloak     = "./experiments/cloaking/cloak"
	choose    = "./experiments/cloaking/choose"
	regress   = "./experiments/cloaking/regress"
	ownModel  = "./experiments/dpgp/regression"
	sparse    = "./experiments/dpgp/sparse"
	mechanism = "./experiments/mechanism"
	release   = "./experiments/release"
	budget    = "./experiments/budget"
	engine    = "./graphs/engine"
	op        = "./graphs/op"
	judge     = "./runner/claims/judge"
	record    = "./runner/record"
	runner    = "./runner"
	store     = "./runner/store"
)

// manyCuts makes the random test of power cuts long enough to find each.
const manyCuts = "PRIVKERN_POWER_CUTS=5000"

// mutants are wrong lines where a wrong line would cost most: noise that is too
// small, numbers that are wrong, results that are lost or pass for others.
var mutants = []Mutant{
	// Noise.
	{Name: "noise: normal law", File: "experiments/release/law.go", Package: release, Tests: "TestLaws",
		Old: `uint64(k) * (uint64(k) - 1)`, New: `uint64(k) * uint64(k)`},
	{Name: "noise: exponential law", File: "experiments/release/law.go", Package: release, Tests: "TestLaws",
		Old: `for b.expFloat(1) {`, New: `for b.expFloat(0.5) {`},
	{Name: "noise: sign", File: "experiments/release/source.go", Package: release,
		Old: `g.add(query, s.bits.coin(), &m, s.bits)`, New: `g.add(query, false, &m, s.bits)`},
	{Name: "noise: rounding to the grid", File: "experiments/release/grid.go", Package: release, Tests: "Add|Grid",
		Old: `<<(unitBits-queryBits) + 1<<(unitBits-1)`, New: `<<(unitBits-queryBits) + 1<<(unitBits-2)`},
	{Name: "noise: coarse grid", File: "experiments/release/grid.go", Package: release, Tests: "Grid|Calibrate",
		Old: `coarseness = 1000`, New: `coarseness = 10`},
	{Name: "noise: calibrated to what is computed", File: "experiments/release/gaussian.go", Package: release,
		Tests: "Calibrate", Old: `newGrid(Up(factor * n.sensitivity))`, New: `newGrid(Up(factor * q.Change))`},
	{Name: "noise: booked before it is drawn", File: "experiments/release/source.go", Package: release, Tests: "Books",
		Old: `if err := t.Book(s); err != nil {`, New: `if err := t.Book(s); err != nil && s.Rows < 0 {`},
	{Name: "noise: choice by half of epsilon", File: "experiments/release/choose.go", Package: release,
		Tests: "Choose|Exponents", Old: `(c.Epsilon/2 - exponentError)`, New: `(c.Epsilon - exponentError)`},
	{Name: "noise: analytic Gaussian", File: "experiments/mechanism/gaussian.go", Package: mechanism,
		Tests: "Gaussian|Safe", Old: `if logDelta(epsilon, mid) > target {`,
		New: `if logDelta(epsilon, mid) > target+1e-6 {`},
	{Name: "noise: zCDP of a Gaussian", File: "experiments/mechanism/zcdp.go", Package: mechanism,
		Old: `ZCDP(1 / sigma / sigma / 2)`, New: `ZCDP(1 / sigma / sigma / 4)`},
	{Name: "noise: exponential mechanism", File: "experiments/mechanism/exponential.go", Package: mechanism,
		Tests: "Exponential", Old: `halved := 1 //`, New: `halved := 0 //`},

	// Sensitivity.
	{Name: "sensitivity: rounding errors of a query", File: "experiments/release/gaussian.go", Package: release,
		Tests: "Calibrate", Old: `2*(q.Error+all*first.queryError())`, New: `(q.Error + all*first.queryError())`},
	{Name: "sensitivity: largest column", File: "experiments/release/linear.go", Package: release, Tests: "Linear",
		Old: `norm = max(norm, norm2(ctx, mat.Col(nil, j, q)))`, New: `norm = norm2(ctx, mat.Col(nil, j, q))`},
	{Name: "sensitivity: bound on a private number", File: "experiments/release/linear.go", Package: release,
		Tests: "Linear", Old: `!(math.Abs(v) <= l.largest[j]) &&`, New: `!(math.Abs(v) <= 2*l.largest[j]) &&`},
	{Name: "sensitivity: contributions are cut", File: "experiments/release/sums.go", Package: release, Tests: "Sums|Cut",
		Old: `v = min(max(v, -s.largest), s.largest)`, New: `v = min(v, s.largest)`},
	{Name: "sensitivity: width of the outputs", File: "experiments/cloaking/cloak/mechanism.go", Package: regress,
		Tests: "Noise", Old: `release.Up(high-low)`, New: `release.Up((high-low)/2)`},
	{Name: "sensitivity: clipped outputs", File: "experiments/cloaking/cloak/mechanism.go", Package: regress,
		Tests: "Release|Attack", Old: `v = min(max(v, s.Within.Low), s.Within.High)`, New: `v = max(v, s.Within.Low)`},
	{Name: "sensitivity: Newton steps share epsilon", File: "experiments/cloaking/cloak/privacy.go", Package: cloak,
		Tests: "Budget", Old: `epsilon/float64(steps), delta/float64(steps)`,
		New: `epsilon, delta/float64(steps)`},
	{Name: "sensitivity: utility of a choice", File: "experiments/cloaking/choose/sensitivity.go", Package: choose,
		Tests: "Sensitivity", Old: `/ (4 * own)`, New: `/ (5 * own)`},
	{Name: "sensitivity: weight beside the diagonal", File: "experiments/dpgp/sparse/exactsums.go", Package: ownModel,
		Tests: "Sums|Release", Old: `ratio*math.Sqrt2, v*v)`, New: `ratio*2, v*v)`},
	{Name: "sensitivity: exact bound of a sparse GP", File: "experiments/dpgp/sparse/maximum.go", Package: sparse,
		Tests: "Exact|Bounds", Old: `return max(found*(1+exactTolerance), left)`, New: `return max(found*0.99, left)`},
	{Name: "sensitivity: joint bound", File: "experiments/dpgp/sparse/bound.go", Package: sparse,
		Tests: "Sensitivity|Joint", Old: `math.Pow(r, 4)/(2*c)`, New: `math.Pow(r, 4)/(4*c)`},

	// Budget.
	{Name: "budget: limit of epsilon and of delta", File: "experiments/budget/rule.go", Package: budget,
		Tests: "Boundary|Totals|Overspends", Old: `epsilon.Cmp(decimal(a.Limit.Epsilon)) <= 0 && delta`,
		New: `epsilon.Cmp(decimal(a.Limit.Epsilon)) <= 0 || delta`},
	{Name: "budget: composition", File: "experiments/budget/rule.go", Package: budget, Tests: "Boundary|Totals|Mixture",
		Old: `mu2.Add(mu2, square(e.Mu)).Cmp(square(down)) <= 0`, New: `mu2.Set(square(e.Mu)).Cmp(square(down)) <= 0`},
	{Name: "budget: digest of the ledger", File: "experiments/budget/file.go", Package: budget, Tests: "Byte|Unusable",
		Old: `hex.EncodeToString(sum[:]) != head.SHA256`, New: `len(sum) == 0`},
	{Name: "budget: lock", File: "runner/store/disk/lock_flock.go", Package: budget, Tests: "Concurrent|Lock",
		Old: `syscall.LOCK_EX|syscall.LOCK_NB`, New: `syscall.LOCK_SH | syscall.LOCK_NB`},

	// Kernels.
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
		Tests: "Single|Gradients", Old: `c.in[2].row(i)[first : first+len(row)]`,
		New: `c.in[2].row(0)[first : first+len(row)]`},
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
		Old: `if s < t.near*norms {`, New: `if s < 0 {`},
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
	{Name: "machine: directions that are not resolved", File: "graphs/hull/principal.go", Package: "./graphs/hull",
		Tests: "Principal", Old: `worst <= residualTolerance*values[k-1] &&`, New: `worst <= values[0] &&`},
	{Name: "search on a device: one origin", File: "graphs/hull/direct.go", Package: "./graphs/hull",
		Tests: "SearchOnDevice|SearchIsExact", Old: `to[j] = v - s.device.origin[j]`, New: `to[j] = v`},
	{Name: "search on a device: constants go at the end", File: "graphs/hull/placement.go", Package: "./graphs/hull",
		Tests: "SearchOnDevice|SearchThatFails", Old: `if !p.stays {`, New: `if false {`},
	{Name: "search on a device: constants make room", File: "graphs/hull/placement.go", Package: "./graphs/hull",
		Tests: "FullDevice", Old: `!errors.Is(err, engine.ErrOutOfDeviceMemory) || !p.giveUp() {`, New: `true {`},
	{Name: "machines: members that go on", File: "graphs/hull/layer.go", Package: "./graphs/hull", Tests: "BitsOfAMachine",
		Old: `in, rows = picked, rest`, New: `in, rows = of.in, rest`},
	{Name: "machines: solutions of members", File: "graphs/hull/layer.go", Package: "./graphs/hull",
		Tests: "BitsOfAMachine", Old: `one.last = append(one.last, row)`, New: `one.last = append(one.last, i)`},
	{Name: "machines on a device: solutions of all layers", File: "graphs/hull/machine.go", Package: "./graphs/hull",
		Tests: "FitsOnDevice", Old: `bytes < residentBytes {`, New: `bytes < 0 {`},
	{Name: "machines on a device: size classes", File: "graphs/hull/group.go", Package: "./graphs/hull",
		Tests: "FitsOnDevice", Old: `return (n + deviceClass - 1) / deviceClass * deviceClass`,
		New: `return batch.SizeClass(n)`},
	{Name: "machines: all of a batch", File: "graphs/hull/members.go", Package: "./graphs/hull",
		Tests: "BitsOfAMachine", Old: `shapes[name][0] == len(members)`, New: `shapes[name][0] >= len(members)`},
	{Name: "kernel: eigenvalues beside a block", File: "graphs/op/eigen.go", Package: op, Tests: "LeftOut",
		Old: `w[k-1] < 0 {`, New: `w[k-1] < -1e30 {`},
	{Name: "kernel: zeros beside a block", File: "graphs/op/padding.go", Package: op, Tests: "LeftOut",
		Old: `row[i] != d ||`, New: `row[i] != d &&`},
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
	{Name: "executor: steps that wait for each other", File: "graphs/engine/fusion.go", Package: engine,
		Tests: "Fused|Sizes", Old: `ok && !larger`, New: `ok`},
	{Name: "executor: what is read outside of a chain", File: "graphs/engine/fusion.go", Package: engine,
		Tests: "Fused", Old: `for _, s := range x.steps[u.to:] {`, New: `for _, s := range x.steps[len(x.steps):] {`},
	{Name: "executor: memory of a chain", File: "graphs/engine/fusion.go", Package: engine, Tests: "Fused",
		Old: `c.dead = append(c.dead, s.dead...)`, New: `c.dead = s.dead`},
	{Name: "executor: shape of a result", File: "graphs/engine/host.go", Package: engine, Tests: "Shapes",
		Old: `v, err := shaped(v, out)`, New: `_, err := shaped(v, out)`},
	{Name: "executor: operands of another shape", File: "graphs/engine/value.go", Package: engine,
		Tests: "Refuses", Old: `case !slices.Equal(longer(have), longer(want)):`, New: `case longer(have) == nil:`},
	{Name: "executor: a queued run uses what it writes", File: "graphs/engine/visit.go", Package: engine,
		Tests: "Queued", Old: `append(v.reads, m.retain())`, New: `v.reads`},
	{Name: "executor: failures of what a run reads", File: "graphs/engine/residents.go", Package: engine,
		Tests: "Failure", Old: `u.err = failed.Keep(m.settle())`, New: `_ = m.settle()`},
	{Name: "executor: elements of its own for each resident value", File: "graphs/engine/hostresident.go",
		Package: engine, Tests: "Stay", Old: `if buf.borrowed || buf.shared {`, New: `if buf.value == nil {`},
	{Name: "operation: a launch of every one", File: "graphs/op/rows.go", Package: op, Tests: "EveryOperation",
		Old: `t.Launch(kernels.SumDiagonal{A: t.In(0), N: t.In(0).Rows, Out: t.Out()})`, New: `_ = kernels.SumDiagonal{}`},
	{Name: "operation: a case of every one", File: "graphs/op/rows.go", Package: op, Tests: "EveryOperation",
		Old: `return []Case{applied("Trace", Trace(), 10, s.normal(small, small))}`, New: `return nil`},
	{Name: "operation: parameters of a kernel", File: "graphs/cuda/kernels/source.go", Package: "./graphs/cuda/kernels",
		Tests: "Check", Old: `!slices.Equal(got, want) {`, New: `slices.Equal(got, nil) {`},
	{Name: "operation: place of a kernel's parameter", File: "graphs/cuda/kernels/factor.go",
		Package: "./graphs/cuda/kernels", Tests: "Agree", Old: `N, K int`, New: `K, N int`},
	{Name: "kernel: Laplace approximation", File: "graphs/laplace/laplace.go", Package: "./graphs/laplace",
		Old: `norm := math.Sqrt(2 * max(v, 0))`, New: `norm := math.Sqrt(max(v, 0))`},

	// Verdicts.
	{Name: "verdict: band", File: "runner/claims/judge/verdict.go", Package: judge, Tests: "Verdict|Band",
		Old: `rounding + 2*math.Hypot(`, New: `rounding + 3*math.Hypot(`},
	{Name: "verdict: outside of the band", File: "runner/claims/ledger/relation.go", Package: judge, Tests: "Verdict",
		Old: `return diff <= tolerance+slack`, New: `return diff <= 2*tolerance+slack`},
	{Name: "verdict: gate", File: "runner/claims/judge/gate.go", Package: judge, Tests: "Check|Reference",
		Old: `case !r.Reference.OK:`, New: `case false:`},
	{Name: "verdict: part of the trials", File: "runner/claims/judge/gate.go", Package: judge, Tests: "Check|Part",
		Old: `case !r.Complete():`, New: `case false:`},

	// Keys and digests.
	{Name: "key: element type", File: "runner/record/key.go", Package: record, Tests: "Key",
		Old: `b = appendString(b, id.DType)`, New: `b = appendString(b, "")`},
	{Name: "key: result version", File: "runner/record/key.go", Package: record, Tests: "Key",
		Old: `strconv.AppendInt(b, int64(id.ResultVersion), 10)`, New: `strconv.AppendInt(b, 1, 10)`},
	{Name: "key: recomputed from the content", File: "runner/store/verify.go", Package: store, Tests: "Aside|Refuses",
		Old: `!f.plan.Expect(r, key, f.experiments)`, New: `r.Key != key`},
	{Name: "digest: compared", File: "runner/record/seal.go", Package: record,
		Old: `!= hex.EncodeToString(sum[:])`, New: `== hex.EncodeToString(sum[:1])`},

	// Locks and what several runners share.
	{Name: "memo: class of kernels", File: "runner/store/memo.go", Package: store, Tests: "Memo",
		Old: `o.Identity.DType, o.Class})`, New: `o.Identity.DType})`},
	{Name: "memo: key", File: "runner/store/memo.go", Package: store, Tests: "Memo",
		Old: `id := memoID{Of: m.of, Name: name, Key: key}`, New: `id := memoID{Of: m.of, Name: name}`},
	{Name: "memo: digest", File: "runner/store/memofile.go", Package: store, Tests: "Memo",
		Old: `!bytes.Equal(sum[:], raw[body:])`, New: `bytes.Equal(sum[:], raw[body:]) && body < 0`},
	{Name: "memo: of what its name says", File: "runner/store/memofile.go", Package: store, Tests: "Memo",
		Old: `if id.digest() != strings.TrimSuffix(name, memoSuffix) {`,
		New: `if strings.TrimSuffix(name, memoSuffix) == id.Of {`},
	{Name: "memo: computed by one", File: "runner/store/memo.go", Package: store, Tests: "Memo",
		Old: `if ok {
			return m.compute(`, New: `if ok || digest != "" {
			return m.compute(`},
	{Name: "memo: what is in use stays", File: "runner/store/memo.go", Package: store, Tests: "Memo",
		Old: `if err != nil || !ok {
		return false
	}
	defer unlock()
	return s.disk.Remove`, New: `if err != nil {
		return false
	}
	if ok {
		defer unlock()
	}
	return s.disk.Remove`},
	{Name: "memo: limit", File: "runner/store/memo.go", Package: store, Tests: "Memo",
		Old: `if total <= m.limit && !f.used.IsZero() {`, New: `if total <= 2*m.limit && !f.used.IsZero() {`},
	{Name: "memo: nothing of secure trials", File: "runner/execute/trial/shared.go", Package: "./runner/execute/trial",
		Tests: "Shares", Old: `j.Shared.Limit > 0 && !j.Secure &&`, New: `j.Shared.Limit > 0 &&`},
	{Name: "memo: nothing of releases", File: "runner/experiment/shared.go", Package: "./runner/execute/trial",
		Tests: "Shares", Old: `t.Secure || t.Book != nil || t.Entropy != nil`, New: `t.Secure && t.Book != nil`},
	{Name: "memo: noise of the clusters", File: "experiments/kahm/wide/clusters.go",
		Package: "./experiments/kahm/nearest", Tests: "SharedWork",
		Old: `in.Numbers(b.noise.Epsilon, b.noise.Delta, b.noise.D)`, New: `in.Numbers(b.noise.Delta, b.noise.D)`},
	{Name: "memo: labels of compressed kernels", File: "experiments/multikernel/compress.go",
		Package: "./experiments/multikernel", Tests: "SharedKernels",
		Old: `in.Whole(train.Utility...)`, New: `in.Whole(len(train.Utility))`},
	{Name: "scale: refused", File: "experiments/kahm/wide/scale.go", Package: "./experiments/kahm/wide", Tests: "Scale",
		Old: `case worst > refusedScale:`, New: `case worst > 2*refusedScale:`},
	{Name: "scale: of the samples of a machine", File: "experiments/kahm/wide/scale.go",
		Package: "./experiments/kahm/wide", Tests: "Scale",
		Old: `max(fewestSamples, n/max(1, b.branches(n)))`, New: `max(fewestSamples, n)`},
	{Name: "lock: within a process", File: "runner/store/lock.go", Package: store, Tests: "Lock",
		Old: `if l.held[at] || l.shared[at] > 0 {`, New: `if l.shared[at] > 0 {`},
	{Name: "lock: between processes", File: "runner/store/disk/ranges_unix.go", Package: store, Tests: "Lock",
		Old: `return l.lock(unix.F_WRLCK, at)`, New: `return l.lock(unix.F_UNLCK, at)`},
	{Name: "lock: finished by another runner", File: "runner/execute/schedule/schedule.go",
		Package: "./runner/execute/schedule",
		Tests:   "TwoRunners", Old: `} else if ok && (!r.wanted(rec.Status)`, New: `} else if ok && (r.summary.Total < 0`},
	{Name: "merge: better record", File: "runner/execute/merge/merge.go", Package: "./runner/execute/merge",
		Old: `if rank(r) > rank(records[best]) {`, New: `if rank(r) >= 0 {`},

	// Syncs: what is said to be there survives a power cut.
	{Name: "sync: content before its name", File: "runner/store/disk/write.go", Package: runner,
		Tests: "PowerCuts", Env: manyCuts,
		Old: `if err := f.Sync(); err != nil {`, New: `if err := f.Chmod(mode); err != nil {`},
	{Name: "sync: name", File: "runner/store/disk/write.go", Package: runner, Tests: "PowerCuts", Env: manyCuts,
		Old: `return d.SyncDir(filepath.Dir(path))`, New: `return nil`},
	{Name: "sync: records of killed runners", File: "runner/store/store.go", Package: runner,
		Tests: "PowerCuts", Env: manyCuts,
		Old: `return s.disk.SyncDir(filepath.Join(s.dir, trialsDir))`, New: `return nil`},
	{Name: "sync: what is put aside", File: "runner/store/store.go", Package: runner, Tests: "PowerCuts", Env: manyCuts,
		Old: `err = s.disk.SyncDir(filepath.Dir(to))`, New: `err = nil`},
	{Name: "sync: ledger of budgets", File: "experiments/budget/file.go", Package: budget, Tests: "PowerCut",
		Old: `if err := l.disk.SyncDir(filepath.Dir(l.path)); err != nil {`, New: `if err := error(nil); err != nil {`},

	// What a run may do.
	{Name: "run: memory of what runs together", File: "runner/execute/schedule/queue.go",
		Package: "./runner/execute/schedule",
		Tests:   "Queue|Memory", Old: `r.memory <= q.memory-q.used`, New: `r.memory <= q.memory`},
	{Name: "run: timed trials alone", File: "runner/execute/schedule/queue.go", Package: "./runner/execute/schedule",
		Tests: "Queue|Timed",
		Old:   `case q.closed || r.alone:`, New: `case r.alone:`},
	{Name: "run: trouble of the machine is no result", File: "runner/execute/schedule/requeue.go",
		Package: "./runner/execute/schedule",
		Tests:   "Requeue|Memory", Old: `case isTrouble && trouble.Machine:`, New: `case isTrouble && !trouble.Machine:`},

	// Launches on the device, on the simulated one.
	{Name: "device: order of the factors of a product", File: "graphs/cuda/linear.go", Package: "./graphs/cuda",
		Tests: "OperationsLikeTheHost", Device: true,
		Old: `t.blasCall("gemm_v2", operation(tB), operation(tA)`,
		New: `t.blasCall("gemm_v2", operation(tA), operation(tB)`},
	{Name: "device: steps between the products of a batch", File: "graphs/cuda/linear.go", Package: "./graphs/cuda",
		Tests: "OperationsLikeTheHost", Device: true, Old: `uintptr(k*n), a.At`, New: `uintptr(m*n), a.At`},
	{Name: "device: what a dropout keeps", File: "graphs/cuda/kernels/random.cu", Package: "./graphs/cuda",
		Tests: "OperationsLikeTheHost|Dropout", Device: true, Old: `kept[i] ? a[i] / (REAL)by`,
		New: `kept[i] ? a[i] * (REAL)by`},
	{Name: "device: threads of a launch", File: "graphs/cuda/kernels/launch.go", Package: "./graphs/cuda",
		Tests: "OperationsLikeTheHost|LargeValues", Device: true,
		Old: `Grid{min((n+block-1)/block, maxBlocks), block, 1}`, New: `Grid{min(n/block+1, maxBlocks), block - 1, 1}`},
	{Name: "device: failures are looked at", File: "graphs/cuda/failures.go", Package: "./graphs/cuda",
		Tests: "Failure|Fallible", Device: true, Old: `case left[0] != 0:`, New: `case left[0] > 1<<30:`},
	{Name: "device: failures that nobody waited for", File: "graphs/cuda/tail.go", Package: "./graphs/cuda",
		Tests: "QueuedFailure", Device: true, Old: `err = t.run.failure(t.infos, g, t.explain)`,
		New: `_ = t.infos`},
	{Name: "device: streams that follow each other", File: "graphs/cuda/tail.go", Package: "./graphs/cuda",
		Tests: "OtherLanes", Device: true, Old: `if l == t.lane {`, New: `if l != nil {`},
	{Name: "device: room of a block", File: "graphs/cuda/pool.go", Package: "./graphs/cuda", Device: true,
		Tests: "LargeValues|OperationsLikeTheHost", Old: `return (bytes + step - 1) / step * step`,
		New: `return bytes / step * step / 2`},
	{Name: "device: memory that a stream still uses", File: "graphs/cuda/pool.go", Package: "./graphs/cuda",
		Tests: "ConcurrentRuns", Device: true, Old: `if l != nil {`, New: `if l == nil {`},
	{Name: "device: page-locked memory of copies under way", File: "graphs/cuda/device.go", Package: "./graphs/cuda",
		Tests: "LargeValues", Device: true, Old: `if err := d.run.lane.wait(); err != nil {`,
		New: `if err := error(nil); err != nil {`},
	{Name: "device: row sums of a kernel's derivative", File: "graphs/cuda/kernels/pairs.cu", Package: "./graphs/cuda",
		Tests: "OperationsLikeTheHost", Device: true, Old: `2 * (double)sums[i] *`, New: `(double)sums[i] *`},
	{Name: "device: triangle of a factor", File: "graphs/cuda/linear.go", Package: "./graphs/cuda", Device: true,
		Tests: "OperationsLikeTheHost", Old: `return 1 // upper`, New: `return 0`},
	{Name: "batch: each member has operands of its own", File: "graphs/op/batch.go", Package: "./graphs/op",
		Tests: "Members", Old: `c.in[j] = memberOf(data, member[j], i)`, New: `c.in[j] = memberOf(data, member[j], 0)`},
	{Name: "batch: the first failure of a member stands", File: "graphs/op/members.go", Package: "./graphs/op",
		Tests: "Failures", Old: `known.find(failure.Member); !found {`, New: `known.find(failure.Member); found || !found {`},
	{Name: "device: what the members of a batch share", File: "graphs/cuda/members.go", Package: "./graphs/cuda",
		Device: true, Tests: "BatchesLikeTheHost", Old: `if b.Shared[i] {`, New: `if !b.Shared[i] {`},
	{Name: "device: above the diagonal of a batch's factors", File: "graphs/cuda/members.go", Package: "./graphs/cuda",
		Device: true, Tests: "BatchesLikeTheHost",
		Old: `t.Launch(kernels.PlaceDiagonal{Diagonal: diagonal, N: n, L: l})`, New: ``},
	{Name: "device: inverses of joined blocks", File: "graphs/cuda/kernels/cholesky.cu", Package: "./graphs/cuda",
		Device: true, Tests: "TriangularMembers", Old: `(REAL)-s;`, New: `(REAL)s;`},
	{Name: "device: eigenvalues in the matrix's size", File: "graphs/cuda/kernels/eigen.cu", Package: "./graphs/cuda",
		Device: true, Tests: "EigenOfMembers", Old: `w[rank] = d[j] * largest;`, New: `w[rank] = d[j];`},
	{Name: "device: large eigenproblems of all members", File: "graphs/cuda/linear.go", Package: "./graphs/cuda",
		Device: true, Tests: "EigenOfMembers", Old: `uintptr(v)+uintptr(8*i*t.stride(uintptr(v)))`, New: `uintptr(v)`},
	{Name: "device: barrier that no number depends on here", File: "graphs/cuda/kernels/factor.cu",
		Package: "./graphs/cuda", Device: true, Tests: "OperationsLikeTheHost/float64/ReciprocalCondition",
		Env: "CUDASIM_CHECK=races", Old: `__syncthreads(); // all have read x and the state`, New: `;`},
	{Name: "device: chains without contraction", File: "graphs/cuda/modules.go", Package: "./graphs/cuda", Device: true,
		Tests: "FusedGraphs", Old: `options = append(options, "--fmad=false")`, New: `_ = options`},
	{Name: "device: scalar of a fused kernel", File: "graphs/cuda/kernels/element.go", Package: "./graphs/cuda",
		Device: true, Tests: "RandomChains/float64", Old: `if words[i] == 0 {`, New: `if words[i] == 7 {`},
	{Name: "device: repeated operand of a fused kernel", File: "graphs/cuda/kernels/element.go",
		Package: "./graphs/cuda", Device: true, Tests: "RandomChains/float64",
		Old: `inner, by, inner, inner`, New: `inner, by, by, inner`},
	{Name: "device: product that is rounded by itself", File: "graphs/cuda/kernels/pairs.cu",
		Package: "./graphs/kernel", Device: true, Tests: "TestKernels/blas=gonum/Gibbs/symmetric",
		Old: `return times(a, a) + times(b, b);`, New: `return a * a + b * b;`},
}
