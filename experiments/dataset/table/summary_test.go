package table

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
)

func TestSummarise(t *testing.T) {
	var b strings.Builder
	b.WriteString("n,b,d,c,mixed,comma,empty,twice,twice,one,who\n")
	b.WriteString("1,yes,2020-01-02,red,1,2,,1,1,5,a\n" +
		",No,2020-01-01 12:00:00,blue,x,\"2,5\",NA,1,1,5,b\n-2.5,yes,,,2,3,,1,1,5,c\n")
	for i := range MaxLevels {
		fmt.Fprintf(&b, "%d,no,2020-01-01,red,2,3,,1,1,5,w%d\n", i, i)
	}
	path := fileOf(t, "t.csv", []byte(b.String()))
	s, err := Summarise("csv:t.csv", path, Reading{}, false)
	if err != nil || s.Rows != MaxLevels+3 {
		t.Fatalf("%+v, %v", s, err)
	}
	for i, want := range []ColumnSummary{
		{Name: "n", Type: "number", Missing: 1, Distinct: MaxLevels, Many: true, Low: -2.5, High: 999., Input: true},
		{Name: "b", Type: "boolean", Distinct: 3, Levels: []string{"No", "no", "yes"}, Input: true},
		{Name: "d", Type: "date", Missing: 1, Distinct: 3, Low: "2020-01-01", High: "2020-01-02"},
		{Name: "c", Type: "category", Missing: 1, Distinct: 2, Levels: []string{"blue", "red"}},
		{Name: "mixed", Type: "mixed", Distinct: 3, Problem: "a number in line 2, a text in line 3"},
		{Name: "comma", Type: "mixed", Distinct: 2, Problem: `line 3: it is "2,5", expected a number with a decimal point ` +
			`(it looks like a number with a decimal comma or a thousands separator: decimal=, reads the former; leave the ` +
			`latter out)`},
		{Name: "empty", Type: "empty", Missing: MaxLevels + 3, Problem: "no row has a value"},
		{Name: "twice", Type: "number", Distinct: 1, Low: 1., High: 1., Problem: "another column has the same name"},
		{Name: "twice", Type: "number", Distinct: 1, Low: 1., High: 1., Problem: "another column has the same name"},
		{Name: "one", Type: "number", Distinct: 1, Low: 5., High: 5., Input: true},
		{Name: "who", Type: "text", Distinct: MaxLevels, Many: true,
			Problem: "more than 1000 different values, which is no category"},
	} {
		// One value more than the bound is many.
		if got := s.Columns[i]; !reflect.DeepEqual(got, want) {
			t.Errorf("%+v\nwant %+v", got, want)
		}
	}
	s, err = Summarise("parquet:p.parquet", fileOf(t, "p.parquet", parquetOf(t, patients())), Reading{}, false)
	if err != nil || s.Rows != 5 || s.Columns[len(s.Columns)-1].Type != "unreadable" || s.Columns[0].Missing != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = Summarise("csv:t.csv", fileOf(t, "t.csv", []byte("a\ninf\n1\nNaN\n")), Reading{}, false)
	if err != nil || s.Columns[0].Problem != `line 2: it is "inf", expected a finite number` {
		t.Errorf("%+v, %v", s, err)
	}
	for name, want := range map[string]string{"a,b\n": "there are no rows", "": "the file is empty",
		"a\n1,2\n": "t.csv:2: 2 fields"} {
		_, err := Summarise("csv:t.csv", fileOf(t, "t.csv", []byte(name)), Reading{}, false)
		filetest.MustFail(t, err, want)
	}
}

func TestNamed(t *testing.T) {
	dir := t.TempDir()
	for arg, want := range map[string]string{"x.csv": "csv:x.csv", "x.txt": "csv:x.txt", "x.parquet": "parquet:x.parquet",
		"X.NPY": "npy:X.NPY", "npy:x": "npy:x", dir: "images:" + dir, dir + "@8x8": "images:" + dir + "@8x8"} {
		if got := Named(arg); got != want {
			t.Errorf("%s is %s", arg, got)
		}
	}
}
