package dpgp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// writePersons writes a file of 120 persons with one to four rows; those of the person 5 are given.
func writePersons(t *testing.T, fifth ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,y,kind,id\n")
	for person := range 120 {
		if person == 5 {
			b.WriteString(strings.Join(fifth, ",5\n") + ",5\n")
			continue
		}
		for i := range 1 + person%4 {
			x := 10 * math.Mod(float64(4*person+i)*0.6180339887, 1)
			fmt.Fprintf(&b, "%.4f,%.4f,%s,%d\n", x, math.Sin(x), []string{"low", "high"}[int(x/5)], person)
		}
	}
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// searchPlan plans a choice that protects persons with at most three rows, in an own folder each.
func searchPlan(t *testing.T, path string, change func(*searchSettings)) *release.Plan {
	t.Helper()
	s := hyperparameters().With(ownOutputs(path), func(s *searchSettings) {
		s.Person.Person, s.RowsPerPerson = "id", 3
		change(s)
	})
	p, err := hyperparameters().Resolved(s)
	if err != nil {
		t.Fatal(err)
	}
	trial := trialtest.New(t, seed(1))
	trial.Params, trial.Secure = p, true
	trial.Book = func(experiment.Spending) error { return nil }
	plan, err := PlanSearch(t.Context(), trial)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// A person, with any rows or none, moves each utility of a choice by 1 at most, because all of them
// are in one block.
func TestUtilitiesOfSubstitutedPersons(t *testing.T) {
	of := func(fifth ...string) []float64 {
		plan := searchPlan(t, writePersons(t, fifth...), func(*searchSettings) {})
		if n, d := plan.Private.Dims(); n != 360 || d != 2 || plan.Spending.Rows != 120 {
			t.Fatalf("%d×%d, n = %d", n, d, plan.Spending.Rows)
		}
		source := release.Unbooked(rand.NewChaCha8([32]byte{1}))
		var draws []release.Draw
		source.Trace(&draws)
		if _, err := plan.With(t.Context(), source, plan.Private); err != nil {
			t.Fatal(err)
		}
		return draws[0].Query
	}
	u, moved := of("5,0.5,low", "1,0,low"), false
	for _, fifth := range [][]string{
		{"5,,low"}, {"1e300,-9,high", "1e300,9,high", "-1e300,9,high"}, {"1,-1,low", "1.1,2,low", "1.2,-1,low", "1.3,2,low"},
	} {
		for i, v := range of(fifth...) {
			if math.Abs(v-u[i]) > 1 {
				t.Errorf("%q moves a utility from %g to %g", fifth, u[i], v)
			}
			moved = moved || v != u[i]
		}
	}
	if !moved {
		t.Error("no person moves a utility: the test shows nothing")
	}
	// Judging takes whole persons, too.
	out := trialtest.Compute(t, seed(1), hyperparameters(), ownOutputs(writePersons(t, "5,0.5,low")),
		func(s *searchSettings) { s.Person.Person = "id" })
	if *out.Metrics.SearchRows != 120 || !strings.HasPrefix(out.Privacy.Unit, "one person (id) with at most 1 row, ") {
		t.Errorf("%g rows; %s", *out.Metrics.SearchRows, out.Privacy.Unit)
	}
	_, err := trialtest.Try(t, seed(1), hyperparameters(), ownOutputs(writePersons(t, "5,0.5,low")),
		func(s *searchSettings) { s.Person.Person, s.Blocks = "id", 31 })
	trialtest.Refuses(t, err, "blocks = 31: 120 persons are fewer than four in each")
}

// With empty places in every block but one, a choice is still made.
func TestEmptyBlocks(t *testing.T) {
	plan := searchPlan(t, writePersons(t, "5,0.5,low"), func(*searchSettings) {})
	private := mat.DenseCopyOf(plan.Private)
	for i := range 356 {
		private.SetRow(i, []float64{math.NaN(), math.NaN()})
	}
	if _, err := plan.With(t.Context(), release.Unbooked(rand.NewChaCha8([32]byte{1})), private); err != nil {
		t.Error(err)
	}
}
