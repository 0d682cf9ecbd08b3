package table

import (
	"slices"
	"testing"

	"privkern/experiments/dataset/internal/filetest"

	"gonum.org/v1/gonum/mat"
)

// Each kind of column as an input and as another column.
func TestKinds(t *testing.T) {
	const text = "n,b,d,c,y,party\n" +
		"1.5,True,1970-01-02,red,10,b\n" +
		"2,no value,NA,,,\n" + // dropped, with a level that no other row has
		"-3,false,1970-01-01T12:00:00Z,blue,9,a\n" +
		"4,TRUE,1969-12-31 00:00:00,red,9,b\n"
	d, err := loadText(t, "n,b,d,c,y,party\n1.5,True,1970-01-02,red,10,b\n2,,NA,,,\n"+
		"-3,false,1970-01-01T12:00:00Z,blue,9,a\n4,TRUE,1969-12-31 00:00:00,red,9,b\n", "n+b+d+c", "y", "party")
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(3, 5, []float64{1.5, 1, 1, 0, 1, -3, 0, 0.5, 1, 0, 4, 1, -1, 0, 1})
	if !mat.Equal(d.X, want) || !slices.Equal(d.Names, []string{"n", "b", "d", "c=blue", "c=red"}) {
		t.Errorf("%v\n%v", d.Names, mat.Formatted(d.X))
	}
	if d.Dropped != 1 || !slices.Equal(d.Private, []string{"c"}) {
		t.Errorf("%d dropped, private levels of %v", d.Dropped, d.Private)
	}
	labels, classes, err := d.Labels("y")
	if err != nil || !slices.Equal(labels, []int{1, 0, 0}) || !slices.Equal(classes, []string{"9", "10"}) {
		t.Errorf("%v of %v, %v", labels, classes, err)
	}
	labels, classes, err = d.Labels("party")
	if err != nil || !slices.Equal(labels, []int{1, 0, 1}) || !slices.Equal(classes, []string{"a", "b"}) {
		t.Errorf("%v of %v, %v", labels, classes, err)
	}
	for name, want := range map[string]Kind{"y": Number, "party": Category, "n": Number, "b": Boolean, "d": Date} {
		if got, err := d.Kind(name); err != nil || got != want {
			t.Errorf("%s is a %v, %v; want %v", name, got, err, want)
		}
	}
	_, err = d.Kind("c")
	filetest.MustFail(t, err, `t.csv: the column "c" was not read`)
	_, err = d.Numbers("party")
	filetest.MustFail(t, err, `t.csv:2:28: column "party" is "b", expected a number`)
	_, err = d.Numbers("n")
	filetest.MustFail(t, err, `t.csv: the column "n" was not read`)

	// "no value" makes b a category, of which the dropped row's level is not kept.
	d, err = loadText(t, text, "b+n", "d")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Names, []string{"b=TRUE", "b=True", "b=false", "n"}) {
		t.Errorf("%v", d.Names)
	}
	if _, _, err := d.Labels("d"); err == nil {
		t.Error("dates were taken for classes")
	}
	if v, err := d.Numbers("d"); err != nil || !slices.Equal(v, []float64{1, 0.5, -1}) {
		t.Errorf("%v, %v", v, err)
	}
}

// Levels in the setting are public: they have its order for all data.
func TestGivenLevels(t *testing.T) {
	const text = "code,y\n2,yes\n1,no\n2,yes\n"
	d, err := loadText(t, text, "code[2|1|A]", "y[yes|no]")
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(d.X, mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 1, 0, 0})) || d.Private != nil ||
		!slices.Equal(d.Names, []string{"code=2", "code=1", "code=A"}) {
		t.Errorf("%v, %v\n%v", d.Names, d.Private, mat.Formatted(d.X))
	}
	for _, name := range []string{"y", "y[yes|no]"} {
		labels, classes, err := d.Labels(name)
		if err != nil || !slices.Equal(labels, []int{0, 1, 0}) || !slices.Equal(classes, []string{"yes", "no"}) ||
			!d.Public(name) {
			t.Errorf("%s: %v of %v, %v", name, labels, classes, err)
		}
	}
	if d, err = loadText(t, text, "code", "y"); err != nil || d.Public("y") {
		t.Errorf("%v", err)
	}
	if v := numbersOf(t, d, "y"); !slices.Equal(v, []float64{1, 0, 1}) {
		t.Errorf("yes and no are %v", v)
	}
	// A column whose name has such brackets is that column.
	d, err = loadText(t, "dose[mg],x[a|b],y\n1,2,3\n2,3,4\n", "dose[mg]+x[a|b]", "y")
	if err != nil || !slices.Equal(d.Names, []string{"dose[mg]", "x[a|b]"}) {
		t.Errorf("%+v, %v", d, err)
	}
}

