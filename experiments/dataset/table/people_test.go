package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
	"privkern/runner/experiment"
)

// loadPeople loads a file whose column id names persons.
func loadPeople(path, dataset string, s Spec, seed uint64) (*Data, error) {
	s.Dataset, s.Person = dataset, "id"
	return s.Load(&experiment.Trial{
		Dataset: func(string) string { return path },
		Stream:  func(string) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) },
	})
}

// Equal numbers, dates and texts name one person, in every form.
func TestPersons(t *testing.T) {
	const ids = "7,7.0,+007,7e0,8,-0,0,Ann,\"ann\",Ann ,9007199254740993,9007199254740992,2020-01-31," +
		"2020-01-31 00:00:00,1e999,1_000,-9007199254740993"
	want := []int{0, 0, 0, 0, 1, 2, 2, 3, 4, 3, 5, 6, 7, 7, 8, 9, 10}
	var text strings.Builder
	text.WriteString("id,x,y\n")
	for i, id := range strings.Split(ids, ",") {
		fmt.Fprintf(&text, "%s,%d,1\n", id, i)
	}
	path := fileOf(t, "t.csv", []byte(text.String()))
	d, err := loadPeople(path, "csv:t.csv", Spec{Inputs: "*", Others: []string{"y"}, PerPerson: 9}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.People.Of, want) || d.People.Count != 11 || d.People.LeftOut != 0 || len(d.Names) != 1 {
		t.Errorf("%+v, inputs %v", d.People, d.Names)
	}

	type visit struct {
		Person int64   `parquet:"id"`
		X      float64 `parquet:"x"`
	}
	path = fileOf(t, "t.parquet", parquetOf(t, []visit{{1<<53 + 1, 1}, {1 << 53, 2}, {1<<53 + 1, 3}, {-1, 4}}))
	if d, err = loadPeople(path, "parquet:t.parquet", Spec{Inputs: "x", PerPerson: 2}, 1); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.People.Of, []int{0, 1, 0, 2}) {
		t.Errorf("%+v", d.People)
	}
}

// A missing person is refused with the place and without a value, and so is data without a column.
func TestMissingPerson(t *testing.T) {
	path := fileOf(t, "t.csv", []byte("id,x,y\n4,5,6\nNA,secret,6\n"))
	_, err := loadPeople(path, "csv:t.csv", Spec{Inputs: "y", PerPerson: 1}, 1)
	filetest.MustFail(t, err, `t.csv:3:1: column "id" has no value here`)
	_, err = loadPeople(path, "csv:t.csv", Spec{Inputs: "id", PerPerson: 1}, 1)
	filetest.MustFail(t, err, `the column "id" is one of the inputs, too`)
	_, err = loadPeople(path, "images:faces", Spec{Inputs: "*", PerPerson: 1}, 1)
	filetest.MustFail(t, err, "person = id: a folder of pictures has no column that names persons")
}

// Every choice of m of a person's rows is as likely as any other, and those of two persons are
// independent; rows that are left out for want of a value are no part of it, and count their person.
func TestDrawnRows(t *testing.T) {
	path := fileOf(t, "t.csv", []byte("id,x\na,1\nb,10\na,2\na,\nb,20\na,4\nb,30\nc,\n"))
	counts := map[string]int{}
	const draws = 4500
	for seed := range uint64(draws) {
		d, err := loadPeople(path, "csv:t.csv", Spec{Inputs: "x", PerPerson: 2}, seed)
		if err != nil {
			t.Fatal(err)
		}
		if p := d.People; p.Count != 3 || p.LeftOut != 2 || d.Dropped != 2 || len(p.Of) != 4 {
			t.Fatalf("%+v", p)
		}
		groups := d.People.Groups()
		text := ""
		for _, rows := range groups {
			for _, row := range rows {
				text += fmt.Sprint(d.X.At(row, 0), " ")
			}
		}
		counts[text]++
	}
	if len(counts) != 9 {
		t.Fatalf("%v", counts)
	}
	square := 0.0
	for _, n := range counts {
		square += math.Pow(float64(n)-draws/9, 2) / (draws / 9)
	}
	if square > 26.12 { // of χ² with 8 degrees of freedom, the quantile of 0.999
		t.Errorf("χ² = %g: %v", square, counts)
	}
}

