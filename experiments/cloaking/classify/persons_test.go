package classify

import (
	"fmt"
	"strings"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// visits are the settings for [cloaktest.Visits], with at most that number of rows of a person, or, where it is 0,
// without persons.
func visits(most int) func(*classificationSettings) {
	return func(s *classificationSettings) {
		s.Dataset, s.Inputs, s.Output = "csv:my.csv", "x", "class[no|yes]"
		s.Delta, s.Lengthscale, s.Calibration = 1e-3, method.LengthscalesOf(2), mechanism.Analytic
		s.Folds.Folds = 5
		if most > 0 {
			s.Person = method.Person{Person: "id", RowsPerPerson: most}
		}
	}
}

// The noise of each step of a release is that of the largest move of all labels of a person.
func TestNoiseOfPersons(t *testing.T) {
	for _, m := range []cloak.Method{cloak.Standard, cloak.Sparse} {
		for _, most := range []int{1, 2, 5} {
			t.Run(fmt.Sprint(m, most), func(t *testing.T) {
				p := cloaktest.PlanOf(t, trialtest.Options{File: cloaktest.Visits(t, "11", "no")}, Plan, Classification(),
					visits(most), func(s *classificationSettings) {
						s.Method, s.Inducing, s.Iterations, s.Composition = m, 3, steps(2), cloak.Gaussian
					})
				cloaktest.WantPersons(t, p, most, -1, 1)
			})
		}
	}
}

// The noise of trials grows with the rows of a person as that of releases does, and folds keep them together.
func TestJudgedPersons(t *testing.T) {
	o := trialtest.Options{File: cloaktest.Visits(t, "11", "no")}
	s := Classification().With(visits(5))
	v, err := newValidation(trialtest.New(t, o), s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range v.folds {
		p, _, err := v.prepareFold(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		mode := make([]float64, len(p.inputs.Count))
		ranges, designs, err := v.designs(t.Context(), p.cov.model, [][]float64{mode}, "", true)
		if err != nil {
			t.Fatal(err)
		}
		// One of five labels at most five times as far as one; not less than the root of five, as inputs are near.
		if moves := cloak.Moves(ranges[0], designs[0], p.units); len(p.units) != 4 || !(moves > 1.5 && moves <= 5) {
			t.Errorf("fold %d: %d persons move the query %g times as far as a label", i, len(p.units), moves)
		}
		p.cov.model.Close()
	}
	two := validated(t, o, visits(2))
	wantWarning(t, two.Warnings, "7 of 16 rows are more than rows_per_person=2 of their persons (id)")
	want := "all training labels of one person (id) with at most 2 rows, each flipped; inputs and which person has " +
		"which row are public"
	if s := two.Privacy.Simulated.String(); !strings.HasSuffix(s, "-DP for all training labels of one person") {
		t.Error(s)
	}
	if two.Privacy.Unit != want || two.Metrics.UsedRows != 9 {
		t.Errorf("unit %q, %g rows", two.Privacy.Unit, two.Metrics.UsedRows)
	}
	_, err = trialtest.Try(t, o, Classification(), visits(2), func(s *classificationSettings) { s.Folds.Folds = 6 })
	trialtest.Refuses(t, err, "folds = 6: there are 5 persons, and there cannot be more folds than persons")
}

// A row that has none of the two classes counts as one of the negative class, and none is dropped.
func TestInvalidClasses(t *testing.T) {
	clamped := func(s *classificationSettings) { s.Invalid.Invalid = method.Clamp }
	numbers := func(s *classificationSettings) {
		s.Output, s.Low, s.High = "y", experiment.NumberOr[method.None](0.0), experiment.NumberOr[method.None](25.0)
	}
	text := func(t *testing.T, y, class string, changes ...func(*classificationSettings)) string {
		t.Helper()
		r, err := cloaktest.Publish(t, trialtest.Options{File: cloaktest.Visits(t, y, class)}, Classification(),
			append([]func(*classificationSettings){visits(5), clamped}, changes...)...)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(r.Rows, r.Privacy, r.Warnings)
	}
	want := text(t, "11", "no")
	if text(t, "11", "yes") == want {
		t.Error("a class has no part in the release")
	}
	for _, class := range []string{"", "NA", "perhaps", "7"} {
		t.Run("class "+class, func(t *testing.T) {
			if got := text(t, "11", class); got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
		})
	}
	o := trialtest.Options{File: cloaktest.Visits(t, "11", "perhaps")}
	wantWarning(t, validated(t, o, visits(5), clamped).Warnings, `1 of 16 rows have no value of "class"`)
	_, err := cloaktest.Publish(t, o, Classification(), visits(5))
	trialtest.Refuses(t, err, `column "class"`)
	// All other outputs are of neither class.
	want = text(t, "0", "no", numbers)
	if text(t, "25", "no", numbers) == want {
		t.Error("a number has no part in the release")
	}
	for _, y := range []string{"", "nan", "inf", "25.5"} {
		t.Run("number "+y, func(t *testing.T) {
			if got := text(t, y, "no", numbers); got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
		})
	}
}
