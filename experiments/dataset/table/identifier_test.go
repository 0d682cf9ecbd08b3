package table

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// Columns that name persons several times are found; ordinary columns are not taken for them.
func TestIdentifiers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name, column string
		rows         int
		value        func(row int) any
		want         string // part of the warning; "" for none
	}{
		{"a name in blocks", "patient", 300, func(i int) any { return i / 10 }, "30 persons with 10 rows each"},
		{"a name, unevenly", "userID", 100, func(i int) any { return fmt.Sprint("u", min(i, 90)) },
			`"userID" looks like an identifier: 91 persons with 1 to 10 rows each`},
		{"an email", "e_mail email", 9, func(i int) any { return fmt.Sprint("a", i%4, "@b.c") }, ""},
		{"a number with its noun", "subject_no", 9, func(i int) any { return i % 4 }, "4 persons with 2 to 3 rows"},
		{"once each", "id", 300, func(i int) any { return i }, ""},
		{"a truth value", "user", 300, func(i int) any { return i % 2 }, ""},
		{"a kind of patient", "patient_type", 300, func(i int) any { return i % 5 }, ""},
		{"a measurement of a person", "patient", 300, func(i int) any { return float64(i%9) / 7 }, ""},
		{"codes", "k", 900, func(i int) any { return 104_233 + 976*(i%90)*(i%90) + i%90 }, "90 persons with 10 rows"},
		{"words with digits", "k", 900, func(i int) any { return fmt.Sprint("P", i%90) }, "90 persons with 10 rows"},
		{"names in blocks", "k", 900, func(i int) any { return "n" + strings.Repeat("x", i/10) }, "90 persons"},
		{"numbered", "k", 900, func(i int) any { return i / 10 }, "90 persons"},
		{"days, numbered", "day", 900, func(i int) any { return i / 10 }, ""},
		{"ages", "age", 900, func(int) any { return 18 + rng.IntN(70) }, ""},
		{"uniform numbers", "k", 9000, func(int) any { return rng.IntN(100) }, ""},
		{"counts", "k", 900, func(int) any { return int(rng.ExpFloat64() * 9) }, ""},
		{"rounded sums", "k", 900, func(int) any { return 100 * rng.IntN(300) }, ""},
		{"cities", "k", 900, func(i int) any { return strings.Repeat("x", 1+i%40) }, ""},
		{"more than are kept", "id", 40_000, func(i int) any { return i % 20_000 }, "about "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			fmt.Fprintf(&b, "x,%s\n", c.column)
			for i := range c.rows {
				fmt.Fprintf(&b, "%g,%v\n", rng.Float64(), c.value(i))
			}
			got := Identifiers("csv:t.csv", fileOf(t, "t.csv", []byte(b.String())), Reading{})
			if len(got) > 1 || (len(got) == 1) != (c.want != "") {
				t.Fatal(got)
			}
			if len(got) == 1 && !strings.Contains(got[0].String(), c.want) {
				t.Errorf("%v, want %q", got[0], c.want)
			}
			if len(got) == 1 && got[0].Estimated && (got[0].Persons < 19_000 || got[0].Persons > 21_000 || got[0].Most != 2) {
				t.Errorf("%+v of 20000 persons", got[0])
			}
		})
	}
}

// Judging warns of such a column, unless persons are named; a release does not look for it.
func TestIdentifiersWhenJudging(t *testing.T) {
	const text = "x,y,subject\n1,2,a\n2,3,a\n3,1,b\n4,4,c\n"
	d, err := loadText(t, text, "x", "y")
	if err != nil {
		t.Fatal(err)
	}
	const want = `computed but suspect: the column "subject" looks like an identifier: 3 persons with 1 to 2 rows each; ` +
		`a guarantee for one row does not cover a person's rows together; use person=subject`
	if got := strings.Join(d.ColumnWarnings(), "\n"); got != want {
		t.Errorf("%q", got)
	}
	path := fileOf(t, "t.csv", []byte(text))
	s := Spec{Dataset: "csv:t.csv", Inputs: "x", Others: []string{"y"}}
	for name, load := range map[string]func() (*Data, error){
		"persons are named": func() (*Data, error) {
			s := s
			s.Person, s.PerPerson = "subject", 9
			return s.Load(&experiment.Trial{Dataset: func(string) string { return path }, Stream: func(string) *rand.Rand {
				return rand.New(rand.NewPCG(1, 2))
			}})
		},
		"a release": func() (*Data, error) {
			return s.Load(&experiment.Trial{Dataset: func(string) string { return path }, Entropy: rand.NewChaCha8([32]byte{})})
		},
	} {
		if d, err := load(); err != nil || d.identifiers != nil {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
}
