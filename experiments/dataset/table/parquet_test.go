package table

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"

	"privkern/experiments/dataset/internal/filetest"

	"github.com/parquet-go/parquet-go"
	"gonum.org/v1/gonum/mat"
)

// parquetOf is a file of rows, written in groups of two.
func parquetOf[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	for ; len(rows) > 0; rows = rows[min(2, len(rows)):] {
		if _, err := w.Write(rows[:min(2, len(rows))]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type patient struct {
	Age    *float64  `parquet:"age,optional"`
	Weight float32   `parquet:"weight"`
	Visits int64     `parquet:"visits"`
	Count  uint32    `parquet:"count"`
	Smoker bool      `parquet:"smoker"`
	Colour string    `parquet:"colour,dict"`
	Born   int32     `parquet:"born,date"`
	Seen   time.Time `parquet:"seen,timestamp(microsecond)"`
	Price  int64     `parquet:"price,decimal(2:10)"`
	Inner  struct {
		Depth int32 `parquet:"depth"`
	} `parquet:"inner"`
	Tags []string `parquet:"tags,list"`
}

func patients() []patient {
	age := func(v float64) *float64 { return &v }
	at := time.Unix(0, 0).UTC()
	rows := []patient{
		{Age: age(1.5), Weight: 0.5, Visits: -3, Count: math.MaxUint32, Smoker: true, Colour: "red", Born: 10, Seen: at,
			Price: 150},
		{Colour: "blue"},
		{Age: age(2), Weight: 2, Visits: 4, Colour: "blue", Born: -1, Seen: at.Add(36 * time.Hour), Price: -5},
		{Age: age(math.NaN()), Colour: "lost"},
		{Age: age(3), Weight: 3, Visits: 5, Colour: "blue", Seen: at.Add(-24 * time.Hour)},
	}
	rows[2].Inner.Depth = 7
	return rows
}

// Types are those of the file; rows come from several groups.
func TestParquet(t *testing.T) {
	file := parquetOf(t, patients(), parquet.Compression(&parquet.Snappy))
	d, err := loadFrom(fileOf(t, "p.parquet", file), Spec{Dataset: "parquet:my.parquet",
		Inputs: "age+weight+visits+count+smoker+born+seen+price+inner.depth+colour", Others: []string{"visits2"}[:0]})
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(3, 11, []float64{
		1.5, 0.5, -3, math.MaxUint32, 1, 10, 0, 1.5, 0, 0, 1,
		2, 2, 4, 0, 0, -1, 1.5, -0.05, 7, 1, 0,
		3, 3, 5, 0, 0, 0, -1, 0, 0, 1, 0})
	if !mat.Equal(d.X, want) || d.Dropped != 2 || !slices.Equal(d.Private, []string{"colour"}) {
		t.Errorf("%v, %d dropped\n%v", d.Names, d.Dropped, mat.Formatted(d.X))
	}
	d, err = loadFrom(fileOf(t, "p.parquet", file),
		Spec{Dataset: "parquet:my.parquet", Inputs: "*", Others: []string{"colour"}})
	if err != nil ||
		!slices.Equal(d.Names, []string{"age", "weight", "visits", "count", "smoker", "price", "inner.depth"}) {
		t.Errorf("%+v, %v", d, err)
	}
	if labels, classes, err := d.Labels("colour"); err != nil || !slices.Equal(labels, []int{1, 0, 0}) ||
		!slices.Equal(classes, []string{"blue", "red"}) {
		t.Errorf("%v of %v, %v", labels, classes, err)
	}
}

func TestWrongParquet(t *testing.T) {
	file := parquetOf(t, patients())
	damaged := slices.Clone(file)
	for i := 4; i < len(damaged)/2; i++ {
		damaged[i] ^= 0xa5
	}
	footer := slices.Clone(file)
	for i := len(footer) - 200; i < len(footer)-8; i++ {
		footer[i] ^= 0xa5
	}
	for _, c := range []struct {
		name   string
		file   []byte
		inputs string
		want   string
	}{
		{"group", file, "inner", `unknown column "inner"; it is a group or a list, of which a column is "inner.depth"`},
		{"list", file, "tags", `unknown column "tags"; it is a group or a list, of which a column is "tags.list.element"`},
		{"empty", nil, "age", "p.parquet: it is no Parquet file: it has 0 bytes"},
		{"text", []byte("a,b\n1,2\n3,4\n5,6\n"), "age", "p.parquet: it is no Parquet file: it does not begin with PAR1"},
		{"cut off", file[:len(file)-1], "age", "p.parquet: the Parquet file is cut off"},
		{"half", file[:len(file)/2], "age", "p.parquet: the Parquet file is cut off"},
		{"start and end", append(slices.Clone(file[:100]), file[len(file)-100:]...), "age", "p.parquet: the Parquet file"},
		{"damaged", damaged, "age+weight+visits+colour", "p.parquet: "},
		{"damaged footer", footer, "age", "p.parquet: the Parquet file"},
		{"misspelt", file, "aeg", `p.parquet: unknown column "aeg"; did you mean "age"?`},
		{"lists", file, "tags.list.element", `p.parquet: column "tags.list.element": it has lists of values`},
		{"infinite", parquetOf(t, []struct{ A float64 }{{1}, {math.Inf(-1)}}), "A",
			`p.parquet: row 2: column "A" is "-Inf", expected a finite number`},
		{"no rows", parquetOf(t, []patient{}), "age", "p.parquet: there are no rows"},
		{"bytes", parquetOf(t, []struct{ A [3]byte }{{}}), "A", `p.parquet: column "A": values of`},
		{"no text", parquetOf(t, []struct{ A string }{{"\xff\xfe"}}), "A",
			`p.parquet: row 1: column "A" is "fffe", expected a text`},
		{"time", parquetOf(t, []struct {
			A int32 `parquet:"A,time(millisecond)"`
		}{{}}), "A", `p.parquet: column "A": values of TIME`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := loadFrom(fileOf(t, "p.parquet", c.file), Spec{Dataset: "parquet:p.parquet", Inputs: c.inputs})
			filetest.MustFail(t, err, c.want)
		})
	}
}

// A file that is small only when packed is refused before it is unpacked.
func TestParquetBombs(t *testing.T) {
	defer func(before int64) { maxUnpacked = before }(maxUnpacked)
	maxUnpacked = 1 << 20
	type wide struct{ A, B int64 }
	var b bytes.Buffer
	w := parquet.NewGenericWriter[wide](&b, parquet.Compression(&parquet.Zstd))
	if _, err := w.Write(make([]wide, 1e5)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if int64(b.Len()) > maxUnpacked/16 {
		t.Fatalf("%d bytes are no bomb", b.Len())
	}
	path := fileOf(t, "p.parquet", b.Bytes())
	_, err := loadFrom(path, Spec{Dataset: "parquet:p.parquet", Inputs: "A", Others: []string{"B"}})
	filetest.MustFail(t, err, "p.parquet: the columns that are read take more than 1 MiB when they are unpacked")
	if d, err := loadFrom(path, Spec{Dataset: "parquet:p.parquet", Inputs: "A"}); err != nil ||
		d.X.RawMatrix().Rows != 1e5 {
		t.Errorf("%v", err)
	}
}
