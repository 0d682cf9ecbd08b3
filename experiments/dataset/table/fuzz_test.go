package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"

	"privkern/runner/experiment"
)

// checkData fails where the data read violate an invariant of Data.
func checkData(t *testing.T, d *Data, others ...string) {
	t.Helper()
	n, width := d.X.Dims()
	if n == 0 || width == 0 || width != len(d.Names) || d.Dropped < 0 {
		t.Fatalf("%d×%d inputs named %q, %d dropped", n, width, d.Names, d.Dropped)
	}
	for _, v := range d.X.RawMatrix().Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("an input is %g", v)
		}
	}
	for _, name := range others {
		labels, classes, err := d.Labels(name)
		if err == nil && (len(labels) != n || len(classes) == 0) {
			t.Fatalf("%d labels of %q for %d rows", len(labels), classes, n)
		}
		for _, l := range labels {
			if l < 0 || l >= len(classes) {
				t.Fatalf("label %d of %q", l, classes)
			}
		}
		values, err := d.Numbers(name)
		if err == nil && len(values) != n {
			t.Fatalf("%d values for %d rows", len(values), n)
		}
	}
}

// hasPlace wants an *Error with the path as the user wrote it.
func hasPlace(t *testing.T, err error, path string) {
	t.Helper()
	var at *Error
	if !errors.As(err, &at) || !strings.HasPrefix(at.Path, path) || strings.Contains(err.Error(), os.TempDir()) {
		t.Errorf("the error does not name the place: %v", err)
	}
}

// For any table of a user the reader returns finite numbers and labels in every row, or an error
// with the path; the same rows are points where none was left out.
func FuzzTable(f *testing.F) {
	f.Add([]byte("a,b\n1,2\n3,4\n"), "a")
	f.Add([]byte("\xef\xbb\xbfa;b\n\"1\";2\nNA;3\n"), "*")
	f.Add([]byte("a\tb\n1\t2\r\n\r\n"), "a")
	f.Add([]byte("a,b,a\n1,2,3\n"), "*")
	f.Add([]byte("\"a\nb\",b\n1,\"2\n"), "*")
	f.Add([]byte("a,b\n1e999,0x1p4\n"), "a")
	f.Add([]byte("a,b\nred,yes\nblue,no\n"), "a[red|blue]")
	f.Add([]byte("a,b\n2020-01-01,x\nblue,no\n"), "a")
	f.Fuzz(func(t *testing.T, file []byte, inputs string) {
		path := fileOf(t, "t.csv", file)
		s := Spec{Dataset: "csv:my.csv", Inputs: inputs, Others: []string{"b"}}
		if s.Check() != nil {
			return
		}
		filetest.Bounded(t, append(file, inputs...), 256, func() {
			d, err := loadFrom(path, s)
			if err != nil {
				hasPlace(t, err, "my.csv")
				var at *Error
				if errors.As(err, &at) && (at.Line < 0 || at.Line > bytes.Count(file, []byte("\n"))+1) {
					t.Errorf("line %d of %q", at.Line, file)
				}
				return
			}
			checkData(t, d, "b")
			x, err := ReadPoints("csv:my.csv", path, Reading{}, d.Names)
			if n, _ := d.X.Dims(); err == nil && d.Dropped == 0 && (x.RawMatrix().Rows != n || x.At(n-1, 0) != d.X.At(n-1, 0)) {
				t.Error("the same file gave other numbers")
			}
		})
	})
}

func FuzzNPY(f *testing.F) {
	labels := npyOf(f, "<U2", false, "(2,)", little, utf32(binary.LittleEndian, 2, "a", "bc"))
	for _, x := range [][]byte{npyOf(f, "<f4", false, "(2, 1)", little, []float32{1, 2}),
		npyOf(f, ">i8", true, "(2, 2)", big, []int64{1, 2, 3, 4}), npyOf(f, "|O", false, "(2,)", little, []byte("x")),
		npyOf(f, "|S4", false, "(2,)", little, []byte("cat\x00dog\x00"))} {
		f.Add(x, labels)
	}
	f.Add(npyOf(f, "<f8", true, "(9999999999, 9999999999)", little, []float32{1, 2}), labels[:30])
	f.Fuzz(func(t *testing.T, x, labels []byte) {
		path := fileOf(t, "x.npy", x)
		others := []string{"label"}
		if len(labels) == 0 {
			others = nil
		} else if err := os.WriteFile(filepath.Join(filepath.Dir(path), "x.labels.npy"), labels, 0o600); err != nil {
			t.Fatal(err)
		}
		filetest.Bounded(t, append(bytes.Clone(x), labels...), 512, func() {
			d, err := Spec{Dataset: "npy:my.npy", Inputs: "*", Others: others}.Load(
				&experiment.Trial{Dataset: func(string) string { return path }})
			if err != nil {
				hasPlace(t, err, "my.")
				return
			}
			checkData(t, d, others...)
		})
	})
}

func FuzzPicture(f *testing.F) {
	for _, format := range []string{"png", "jpeg", "gif"} {
		b := encoded(f, grey(9, 5, 100), format)
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add(hugePNG(f, 1<<15, 1<<15))
	f.Add(hugePNG(f, 1<<25, 1))
	f.Fuzz(func(t *testing.T, file []byte) {
		config, _, err := image.DecodeConfig(bytes.NewReader(file))
		if err == nil && config.Width*config.Height > 1<<16 && config.Width*config.Height <= MaxPixels {
			return // that takes long
		}
		// A picture of one colour is packed well; its pixels have up to 8 bytes.
		filetest.Bounded(t, file, 1<<16, func() {
			pixels, err := decodePicture(bytes.NewReader(file), 3, 2)
			if err != nil {
				return
			}
			if len(pixels) != 6 {
				t.Fatalf("%d pixels", len(pixels))
			}
			for _, v := range pixels {
				if !(v >= 0 && v <= 1) {
					t.Errorf("a pixel is %g", v)
				}
			}
		})
	})
}

// Damaged files are errors, also where the library accepts them.
func FuzzParquet(f *testing.F) {
	file := parquetOf(f, patients()[:3])
	f.Add(file, 0, byte(0))
	f.Add(file, len(file)/2, byte(0xff))
	f.Add(file, len(file)-20, byte(1))
	f.Add(file[:len(file)-9], 0, byte(0))
	f.Fuzz(func(t *testing.T, file []byte, at int, change byte) {
		if len(file) > 0 {
			file = bytes.Clone(file)
			file[uint(at)%uint(len(file))] ^= change
		}
		d, err := loadFrom(fileOf(t, "p.parquet", file), Spec{Dataset: "parquet:my.parquet", Inputs: "*"})
		if err != nil {
			hasPlace(t, err, "my.parquet")
			return
		}
		checkData(t, d)
	})
}
