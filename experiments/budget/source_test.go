package budget

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	endian "encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	random "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	reader "privkern/experiments/dataset/table"
	"privkern/runner/experiment"
	"privkern/tests/tier"

	"github.com/parquet-go/parquet-go"
)

// patients are rows of people with two measurements, an age, a sex and a group, from a seed.
func patients(n int, seed uint64) [][]string {
	rng := random.New(random.NewPCG(seed, 1))
	rows := [][]string{{"id", "age", "sex", "weight", "dose", "y"}}
	for i := range n {
		rows = append(rows, []string{fmt.Sprintf("P%d-%d", seed, i), fmt.Sprint(20 + rng.IntN(60)),
			[]string{"no", "yes"}[rng.IntN(2)], fmt.Sprintf("%.2f", 50+30*rng.Float64()), fmt.Sprint(rng.IntN(5)),
			fmt.Sprintf("%.4f", rng.NormFloat64())})
	}
	return rows
}

// save writes rows as a file of a name, and returns its data.
func save(t *testing.T, path string, rows [][]string, by, person string) Data {
	t.Helper()
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.Join(row, by) + "\n")
	}
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(b.String()), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	d, err := DataOf("csv:"+path, path, reader.Reading{}, person)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// column changes the values of a column.
func column(rows [][]string, j int, change func(string) string) [][]string {
	out := [][]string{rows[0]}
	for _, row := range rows[1:] {
		row = slices.Clone(row)
		row[j] = change(row[j])
		out = append(out, row)
	}
	return out
}

// fresh is a release of ε of columns that no other release has used.
func fresh(epsilon float64) experiment.Spending {
	s := spend(epsilon, 0, 0)
	sum := sha256.Sum256([]byte(rand.Text()))
	s.Data = hex.EncodeToString(sum[:])
	return s
}

// charged are the numbers of the accounts of a release.
func charged(booked []Booking) (out []int) {
	for _, b := range booked {
		out = append(out, b.Number)
	}
	return out
}

// The same people are charged to the same account in whatever form their data come; others are not.
func TestAccountFollowsPeople(t *testing.T) {
	rows := patients(200, 1)
	scaled := func(s string) string {
		var v float64
		_, _ = fmt.Sscan(s, &v)
		return fmt.Sprint(v * 2.20462)
	}
	shuffled := slices.Clone(rows[1:])
	slices.SortFunc(shuffled, func(a, b []string) int { return strings.Compare(a[5], b[5]) })
	wider := [][]string{append(slices.Clone(rows[0]), "site")}
	for _, row := range rows[1:] {
		wider = append(wider, append(slices.Clone(row), "1"))
	}
	renamed := append([][]string{{"a", "b", "c", "d", "e", "f"}}, rows[1:]...)
	cell := column(rows, 3, func(s string) string {
		if s == rows[7][3] {
			return "99.99"
		}
		return s
	})
	number := func(s string) string { return map[string]string{"no": "0", "yes": "1"}[s] }
	for name, c := range map[string]struct {
		rows [][]string
		by   string
	}{
		"corrected cell": {cell, ","}, "appended rows": {append(slices.Clone(rows), patients(50, 2)[1:]...), ","},
		"removed rows": {rows[:120], ","}, "shuffled rows": {append(slices.Clone(rows[:1]), shuffled...), ","},
		"rescaled column":  {column(rows, 3, scaled), ","},
		"rescaled output":  {column(rows, 5, scaled), ","},
		"renamed columns":  {renamed, ","},
		"constant column":  {wider, ","},
		"other classes":    {column(rows, 2, func(s string) string { return "class " + s }), ","},
		"numbers for yes":  {column(rows, 2, number), ","},
		"other separators": {rows, ";"},
		"first ids":        {column(rows, 0, func(s string) string { return s + "x" }), ","},
	} {
		t.Run(name, func(t *testing.T) {
			l, dir := limited(t, 10), t.TempDir()
			if _, err := l.Book(fresh(1), save(t, dir+"/first.csv", rows, ",", ""), Request{}); err != nil {
				t.Fatal(err)
			}
			s := fresh(1)
			s.Rows = len(c.rows) - 1
			booked, err := l.Book(s, save(t, dir+"/other/x.csv", c.rows, c.by, ""), Request{})
			if err != nil || !slices.Equal(charged(booked), []int{1}) || booked[0].Found != bySketch || booked[0].Releases != 2 {
				t.Errorf("%+v, %v", booked, err)
			}
			// By its path from then on, with any content.
			booked, err = l.Book(s, save(t, dir+"/other/x.csv", patients(90, 9), ",", ""), Request{})
			if err != nil || !slices.Equal(charged(booked), []int{1}) || booked[0].Found != byPath {
				t.Errorf("%+v, %v", booked, err)
			}
		})
	}
	t.Run("other people", func(t *testing.T) {
		l, dir := limited(t, 10), t.TempDir()
		for i := range 5 {
			booked, err := l.Book(fresh(1), save(t, fmt.Sprint(dir, "/", i, ".csv"), patients(200, uint64(i)), ",", ""),
				Request{})
			if err != nil || !slices.Equal(charged(booked), []int{i + 1}) || booked[0].Found != Opened {
				t.Errorf("%+v, %v", booked, err)
			}
		}
	})
}

