package table

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"

	"gonum.org/v1/gonum/mat"
)

// The same table in the forms in which programs write it. The column note is
// not asked for and may hold anything.
func TestLoadForms(t *testing.T) {
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
			d, err := loadText(t, text, "age", "height")
			if err != nil {
				t.Fatal(err)
			}
			if !mat.Equal(d.X, mat.NewDense(2, 1, []float64{63, 7})) || d.Dropped != 2 || d.Constant != nil ||
				!slices.Equal(numbersOf(t, d, "height"), []float64{139.7, 100}) {
				t.Errorf("%+v, inputs %v", d, mat.Formatted(d.X))
			}
		})
	}
}

// The header alone shows whether the columns exist: rows may hold anything.
func TestTablesCheckTheHeader(t *testing.T) {
	path := fileOf(t, "t.csv", []byte("x;y; z;x2;x2\nno number;;;;\nshort\n"))
	for _, c := range []struct {
		name, path, inputs, other string
		want                      string // empty for none
	}{
		{"all there", path, "z+x", "y", ""},
		{"every other", path, "*", "y", ""},
		{"misspelt", path, "x", "Y", `my.csv:1: unknown column "Y"; did you mean "y"?`},
		{"like no other", path, "weight", "y", `my.csv:1: unknown column "weight"; valid: x, y, z, x2`},
		{"there twice", path, "x2", "y", `my.csv:1:11: a second column is named "x2"`},
		{"with levels", path, "x[a|b]", "y", ""},
		{"empty", fileOf(t, "t.csv", nil), "x", "y", "my.csv: the file is empty"},
		{"not there", path + "x", "x", "y", "my.csv: file does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tables := Spec{Dataset: "csv:my.csv", Inputs: c.inputs, Others: []string{c.other}}.Tables()
			if len(tables) != 1 || tables[0].Dataset != "csv:my.csv" {
				t.Fatalf("%+v", tables)
			}
			filetest.MustFail(t, tables[0].Check(c.path), c.want)
		})
	}
	if tables := (Spec{Dataset: "kung", Inputs: "age"}).Tables(); tables != nil {
		t.Errorf("of a public set: %+v", tables)
	}
}

// Columns come in the order in which they were named, not in that of the file.
func TestLoadColumns(t *testing.T) {
	d, err := loadText(t, "y,a,b,c\n1,2,3,4\n5,6,3,8\n", "c, b+a", "y", "")
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(d.X, mat.NewDense(2, 3, []float64{4, 3, 2, 8, 3, 6})) ||
		!slices.Equal(numbersOf(t, d, "y"), []float64{1, 5}) {
		t.Errorf("inputs %v", mat.Formatted(d.X))
	}
	if !slices.Equal(d.Constant, []string{"b"}) || !slices.Equal(d.Names, []string{"c", "b", "a"}) || d.Private != nil {
		t.Errorf("%+v", d)
	}
}

