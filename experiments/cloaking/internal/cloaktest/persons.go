package cloaktest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Visits is a file of a user's with 16 rows of five persons, id, who have five, four, three, three and one of them:
// inputs x, of which some are equal, an output y in [0, 50] and a class, yes or no. The last row of the first person
// has the given texts for y and class.
func Visits(t *testing.T, y, class string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,x,y,class\n")
	for i, id := range strings.Split("abcdabcdabcdabea", "") {
		output, word := fmt.Sprintf("%.3f", 25+20*math.Sin(float64(i))), "no"
		if i*i%3 == 1 {
			word = "yes"
		}
		if i == 15 {
			output, word = y, class
		}
		fmt.Fprintf(&b, "%s,%d,%s,%s\n", id, i*5%8, output, word)
	}
	return File(t, b.String())
}

// WantPersons compares the sensitivity of a plan for the file of [Visits] with the largest move of its first query by
// all outputs of one person, each from one end to the other: it is reached, and not exceeded. Of a person the
// given number of rows is used at most.
func WantPersons(t *testing.T, p *release.Plan, most int, low, high float64) {
	t.Helper()
	rows := 0
	for _, n := range []int{5, 4, 3, 3, 1} {
		rows += min(n, most)
	}
	if s := p.Spending; s.Person != "id" || s.Rows != 5 || fmt.Sprint(s.Units) != fmt.Sprint([]string{
		experiment.UnitPerson, experiment.UnitOutput}) || p.Private.RawMatrix().Rows != rows {
		t.Errorf("%d persons, units %q, %d rows", s.Rows, s.Units, p.Private.RawMatrix().Rows)
	}
	query := func(private *mat.Dense) release.Draw {
		source := release.Unbooked(Entropy(1))
		var draws []release.Draw
		source.Trace(&draws)
		if _, err := p.With(t.Context(), source, private); err != nil {
			t.Fatal(err)
		}
		return draws[0]
	}
	people := p.People
	if people == nil || people.PerPerson != most {
		t.Fatalf("people %+v", people)
	}
	largest, mu := 0.0, 0.0
	for _, unit := range people.Groups() {
		for signs := range 1 << len(unit) {
			first, second := mat.DenseCopyOf(p.Private), mat.DenseCopyOf(p.Private)
			for at, row := range unit {
				ends := [2]float64{low, high}
				first.Set(row, 0, ends[signs>>at&1])
				second.Set(row, 0, ends[1-signs>>at&1])
			}
			a, b := query(first), query(second)
			largest = max(largest, floats.Distance(a.Query, b.Query, 2)/a.Noise.Sensitivity())
			mu = a.Noise.Sensitivity() / a.Noise.Scale()
		}
	}
	trialtest.Near(t, "largest move over the sensitivity", largest, 1-5e-7, 1e-6)
	l := p.Spending.Losses[0]
	trialtest.Near(t, "mu", mu, l.Size, 1e-9*l.Size)
}
