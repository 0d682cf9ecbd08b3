package own

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// peopleFile are the rows of [rowsFile] with their persons: 0 and 1 have three of each class, 2 to 4 two.
func peopleFile() string {
	lines := strings.Split(strings.TrimSpace(rowsFile()), "\n")
	lines[0] += ",id"
	for i := range lines[1:] {
		lines[1+i] += fmt.Sprint(",", i/2%5)
	}
	return strings.Join(lines, "\n") + "\n"
}

// atMost sets that at most so many rows of a person are used.
func atMost(most int) func(*Publishing) {
	return func(s *Publishing) { s.Person = method.Person{Person: "id", RowsPerPerson: most} }
}

// text is all of a release.
func text(t *testing.T, out *experiment.Release) string {
	t.Helper()
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Rows of a person are on one side of a calibration, and each class is on both.
func TestCalibrationOfPersons(t *testing.T) {
	rows, classes, persons := 60, 2, 10
	j := &Judged{Rows: &Rows{Data: &table.Data{X: mat.NewDense(rows, 1, nil), Names: []string{"a"},
		People: &table.People{Column: "who", Count: persons, PerPerson: 6}}, Classes: make([]string, classes)},
		Ranges: &wide.Ranges{Low: []float64{0}, High: []float64{float64(persons)}}}
	for i := range rows {
		person := i % persons
		j.X.Set(i, 0, float64(person))
		j.Labels, j.People.Of = append(j.Labels, i/persons%classes), append(j.People.Of, person)
		if person != 3 { // is tested
			j.trained = append(j.trained, i)
		}
	}
	c, err := j.Calibration(rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	held, trained := map[float64]int{}, 0
	for i := range c.Labels {
		held[c.Held.At(i, 0)]++
	}
	for _, s := range c.Train {
		for i := range s.Samples.RawMatrix().Rows {
			if trained++; held[s.Samples.At(i, 0)] > 0 || s.Samples.At(i, 0) == .3 {
				t.Errorf("person %g is on both sides, or tested", s.Samples.At(i, 0))
			}
		}
	}
	if len(c.Train) != classes || len(held) != 3 || trained != 36 || !slices.Equal(j.ClassSizes(), []int{27, 27}) {
		t.Errorf("%d persons are held, %d rows of %d classes trained on", len(held), trained, len(c.Train))
	}
}

// The budget books all rows of a person, mpε/d, and the statement is of a person.
func TestSpendingOfPersons(t *testing.T) {
	for _, most := range []int{1, 4, 9} {
		s := publishing(atMost(most))
		plan, err := planOf(t, peopleFile(), s)
		if err != nil {
			t.Fatal(err)
		}
		spent, epsilon := plan.Spending, float64(8*most)
		if spent.Epsilon != epsilon || spent.Rows != 5 || spent.Person != "id" ||
			fmt.Sprint(spent.Units) != "[person inputs]" || fmt.Sprint(spent.Publishes) != "[output]" ||
			!slices.Equal(spent.Losses, []experiment.Loss{{Law: "laplace", Size: 4, Times: 2 * most}}) {
			t.Errorf("at most %d: %+v", most, spent)
		}
		out, draws := released(t, peopleFile(), 1, atMost(most))
		used := min(most, 6)*2 + min(most, 4)*3
		if len(out.Rows) != used || len(draws[0].Query) != 2*used || len(plan.People.Of) != used {
			t.Errorf("%d rows, %d noisy entries; want %d rows", len(out.Rows), len(draws[0].Query), used)
		}
		rows := "1 row"
		if most > 1 {
			rows = fmt.Sprint(most, " rows")
		}
		p := out.Privacy
		if want := fmt.Sprintf("(%g, 0)-DP", epsilon); p.Guarantee != want || p.Unit != "one person (id) with at most "+rows+
			": all inputs (2) of each, replaced by any others; their classes stay" {
			t.Errorf("%s for %s, want %s", p.Guarantee, p.Unit, want)
		}
	}
}

// Rows that are left out have no part in a release: it is that of a file without them.
func TestRowsLeftOut(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(peopleFile()), "\n")
	s := publishing(atMost(3))
	tr := trialtest.New(t, trialtest.Options{File: write(t, peopleFile())})
	plan, err := s.Plan(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	kept, at := lines[:1], 0
	for _, line := range lines[1:] {
		if at < 15 && strings.HasPrefix(line, fmt.Sprintf("%.3f,%.3f,", plan.Private.At(at, 0), plan.Private.At(at, 1))) {
			kept = append(kept[:len(kept):len(kept)], line)
			at++
		}
	}
	if len(kept) != 16 {
		t.Fatalf("%d rows of the file are used", len(kept)-1)
	}
	for _, kind := range []wide.Data{wide.Noisy, wide.Fabricated} {
		change := func(s *Publishing) { s.Kind = kind }
		all, _ := released(t, peopleFile(), 7, atMost(3), change)
		some, _ := released(t, strings.Join(kept, "\n")+"\n", 7, atMost(3), change)
		if got, want := text(t, all), text(t, some); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// Invalid inputs count as an end of their range, and a class that is not named as the first one.
func TestClamp(t *testing.T) {
	clamp := func(s *Publishing) {
		s.Output, s.Inputs = "kind[7|3]", "a+b+c[u|v]"
		s.Low, s.High = experiment.SeveralOf[method.None](10, -1, 0), experiment.SeveralOf[method.None](100, 1, 1)
		s.Invalid.Invalid = method.Clamp
	}
	of := func(row string) (string, []release.Draw) {
		rows := "a,b,kind,c\n" + row + "\n30,.5,3,u\n40,.2,7,v\n50,-.3,3,u\n"
		out, draws := released(t, rows, 1, clamp)
		return text(t, out), draws
	}
	for _, c := range [][2]string{
		{",.5,3,u", "10,.5,3,u"}, {"nan,.5,3,u", "10,.5,3,u"}, {"inf,.5,3,u", "100,.5,3,u"}, {"-1e999,.5,3,u", "10,.5,3,u"},
		{"400,.5,3,u", "100,.5,3,u"}, {"20,-inf,3,u", "20,-1,3,u"}, {"20,NA,3,u", "20,-1,3,u"},
		{"20,.5,,u", "20,.5,7,u"}, {"20,.5,8,u", "20,.5,7,u"}, {"20,.5,perhaps,u", "20,.5,7,u"}, {"20,.5,3,w", "20,.5,3,"},
	} {
		got, draws := of(c[0])
		if want, _ := of(c[1]); got != want {
			t.Errorf("%s:\n%s\nwant that of %s:\n%s", c[0], got, c[1], want)
		}
		if q := draws[0].Query; len(q) != 16 || c[1] == "20,.5,3," && (q[2] != 0 || q[3] != 0) {
			t.Errorf("%s: noise is added to %v", c[0], q)
		}
	}
	low, _ := of("10,.5,3,u")
	if high, _ := of("100,.5,3,u"); low == high || !strings.Contains(low, "which ones are is private") ||
		strings.Contains(low, "each has all values") {
		t.Error(low)
	}
	for _, c := range []struct {
		change func(*Publishing)
		want   string
	}{
		{func(s *Publishing) { s.Output = "kind" }, `1 of 2 rows have no value of "kind": name its values, kind[A|B|C]`},
		{func(s *Publishing) { s.Invalid.Invalid = method.Refuse }, `2:1: column "a" is "inf", expected a finite number`},
	} {
		s := publishing(clamp, c.change)
		_, err := s.Plan(t.Context(), trialtest.New(t, trialtest.Options{
			File: write(t, "a,b,kind,c\ninf,.5,,u\n30,.5,3,u\n"), Secure: true}))
		trialtest.Refuses(t, err, c.want)
	}
	none := &Table{Inputs: "a", Output: "kind", Low: method.Ends{IsWord: true}, High: method.Ends{IsWord: true},
		Invalid: method.Invalid{Invalid: method.Clamp}, persons: persons{method.Person{Person: method.NoColumn}}}
	trialtest.Refuses(t, none.Check("csv:rows.csv", ""), "invalid = clamp: low and high are not given")
}

// rowsOf are rows of persons, with the class of each.
func rowsOf(of, labels []int) *Rows {
	classes := slices.Max(labels) + 1
	return &Rows{Data: &table.Data{People: &table.People{Column: "id", Of: of, Count: slices.Max(of) + 1}}, Labels: labels,
		Classes: strings.Split("abcdefgh"[:classes], "")}
}

// No person is on both sides of a split, and each class is; of persons with one row each as many of a class are
// tested as of rows.
func TestSplitOfPersons(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 300 {
		var of, labels []int
		for person := range 6 + rng.IntN(20) {
			for range 1 + rng.IntN(1+trial%7) {
				of, labels = append(of, person), append(labels, rng.IntN(3))
			}
		}
		r := rowsOf(of, append([]int{0, 0, 1, 1, 2, 2}, labels[6:]...))
		train, test, err := r.split(.3, rng)
		if err != nil { // rare classes
			if !strings.Contains(err.Error(), "rows of one person") && !strings.Contains(err.Error(), "random splits") {
				t.Fatal(err)
			}
			continue
		}
		side, classes, tested := map[int]bool{}, map[string]bool{}, make([]int, 3)
		for _, row := range train {
			side[of[row]], classes[fmt.Sprint("train", r.Labels[row])] = true, true
		}
		for _, row := range test {
			if side[of[row]] {
				t.Fatalf("person %d is trained on and tested", of[row])
			}
			classes[fmt.Sprint("test", r.Labels[row])] = true
			tested[r.Labels[row]]++
		}
		if len(classes) != 6 || len(train)+len(test) != len(of) || !slices.IsSorted(train) || !slices.IsSorted(test) {
			t.Fatalf("%v and %v of %v", train, test, r.Labels)
		}
		plain := *r
		plain.Data = &table.Data{}
		_, want, err := plain.split(.3, rng)
		if err != nil {
			t.Fatal(err)
		}
		if len(of) == slices.Max(of)+1 {
			for _, row := range want {
				tested[r.Labels[row]]--
			}
			if !slices.Equal(tested, []int{0, 0, 0}) {
				t.Errorf("%v more of the classes are tested than of rows", tested)
			}
		}
	}
	_, _, err := rowsOf([]int{0, 0, 1, 1}, []int{0, 0, 0, 1}).split(.3, rng)
	trialtest.Refuses(t, err, `class "b" has one row`)
	_, _, err = rowsOf([]int{0, 0, 1, 2, 2}, []int{0, 0, 0, 1, 1}).split(.3, rng)
	trialtest.Refuses(t, err, `class "b" has rows of one person (id)`)
	// Each two persons share a class: two of three would be on one side with all of it.
	_, _, err = rowsOf([]int{0, 0, 1, 1, 2, 2}, []int{0, 1, 1, 2, 0, 2}).split(.3, rng)
	trialtest.Refuses(t, err, "100 random splits of persons (id) have a class with no row to train on")
}
