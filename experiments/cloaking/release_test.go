package cloaking

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/release"
	"privkern/runner/experiment"
)

func tryRelease(s setup, given map[string]any) (*experiment.Release, error) {
	return tryReleaseOf(regression(), s, given)
}

func tryReleaseOf(e *experiment.Experiment, s setup, given map[string]any) (*experiment.Release, error) {
	run := e.Release
	var out *experiment.Release
	e.Run = func(ctx context.Context, t *experiment.Trial) (_ *experiment.Result, err error) {
		t.Book = func(experiment.Spending) error { return nil }
		t.Entropy = rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d", s.stream)))
		out, err = run(ctx, t)
		return nil, err
	}
	s.secure = true
	_, err := tryTrial(s, e, given)
	return out, err
}

func runRelease(t *testing.T, s setup, given map[string]any) *experiment.Release {
	t.Helper()
	r, err := tryRelease(s, given)
	if err != nil {
		t.Fatalf("%v: %v", given, err)
	}
	return r
}

// columnOf returns a column of a release.
func columnOf(t *testing.T, r *experiment.Release, name string) []float64 {
	t.Helper()
	j := slices.Index(r.Columns, name)
	if j < 0 {
		t.Fatalf("no column %s in %q", name, r.Columns)
	}
	out := make([]float64, len(r.Rows))
	for i, row := range r.Rows {
		out[i] = row[j]
	}
	return out
}

// smallOwn is a file of a user's with 24 rows at 8 inputs, and three outputs
// outside [0, 50].
func smallOwn(t *testing.T) (path string, outputs []float64) {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 24 {
		y := 25 + 20*math.Sin(float64(i)) + 11*math.Cos(7*float64(i))
		outputs = append(outputs, y)
		fmt.Fprintf(&b, "%d,%.17g\n", i%8, y)
	}
	return writeFile(t, b.String()), outputs
}

var smallColumns = map[string]any{"dataset": "csv:my.csv", "delta": 0.01, "calibration": "hall", "inputs": "x",
	"output": "y", "low": 0, "high": 50, "lengthscale": 2}

