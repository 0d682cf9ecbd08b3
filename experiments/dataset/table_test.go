package dataset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func tableFile(t *testing.T, text string) string {
	t.Helper()
	return writeFile(t, []byte(text), t.TempDir(), "t.csv")
}

// The same table in the forms in which programs write it. The column note is
// not asked for and may hold anything.
func TestLoadTableForms(t *testing.T) {
	for name, text := range map[string]string{
		"commas":          "age,note,height\n63,a,139.7\n,b,151\n41.5,c,NA\n7,d,100\n",
		"semicolons":      "age;note;height\n63;a, b;139.7\n;;151\n41.5;c;nan\n7;d;100\n",
		"tabs":            "age\tnote\theight\n63\ta\t139.7\n\tb\t151\n41.5\tc\tNA\n7\td\t100\n",
		"CRLF":            "age,note,height\r\n63,a,139.7\r\n,b,151\r\n41.5,c,NA\r\n7,d,100\r\n",
		"byte order mark": "\xef\xbb\xbfage,note,height\n63,a,139.7\n,b,151\n41.5,c,NA\n7,d,100\n",
		"quotes": "\"age\",\"note\",\"height\"\n\"63\",\"a\nb, " +
			"\"\"c\"\"\",\"139.7\"\n\"\",b,151\n41.5,c,NA\n7,d,100\n",
		"spaces":                "age, note, height\n63, a, 139.7\n , b, 151\n41.5, c, NA\n7, \"d\", 1e2\n",
		"blank lines":           "\n\nage,note,height\n\n63,a,139.7\n,b,151\n41.5,c,NA\n\n7,d,100",
		"names with separators": "age;\"note;;,,,\";height\n63;a;139.7\n;b;151\n41.5;c;NA\n7;d;100\n",
	} {
		t.Run(name, func(t *testing.T) {
			table, err := LoadTable(tableFile(t, text), []string{"age"}, "height")
			if err != nil {
				t.Errorf("%v", err)
				return
			}
			if !mat.Equal(table.Inputs, mat.NewDense(2, 1, []float64{63, 7})) ||
				!slices.Equal(table.Output, []float64{139.7, 100}) || table.Dropped != 2 || table.Constant != nil {
				t.Errorf("%+v, inputs %v", table, mat.Formatted(table.Inputs))
			}
		})
	}
}

// The header alone says whether the columns are there: rows may hold anything.
func TestCheckColumns(t *testing.T) {
	path := tableFile(t, "x;y; z;x2;x2\nno number;;;;\nshort\n")
	for _, c := range []struct {
		name    string
		path    string
		columns []string
		want    string // empty for none
	}{
		{"all there", path, []string{"z", "x"}, ""},
		{"none asked for", path, nil, ""},
		{"misspelt", path, []string{"x", "Y"}, path + `:1: unknown column "Y"; did you mean "y"?`},
		{"like no other", path, []string{"weight"}, path + `:1: unknown column "weight"; valid: x, y, z, x2`},
		{"there twice", path, []string{"x2"}, path + `:1:11: a second column is named "x2"`},
		{"named twice", path, []string{"x", "x"}, path + `: the column "x" is named twice`},
		{"without a name", path, []string{""}, path + `: a column without a name is asked for`},
		{"empty", tableFile(t, ""), []string{"x"}, "the file is empty"},
		{"not there", path + "x", []string{"x"}, path + "x: file does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := CheckColumns(c.path, c.columns)
			if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %q", got, c.want)
			}
		})
	}
}

// Of data sets that are files of the user's, the columns are looked for under the
// name that the user wrote.
func TestTablesOf(t *testing.T) {
	tables := TablesOf(map[string][]string{"kung": {"age"}, "csv:b.csv": {"x", "other"}, "csv:a.csv": {"x"},
		"training": nil})
	if len(tables) != 2 || tables[0].Dataset != "csv:a.csv" || !slices.Equal(tables[1].Columns, []string{"x", "other"}) {
		t.Fatalf("%+v", tables)
	}
	path := tableFile(t, "x,y\n1,2\n")
	if err := tables[0].Check(path); err != nil {
		t.Error(err)
	}
	if err := tables[1].Check(path); err == nil || err.Error() != `b.csv:1: unknown column "other"; valid: x, y` {
		t.Errorf("%v", err)
	}
}

// Columns come in the order in which they were named, not in that of the file.
func TestLoadTableColumns(t *testing.T) {
	path := tableFile(t, "y,a,b,c\n1,2,3,4\n5,6,3,8\n")
	table, err := LoadTable(path, []string{"c", "b", "a"}, "y")
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(table.Inputs, mat.NewDense(2, 3, []float64{4, 3, 2, 8, 3, 6})) ||
		!slices.Equal(table.Output, []float64{1, 5}) {
		t.Errorf("inputs %v, output %v", mat.Formatted(table.Inputs), table.Output)
	}
	if !slices.Equal(table.Constant, []string{"b"}) || !slices.Equal(table.InputNames, []string{"c", "b", "a"}) ||
		table.OutputName != "y" || table.Path != path {
		t.Errorf("%+v", table)
	}
	inputs, err := LoadInputs(path, []string{"b", "y"})
	if err != nil || !mat.Equal(inputs, mat.NewDense(2, 2, []float64{3, 1, 3, 5})) {
		t.Errorf("%v, %v", inputs, err)
	}
}

