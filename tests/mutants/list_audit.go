package main

const (
	audits     = "./experiments/audit"
	vectorFile = "experiments/audit/vector_test.go"
	sourceFile = "experiments/release/source.go"
	sumsFile   = "experiments/dpgp/sparse/exactsums.go"
	cloakFile  = "experiments/cloaking/cloak/mechanism.go"
	stepsFile  = "experiments/cloaking/cloak/privacy.go"
)

// Places of several errors: the text of the honest program.
const (
	noiseOfVector   = `noise := v.deviation * n[j]`
	normals         = `n := [2]float64{rng.NormFloat64(), rng.NormFloat64()}`
	rounded         = `x := math.RoundToEven((c+noise)/grid) * grid`
	noiseOfSource   = `g := n.grid`
	noisyCoordinate = `out[i] = s.noisy(n, v)`
	changeOfSums    = `change := sensitivity * (1 + 0x1p-38)`
	deltaOfSums     = `mechanism.SafeFactor(mechanism.Analytic, epsilon, delta)`
	budgetOfSteps   = `b.Epsilon/float64(steps), b.Delta/float64(steps)`
)

// Errors at these places.
const (
	ninePerCent = `g := n.grid
	g.multiple = uint64(0.9 * float64(g.multiple))`
	half = `g := n.grid
	g.multiple /= 2`
	reused = `out[i] = s.noisy(n, v)
			if i > 0 {
				first := out[0] - n.grid.value(query[0])
				out[i] = math.RoundToEven((n.grid.value(v)+first)/n.grid.unit()) * n.grid.unit()
			}`
	floatingPoint = `u := (float64(s.IntN(1<<31)) + 0.5) / (1 << 31)
			out[i] = n.grid.value(v) + n.Scale()*math.Sqrt2*math.Erfinv(2*u-1)`
	perCoordinate = `change := max(v*blocks.Largest.Product, ratio*v*v*blocks.Largest.Weight)`
)

// The calibration of predictions, whose outputs are clipped to the interval that it
// calibrates for, or to a wider one.
const (
	clipped = `	s := &Mechanism{Directions: r, Design: d, Within: within}
	low, high := within.Low-within.Prior, within.High-within.Prior
	largest := make([]float64, len(d.Lambda))
	for j := range largest {
		largest[j] = math.Max(math.Abs(low), math.Abs(high))
	}
	var err error
	s.Query, err = release.NewLinear("whitened predictions", d.Whitened(r), release.Up(high-low), largest)
`
	clippedWider = `	width := within.High - within.Low
	within.Low, within.High = within.Low-width, within.High+width
	s := &Mechanism{Directions: r, Design: d, Within: within}
	low, high := within.Low-within.Prior, within.High-within.Prior
	largest := make([]float64, len(d.Lambda))
	for j := range largest {
		largest[j] = math.Max(math.Abs(low), math.Abs(high))
	}
	var err error
	s.Query, err = release.NewLinear("whitened predictions", d.Whitened(r), release.Up(width), largest)
`
)