// "*" is every column of numbers or truth values that is not asked for besides.
func TestEveryNumericColumn(t *testing.T) {
	d, err := loadText(t,
		"y,name,a,when,b,empty,day,c\n1,x,2,2020-01-01,yes,,1/2/2020,1\n2,y,3,,no,,,\n3,,4,soon,yes,,,5\n",
		" * ", "y")
	if err != nil {
		t.Fatal(err)
	}
	// The row that lacks c is dropped; those that lack a column that is not used are not.
	if !slices.Equal(d.Names, []string{"a", "b", "c"}) ||
		!mat.Equal(d.X, mat.NewDense(2, 3, []float64{2, 1, 1, 4, 1, 5})) ||
		d.Dropped != 1 || !slices.Equal(d.Constant, []string{"b"}) {
		t.Errorf("%+v\n%v", d, mat.Formatted(d.X))
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		inputs string
		others []string
		want   string
	}{
		{"a+b", []string{"y", ""}, ""},
		{"*", []string{"y"}, ""},
		{"a+c[x|y,z|u+v]", []string{"y[0|1]", "party"}, ""},
		{"", []string{"y"}, `inputs = "": write the names`},
		{"a+", []string{"y"}, `inputs = "a+": write the names`},
		{"a+*", []string{"y"}, `inputs = "a+*": * stands for every numeric column`},
		{"a,b,a", []string{"y"}, `inputs = "a,b,a": "a" is named twice`},
		{"a+a[x|y]", []string{"y"}, `"a" is named twice`},
		{"a+y", []string{"y"}, `the column "y" is one of the inputs, too`},
		{"a", []string{"y", "y"}, `the column "y" is to be two things at once`},
		{"a[x|x]", nil, `a[x|x]: the level "x" is named twice`},
		{"a[x|NA]", nil, `a[x|NA]: the level "NA" means a missing value`},
		{"a[x|]", nil, `a[x|]: the level "" means a missing value`},
	} {
		t.Run(c.inputs, func(t *testing.T) {
			filetest.MustFail(t, Spec{Dataset: "csv:t.csv", Inputs: c.inputs, Others: c.others}.Check(), c.want)
		})
	}
	filetest.MustFail(t, Spec{Dataset: "csv:", Inputs: "a"}.Check(), "it names no file")
	filetest.MustFail(t, Spec{Dataset: "t.csv", Inputs: "a"}.Check(), "write csv:PATH")
	if got := (Spec{Inputs: "a+ c[x|y] ,b"}).Names(); !slices.Equal(got, []string{"a", "c", "b"}) {
		t.Errorf("%q", got)
	}
	for inputs, want := range map[string]int{"a": 1, "a+c[x|y],b": 4, "*": 0} {
		if got := Width(Spec{Inputs: inputs}.Asked()); got != want {
			t.Errorf("%s makes %d inputs", inputs, got)
		}
	}
	if !Is("csv:x") || Is("kung") || Is("csv") || Is("x:csv:y") {
		t.Error("what is the user's own is not told from what is not")
	}
}

// The order of rows does not change the type of a column.
func TestTypesDoNotDependOnTheOrder(t *testing.T) {
	for _, rows := range [][2]string{{"1", "old"}, {"2020-01-01", "old"}, {"2020-01-01", "1"}, {"yes", "1"}} {
		for _, inputs := range []string{"a", "*"} {
			_, err := loadText(t, "a,y\n"+rows[0]+",1\n"+rows[1]+",2\n", inputs, "y")
			_, back := loadText(t, "a,y\n"+rows[1]+",1\n"+rows[0]+",2\n", inputs, "y")
			if (err == nil) != (back == nil) {
				t.Errorf("%v as %s: %v; the other way round: %v", rows, inputs, err, back)
			}
		}
	}
}

func TestReadPoints(t *testing.T) {
	path := fileOf(t, "p.csv", []byte("a,c,when,b\n1,red,1970-01-03,yes\n2,blue,1970-01-01,no\n"))
	x, err := ReadPoints("csv:p.csv", path, Reading{}, []string{"c=blue", "a", "c=red", "c=green", "b", "when"})
	if err != nil || !mat.Equal(x, mat.NewDense(2, 6, []float64{0, 1, 1, 0, 1, 2, 1, 2, 0, 0, 0, 0})) {
		t.Errorf("%v, %v", x, err)
	}
	for _, c := range []struct {
		text    string
		columns []string
		want    string
	}{
		{"a,b\n1,\n,2\n", []string{"a"}, `p.csv:3:1: column "a" has no value (""); a row of inputs needs all of them`},
		{"a,b\n1,\nx,2\n", []string{"a"}, `p.csv:3:1: column "a" is "x", expected a number`},
		{"a,b\nx,\nz,2\n", []string{"a"}, `p.csv:2:1: column "a" is "x", expected a number`},
		{"a,b\nx,\nz,2\n", []string{"a=x", "a=y"}, `p.csv:3:1: column "a" is "z", which is none of its levels x, y`},
		{"b\n1\n", []string{"a=x", "a=y"}, `p.csv:1: unknown column "a"`},
		{"b\n", []string{"b"}, `p.csv: there are no rows after the header`},
		{"a=x,a=y\n1,0\n", []string{"a=x", "a=y"}, ""},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, err := ReadPoints("csv:p.csv", fileOf(t, "p.csv", []byte(c.text)), Reading{}, c.columns)
			filetest.MustFail(t, err, c.want)
		})
	}
}

// "*" is refused where the values of rows determine the columns that it stands for.
func TestCheckNamed(t *testing.T) {
	for _, c := range []struct {
		dataset, inputs string
		refused         bool
	}{
		{"csv:a.csv", "*", true}, {"csv:a.csv", " * ", true}, {"parquet:a.parquet", "*", true},
		{"csv:a.csv", "age+colour[red|green]", false}, {"npy:a.npy", "*", false}, {"images:a@4x4", "*", false},
	} {
		t.Run(c.dataset+" "+c.inputs, func(t *testing.T) {
			err := Spec{Dataset: c.dataset, Inputs: c.inputs}.CheckNamed()
			if !c.refused && err != nil {
				t.Error(err)
			}
			if c.refused {
				filetest.MustFail(t, err, "inputs = *: which columns are numbers would be read off the private rows; name them")
			}
		})
	}
}