// By default a release predicts at the distinct training inputs, in the order
// of the file.
func TestReleasePoints(t *testing.T) {
	file, _ := smallOwn(t)
	r := runRelease(t, setup{file: file}, smallColumns)
	if !slices.Equal(r.Columns, []string{"x", "prediction", "noise_sd"}) || !slices.Equal(columnOf(t, r, "x"), []float64{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("%q, %v", r.Columns, columnOf(t, r, "x"))
	}
	kung := setup{folder: writeCensus(t), file: writeFile(t, "note,age,weight\na,20,40\nb,60,45\n")}
	r = runRelease(t, kung, map[string]any{"inputs": "age+weight", "normalisation": "public", "predict": "csv:points.csv"})
	if !slices.Equal(r.Columns, []string{"weight", "age", "prediction", "noise_sd"}) || !slices.Equal(r.Rows[1][:2], []float64{45, 60}) || len(r.Rows) != 2 {
		t.Errorf("%q, %v", r.Columns, r.Rows)
	}
}

// Released numbers are the predictions plus noise of the standard deviation
// that is released with them: over 600 releases the noise in units of it has
// mean 0 and variance 1.
func TestReleasedNoise(t *testing.T) {
	const releases = 600
	file, _ := smallOwn(t)
	for _, method := range []string{methodStandard, methodSparse} {
		given := with(smallColumns, "method", method, "inducing", "[1,4,6]")
		var mean []float64
		sum, square, product := make([]float64, 8), make([]float64, 8), 0.0
		for i := range releases {
			s := setup{file: file, stream: uint64(i)}
			r := runRelease(t, s, given)
			if mean == nil {
				mean = exactPredictions(t, s, given)
			}
			sd := columnOf(t, r, "noise_sd")
			z := make([]float64, len(mean))
			for j, v := range columnOf(t, r, "prediction") {
				z[j] = (v - mean[j]) / sd[j]
				sum[j] += z[j]
				square[j] += z[j] * z[j]
			}
			product += z[0] * z[1]
		}
		for j := range mean {
			// Five standard deviations of either statistic.
			if m, limit := sum[j]/releases, 5/math.Sqrt(releases); math.Abs(m) > limit {
				t.Errorf("%s, point %d: mean %g of the noise, want 0 within %g", method, j, m, limit)
			}
			if v, limit := square[j]/releases, 5*math.Sqrt(2.0/releases); math.Abs(v-1) > limit {
				t.Errorf("%s, point %d: variance %g of the noise, want 1 within %g", method, j, v, limit)
			}
		}
		// Neighbouring points share noise: it has a shape.
		if product/releases < 0.3 {
			t.Errorf("%s: neighbours have a correlation of %g", method, product/releases)
		}
	}
}

// The noise is calibrated to the largest change of what it is added to: any output
// may move from the lower bound of the range to the upper one, or from anywhere
// below to anywhere above.
func TestNoiseIsThatOfTheLargestChange(t *testing.T) {
	file, _ := smallOwn(t)
	for _, method := range []string{methodStandard, methodSparse, methodNonstationary} {
		t.Run(method, func(t *testing.T) {
			given := with(smallColumns, "method", method, "inducing", "[1,4,6]")
			p := closedPlan(t, PlanRegression, regression(), setup{file: file}, given)
			queryOf := func(row int, output float64) release.Draw {
				private := mat.DenseCopyOf(p.Private)
				private.Set(row, 0, output)
				source := release.Unbooked(context.Background(), entropyOf(1))
				var draws []release.Draw
				source.Trace(&draws)
				if _, err := p.With(context.Background(), source, private); err != nil {
					t.Fatal(err)
				}
				if len(draws) != 1 {
					t.Fatalf("%d draws of noise", len(draws))
				}
				return draws[0]
			}
			largest, sensitivity := 0.0, 0.0
			rows, _ := p.Private.Dims()
			for row := range rows {
				low, high := queryOf(row, -60), queryOf(row, 160)
				sensitivity = low.Noise.Sensitivity()
				largest = max(largest, floats.Distance(low.Query, high.Query, 2))
			}
			if largest > sensitivity || largest < 0.999999*sensitivity {
				t.Errorf("an output moves the query by up to %g, and the noise is for %g", largest, sensitivity)
			}
		})
	}
}

// exactPredictions are what a release adds its noise to.
func exactPredictions(t *testing.T, s setup, given map[string]any) (mean []float64) {
	t.Helper()
	e := regression()
	e.Run = func(ctx context.Context, tr *experiment.Trial) (*experiment.Result, error) {
		r, err := newPredictor(tr)
		if err != nil {
			return nil, err
		}
		defer func() { _ = r.e.Close() }()
		all := make([]int, len(r.data.output))
		for i := range all {
			all[i] = i
		}
		c, _, err := r.matrix(t.Context(), all, group(r.data.inputs).rows, "k-means")
		if err != nil {
			return nil, err
		}
		releases, err := r.releases(ctx, []*mat.Dense{c}, [][]int{all})
		if err != nil {
			return nil, err
		}
		mean = releases[0].mean
		return nil, nil
	}
	if _, err := tryTrial(s, e, given); err != nil {
		t.Fatal(err)
	}
	return mean
}

// Nothing of a release changes with the outputs but the predictions: with the
// same noise, other outputs give the same metrics, warnings and words, and
// predictions that differ. Where more than half of them are clipped, a record of a
// cross-validation warns.
func TestReleaseTellsNothingElse(t *testing.T) {
	file, outputs := smallOwn(t)
	blank := func(r *experiment.Release) (text string) {
		for i := range r.Rows {
			r.Rows[i][1] = 0
		}
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	one := runRelease(t, setup{file: file}, smallColumns)
	predictions := columnOf(t, one, "prediction")
	want := blank(one)
	for name, output := range map[string]func(i int) float64{
		"half are clipped":     func(i int) float64 { return 1000 * float64(i%2) },
		"all are clipped":      func(i int) float64 { return 1000 - 2000*float64(i%2) },
		"all are equal":        func(int) float64 { return 7 },
		"all are clipped down": func(i int) float64 { return -1e9 * float64(i+1) },
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("x,y\n")
			for i := range outputs {
				fmt.Fprintf(&b, "%d,%g\n", i%8, output(i))
			}
			s := setup{file: writeFile(t, b.String())}
			two := runRelease(t, s, smallColumns)
			if slices.Equal(predictions, columnOf(t, two, "prediction")) {
				t.Error("the predictions do not depend on the outputs")
			}
			if got := blank(two); got != want {
				t.Errorf("one release\n%s\nanother\n%s", want, got)
			}
			if strings.HasPrefix(name, "all are clipped") {
				warned := strings.Join(runTrial(t, s, regression(), smallColumns).Warnings, "\n")
				if !strings.Contains(warned, "were clipped") {
					t.Errorf("a cross-validation does not warn: %q", warned)
				}
			}
		})
	}
	if notes := strings.Join(one.Privacy.Notes, "\n"); !strings.Contains(notes,
		"drawn exactly") || strings.Contains(notes, "this record itself") || one.Privacy.Unit != "one training output changed by at most 50" {
		t.Errorf("%+v", one.Privacy)
	}
}