// auditMutants are errors that an audit finds in a release: in a small one, a vector with
// noise or a choice of four candidates, and in those of the experiments.
var auditMutants = []Mutant{
	{Name: "audit: vector: noise ×.9", File: vectorFile, Package: audits, Tests: "TestSmallReleases/vector",
		Old: noiseOfVector, New: `noise := 0.9 * v.deviation * n[j]`},
	{Name: "audit: vector: noise ×.5", File: vectorFile, Package: audits, Tests: "TestSmallReleases/vector",
		Old: noiseOfVector, New: `noise := 0.5 * v.deviation * n[j]`},
	{Name: "audit: vector: δ×10", File: vectorFile, Package: audits, Tests: "TestSmallReleases/vector",
		Old: `mechanism.AnalyticGaussian(vectorClaim.Epsilon, vectorClaim.Delta)`,
		New: `mechanism.AnalyticGaussian(vectorClaim.Epsilon, 10*vectorClaim.Delta)`},
	{Name: "audit: vector: sensitivity of one coordinate for two", File: vectorFile, Package: audits,
		Tests: "TestSmallReleases/vector", Old: `sensitivity := math.Sqrt(5)`, New: `sensitivity := 1.0`},
	{Name: "audit: vector: covariance of other coordinates", File: vectorFile, Package: audits,
		Tests: "TestSmallReleases/vector", Old: normals, New: `n := whiten([2]float64{rng.NormFloat64(), rng.NormFloat64()})`},
	{Name: "audit: vector: data-dependent rank", File: vectorFile, Package: audits, Tests: "TestSmallReleases/vector",
		Old: `for j, c := range center {`, New: `for j, c := range center {
			if j == 1 && q[1] == 0 {
				continue
			}`},
	{Name: "audit: vector: data-dependent scale", File: vectorFile, Package: audits, Tests: "TestSmallReleases/vector",
		Old: noiseOfVector, New: `noise := v.deviation * n[j] * (1 + 0.1*q[1])`},
	{Name: "audit: vector: clipping after the fit", File: vectorFile, Package: audits, Tests: "TestSmallReleases/vector",
		Old: `q[j] += min(max(row[j], 0), 1)`, New: `q[j] = min(max(q[j]+row[j], 0), 5)`},
	{Name: "audit: vector: coordinates share noise", File: vectorFile, Package: audits, Tests: "TestSmallReleases/vector",
		Old: normals, New: `n := [2]float64{rng.NormFloat64()}
		n[1] = n[0]`},
	{Name: "audit: vector: every release has the same noise", File: vectorFile, Package: audits,
		Tests: "TestSmallReleases/vector", Old: `rng := rand.New(entropy)`, New: `rng := rand.New(rand.NewChaCha8([32]byte{1}))`},
	{Name: "audit: vector: composition forgotten", File: vectorFile, Package: audits, Tests: "TestSmallReleases/vector",
		Old: `const releases = 1`, New: `const releases = 2`},
	{Name: "audit: vector: floating-point sampler", File: vectorFile, Package: audits, Tests: "TestSmallReleases/vector",
		Old: rounded, New: `x := c + noise`},
	{Name: "audit: vector: coarser than the stated grid", File: vectorFile, Package: audits,
		Tests: "TestSmallReleases/vector", Old: rounded, New: `x := math.RoundToEven((c+noise)/(8*grid)) * 8 * grid`},
	{Name: "audit: vector: grid from the data", File: vectorFile, Package: audits, Tests: "TestSmallReleases/vector",
		Old: `grid := v.grid`, New: `grid := v.grid * (1 + math.Round(q[1]))`},
	{Name: "audit: vector: message from the data", File: vectorFile, Package: audits, Tests: "TestSmallReleases/vector",
		Old: `"released 5 rows\n"`, New: `fmt.Sprintf("released 5 rows, %g in the second column\n", q[1])`},
	{Name: "audit: vector: path of the data in the file", File: vectorFile, Package: audits,
		Tests: "TestSmallReleases/vector", Old: `"rows": 5}`, New: `"rows": 5, "data": "/home/user/patients.csv"}`},
	{Name: "audit: candidates: score is returned", File: vectorFile, Package: audits, Tests: "TestSmallReleases/candidates",
		Old: `[]float64{float64(i)}`, New: `[]float64{float64(i), scores[i]}`},
	{Name: "audit: candidates: half the sensitivity", File: vectorFile, Package: audits,
		Tests: "TestSmallReleases/candidates", Old: `Sensitivity: 1}`, New: `Sensitivity: 0.5}`},

	{Name: "audit: predictions: noise ×.9", File: sourceFile, Package: audits, Tests: "TestReleases$/predictions",
		Old: noiseOfSource, New: ninePerCent},
	{Name: "audit: predictions: noise ×.5", File: sourceFile, Package: audits, Tests: "TestReleases$/predictions",
		Old: noiseOfSource, New: half},
	{Name: "audit: predictions: δ×10", File: stepsFile, Package: audits, Tests: "TestReleases$/predictions",
		Old: budgetOfSteps, New: `b.Epsilon/float64(steps), 10*b.Delta/float64(steps)`},
	{Name: "audit: predictions: sensitivity of one coordinate for six", File: "experiments/release/linear.go",
		Package: audits, Tests: "TestReleases$/predictions", Old: `norm = max(norm, norm2(mat.Col(nil, j, q)))`,
		New: `norm = max(norm, mat.Norm(q.ColView(j), math.Inf(1)))`},
	{Name: "audit: predictions: data-dependent rank", File: cloakFile, Package: audits, Tests: "TestReleases$/predictions",
		Old: `return s.Design.Unwhiten(z), nil`, New: `if query[0] < 0 {
		z[len(z)-1] = 0
	}
	return s.Design.Unwhiten(z), nil`},
	{Name: "audit: predictions: clipping after the fit", File: cloakFile, Package: audits, Tests: "TestReleases$/predictions",
		Old: clipped, New: clippedWider},
	{Name: "audit: predictions: coordinates share noise", File: sourceFile, Package: audits, Tests: "TestReleases$/predictions",
		Old: noisyCoordinate, New: reused},
	{Name: "audit: predictions: floating-point sampler", File: sourceFile, Package: audits, Tests: "TestReleases$/predictions",
		Old: noisyCoordinate, New: floatingPoint},
	{Name: "audit: model: noise ×.9", File: sourceFile, Package: audits, Tests: "TestReleases$/model",
		Old: noiseOfSource, New: ninePerCent},
	{Name: "audit: model: noise ×.5", File: sourceFile, Package: audits, Tests: "TestReleases$/model",
		Old: noiseOfSource, New: half},
	{Name: "audit: model: δ×10", File: sumsFile, Package: audits, Tests: "TestReleases$/model",
		Old: deltaOfSums, New: `mechanism.SafeFactor(mechanism.Analytic, epsilon, 10*delta)`},
	{Name: "audit: model: sensitivity of one coordinate for nine", File: sumsFile, Package: audits,
		Tests: "TestReleases$/model", Old: changeOfSums, New: perCoordinate},
	// Contributions are cut to the largest of a row, coordinate by coordinate.
	{Name: "audit: model: clipping after the fit", File: "experiments/method/rows.go", Package: audits,
		Tests: "TestReleases$/model", Old: `p.Y = append(p.Y, max(-1, min(1, r.Scaled(v))))`,
		New: `p.Y = append(p.Y, r.Scaled(v))`},
	{Name: "audit: model: coordinates share noise", File: sourceFile, Package: audits, Tests: "TestReleases$/model",
		Old: noisyCoordinate, New: reused},
	{Name: "audit: model: floating-point sampler", File: sourceFile, Package: audits, Tests: "TestReleases$/model",
		Old: noisyCoordinate, New: floatingPoint},
	{Name: "audit: classes: composition forgotten", File: stepsFile, Package: audits, Tests: "TestReleases$/classes",
		Old: budgetOfSteps, New: `b.Epsilon, b.Delta`},
	{Name: "audit: rows: noise ×.5", File: sourceFile, Package: audits, Tests: "TestReleases$/rows",
		Old: noiseOfSource, New: half},
	// Inputs are clipped to twice their range on one side.
	{Name: "audit: rows: clipping after the noise", File: "experiments/kahm/wide/ranges.go", Package: audits,
		Tests: "TestReleases$/rows", Old: `max(0, min(1, r.unit(j, max(r.Low[j], min(r.High[j], v)))))`,
		New: `max(-1, min(1, r.unit(j, v)))`},
	{Name: "audit: rows: coordinates share noise", File: sourceFile, Package: audits, Tests: "TestReleases$/rows",
		Old: noisyCoordinate, New: reused},
	// The digits of the lengthscale tell the score.
	{Name: "audit: choice: score is returned", File: "experiments/cloaking/choose/release.go", Package: audits,
		Tests: "TestReleases$/choice", Old: `	metrics := releaseMetrics{
		boundMetrics{Sensitivity: p.choice.Change,`, New: `	out.Settings["lengthscale"] *= 1 + 1e-9*utilities[i]
	metrics := releaseMetrics{
		boundMetrics{Sensitivity: p.choice.Change,`},
	{Name: "audit: two inputs: sensitivity of one coordinate for all", File: sumsFile, Package: audits,
		Tests: "TestReleases$/two_inputs", Old: changeOfSums, New: perCoordinate},
	{Name: "audit: classifier: sensitivity of one class for three", File: sumsFile, Package: audits,
		Tests: "TestReleases$/classifier", Old: changeOfSums,
		New: `change := sensitivity * (1 + 0x1p-38) / math.Sqrt(float64(blocks.Number))`},
	{Name: "audit: blocks: each is scored by all rows", File: "experiments/dpgp/ownsearch.go", Package: audits,
		Tests: "TestReleases$/blocks", Old: `low, high := b*n/blocks, (b+1)*n/blocks`, New: `low, high := 0, n`},
}
