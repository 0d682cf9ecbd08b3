package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"privkern/experiments/dataset/internal/filetest"

	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

// npyOf is a NumPy file of format 1.
func npyOf(t testing.TB, descr string, fortran bool, shape string, order binary.ByteOrder, values any) []byte {
	t.Helper()
	word := "False"
	if fortran {
		word = "True"
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, word, shape)
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	b.Write([]byte{byte(len(text)), byte(len(text) >> 8)})
	b.WriteString(text)
	if raw, ok := values.([]byte); ok {
		b.Write(raw)
	} else if err := binary.Write(&b, order, values); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var little, big binary.ByteOrder = binary.LittleEndian, binary.BigEndian

// utf32 is a text of n characters, as NumPy stores it.
func utf32(order binary.AppendByteOrder, n int, texts ...string) []byte {
	var out []byte
	for _, text := range texts {
		for _, r := range text {
			out = order.AppendUint32(out, uint32(r))
		}
		for range n - utf8.RuneCountInString(text) {
			out = order.AppendUint32(out, 0)
		}
	}
	return out
}

// The same 2×3 array in the forms in which NumPy writes it.
func TestArrays(t *testing.T) {
	want := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	for name, file := range map[string][]byte{
		"f4":             npyOf(t, "<f4", false, "(2, 3)", little, []float32{1, 2, 3, 4, 5, 6}),
		"f8":             npyOf(t, "<f8", false, "(2, 3)", little, []float64{1, 2, 3, 4, 5, 6}),
		"f2":             npyOf(t, "<f2", false, "(2, 3)", little, []uint16{0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600}),
		"big-endian f2":  npyOf(t, ">f2", false, "(2, 3)", big, []uint16{0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600}),
		"big-endian f4":  npyOf(t, ">f4", false, "(2, 3)", big, []float32{1, 2, 3, 4, 5, 6}),
		"big-endian f8":  npyOf(t, ">f8", false, "(2, 3)", big, []float64{1, 2, 3, 4, 5, 6}),
		"i4":             npyOf(t, "<i4", false, "(2, 3)", little, []int32{1, 2, 3, 4, 5, 6}),
		"i8":             npyOf(t, "<i8", false, "(2, 3)", little, []int64{1, 2, 3, 4, 5, 6}),
		"big-endian i8":  npyOf(t, ">i8", false, "(2, 3)", big, []int64{1, 2, 3, 4, 5, 6}),
		"big-endian u2":  npyOf(t, ">u2", false, "(2, 3)", big, []uint16{1, 2, 3, 4, 5, 6}),
		"u1":             npyOf(t, "|u1", false, "(2, 3)", little, []uint8{1, 2, 3, 4, 5, 6}),
		"Fortran":        npyOf(t, "<f8", true, "(2, 3)", little, []float64{1, 4, 2, 5, 3, 6}),
		"more than 2":    npyOf(t, "<f8", false, "(2, 1, 3)", little, []float64{1, 2, 3, 4, 5, 6}),
		"Fortran of 2×3": npyOf(t, ">i4", true, "(2, 3, 1)", big, []int32{1, 4, 2, 5, 3, 6}),
	} {
		t.Run(name, func(t *testing.T) {
			d, err := loadFrom(fileOf(t, "x.npy", file), Spec{Dataset: "npy:x.npy", Inputs: "*"})
			if err != nil {
				t.Fatal(err)
			}
			if !mat.Equal(d.X, want) || !slices.Equal(d.Names, []string{"x1", "x2", "x3"}) {
				t.Errorf("%v\n%v", d.Names, mat.Formatted(d.X))
			}
		})
	}
}

// In Fortran's order of three dimensions the columns are in C's.
func TestFortranOrderOfPictures(t *testing.T) {
	// a[i,j,k] = 100i + 10j + k of shape (2, 2, 3)
	var values []float64
	for k := range 3 {
		for j := range 2 {
			for i := range 2 {
				values = append(values, float64(100*i+10*j+k))
			}
		}
	}
	d, err := loadFrom(fileOf(t, "x.npy", npyOf(t, "<f8", true, "(2, 2, 3)", little, values)),
		Spec{Dataset: "npy:x.npy", Inputs: "*"})
	if err != nil || !mat.Equal(d.X, mat.NewDense(2, 6, []float64{0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112})) {
		t.Errorf("%+v, %v", d, err)
	}
}

// Values at the ends of the types, and NaN, which is a missing value.
func TestArrayElements(t *testing.T) {
	for _, c := range []struct {
		descr  string
		order  binary.ByteOrder
		values any
		want   []float64
	}{
		{"|i1", little, []int8{-128, 127}, []float64{-128, 127}},
		{"<i2", little, []int16{-32768, 32767}, []float64{-32768, 32767}},
		{"<i4", little, []int32{math.MinInt32, 5}, []float64{math.MinInt32, 5}},
		{">i8", big, []int64{-1 << 53, 5}, []float64{-1 << 53, 5}},
		{"<u8", little, []uint64{1 << 53, 5}, []float64{1 << 53, 5}},
		{"<u4", little, []uint32{math.MaxUint32, 5}, []float64{math.MaxUint32, 5}},
		{"|b1", little, []byte{0, 1}, []float64{0, 1}},
		{"<f8", little, []float64{math.NaN(), 3}, []float64{3}},
		{"<f2", little, []uint16{0x7e00, 0x4200}, []float64{3}},
		{">f2", big, []uint16{0xfd01, 0x4200}, []float64{3}},
		{"<f2", little, []uint16{0x7bff, 0xfbff}, []float64{65504, -65504}},
		{"<f2", little, []uint16{0x0001, 0x83ff}, []float64{0x1p-24, -0x3ffp-24}},
	} {
		t.Run(c.descr, func(t *testing.T) {
			d, err := loadFrom(fileOf(t, "x.npy", npyOf(t, c.descr, false, "(2,)", c.order, c.values)),
				Spec{Dataset: "npy:x.npy", Inputs: "x1"})
			if err != nil || !slices.Equal(mat.Col(nil, 0, d.X), c.want) || d.Dropped != 2-len(c.want) {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
}

// All float16 are read exactly: in the order of their bits they grow, each by the unit of its
// exponent.
func TestHalfPrecision(t *testing.T) {
	if v := half(0); v != 0 || math.Signbit(v) {
		t.Errorf("0 is %g", v)
	}
	if v := half(0x8000); v != 0 || !math.Signbit(v) {
		t.Errorf("-0 is %g", v)
	}
	want := 0.0
	for bits := range uint16(0x7c00) {
		if got := half(bits); got != want || half(bits|0x8000) != -want {
			t.Fatalf("%#04x is %g and %g, want %g", bits, got, half(bits|0x8000), want)
		}
		want += math.Exp2(float64(max(1, bits>>10)) - 25)
	}
	for bits := uint16(0x7c00); bits < 0x8000; bits++ {
		got, negative := half(bits), half(bits|0x8000)
		if bits == 0x7c00 && !(math.IsInf(got, 1) && math.IsInf(negative, -1)) ||
			bits > 0x7c00 && !(math.IsNaN(got) && math.IsNaN(negative)) {
			t.Fatalf("%#04x is %g and %g", bits, got, negative)
		}
	}
}

// Labels lie in a second file.
func TestLabelsBesideAnArray(t *testing.T) {
	x := npyOf(t, "<f4", false, "(3, 2)", little, []float32{1, 2, 3, 4, 5, 6})
	for name, labels := range map[string][]byte{
		"U":          npyOf(t, "<U4", false, "(3,)", little, utf32(binary.LittleEndian, 4, "café", "a", "café")),
		"big-endian": npyOf(t, ">U4", false, "(3,)", big, utf32(binary.BigEndian, 4, "café", "a", "café")),
		"S":          npyOf(t, "|S5", false, "(3, 1)", little, []byte("caf\xc3\xa9a\x00\x00\x00\x00caf\xc3\xa9")),
	} {
		t.Run(name, func(t *testing.T) {
			d, err := arrayAndLabels(t, x, labels)
			if err != nil {
				t.Fatal(err)
			}
			at, classes, err := d.Labels("label")
			if err != nil || !slices.Equal(at, []int{1, 0, 1}) || !slices.Equal(classes, []string{"a", "café"}) {
				t.Errorf("%v of %q, %v", at, classes, err)
			}
		})
	}
	d, err := arrayAndLabels(t, x, npyOf(t, "<i8", false, "(3,)", little, []int64{10, 9, 10}))
	if err != nil {
		t.Fatal(err)
	}
	if at, classes, err := d.Labels("label"); err != nil || !slices.Equal(at, []int{1, 0, 1}) ||
		!slices.Equal(classes, []string{"9", "10"}) {
		t.Errorf("%v of %q, %v", at, classes, err)
	}
	_, err = arrayAndLabels(t, x, npyOf(t, "<i8", false, "(2,)", little, []int64{1, 2}))
	filetest.MustFail(t, err,
		"my.labels.npy: it has 2 rows of 1 labels; expected one label for each of the 3 rows of my.npy")
	_, err = arrayAndLabels(t, x, npyOf(t, "|O", false, "(3,)", little, []byte("pickle")))
	filetest.MustFail(t, err, `my.labels.npy: the elements are "|O", objects of Python`)
}

func arrayAndLabels(t *testing.T, x, labels []byte) (*Data, error) {
	t.Helper()
	path := fileOf(t, "x.npy", x)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "x.labels.npy"), labels, 0o600); err != nil {
		t.Fatal(err)
	}
	return Spec{Dataset: "npy:my.npy", Inputs: "*", Others: []string{"label"}}.Load(
		&experiment.Trial{Dataset: func(string) string { return path }})
}

// The memory needed at once is bounded, for files with holes, too.
func TestLargeArrays(t *testing.T) {
	for _, c := range []struct {
		name, shape string
		fortran     bool
		want        string
	}{
		{"whole", "(1024, 17)", true, "x.npy: the array is in Fortran's order and has 285212672 bytes, of which at most " +
			"268435456 are read; write it row by row"},
		{"row", "(1, 17408)", false, "x.npy: a row takes 285212672 bytes; at most 268435456 are read of a row"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := fileOf(t, "x.npy", npyOf(t, "<U4096", c.fortran, c.shape, little, []byte{}))
			info, err := os.Stat(path)
			if err == nil {
				err = os.Truncate(path, info.Size()+1024*17*4*4096)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = loadFrom(path, Spec{Dataset: "npy:x.npy", Inputs: "*"})
			filetest.MustFail(t, err, c.want)
		})
	}
}

func TestWrongArrays(t *testing.T) {
	whole := npyOf(t, "<f8", false, "(2, 2)", little, []float64{1, 2, 3, 4})
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "x.npy: not a .npy file"},
		{"text", []byte("a,b\n1,2\n"), "x.npy: not a .npy file"},
		{"objects", npyOf(t, "|O", false, "(2, 2)", little, []byte("pickle")),
			`x.npy: the elements are "|O", objects of Python`},
		{"records", npyOf(t, "x'), ('y', '<f4", false, "(2,)", little, []float64{1, 2}), "x.npy: the elements are"},
		{"complex", npyOf(t, "<c8", false, "(1,)", little, []float32{1, 2}), `x.npy: the elements are "<c8"; convert`},
		{"extended", npyOf(t, "<f16", false, "(1,)", little, []float64{1, 2}), `x.npy: the elements are "<f16"; convert`},
		{"infinite half", npyOf(t, ">f2", false, "(1, 2)", big, []uint16{0x3c00, 0xfc00}),
			`x.npy: row 1: column "x2" is "-Inf", expected a finite number`},
		{"cut off", whole[:len(whole)-1],
			"x.npy: the header announces an array of shape [2 2] with elements of 8 bytes, but 31"},
		{"too long", append(slices.Clone(whole), 0), "33 bytes follow it"},
		{"header alone", whole[:20], "x.npy: the header: unexpected EOF"},
		{"single value", npyOf(t, "<f8", false, "()", little, []float64{1}), "x.npy: the array is a single value"},
		{"no rows", npyOf(t, "<f8", false, "(0, 3)", little, []float64{}), "x.npy: the shape is [0 3]: there are no values"},
		{"negative", npyOf(t, "<f8", false, "(-2, -2)", little, []float64{1, 2, 3, 4}), "there are no values"},
		{"announces much", npyOf(t, "<f8", false, "(9223372036854775807, 2)", little, []float64{1, 2, 3, 4}),
			"cut off or damaged"},
		{"overflows", npyOf(t, "<f8", false, "(4611686018427387904, 4)", little, []float64{1}), "cut off or damaged"},
		{"wide", npyOf(t, "<f8", false, "(1, 100000000000)", little, []float64{1}), "values are read of a row"},
		{"many columns", npyOf(t, "|b1", false, "(1, 100001)", little, make([]bool, 100_001)),
			"x.npy: it has 100001 columns; at most 100000 are possible"},
		{"infinite", npyOf(t, "<f8", false, "(1, 2)", little, []float64{1, math.Inf(1)}),
			`x.npy: row 1: column "x2" is "+Inf", expected a finite number`},
		{"unlabelled", whole, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := loadFrom(fileOf(t, "x.npy", c.file), Spec{Dataset: "npy:x.npy", Inputs: "*"})
			filetest.MustFail(t, err, c.want)
		})
	}
	_, err := loadFrom(fileOf(t, "x.npy", whole), Spec{Dataset: "npy:x.npy", Inputs: "*", Others: []string{"label"}})
	filetest.MustFail(t, err, `x.npy: unknown column "label"; valid: x1, x2`)
}