func TestReleaseRefusals(t *testing.T) {
	var many strings.Builder
	many.WriteString("x,y\n")
	for i := range maxPoints + 1 {
		fmt.Fprintf(&many, "%d,1\n", i)
	}
	small, _ := smallOwn(t)
	large := writeFile(t, many.String())
	s := setup{folder: writeCensus(t), file: small}
	for _, c := range []struct {
		file  string
		given map[string]any
		want  string
	}{
		{small, with(smallColumns, "epsilon", "inf"), "adds no noise"},
		{small, nil, "use normalisation=public"},
		{small, with(smallColumns, "predict", "trainign"), `did you mean "training"?`},
		{small, with(smallColumns, "predict", "csv:"), "names no file"},
		{small, with(smallColumns, "inputs", "prediction"), `a release has a column "prediction" of its own`},
		{small, with(smallColumns, "rank", 9), "at only 8 points"},
		{large, smallColumns, "2001 distinct points, and at most 2000"},
		{large, map[string]any{"normalisation": "public", "predict": "csv:points.csv"}, `points.csv:1: unknown column "age"`},
		{writeFile(t, "age\n1\nNA\n"), map[string]any{"normalisation": "public", "predict": "csv:points.csv"}, `points.csv:3:1: column "age" has no value`},
		{writeFile(t, "age\n"+strings.Repeat("1\n", maxPoints+1)), map[string]any{"normalisation": "public", "predict": "csv:points.csv"}, "points.csv: 2001 points; at most 2000"},
	} {
		s.file = c.file
		if _, err := tryRelease(s, c.given); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; want %q", c.given, err, c.want)
		}
	}
	if _, err := tryTrial(s, regression(), with(smallColumns, "predict", "csv:points.csv")); err == nil || !strings.Contains(err.Error(), "predict is for a release") {
		t.Errorf("a cross-validation takes points: %v", err)
	}
	p, err := regression().Resolve(with(smallColumns, "predict", "csv:points.csv"))
	if err != nil || !slices.Equal(regression().Datasets(p), []string{"csv:my.csv", "csv:points.csv"}) {
		t.Errorf("reads %q, %v", regression().Datasets(p), err)
	}
}

// fewClasses is a file of a user's with 16 rows at 8 inputs that lie far apart.
func fewClasses(t *testing.T, class func(i int) int) (path string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,ill\n")
	for i := range 16 {
		fmt.Fprintf(&b, "%d,%d\n", 100*(i%8), class(i))
	}
	return writeFile(t, b.String())
}

var fewColumns = map[string]any{"dataset": "csv:my.csv", "delta": 0.01, "calibration": "hall", "inputs": "x",
	"output": "ill", "low": 3, "high": 7, "lengthscale": 1}

func runClassRelease(t *testing.T, s setup, given map[string]any) *experiment.Release {
	t.Helper()
	r, err := tryReleaseOf(classification(), s, given)
	if err != nil {
		t.Fatalf("%v: %v", given, err)
	}
	return r
}