func TestLoadErrors(t *testing.T) {
	const header = "age,weight,height\n"
	for _, c := range []struct{ name, text, inputs, output, want string }{
		{"empty", "", "age", "height", ": the file is empty"},
		{"blank", " \r\n\r\n", "age", "height", ": the file is empty"},
		{"header only", header, "age", "height", ": there are no rows after the header"},
		{"misspelt input", header + "1,2,3\n", "aeg", "height", `:1: unknown column "aeg"; did you mean "age"?`},
		{"no header", "34,smith,0.7\n35,brown,0.8\n", "age", "height",
			`:1: unknown column "age"; the first line has numbers where names of columns are expected`},
		{"unknown output", header + "1,2,3\n", "age", "salary", `:1: unknown column "salary"; valid: age, weight, height`},
		{"other case", header + "1,2,3\n", "Age", "height", `:1: unknown column "Age"; did you mean "age"?`},
		{"doubled column", "age,height,age\n1,2,3\n", "age", "height", `:1:12: a second column is named "age"`},
		{"doubled column among every other", "age,height,age\n1,2,3\n", "*", "height",
			`:1:12: a second column is named "age"`},
		{"text", header + "1,2,3\n4,old,6\n", "age+weight", "height", `:3:3: column "weight" is "old", expected a number`},
		{"text first", header + "1,old,3\n4,5,6\n", "age+weight", "height",
			`:2:3: column "weight" is "old", expected a number as in line 3`},
		{"text among every other", header + "1,2,3\n4,old,6\n", "*", "height", `:3:3: column "weight" is "old"`},
		{"text first among every other", header + "1,old,3\n2,young,4\n4,5,6\n", "*", "height",
			`:2:3: column "weight" is "old"`},
		{"date among numbers", header + "1,2,3\n4,2020-01-31,6\n", "weight", "height",
			`:3:3: column "weight" is "2020-01-31", expected a number as in line 2`},
		{"text among dates", header + "1,2020-01-31,3\n4,soon,6\n", "weight", "height",
			`:3:3: column "weight" is "soon", expected a date as in line 2`},
		{"no such date", header + "1,2020-02-31,3\n", "weight", "height",
			`:2:3: column "weight" is "2020-02-31", expected a date, such as 2020-12-31`},
		{"date with slashes", header + "1,31/12/2020,3\n", "weight", "height",
			`:2:3: column "weight" is "31/12/2020", expected a date`},
		{"decimal comma", "age;height\n1;2,5\n", "age", "height",
			`:2:3: column "height" is "2,5", expected a number with a decimal point`},
		{"decimal comma among every other", "age;height\n2,5;1\n", "*", "height", `:2:1: column "age" is "2,5"`},
		{"thousands", "age;height\n1;1.234,5\n", "age", "height",
			`:2:3: column "height" is "1.234,5", expected a number with`},
		{"hexadecimal", header + "1,0x10,3\n", "age+weight", "height", `:2:3: column "weight" is "0x10", expected a number`},
		{"infinite", header + "1,2,3\n1,2,-Inf\n", "age", "height",
			`:3:5: column "height" is "-Inf", expected a finite number`},
		{"overflow", header + "1e999,2,3\n", "age", "height", `:2:1: column "age" is "1e999", expected a finite number`},
		{"text beside a missing value", header + "1,2,3\nNA,2,x\n", "age", "height", `:3:6: column "height" is "x"`},
		{"short row", header + "1,2,3\n1,2\n", "age", "height", ":3: 2 fields, expected 3 as in the header"},
		{"long row", header + "1,2,3,4\n", "age", "height", ":2: 4 fields, expected 3 as in the header"},
		{"open quotation mark", header + "1,2,3\n\"1,2,3\n", "age", "height",
			`:3:8: extraneous or missing " in quoted-field`},
		{"open quotation mark, long file", header + "1,2,3\n\"" + strings.Repeat("1,2,3\n", MaxRow/3), "age", "height",
			":3: the row is longer than"},
		{"all missing", header + "NA,2,3\n1,2,\n", "age", "height",
			": none of its 2 rows has a value in all of the columns age, height"},
		{"nothing numeric", "a,b,y\nx,2020-01-01,1\n", "*", "y", ": no column beside y is numeric"},
		{"no such level", "a,y\nred,1\nblue,2\n", "a[red|green]", "y",
			`:3:1: column "a" is "blue", which is none of its levels`},
		{"UTF-16", "\xff\xfea\x00g\x00e\x00", "age", "height", ": the text is in UTF-16"},
		{"spreadsheet", "PK\x03\x04...", "age", "height", ": it is an archive or a spreadsheet"},
		{"damaged gzip", "\x1f\x8b\x08...", "age", "height", ": the file is packed by gzip, and damaged"},
		{"binary", "a\x00b\n", "age", "height", ":1:2: there is a zero byte, which no text has"},
		{"levels like a column", "a,a=x,y\nx,1,1\nz,1,2\n", "a+a=x", "y", `: two inputs are named "a=x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := loadText(t, c.text, c.inputs, c.output)
			filetest.MustFail(t, err, "t.csv"+c.want)
			if in := (*Error)(nil); !errors.As(err, &in) {
				t.Errorf("a %T, not an *Error", err)
			}
		})
	}
}

// A column of text with a million different values is no category.
func TestLoadBoundsLevels(t *testing.T) {
	var b strings.Builder
	b.WriteString("who,y\n")
	for i := range MaxClasses + 2 {
		fmt.Fprintf(&b, "n%d,%d\n", i, i)
	}
	_, err := loadText(t, b.String(), "who", "y")
	filetest.MustFail(t, err, `t.csv:1002:1: column "who" has more than 1000 different values`)
	_, err = loadText(t, b.String(), "y", "who")
	filetest.MustFail(t, err, `t.csv:10002:1: column "who" has more than 10000 different values`)
	if d, err := loadText(t, b.String(), "*"); err != nil || !slices.Equal(d.Names, []string{"y"}) {
		t.Errorf("%+v, %v", d, err)
	}
	_, err = loadText(t, b.String(), "*", "y")
	filetest.MustFail(t, err, "no column beside y is numeric")
	d, err := loadText(t, strings.ReplaceAll(b.String(), "n", ""), "who", "y")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = d.Labels("y")
	filetest.MustFail(t, err, `t.csv: column "y" has 10002 different values, which are no classes`)
}

func TestLoadBoundsItsNumbers(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 16 million numbers")
	}
	const columns = 1 << 12
	names := make([]string, columns)
	for i := range names {
		names[i] = fmt.Sprint("x", i)
	}
	row := strings.Repeat("1,", columns-1) + "1\n"
	_, err := loadText(t, strings.Join(names, ",")+"\n"+strings.Repeat(row, MaxValues/columns+1), "*")
	filetest.MustFail(t, err, "t.csv:4098:1: the columns that are read hold more than 16777216 values")
}

func TestLoadFiles(t *testing.T) {
	dir := t.TempDir()
	_, err := loadFrom(dir+"/none.csv", Spec{Dataset: "csv:none.csv", Inputs: "a"})
	if filetest.MustFail(t, err, "none.csv: file does not exist"); !errors.Is(err, os.ErrNotExist) {
		t.Error("the error is not os.ErrNotExist")
	}
	_, err = loadFrom(dir, Spec{Dataset: "csv:folder", Inputs: "a"})
	filetest.MustFail(t, err, "folder: it is not a regular file")
}