func TestLoadTableErrors(t *testing.T) {
	const header = "age,weight,height\n"
	age, ages := []string{"age"}, []string{"age", "weight"}
	for _, c := range []struct {
		name, text string
		inputs     []string
		output     string
		want       string // after the path
	}{
		{"empty", "", age, "height", ": the file is empty"},
		{"blank", " \r\n\r\n", age, "height", ": the file is empty"},
		{"header only", header, age, "height", ": there are no rows after the header"},
		{"misspelt input", header + "1,2,3\n", []string{"aeg"}, "height", `:1: unknown column "aeg"; did you mean "age"?`},
		{"unknown output", header + "1,2,3\n", age, "salary", `:1: unknown column "salary"; valid: age, weight, height`},
		{"other case", header + "1,2,3\n", []string{"Age"}, "height", `:1: unknown column "Age"; did you mean "age"?`},
		{"doubled column", "age,height,age\n1,2,3\n", age, "height", `:1:12: a second column is named "age"`},
		{"input twice", header + "1,2,3\n", []string{"age", "age"}, "height", `: the column "age" is named twice`},
		{"output as input", header + "1,2,3\n", []string{"age", "height"}, "height",
			`: the column "height" is to be both an input and the output`},
		{"no name", header + "1,2,3\n", []string{""}, "height", ": a column without a name"},
		{"text", header + "1,2,3\n4,old,6\n", ages, "height", `:3:3: column "weight" is "old", expected a number`},
		{"decimal comma", "age;height\n1;2,5\n", age, "height",
			`:2:3: column "height" is "2,5", expected a number with a decimal point`},
		{"hexadecimal", header + "1,0x10,3\n", ages, "height", `:2:3: column "weight" is "0x10", expected a number`},
		{"infinite", header + "1,2,3\n1,2,-Inf\n", age, "height",
			`:3:5: column "height" is "-Inf", expected a finite number`},
		{"overflow", header + "1e999,2,3\n", age, "height", `:2:1: column "age" is "1e999", expected a finite number`},
		{"text beside a missing value", header + "NA,2,x\n", age, "height", `:2:6: column "height" is "x"`},
		{"short row", header + "1,2,3\n1,2\n", age, "height", ":3: 2 fields, expected 3 as in the header"},
		{"long row", header + "1,2,3,4\n", age, "height", ":2: 4 fields, expected 3 as in the header"},
		{"open quotation mark", header + "1,2,3\n\"1,2,3\n", age, "height", `:3:8: extraneous or missing " in quoted-field`},
		{"open quotation mark, long file", header + "1,2,3\n\"" + strings.Repeat("1,2,3\n", MaxTableRow/3), age, "height",
			":3: the row is longer than"},
		{"all missing", header + "NA,2,3\n1,2,\n", age, "height",
			": none of its 2 rows has a value in all of the columns age, height"},
		{"UTF-16", "\xff\xfea\x00g\x00e\x00", age, "height", ": the text is in UTF-16"},
		{"spreadsheet", "PK\x03\x04...", age, "height", ": it is an archive or a spreadsheet"},
		{"binary", "a\x00b\n", age, "height", ": it is not a text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := tableFile(t, c.text)
			_, err := LoadTable(path, c.inputs, c.output)
			mustFail(t, err, path+c.want)
			if in := (*TableError)(nil); !errors.As(err, &in) {
				t.Errorf("a %T, not a *TableError", err)
			}
		})
	}
}

// The rows of a query are asked for one by one: none may be left out.
func TestLoadInputsNeedsAllValues(t *testing.T) {
	path := tableFile(t, "a,b\n1,\n,2\n")
	_, err := LoadInputs(path, []string{"a"})
	mustFail(t, err, path+`:3:1: column "a" has no value (""); a row of inputs needs all of them`)
}

func TestLoadTableBoundsItsNumbers(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 16 million numbers")
	}
	const columns = 1 << 12
	names := make([]string, columns)
	for i := range names {
		names[i] = fmt.Sprint("x", i)
	}
	row := strings.Repeat("1,", columns-1) + "1\n"
	path := tableFile(t, strings.Join(names, ",")+"\n"+strings.Repeat(row, MaxTableValues/columns+1))
	_, err := LoadInputs(path, names)
	mustFail(t, err, path+":4098:1: the named columns hold more than 16777216 numbers")
}

func TestLoadTableFiles(t *testing.T) {
	dir := t.TempDir()
	_, err := LoadTable(filepath.Join(dir, "none.csv"), []string{"a"}, "b")
	if mustFail(t, err, "none.csv: file does not exist"); !errors.Is(err, os.ErrNotExist) {
		t.Error("the error is not os.ErrNotExist")
	}
	_, err = LoadTable(dir, []string{"a"}, "b")
	mustFail(t, err, "it is not a regular file")
}

// Errors about a user's file name it as the user did.
func TestAsWritten(t *testing.T) {
	path := tableFile(t, "a\nx\n")
	_, err := LoadInputs(path, []string{"a"})
	if got := AsWritten(err, "csv:my.csv").Error(); !strings.HasPrefix(got, "my.csv:2:1: ") {
		t.Error(got)
	}
	if AsWritten(nil, "csv:my.csv") != nil {
		t.Error("an error came of nothing")
	}
}
