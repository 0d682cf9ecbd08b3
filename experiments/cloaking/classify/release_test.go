package classify

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// fewClasses is a file of a user's with 16 rows at 8 inputs that lie far apart.
func fewClasses(t *testing.T, class func(i int) int) (path string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,ill\n")
	for i := range 16 {
		fmt.Fprintf(&b, "%d,%d\n", 100*(i%8), class(i))
	}
	return cloaktest.File(t, b.String())
}

// fewOwn makes the data those of such a file.
func fewOwn(s *classificationSettings) {
	ownFile("x", "ill", 3, 7)(s)
	s.Lengthscale = method.LengthscalesOf(1)
}

// alternating are the classes of every other row.
func alternating(i int) int { return 3 + 4*(i%2) }

func published(
	t *testing.T, s trialtest.Options, changes ...func(*classificationSettings),
) *experiment.Release {
	t.Helper()
	r, err := cloaktest.Publish(t, s, Classification(), append(
		[]func(*classificationSettings){fewOwn}, changes...)...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The classes are the user's values, by the sign of the latent mean; draws play
// no part.
func TestClassReleaseColumns(t *testing.T) {
	s := trialtest.Options{File: fewClasses(t, alternating)}
	r := published(t, s)
	if !slices.Equal(r.Columns, []string{"x", "probability", "class"}) || len(r.Rows) != 8 {
		t.Fatalf("%q, %d rows", r.Columns, len(r.Rows))
	}
	for i, row := range r.Rows {
		t.Run(at("row", i), func(t *testing.T) {
			if want := map[bool]float64{false: 3, true: 7}[row[1] > 0.5]; row[2] != want {
				t.Errorf("probability %g, class %g", row[1], row[2])
			}
		})
	}
	again := published(t, s, func(s *classificationSettings) { s.Draws = 1 })
	if !slices.EqualFunc(again.Rows, r.Rows, slices.Equal) {
		t.Error("the number of draws changes the release")
	}
}

// A release reports on its Newton steps alone.
func TestClassReleaseMetrics(t *testing.T) {
	r := published(t, trialtest.Options{File: fewClasses(t, alternating)}, func(s *classificationSettings) {
		s.Iterations = steps(2)
	})
	m := Classification().Values(r.Metrics)
	if len(r.Metrics) != 3 || m.Steps != 2 || m.Rank == nil || *m.Rank != 8 || m.Gap == nil || *m.Gap > 2e-8 {
		t.Errorf("%v", r.Metrics)
	}
}

// At separate inputs with two labels each, one step gives f = C(Σy + noise) with
// C = ½(1 + 2/4)⁻¹ = 1/3; the noise of a release is that of both labels of the
// input, which share one column: Σy has noise of standard deviation
// 2·√(2 log 200).
func TestClassReleaseNoise(t *testing.T) {
	const releases = 600
	s := trialtest.Options{File: fewClasses(t, alternating)}
	sum, square := make([]float64, 8), make([]float64, 8)
	for i := range releases {
		s.Seed = uint64(i)
		for j, p := range cloaktest.ColumnOf(t, published(t, s), columnProbability) {
			f := math.Log(p / (1 - p))
			sum[j] += f / releases
			square[j] += f * f / releases
		}
	}
	sd := 2 * math.Sqrt(2*math.Log(200)) / 3
	for j := range sum {
		t.Run(at("input", j), func(t *testing.T) {
			want := map[bool]float64{true: 2. / 3, false: -2. / 3}[j%2 == 1]
			trialtest.Near(t, "mean", sum[j], want, 4*sd/math.Sqrt(releases))
			trialtest.Near(t, "standard deviation", math.Sqrt(square[j]-sum[j]*sum[j])/sd, 1, 4/math.Sqrt(2*releases))
		})
	}
}

// Apart from the predictions a release is the same for all labels, also where they are of one
// class.
func TestClassReleaseShowsNothingElse(t *testing.T) {
	text := func(t *testing.T, class func(int) int) string {
		r := published(t, trialtest.Options{File: fewClasses(t, class)})
		for _, row := range r.Rows {
			row[1], row[2] = 0, 0
		}
		out, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	want := text(t, alternating)
	if !strings.Contains(want, "one training label flipped") || strings.Contains(want, "this record itself") {
		t.Errorf("privacy: %s", want)
	}
	for name, class := range map[string]func(i int) int{
		"other labels": func(i int) int { return 3 + 4*(i%3%2) }, "one class": func(int) int { return 7 },
	} {
		t.Run(name, func(t *testing.T) {
			if got := text(t, class); got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
		})
	}
}

func TestClassReleaseRefusals(t *testing.T) {
	s := trialtest.Options{File: fewClasses(t, alternating)}
	for name, c := range map[string]struct {
		want   string
		change func(*classificationSettings)
	}{
		"no noise": {"adds no noise", func(s *classificationSettings) { noiseless(&s.ClassifierSettings) }},
		"without the root": {"use scaling=norm", func(s *classificationSettings) {
			s.Algorithm, s.Scaling = cloak.Gradient, cloak.Squared
		}},
		"own columns": {"has a column \"class\" of its own",
			func(s *classificationSettings) { s.Inputs = columnClass }},
		"other value": {"has a value that a release does not show: it is neither low = 3 nor high = 8",
			func(s *classificationSettings) { s.High = experiment.NumberOr[method.None](8.0) }},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := cloaktest.Publish(t, s, Classification(), fewOwn, c.change)
			trialtest.Refuses(t, err, c.want)
		})
	}
}

// The user's file is also the file of query points: its rows, in their order.
func TestClassReleasePoints(t *testing.T) {
	r := published(t, trialtest.Options{File: fewClasses(t, alternating)}, func(s *classificationSettings) {
		s.Predict = "csv:points.csv"
	})
	if len(r.Rows) != 16 || r.Rows[9][0] != 100 || r.Rows[9][1] != r.Rows[1][1] {
		t.Errorf("%v", r.Rows)
	}
}
