package sketch

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"privkern/experiments/dataset/table"
	"privkern/tests/tier"
)

var key = Key{1, 2, 3}

// sketched is the sketch of rows, the first of which is the header.
func sketched(t testing.TB, rows [][]string) *Sketch {
	t.Helper()
	var b bytes.Buffer
	path := filepath.Join(t.TempDir(), "x.csv")
	w := csv.NewWriter(&b)
	if err := errors.Join(w.WriteAll(rows), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	s, _, err := key.Read("csv:"+path, path, table.Reading{}, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// census is a table of n people: a height to half a centimetre, a weight to a tenth of a kilogram,
// an age, a sex.
func census(n int, rng *rand.Rand) [][]string {
	rows := [][]string{{"height", "weight", "age", "male"}}
	for range n {
		height := 160 + 8*rng.NormFloat64()
		rows = append(rows, []string{fmt.Sprintf("%.1f", float64(int(2*height))/2),
			fmt.Sprintf("%.1f", height-100+9*rng.NormFloat64()), fmt.Sprint(20 + rng.IntN(60)), fmt.Sprint(rng.IntN(2))})
	}
	return rows
}

// Strangers from one population share values, and are strangers: by columns of few values, on a
// grid, numbered, or of a design.
func TestStrangers(t *testing.T) {
	draws, rng := tier.Random(t, 10, 300)
	numbers := func(n int) [][]string {
		rows := [][]string{{"id", "day", "dose", "answer"}}
		for i := range n {
			rows = append(rows, []string{fmt.Sprint(i + 1), fmt.Sprint(i % 10), fmt.Sprint(float64(i%5) / 2),
				[]string{"yes", "no"}[rng.IntN(2)]})
		}
		return rows
	}
	incomes := func(n int) [][]string { // most are none, and others are those of a tariff
		rows := [][]string{{"gain", "hours", "state"}}
		for range n {
			gain := rng.IntN(2) * 1234 * (1 + rng.IntN(30)*rng.IntN(30))
			rows = append(rows, []string{fmt.Sprint(gain), fmt.Sprint(rng.IntN(60)), fmt.Sprint("s", rng.IntN(40))})
		}
		return rows
	}
	lines := func(n int) [][]string {
		rows := [][]string{{"x", "label"}}
		for i := range n {
			rows = append(rows, []string{strconv.FormatFloat(10*float64(i)/float64(n-1), 'g', -1, 64), fmt.Sprint(rng.IntN(3))})
		}
		return rows
	}
	for name, make := range map[string]func(int) [][]string{
		"census": func(n int) [][]string { return census(n, rng) }, "numbers": numbers, "incomes": incomes, "grid": lines,
	} {
		t.Run(name, func(t *testing.T) {
			for i := range draws {
				for _, n := range []int{12, 40, 150, 600} {
					if a, b := sketched(t, make(n)), sketched(t, make(n)); a.Matches(b) {
						t.Errorf("draw %d: two tables of %d strangers match", i, n)
					}
				}
			}
		})
	}
}

// publicRows are the rows of a file of the data folder, the first of which is the header.
func publicRows(t *testing.T, separator rune, path ...string) [][]string {
	t.Helper()
	folder := os.Getenv("PRIVKERN_DATA")
	if folder == "" {
		t.Skip("no data folder: PRIVKERN_DATA is not set")
	}
	f, err := os.Open(filepath.Join(append([]string{folder}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r := csv.NewReader(f)
	r.Comma = separator
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Of two samples of a public data set without a common row none is taken for the other; those with
// half of their rows in common are, from 20 rows up.
func TestSamplesOfPublicData(t *testing.T) {
	draws, rng := tier.Random(t, 2, 20)
	for name, rows := range map[string][][]string{
		"kung": publicRows(t, ';', "kung", "Howell1.csv"), "hmeq": publicRows(t, ',', "hmeq", "hmeq.csv"),
	} {
		t.Run(name, func(t *testing.T) {
			all := len(rows) - 1
			for range draws {
				for _, n := range []int{10, 15, 20, 40, 100, 200, all / 2} {
					order := rng.Perm(all)
					part := func(from int) [][]string {
						out := rows[:1:1]
						for _, i := range order[from : from+n] {
							out = append(out, rows[1+i])
						}
						return out
					}
					first := sketched(t, part(0))
					if first.Matches(sketched(t, part(n))) {
						t.Errorf("two samples of %d rows without a common one match", n)
					}
					if n >= 20 && !first.Matches(sketched(t, part(n/2))) {
						t.Errorf("two samples of %d rows with half in common do not match", n)
					}
				}
			}
		})
	}
}

// The least number of common values of a match, by the formula of the package comment.
func TestThreshold(t *testing.T) {
	for _, c := range []struct {
		values int
		chance float64
		least  int
	}{
		{3, 0, 3}, {8, 0, 3}, {100, 0, 30}, {100, 0.05, 30}, // 16.4 of strangers
		{12, 0.15, 9} /* 8.07 */, {100, 0.3, 67} /* 66.9 */, {4, 0.5, 4} /* nine tenths */, {1000, 0.9, 900},
	} {
		for shared := range c.values + 1 {
			a, b := Set{Chance: c.chance}, Set{}
			for i := range c.values {
				a.Tokens = append(a.Tokens, uint64(i)<<10)
				b.Tokens = append(b.Tokens, uint64(c.values-shared+i)<<10)
			}
			if got := a.matches(&b); got != (shared >= c.least) || got != b.matches(&a) {
				t.Errorf("%d of %d values at a chance of %v: %v", shared, c.values, c.chance, got)
			}
		}
	}
}

// A share of common rows decides: 60 % match, 5 % do not.
func TestCommonRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{100, 3000} {
		a, b := census(n, rng), census(n, rng)
		for share, want := range map[float64]bool{1: true, 0.6: true, 0.05: false} {
			rows := append(append([][]string{}, a[:1+int(share*float64(n))]...), b[1+int(share*float64(n)):]...)
			if got := sketched(t, rows).Matches(sketched(t, a)); got != want {
				t.Errorf("%v of %d rows in common: %v", share, n, got)
			}
		}
	}
	// Of a table of 3000 rows, one of 60.
	all := census(3000, rng)
	if !sketched(t, all[:61]).Matches(sketched(t, all)) {
		t.Error("a part of a table is not recognised")
	}
}

// Wide tables, such as pictures, are recognised without a column that tells rows apart.
func TestWideTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	pictures := func(n int) [][]string {
		rows := [][]string{nil}
		for j := range 64 {
			rows[0] = append(rows[0], fmt.Sprint("p", j))
		}
		for range n {
			var row []string
			for range 64 {
				row = append(row, fmt.Sprint(max(0, rng.IntN(400)-200)))
			}
			rows = append(rows, row)
		}
		return rows
	}
	a := pictures(200)
	changed := [][]string{append([]string{"new"}, a[0]...)}
	for i, row := range a[1:] {
		row = append([]string{fmt.Sprint(i)}, row...)
		row[9] = "0"
		changed = append(changed, row)
	}
	s := sketched(t, a)
	if !s.Matches(sketched(t, changed)) || s.Matches(sketched(t, pictures(200))) {
		t.Error("a new and a changed column hide the rows, or others are taken for them")
	}
	// Of a thousand columns not all pairs are compared.
	wide := &table.Whole{Rows: 50}
	for range 1000 {
		var c table.WholeColumn
		for range wide.Rows {
			c.Values = append(c.Values, float64(rng.IntN(30)))
		}
		wide.Columns = append(wide.Columns, c)
	}
	m := newMaker(key, wide)
	m.measure()
	if sets := m.sets(); len(sets) == 0 || len(m.known) > 10000 {
		t.Errorf("%d sets, %d pairs of columns are compared", len(sets), len(m.known))
	}
}

// Persons are the same in every form of their names.
func TestPersons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("who,y\n7,1\n07,2\nann,3\n ann ,4\nbob,5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, persons, err := key.Read("csv:"+path, path, table.Reading{}, "who")
	if err != nil || len(persons) != 3 || !persons.Shared(Tokens{1, persons[2]}) || persons.Shared(Tokens{1, 2}) {
		t.Errorf("%v, %v", persons, err)
	}
	if _, others, _ := (Key{4}).Read("csv:"+path, path, table.Reading{}, "who"); others.Shared(persons) {
		t.Error("two keys give the same hashes")
	}
}

// A million rows of a million persons take a bounded sketch.
func TestMillion(t *testing.T) {
	tier.Night(t, "a million rows take seconds")
	path := filepath.Join(t.TempDir(), "x.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, rng := bufio.NewWriter(f), rand.New(rand.NewPCG(1, 2))
	fmt.Fprintln(w, "id,a,b,c,d,sex")
	for i := range 1_000_000 {
		fmt.Fprintf(w, "P%d,%.4f,%d,%.2f,%.1f,%d\n", i, rng.NormFloat64(), rng.IntN(90), rng.NormFloat64()*30+100,
			rng.Float64()*100, rng.IntN(2))
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	s, persons, err := key.Read("csv:"+path, path, table.Reading{}, "id")
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, set := range s.Sets {
		size += 11 * len(set.Tokens)
	}
	t.Logf("%v with %d processors; %d bytes of sketch, %d of persons", time.Since(start), runtime.NumCPU(), size,
		11*len(persons))
	if len(s.Sets) == 0 || size > 1<<20 || len(persons) != 1_000_000 {
		t.Errorf("%d sets of %d bytes, %d persons", len(s.Sets), size, len(persons))
	}
}
