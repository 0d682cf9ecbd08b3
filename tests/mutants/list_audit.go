package main

import "strings"

const (
	audits     = "./experiments/audit"
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
	budgetOfSteps   = `b.Epsilon/steps, b.Delta/steps`
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
	s.Query, err = release.NewLinear("whitened predictions", d.Whitened(r), release.Up(high-low), units, largest)
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
	s.Query, err = release.NewLinear("whitened predictions", d.Whitened(r), release.Up(width), units, largest)
`
)

// small is an error in a small release of the tests of audits.
func small(subject, name, honest, wrong string) Mutant {
	return Mutant{Name: "audit: " + subject + ": " + name, File: "experiments/audit/vector_test.go", Package: audits,
		Tests: "TestSmallReleases/" + subject, Old: honest, New: wrong}
}

// inRelease is an error in a file of a release of an experiment.
func inRelease(subject, name, file, honest, wrong string) Mutant {
	return Mutant{Name: "audit: " + subject + ": " + name, File: file, Package: audits,
		Tests: "TestReleases$/" + strings.ReplaceAll(subject, " ", "_"), Old: honest, New: wrong}
}

// auditMutants are errors that an audit finds in a release: in a small one, a vector with
// noise or a choice of four candidates, and in those of the experiments.
var auditMutants = []Mutant{
	small("vector", "noise ×.9", noiseOfVector, `noise := 0.9 * v.deviation * n[j]`),
	small("vector", "noise ×.5", noiseOfVector, `noise := 0.5 * v.deviation * n[j]`),
	small("vector", "δ×10",
		`mechanism.AnalyticGaussian(vectorClaim.Epsilon, vectorClaim.Delta)`,
		`mechanism.AnalyticGaussian(vectorClaim.Epsilon, 10*vectorClaim.Delta)`),
	small("vector", "sensitivity of one coordinate for two", `sensitivity := math.Sqrt(5)`, `sensitivity := 1.0`),
	small("vector", "covariance of other coordinates",
		normals, `n := whiten([2]float64{rng.NormFloat64(), rng.NormFloat64()})`),
	small("vector", "data-dependent rank",
		`for j, c := range center {`, `for j, c := range center {
			if j == 1 && q[1] == 0 {
				continue
			}`),
	small("vector", "data-dependent scale", noiseOfVector, `noise := v.deviation * n[j] * (1 + 0.1*q[1])`),
	small("vector", "clipping after the fit", `q[j] += min(max(row[j], 0), 1)`, `q[j] = min(max(q[j]+row[j], 0), 5)`),
	small("vector", "coordinates share noise",
		normals, `n := [2]float64{rng.NormFloat64()}
		n[1] = n[0]`),
	small("vector", "every release has the same noise",
		`rng := rand.New(entropy)`, `rng := rand.New(rand.NewChaCha8([32]byte{1}))`),
	small("vector", "composition forgotten", `const releases = 1`, `const releases = 2`),
	small("vector", "floating-point sampler", rounded, `x := c + noise`),
	small("vector", "coarser than the stated grid", rounded, `x := math.RoundToEven((c+noise)/(8*grid)) * 8 * grid`),
	small("vector", "grid from the data", `grid := v.grid`, `grid := v.grid * (1 + math.Round(q[1]))`),
	small("vector", "message from the data",
		`"released 5 rows\n"`, `fmt.Sprintf("released 5 rows, %g in the second column\n", q[1])`),
	small("vector", "path of the data in the file", `"rows": 5}`, `"rows": 5, "data": "/home/user/patients.csv"}`),
	small("candidates", "score is returned", `[]float64{float64(i)}`, `[]float64{float64(i), scores[i]}`),
	small("candidates", "half the sensitivity", `Sensitivity: 1}`, `Sensitivity: 0.5}`),

	inRelease("predictions", "noise ×.9", sourceFile, noiseOfSource, ninePerCent),
	inRelease("predictions", "noise ×.5", sourceFile, noiseOfSource, half),
	inRelease("predictions", "δ×10", stepsFile, budgetOfSteps, `b.Epsilon/steps, 10*b.Delta/steps`),
	inRelease("predictions", "sensitivity of one coordinate for six", "experiments/release/units.go",
		`norms[j] = norm2(columns[j])`, `norms[j] = floats.Norm(columns[j], math.Inf(1))`),
	inRelease("predictions", "data-dependent rank", cloakFile,
		`return s.Design.Unwhiten(z), nil`, `if query[0] < 0 {
		z[len(z)-1] = 0
	}
	return s.Design.Unwhiten(z), nil`),
	inRelease("predictions", "clipping after the fit", cloakFile, clipped, clippedWider),
	inRelease("predictions", "coordinates share noise", sourceFile, noisyCoordinate, reused),
	inRelease("predictions", "floating-point sampler", sourceFile, noisyCoordinate, floatingPoint),
	inRelease("model", "noise ×.9", sourceFile, noiseOfSource, ninePerCent),
	inRelease("model", "noise ×.5", sourceFile, noiseOfSource, half),
	inRelease("model", "δ×10", sumsFile, deltaOfSums, `mechanism.SafeFactor(mechanism.Analytic, epsilon, 10*delta)`),
	inRelease("model", "sensitivity of one coordinate for nine", sumsFile, changeOfSums, perCoordinate),
	// Contributions are cut to the largest of a row, coordinate by coordinate.
	inRelease("model", "clipping after the fit", "experiments/method/rows.go",
		`p.Y = append(p.Y, max(-1, min(1, r.Scaled(v))))`, `p.Y = append(p.Y, r.Scaled(v))`),
	inRelease("model", "coordinates share noise", sourceFile, noisyCoordinate, reused),
	inRelease("model", "floating-point sampler", sourceFile, noisyCoordinate, floatingPoint),
	inRelease("classes", "composition forgotten", stepsFile,
		`release.Up(f * release.Up(math.Sqrt(float64(s.Number))))`, `f * math.Sqrt(1)`),
	inRelease("person", "sensitivity of one output for two", cloakFile, `release.Up(high-low), units, largest)`,
		`release.Up(high-low), nil, largest)`),
	inRelease("class person", "sensitivity of one label for two", cloakFile, `LabelSensitivity,
		units, counts)`, `LabelSensitivity,
		nil, counts)`),
	inRelease("rows", "noise ×.5", sourceFile, noiseOfSource, half),
	inRelease("hull person", "guarantee of one row for two", "experiments/kahm/own/privacy.go",
		`float64(d.Rows()*inputs)`, `float64(inputs)`),
	// Inputs are clipped to twice their range on one side.
	inRelease("rows", "clipping after the noise", "experiments/kahm/wide/ranges.go",
		`max(0, min(1, r.unit(j, max(r.Low[j], min(r.High[j], v)))))`, `max(-1, min(1, r.unit(j, v)))`),
	inRelease("rows", "coordinates share noise", sourceFile, noisyCoordinate, reused),
	// The digits of the lengthscale tell the score.
	inRelease("choice", "score is returned", "experiments/cloaking/choose/release.go",
		`	metrics := releaseMetrics{
		boundMetrics{Sensitivity: p.choice.Change,`,
		`	out.Settings["lengthscale"] *= 1 + 1e-9*utilities[i]
	metrics := releaseMetrics{
		boundMetrics{Sensitivity: p.choice.Change,`),
	inRelease("two inputs", "sensitivity of one coordinate for all", sumsFile, changeOfSums, perCoordinate),
	inRelease("classifier", "sensitivity of one class for three", sumsFile,
		changeOfSums, `change := sensitivity * (1 + 0x1p-38) / math.Sqrt(float64(blocks.Number))`),
	inRelease("person", "sensitivity of one row for two", "experiments/dpgp/sparse/noise.go",
		`float64(c.Unit) * sensitivity(`, `sensitivity(`),
	inRelease("person of a classifier", "sensitivity of one row for two", "experiments/dpgp/classifier.go",
		`float64(unit) * sensitivity(c.labels)`, `sensitivity(c.labels)`),
}