// The classes are the user's values, by the sign of the latent mean; draws play
// no part.
func TestClassReleaseColumns(t *testing.T) {
	s := setup{file: fewClasses(t, func(i int) int { return 3 + 4*(i%2) })}
	r := runClassRelease(t, s, fewColumns)
	if !slices.Equal(r.Columns, []string{"x", "probability", "class"}) || len(r.Rows) != 8 {
		t.Fatalf("%q, %d rows", r.Columns, len(r.Rows))
	}
	for _, row := range r.Rows {
		if want := map[bool]float64{false: 3, true: 7}[row[1] > 0.5]; row[2] != want {
			t.Errorf("probability %g, class %g", row[1], row[2])
		}
	}
	if again := runClassRelease(t, s, with(fewColumns, "draws", 1)); !slices.EqualFunc(again.Rows, r.Rows, slices.Equal) {
		t.Error("the number of draws changes the release")
	}
}

// At separate inputs with two labels each, one step gives f = C(Σy + noise) with
// C = ½(1 + 2/4)⁻¹ = 1/3; the noise of a release is that of both labels of the
// input, which share one column: Σy has noise of standard deviation
// 2·√(2 log 200).
func TestClassReleaseNoise(t *testing.T) {
	const releases = 600
	s := setup{file: fewClasses(t, func(i int) int { return 3 + 4*(i%2) })}
	sum, square := make([]float64, 8), make([]float64, 8)
	for i := range releases {
		s.stream = uint64(i)
		for j, p := range columnOf(t, runClassRelease(t, s, fewColumns), "probability") {
			f := math.Log(p / (1 - p))
			sum[j] += f / releases
			square[j] += f * f / releases
		}
	}
	sd := 2 * math.Sqrt(2*math.Log(200)) / 3
	for j := range sum {
		near(t, fmt.Sprintf("mean at input %d", j), sum[j], map[bool]float64{true: 2. / 3, false: -2. / 3}[j%2 == 1], 4*sd/math.Sqrt(releases))
		near(t, fmt.Sprintf("standard deviation at input %d", j), math.Sqrt(square[j]-sum[j]*sum[j])/sd, 1, 4/math.Sqrt(2*releases))
	}
}

// Apart from the predictions a release is the same whatever the labels are, also
// where they are of one class.
func TestClassReleaseTellsNothingElse(t *testing.T) {
	var texts []string
	for _, class := range []func(int) int{func(i int) int { return 3 + 4*(i%2) }, func(i int) int { return 3 + 4*(i%3%2) }, func(int) int { return 7 }} {
		r := runClassRelease(t, setup{file: fewClasses(t, class)}, fewColumns)
		for _, row := range r.Rows {
			row[1], row[2] = 0, 0
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] || texts[0] != texts[2] {
		t.Errorf("releases of three sets of labels\n%s", strings.Join(texts, "\n"))
	}
	if !strings.Contains(texts[0], "one training label flipped") || strings.Contains(texts[0], "this record itself") {
		t.Errorf("privacy: %s", texts[0])
	}
}

func TestClassReleasePointsAndRefusals(t *testing.T) {
	file := fewClasses(t, func(i int) int { return 3 + 4*(i%2) })
	for name, c := range map[string]struct {
		over []any
		want string
	}{
		"no noise":    {[]any{"epsilon", "inf"}, "adds no noise"},
		"own columns": {[]any{"inputs", "class"}, "has a column \"class\" of its own"},
		"other value": {[]any{"high", 8}, "neither low = 3 nor high = 8"},
	} {
		if _, err := tryReleaseOf(classification(), setup{file: file}, with(fewColumns, c.over...)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	// The user's file is also the file of query points: its rows, in their order.
	r := runClassRelease(t, setup{file: file}, with(fewColumns, "predict", "csv:points.csv"))
	if len(r.Rows) != 16 || r.Rows[9][0] != 100 || r.Rows[9][1] != r.Rows[1][1] {
		t.Errorf("%v", r.Rows)
	}
}
