package regression

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

func personal(s *Settings) { s.Person.Person, s.RowsPerPerson = "id", 2 }

func clamped(s *Settings) { s.Invalid.Invalid = method.Clamp }

// The number of places of a release depends on neither the rows of persons nor invalid ones; the noise
// of a person's two rows is twice that of one.
func TestPlaces(t *testing.T) {
	const persons = "id,a,y\nb,1,1\na,1,1\na,2,1\na,3,0\nc,4,\n"
	const invalid = "id,a,y\nb,1,1\na,inf,1\na,2,NA\na,-inf,1e999\nc,4,1\n"
	for _, c := range []struct {
		name, text string
		change     func(*Settings)
		want       string // the size of the private matrix, its empty places, n, and the units
		noise      float64
	}{
		{"rows", persons, func(*Settings) {}, "4×2, 0 empty, n = 4, [row output inputs]", 1},
		{"persons", persons, personal, "6×2, 3 empty, n = 3, [person row output inputs]", 2},
		{"persons with invalid rows", invalid, func(s *Settings) { personal(s); clamped(s) },
			"6×2, 4 empty, n = 3, [person row output inputs]", 2},
		{"invalid rows", invalid, clamped, "5×2, 3 empty, n = 5, [row output inputs]", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rows.csv")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			plan := planFor(t, rowSettings(path), c.change)
			n, d := plan.Private.Dims()
			empty := 0
			for i := range n {
				if math.IsNaN(plan.Private.At(i, 0)) && math.IsNaN(plan.Private.At(i, d-1)) {
					empty++
				}
			}
			s := plan.Spending
			if got := fmt.Sprintf("%d×%d, %d empty, n = %d, %v", n, d, empty, s.Rows, s.Units); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			r, err := plan.With(t.Context(), release.Unbooked(chacha(1)), plan.Private)
			if err != nil {
				t.Fatal(err)
			}
			base := planFor(t, rowSettings(writeRows(t, spendingRows())))
			one, err := base.With(t.Context(), release.Unbooked(chacha(1)), base.Private)
			if err != nil {
				t.Fatal(err)
			}
			for i, noise := range r.Noise {
				trialtest.Near(t, "noise", noise.Sensitivity/one.Noise[i].Sensitivity, c.noise, 1e-6)
			}
			if c.noise == 2 != strings.HasPrefix(r.Privacy.Unit, "one person (id) with at most 2 rows, inputs (a)") {
				t.Errorf("%s", r.Privacy.Unit)
			}
		})
	}
	_, err := Plan(t.Context(), releaseTrial(t, 1, rowSettings(writeRows(t, spendingRows())), personal))
	trialtest.Refuses(t, err, `unknown column "id"`)
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(persons), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Plan(t.Context(), releaseTrial(t, 1, rowSettings(path), personal,
		func(s *Settings) { s.RowsPerPerson, s.Inducing = 1_000_000, "9" }))
	trialtest.Refuses(t, err, "3000000 rows with 9 inducing inputs")
}

// Judging splits by person, and warns of rows that a draw left out.
func TestJudgedByPerson(t *testing.T) {
	var text strings.Builder
	text.WriteString("id,x,y\n")
	for i := range 300 {
		fmt.Fprintf(&text, "%d,%g,%g\n", i%60, float64(i)/15, math.Sin(float64(i)/15))
	}
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	judge := func(m int) *experiment.Outcome[Metrics] {
		return regress(t, 1, ownSettings(path), func(s *Settings) {
			s.Person.Person, s.RowsPerPerson, s.Epsilon, s.Low, s.High = "id", m, 50, given(-1), given(1)
			s.Delta = .005
		})
	}
	five, two := judge(5), judge(2)
	if five.Metrics.UsedRows != 300 || two.Metrics.UsedRows != 120 {
		t.Errorf("%g and %g rows", five.Metrics.UsedRows, two.Metrics.UsedRows)
	}
	trialtest.Near(t, "sensitivity", five.Metrics.Sensitivity/two.Metrics.Sensitivity, 2.5, 1e-12)
	warned := strings.Join(two.Warnings, "\n")
	for _, want := range []string{"a tenth of 1/n = 0.0167 of the 60 persons",
		"180 of 300 rows are more than rows_per_person=2 of their persons (id), and were left out by a draw"} {
		if !strings.Contains(warned, want) {
			t.Errorf("no %q: %s", want, warned)
		}
	}
}