// Copies in other formats are of the same people: texts, numbers of 32 bits and truth values of a Parquet
// file, and the numbers alone of an array.
func TestFormats(t *testing.T) {
	type patient struct {
		ID     string  `parquet:"who"`
		Age    int64   `parquet:"age"`
		Sex    bool    `parquet:"sex"`
		Weight float32 `parquet:"weight"`
		Dose   float64 `parquet:"dose"`
		Y      float32 `parquet:"y"`
	}
	dir, rows := t.TempDir(), patients(200, 1)
	var table []patient
	array := []byte("\x93NUMPY\x01\x00")
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 4), }\n", len(rows)-1)
	array = append(endian.LittleEndian.AppendUint16(array, uint16(len(header))), header...)
	for _, row := range rows[1:] {
		p := patient{ID: row[0], Sex: row[2] == "yes"}
		for i, to := range map[int]any{1: &p.Age, 3: &p.Weight, 4: &p.Dose, 5: &p.Y} {
			if _, err := fmt.Sscan(row[i], to); err != nil {
				t.Fatal(err)
			}
		}
		table = append(table, p)
		for _, v := range []float32{float32(p.Age), p.Weight, float32(p.Dose), p.Y} {
			array = endian.LittleEndian.AppendUint32(array, math.Float32bits(v))
		}
	}
	var packed bytes.Buffer
	err := errors.Join(parquet.Write(&packed, table), os.WriteFile(dir+"/a.parquet", packed.Bytes(), 0o600),
		os.WriteFile(dir+"/a.npy", array, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	text := save(t, dir+"/a.csv", rows, ",", "")
	for _, name := range []string{"parquet", "npy"} {
		t.Run(name, func(t *testing.T) {
			copied, err := DataOf(name+":"+dir+"/a."+name, dir+"/a."+name, reader.Reading{}, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, order := range [][]Data{{text, copied}, {copied, text}} {
				l := limited(t, 10)
				for i, found := range []string{Opened, bySketch} {
					booked, err := l.Book(fresh(1), order[i], Request{})
					if err != nil || !slices.Equal(charged(booked), []int{1}) || booked[0].Found != found {
						t.Errorf("%+v, %v", booked, err)
					}
				}
			}
		})
	}
	l, s := limited(t, 10), fresh(1)
	s.Units = []string{"person", "output"}
	for i, d := range []struct{ name, file, person string }{{"csv", "b.csv", "id"}, {"parquet", "a.parquet", "who"}} {
		save(t, dir+"/b.csv", [][]string{rows[0], rows[7]}, ",", "") // one person
		d, err := DataOf(d.name+":"+dir+"/"+d.file, dir+"/"+d.file, reader.Reading{}, d.person)
		if err != nil {
			t.Fatal(err)
		}
		s.Data = fresh(1).Data
		booked, err := l.Book(s, d, Request{})
		if err != nil || booked[0].Number != 1 || booked[0].Found != []string{Opened, byPersons}[i] {
			t.Errorf("%+v, %v", booked, err)
		}
	}
}

// Thirty daily snapshots of a growing file spend from one account.
func TestSnapshots(t *testing.T) {
	tier.Sequential(t)
	l, dir, all := limited(t, 10), t.TempDir(), patients(400, 1)
	for day := range 30 {
		rows := append(slices.Clone(all[:1]), all[1+5*day:201+5*day]...)
		booked, err := l.Book(fresh(0.1), save(t, fmt.Sprint(dir, "/day", day, ".csv"), rows, ",", ""), Request{})
		if err != nil || !slices.Equal(charged(booked), []int{1}) || booked[0].Releases != day+1 {
			t.Fatalf("day %d: %+v, %v", day, booked, err)
		}
	}
	if s, err := l.Read(); err != nil || len(s.Sources[0].Sketches) != mostSketches {
		t.Errorf("%+v, %v", s, err)
	}
	// Linked sources have as many sketches as both, and no more.
	other := save(t, dir+"/other.csv", patients(90, 2), ",", "")
	if _, err := l.Book(fresh(0.1), other, Request{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Link("1", "2", nil); err != nil {
		t.Fatal(err)
	}
	for day := range 4 {
		rows := append(slices.Clone(all[:1]), all[1+30*day:201+30*day]...)
		d := save(t, fmt.Sprint(dir, "/later", day, ".csv"), rows, ",", "")
		if _, err := l.Book(fresh(0.1), d, Request{}); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := l.Read(); err != nil || len(s.Sources) != 1 || len(s.Sources[0].Sketches) != mostSketches+1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// One person is enough, in any column of any file; without any the account is another one.
func TestPersonsAreFoundExactly(t *testing.T) {
	l, dir := limited(t, 10), t.TempDir()
	first, second := patients(50, 1), patients(50, 2)
	third := column(patients(50, 3), 0, func(s string) string {
		if other := map[string]string{"P3-4": "P1-7", "P3-9": "P2-8"}[s]; other != "" {
			return other
		}
		return s
	})
	s := fresh(1)
	s.Units = []string{"person", "row", "output", "inputs"}
	for i, c := range []struct {
		rows  [][]string
		want  []int
		found string
	}{
		{first, []int{1, 2, 3, 4}, Opened}, {second, []int{5, 6, 7, 8}, Opened},
		{third, []int{1, 2, 3, 4, 5, 6, 7, 8}, byPersons},
	} {
		s.Data = fresh(1).Data
		booked, err := l.Book(s, save(t, fmt.Sprint(dir, "/", i, ".csv"), c.rows, ",", "id"), Request{})
		if err != nil || !slices.Equal(charged(booked), c.want) || booked[0].Found != c.found {
			t.Errorf("%d: %v, %v", i, charged(booked), err)
		}
	}
	// A file of several accounts is refused where one of them refuses.
	if _, err := l.Set(Change{Account: "6", Epsilon: value(2.5)}); err != nil {
		t.Fatal(err)
	}
	d := save(t, dir+"/2.csv", third, ",", "id")
	_, err := l.Book(s, d, Request{})
	if e := refused(t, err); e.Number != 6 {
		t.Errorf("%+v", e)
	}
	if state, err := l.Read(); err != nil || len(state.Accounts[0].Entries) != 2 {
		t.Errorf("a refused release is booked: %v", err)
	}
}

// A name is no way to a fresh budget, unless a person says that people are others.
func TestNewNames(t *testing.T) {
	l, dir := limited(t, 1), t.TempDir()
	rows := patients(100, 1)
	d := save(t, dir+"/a.csv", rows, ",", "")
	moved := save(t, dir+"/b.csv", rows, ",", "")
	if _, err := l.Book(fresh(1), d, Request{}); err != nil {
		t.Fatal(err)
	}
	_, err := l.Book(fresh(1), moved, Request{})
	refused(t, err)
	var known *KnownError
	if _, err = l.Book(fresh(1), moved, Request{Account: "study"}); !errors.As(err, &known) ||
		!strings.Contains(err.Error(), "data-1 knows them") {
		t.Errorf("%v", err)
	}
	// Nor is one that was opened before.
	if _, err := l.Set(Change{Account: "study", Epsilon: value(5.0), Delta: value(1e-6), Create: true}); err != nil {
		t.Fatal(err)
	}
	_, err = l.Book(fresh(1), moved, Request{Account: "study"})
	refused(t, err)
	if _, err := l.Book(fresh(1), moved, Request{NewPeople: "reason"}); err == nil {
		t.Error("new people without an account")
	}
	for word, want := range map[string]string{"7": `unknown account "7"`, "data-7": `unknown account "data-7"`,
		"a b": "other characters than", "default": "stands for the limit", "-x": "begins with a -"} {
		if _, err := l.Book(fresh(1), moved, Request{Account: word}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--account %s: %v", word, err)
		}
	}
	for range 2 { // the reason holds from then on
		booked, err := l.Book(fresh(1), moved, Request{Account: "study", NewPeople: "another ward"})
		if err != nil || booked[0].Account != "study" || len(booked) != 1 {
			t.Fatalf("%v, %v", booked, err)
		}
		booked, err = l.Book(fresh(1), moved, Request{})
		if err != nil || booked[0].Account != "study" || len(booked) != 1 {
			t.Errorf("%+v, %v", booked, err)
		}
	}
	raw, err := os.ReadFile(l.path)
	if err != nil || !strings.Contains(string(raw), "another ward") {
		t.Errorf("the reason is not kept: %v", err)
	}
	for word, want := range map[string]string{"1": "data-1", "data-1": "data-1", "study": "study"} {
		d := save(t, dir+"/"+word, patients(60, 7+uint64(len(word))), ",", "")
		if booked, err := l.Book(fresh(0.1), d, Request{Account: word}); word != "study" {
			refused(t, err)
		} else if err != nil || booked[0].Account != want {
			t.Errorf("--account %s: %+v, %v", word, booked, err)
		}
	}
}

// A declaration of new people is one of their data: those of the others are charged to the others'
// account under its name and at its path, too.
func TestNewPeopleAreThose(t *testing.T) {
	l, dir := limited(t, 10), t.TempDir()
	numbered := func(seed uint64) [][]string { // two studies that count their persons from 1
		n := 0
		rows := column(patients(100, seed), 0, func(string) string { n++; return fmt.Sprint(n) })
		rows[0][0] = "id"
		return rows
	}
	one, two := numbered(1), numbered(2)
	at := func(name string, rows [][]string) Data { return save(t, dir+"/"+name, rows, ",", "id") }
	names := func(d Data, r Request) (out []string) {
		t.Helper()
		booked, err := l.Book(fresh(0.1), d, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range booked {
			out = append(out, b.Account)
		}
		return out
	}
	names(at("one", one), Request{})
	names(at("two", two), Request{Account: "two", NewPeople: "another clinic"})
	for _, c := range []struct {
		place   string
		rows    [][]string
		account string
		want    []string
	}{
		{"two", two, "", []string{"two"}},
		{"two", two[:90], "two", []string{"two"}},
		{"three", two[:80], "two", []string{"two"}},
		{"two", slices.Concat(two, one[1:]), "", []string{"data-1", "two"}},
		{"two", slices.Concat(two, one[1:]), "two", []string{"two", "data-1"}},
		{"one", one, "two", []string{"two", "data-1"}},
		{"copy", one, "two", []string{"two", "data-1"}},
		{"two", one, "", []string{"data-1", "two"}},
	} {
		if got := names(at(c.place, c.rows), Request{Account: c.account}); !slices.Equal(got, c.want) {
			t.Errorf("%s under %q charges %q, want %q", c.place, c.account, got, c.want)
		}
	}
}

func TestLink(t *testing.T) {
	at := func(t *testing.T) (*Ledger, []Data) {
		l, dir := limited(t, 3), t.TempDir()
		var all []Data
		for i := range 3 {
			d := save(t, fmt.Sprint(dir, "/", i, ".csv"), patients(40, uint64(i)), ",", "")
			s := fresh(1)
			if i == 1 {
				s.Units = []string{"row", "output"}
			}
			if _, err := l.Book(s, d, Request{}); err != nil {
				t.Fatal(err)
			}
			all = append(all, d)
		}
		return l, all // accounts 1: output; 2, 3: row, output; 4: output
	}
	l, all := at(t)
	if _, err := l.Set(Change{Account: "3", Epsilon: value(2.5)}); err != nil {
		t.Fatal(err)
	}
	reports, err := l.Link("1", "data-2", nil)
	if err != nil || len(reports) != 2 || reports[0].Number != 1 || reports[0].Releases != 2 ||
		reports[0].Limit.Epsilon != 2.5 || reports[1].Number != 2 || reports[1].Unit != "row" {
		t.Fatalf("%+v, %v", reports, err)
	}
	for _, d := range all[:2] {
		_, err := l.Book(fresh(1), d, Request{})
		if e := refused(t, err); e.Releases != 2 {
			t.Errorf("%+v", e)
		}
	}
	if booked, err := l.Book(fresh(1), all[2], Request{}); err != nil || booked[0].Number != 4 {
		t.Errorf("%+v, %v", booked, err)
	}
	other, _ := at(t)
	if reports, err = l.Link("4", "3", other); err != nil || len(reports) != 2 || reports[0].Releases != 3 {
		t.Errorf("%+v, %v", reports, err)
	}
	_, err = l.Book(fresh(1), all[2], Request{})
	refused(t, err)
	before, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	none, torn, folder := open(t), open(t), open(t)
	same := &Ledger{disk: l.disk, path: filepath.Dir(l.path) + "/./" + filepath.Base(l.path)}
	place(t, torn, content(t)[:300])
	if err := os.MkdirAll(folder.path, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b string
		from *Ledger
		want string
	}{
		{"1", "1", nil, "one already"}, {"1", "2", nil, "one already"}, {"1", "9", nil, `unknown account "9"`},
		{"x", "1", nil, `unknown account "x"`}, {"1", "9", other, `unknown account "9"`}, {"1", "4", l, "is this ledger"},
		{"1", "4", same, "is this ledger"},
		{"1", "4", none, "there is no budget ledger"}, {"1", "4", torn, "is damaged or was edited: it is not whole JSON"},
		{"1", "4", folder, "is a folder"},
	} {
		if _, err := l.Link(c.a, c.b, c.from); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("link %s %s: %v", c.a, c.b, err)
		}
	}
	if after, err := os.ReadFile(l.path); err != nil || string(after) != string(before) {
		t.Errorf("a mistake changes the ledger: %v", err)
	}
}

// What a release publishes protects nobody afterwards, and what is protected is not published.
func TestPublished(t *testing.T) {
	release := func(publishes string, units ...string) experiment.Spending {
		s := spend(0.5, 0, 0)
		if s.Units = units; publishes != "" {
			s.Publishes = []string{publishes}
		}
		return s
	}
	row := release("", "row", "output", "inputs")
	cloaked := release("inputs", "output")
	kept := release("", "output") // of a method that protects inputs, too
	kahm := release("output", "inputs")
	person := release("inputs", "person", "output")
	people := release("", "person", "row", "output", "inputs")
	for name, c := range map[string]struct {
		releases []experiment.Spending
		refused  bool // the last one
		earlier  bool
	}{
		"rows, then their inputs":          {[]experiment.Spending{row, cloaked}, true, false},
		"inputs, then rows":                {[]experiment.Spending{cloaked, row}, true, true},
		"inputs twice":                     {[]experiment.Spending{cloaked, cloaked, kept}, false, false},
		"rows, then outputs":               {[]experiment.Spending{row, kept}, false, false},
		"outputs, then inputs":             {[]experiment.Spending{kept, cloaked}, false, false},
		"inputs, then outputs":             {[]experiment.Spending{cloaked, kahm}, true, true},
		"outputs, then labels as they are": {[]experiment.Spending{kept, kahm}, true, false},
		"labels, then outputs":             {[]experiment.Spending{kahm, kept}, true, true},
		"labels twice":                     {[]experiment.Spending{kahm, kahm}, false, false},
		"outputs of persons twice":         {[]experiment.Spending{person, person}, false, false},
		"outputs of persons, then persons": {[]experiment.Spending{person, people}, true, true},
		"persons, then their inputs":       {[]experiment.Spending{people, person}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := limited(t, 10)
			last := len(c.releases) - 1
			book(t, l, c.releases[:last]...)
			err := l.book(c.releases[last], "")
			var published *PublishedError
			if errors.As(err, &published) != c.refused || err != nil && published.Earlier != c.earlier {
				t.Errorf("%v", err)
			}
		})
	}
	l := limited(t, 10)
	book(t, l, person)
	state, err := l.Read()
	if err != nil {
		t.Fatal(err)
	}
	infinite := map[string]bool{}
	for _, a := range state.Accounts {
		r, err := a.Report()
		if err != nil {
			t.Fatal(err)
		}
		infinite[a.Unit] = r.Spent.Epsilon > 1e100 && r.Left.Epsilon == 0 && slices.Contains(r.Published, "inputs")
	}
	want := map[string]bool{"row": true, "inputs": true, "output": false, "person": false}
	if !maps.Equal(infinite, want) {
		t.Errorf("%v", infinite)
	}
	// Linked rows are public, too.
	other := row
	other.Data, other.Units = data(1), []string{"row"}
	book(t, l, other)
	reports, err := l.Link("data-2", "data-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		if got := slices.Contains(r.Published, "inputs"); got != (r.Unit != "output") {
			t.Errorf("unit %s: %v", r.Unit, r.Published)
		}
	}
}

// Points of another file are public by the operator's word, unless they are rows that have an account:
// of the data of the release or of others, whole or in part.
func TestPointsOfPeople(t *testing.T) {
	folder, rows := t.TempDir(), patients(200, 1)
	var grid [][]string
	for i := range 60 {
		grid = append(grid, []string{"age", fmt.Sprint(20 + i)})
	}
	inputs := func(rows [][]string) (out [][]string) {
		for _, row := range rows {
			out = append(out, row[1:4])
		}
		return out
	}
	row, kept := spend(0.5, 0, 0), spend(0.5, 0, 0)
	row.Units = experiment.UnitsOfARow()
	for name, c := range map[string]struct {
		points  [][]string
		refused bool
	}{
		"a copy":           {inputs(rows), true},
		"half of the rows": {inputs(append(rows[:1:1], rows[100:]...)), true},
		"a grid":           {grid, false},
		"other people":     {inputs(patients(200, 2)), false},
	} {
		for _, own := range []bool{true, false} {
			l := limited(t, 10)
			protected := save(t, folder+"/protected.csv", rows, ",", "")
			if _, err := l.Book(row, protected, Request{}); err != nil {
				t.Fatal(err)
			}
			d := protected
			if !own {
				d = save(t, folder+"/other.csv", patients(200, 3), ",", "")
			}
			_, err := l.Book(kept, d.At(save(t, folder+"/points.csv", c.points, ",", "")), Request{})
			var published *PublishedError
			if errors.As(err, &published) != c.refused || err != nil && !c.refused ||
				c.refused && (!published.Points || published.Others != 1) {
				t.Errorf("%s, own data %v: %v", name, own, err)
			}
			if whole := spend(0.5, 0, 0); own && c.refused { // a release that protects the inputs itself
				whole.Units = experiment.UnitsOfARow()
				_, err := l.Book(whole, d.At(save(t, folder+"/points.csv", c.points, ",", "")), Request{})
				fresh := limited(t, 10)
				_, first := fresh.Book(whole, d.At(save(t, folder+"/points.csv", c.points, ",", "")), Request{})
				if !errors.As(err, &published) || published.Others != 1 || !errors.As(first, &published) || published.Others != 0 {
					t.Errorf("%s: %v; without an account: %v", name, err, first)
				}
			}
			if own {
				continue
			}
			export := experiment.Spending{Experiment: "x", Rows: 200, Publishes: []string{experiment.UnitInputs}}
			d = save(t, folder+"/exported.csv", patients(200, 4), ",", "")
			err = l.Register(export, d.At(save(t, folder+"/points.csv", c.points, ",", "")),
				func([]json.RawMessage) (json.RawMessage, error) { return json.RawMessage("{}"), nil })
			if errors.As(err, &published) != c.refused || err != nil && !c.refused {
				t.Errorf("%s, sensitive places: %v", name, err)
			}
		}
	}
}

// An export publishes as a release does: it is refused where the inputs have spent, and ends their
// accounts otherwise.
func TestExportsPublish(t *testing.T) {
	row := spend(0.5, 0, 0)
	row.Units = experiment.UnitsOfARow()
	export := experiment.Spending{Experiment: "x", Rows: 100, Publishes: []string{experiment.UnitInputs}}
	for _, exportFirst := range []bool{true, false} {
		l := limited(t, 10)
		var registered bool
		register := func() error {
			return l.Register(export, Data{place: row.Data}, func([]json.RawMessage) (json.RawMessage, error) {
				registered = true
				return json.RawMessage("{}"), nil
			})
		}
		release := func() error { return l.book(row, "") }
		first, second := release, register
		if exportFirst {
			first, second = register, release
		}
		if err := first(); err != nil {
			t.Fatal(err)
		}
		var published *PublishedError
		if err := second(); !errors.As(err, &published) || published.Earlier != exportFirst || registered != exportFirst {
			t.Errorf("%v, registered: %v", err, registered)
		}
		if err := first(); err != nil {
			t.Errorf("it is refused when repeated: %v", err)
		}
	}
}

// The accounts of the first schema are found by the bytes of a release, and those of rows and of
// their parts become one source.
func TestFirstSchemaIsFoundByBytes(t *testing.T) {
	l := open(t)
	account := func(data, unit string) string {
		return `{"data":"` + data + `","unit":"` + unit + `","n":50,"rule":"basic","limit":{"epsilon":1,"delta":0.002},` +
			`"entries":[{"time":"2026-01-02T03:04:05Z","experiment":"x","epsilon":0.75,"delta":0,"mu":0}]}`
	}
	place(t, l, seal([]byte(`{"schema":1,"sha256":"`+zeros+`","accounts":[`+account(data(0), "output")+`,`+
		account(data(5), "row")+`]}`)))
	d := save(t, t.TempDir()+"/a.csv", patients(50, 1), ",", "")
	s := spend(0.5, 0, 0)
	s.Row, s.Units = data(5), []string{"row", "output"}
	_, err := l.Book(s, d, Request{})
	refused(t, err)
	s.Epsilon, s.Losses = 0.25, spend(0.25, 0, 0).Losses
	booked, err := l.Book(s, d, Request{})
	if err != nil || !slices.Equal(charged(booked), []int{2, 1}) || booked[0].Found != byBytes {
		t.Fatalf("%+v, %v", booked, err)
	}
	raw, err := os.ReadFile(l.path)
	if err != nil || strings.Contains(string(raw), data(0)) || strings.Contains(string(raw), data(5)) {
		t.Errorf("digests of data are kept without a key: %v", err)
	}
	s.Data, s.Row = data(6), data(7) // other columns of the same file
	_, err = l.Book(s, d, Request{})
	refused(t, err)
}

// A registered set in the form of a table is the account of the set itself, wherever its files lie.
func TestPlaceOfSet(t *testing.T) {
	set, err := DataOf("kung", t.TempDir(), reader.Reading{}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"set:kung", "set:mnist/test@7x7"} {
		d, err := DataOf(name, t.TempDir(), reader.Reading{}, "")
		if err != nil {
			t.Fatal(err)
		}
		if same := name == "set:kung"; (d.place == set.place) != same {
			t.Errorf("%s is at %q, and kung at %q", name, d.place, set.place)
		}
	}
}
