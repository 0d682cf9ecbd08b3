package regress

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
)

// visits are the settings for [cloaktest.Visits], with at most that number of rows of a person, or, where it is 0,
// without persons.
func visits(most int) func(*regressionSettings) {
	return func(s *regressionSettings) {
		ownFile("x", "y", 0, 50)(s)
		s.Delta, s.Lengthscale, s.Calibration = 1e-3, method.LengthscalesOf(2), mechanism.Analytic
		if most > 0 {
			s.Person = method.Person{Person: "id", RowsPerPerson: most}
		}
	}
}

// The noise of a release is that of the largest move of all outputs of a person.
func TestNoiseOfPersons(t *testing.T) {
	for _, m := range []cloak.Method{cloak.Standard, cloak.Sparse} {
		for _, most := range []int{1, 2, 5} {
			t.Run(fmt.Sprint(m, most), func(t *testing.T) {
				p := cloaktest.PlanOf(t, trialtest.Options{File: cloaktest.Visits(t, "11", "no")}, Plan, Regression(), visits(most),
					func(s *regressionSettings) { s.Method, s.Inducing = m, placed(3) })
				cloaktest.WantPersons(t, p, most, -10, 60)
			})
		}
	}
}

// Trials have the noise that a release for persons has: more than for one output, as much for one row of each, and less
// than for five equal rows.
func TestJudgedPersons(t *testing.T) {
	o := trialtest.Options{File: cloaktest.Visits(t, "11", "no")}
	noise := func(most int) float64 {
		r := validated(t, o, visits(most), draws(2), func(s *regressionSettings) { s.Folds.Folds, s.Delta = 5, .03 })
		if d := r.Series["folds"]["rows"]; most > 1 && slices.Max(d) > float64(most) {
			t.Errorf("a person's rows are in several folds: %v", d)
		}
		if most == 2 && !says(r.Warnings, "7 of 16 rows are more than rows_per_person=2 of their persons (id)") {
			t.Errorf("%q", r.Warnings)
		}
		want, units := "one training output changed by at most 50", " rows"
		if most > 0 {
			want, units = fmt.Sprintf("one person (id) with at most %d row", most), " persons"
		}
		if !says(r.Warnings, units+"; use a delta below") {
			t.Errorf("not of%s: %q", units, r.Warnings)
		}
		if !says([]string{r.Privacy.Unit}, want) {
			t.Errorf("unit %q", r.Privacy.Unit)
		}
		return *r.Metrics.NoiseSD
	}
	alone, all := noise(0), noise(5)
	noise(2)
	if !(all > 1.5*alone && all < 5*alone) {
		t.Errorf("noise of %g for one output, and of %g for five of a person", alone, all)
	}
	// Persons with one row each are as rows.
	unique := strings.Builder{}
	unique.WriteString("id,x,y\n")
	for i := range 12 {
		fmt.Fprintf(&unique, "%d,%d,%d\n", i, i*i%7, i)
	}
	o.File = cloaktest.File(t, unique.String())
	trialtest.Near(t, "noise for persons with one row over that for rows", noise(1)/noise(0), 1, 1e-9)
}

// An output that is missing or not finite counts as the middle of the range, and no row is dropped.
func TestInvalidOutputs(t *testing.T) {
	clamped := func(s *regressionSettings) { s.Invalid.Invalid = method.Clamp }
	text := func(t *testing.T, y string, changes ...func(*regressionSettings)) string {
		t.Helper()
		changes = append([]func(*regressionSettings){visits(5)}, changes...)
		r := published(t, trialtest.Options{File: cloaktest.Visits(t, y, "no")}, changes...)
		return fmt.Sprint(r.Rows, r.Privacy, r.Warnings)
	}
	want := text(t, "25", clamped)
	for _, y := range []string{"", "NA", "nan", "inf", "-inf", "1e999"} {
		t.Run(y, func(t *testing.T) {
			if got := text(t, y, clamped); got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
			o := trialtest.Options{File: cloaktest.Visits(t, y, "no")}
			r := validated(t, o, visits(5), clamped, func(s *regressionSettings) { s.Folds.Folds = 5 })
			if !says(r.Warnings, `1 of 16 values of "y" are missing or not finite`) || *r.Metrics.DroppedRows != 0 ||
				*r.Metrics.ClippedOutputs != 0 || math.IsNaN(*r.Metrics.RMSE) {
				t.Errorf("%+v, %q", r.Metrics, r.Warnings)
			}
		})
	}
	_, err := cloaktest.Publish(t, trialtest.Options{File: cloaktest.Visits(t, "inf", "no")}, Regression(), visits(5))
	trialtest.Refuses(t, err, `column "y" has`)
	if text(t, "70", clamped) == want {
		t.Error("an output beyond the range counts as its middle")
	}
	if text(t, "70", clamped) != text(t, "50", clamped) {
		t.Error("an output beyond the range does not count as its end")
	}
}

func TestPersonsRefused(t *testing.T) {
	own := map[string]any{"dataset": "csv:my.csv", "inputs": "x", "output": "y", "low": 0, "high": 50, "delta": 1e-3,
		"person": "id"}
	with := func(more ...any) map[string]any {
		out := map[string]any{}
		for k, v := range own {
			out[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			out[more[i].(string)] = more[i+1]
		}
		return out
	}
	refusals{
		{map[string]any{"person": "id"}, "person = id: it is for data of your own"},
		{map[string]any{"invalid": "clamp"}, "invalid = clamp: it is for data of your own"},
		{with("person", "x"), `the column "x" is one of the inputs, too`},
		{with("person", "y"), `the column "y" is to be two things at once`},
		{with("person", ""), "person is empty"},
		{with("rows_per_person", 0), "rows_per_person"},
		{with("solver", "gradient", "inverse", "pseudo-inverse"), "use inverse=range"},
	}.check(t, Regression().Experiment)
	o := trialtest.Options{File: cloaktest.File(t, "id,x,y\na,1,2\n,2,3\nb,3,4\n")}
	_, err := trialtest.Try(t, o, Regression(), visits(2))
	trialtest.Refuses(t, err, `column "id" has no value here`)
	o.File = cloaktest.Visits(t, "11", "no")
	_, err = trialtest.Try(t, o, Regression(), visits(2), func(s *regressionSettings) { s.Folds.Folds = 6 })
	trialtest.Refuses(t, err, "folds = 6: there are 5 persons, and there cannot be more folds than persons")
	_, err = trialtest.Try(t, o, Regression(), visits(2), func(s *regressionSettings) { s.Person.Person = "name" })
	trialtest.Refuses(t, err, `"name"`)
}