// Extremes are those of all rows, also of rows that a draw leaves out, without regard to missing values.
func TestExtremes(t *testing.T) {
	const text = "id,x,c,t,y\n1,4,a,yes,-2\n1,9,b,yes,5\n1,,a,no,7\n1,-3,b,,30\n1,0,a,yes,8\n"
	d, err := loadPeople(fileOf(t, "t.csv", []byte(text)), "csv:t.csv", Spec{Inputs: "x+c[a|b]+t",
		Others: []string{"y"}, PerPerson: 1, Invalid: KeptInputs}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(d.Extremes.RawMatrix().Data, d.Ends("y"), d.X.RawMatrix().Rows); got !=
		"[-3 NaN NaN 0 9 NaN NaN 1] [-2 30] 1" {
		t.Error(got)
	}
}

// Where rows with an invalid value are tolerated, none stops the reading.
func TestTolerated(t *testing.T) {
	const text = "x,c,y,k\n1,red,5,a\ninf,red,6,a\n3,green,1e999,b\n4,red,,c\n5,red,7,\n"
	for _, c := range []struct {
		invalid Tolerance
		want    string // inputs, y, labels, and rows left out
	}{
		{LeftOut, "[1 1 0] [5] [0] 4"},
		{KeptOthers, "t.csv:3:1: column \"x\" is \"inf\", expected a finite number"},
		{KeptInputs, "t.csv:4:9: column \"y\" is \"1e999\", expected a finite number"},
		{Refused, "t.csv:3:1: column \"x\" is \"inf\", expected a finite number"},
	} {
		path := fileOf(t, "t.csv", []byte(text))
		s := Spec{Dataset: "csv:t.csv", Inputs: "x+c[red|blue]", Others: []string{"y", "k[a|b]"}, Invalid: c.invalid}
		d, err := loadFrom(path, s)
		if err != nil {
			filetest.MustFail(t, err, c.want)
			continue
		}
		labels, _, err := d.Labels("k[a|b]")
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(d.X.RawMatrix().Data, numbersOf(t, d, "y"), labels, d.Dropped); got != c.want || d.Rows != 5 {
			t.Errorf("%d: %s, of %d", c.invalid, got, d.Rows)
		}
	}
	keep := func(inputs string, invalid Tolerance, text string) string {
		s := Spec{Dataset: "csv:t.csv", Inputs: inputs, Others: []string{"y", "k[a|b]"}, Invalid: invalid}
		d, err := loadFrom(fileOf(t, "t.csv", []byte(text)), s)
		if err != nil {
			return err.Error()
		}
		labels, _, err := d.Labels("k[a|b]")
		return fmt.Sprint(d.X.RawMatrix().Data, numbersOf(t, d, "y"), labels, d.Dropped, err)
	}
	for _, c := range []struct{ got, want string }{
		{keep("x", KeptOthers, "x,y,k\n1,5,a\n2,inf,c\n3,,\n,8,a\n"), "[1 2 3] [5 NaN NaN] [0 -1 -1] 1 <nil>"},
		{keep("x", KeptOthers, "x,y,k\n1,,a\n2,inf,c\n"), "[1 2] [NaN NaN] [0 -1] 0 <nil>"},
		{keep("x+c[red|blue]", KeptInputs, "x,c,y,k\n1,red,5,a\ninf,green,6,b\n,,7,a\n4,blue,,a\n"),
			"[1 1 0 NaN NaN NaN NaN NaN NaN] [5 6 7] [0 1 0] 1 <nil>"},
		{keep("x+c[red|blue]", Kept, "x,c,y,k\ninf,red,5,a\n-1e999,green,inf,c\n,inf,7,\n"),
			"[+Inf 1 0 -Inf NaN NaN NaN NaN NaN] [5 NaN 7] [0 -1 -1] 0 <nil>"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}
