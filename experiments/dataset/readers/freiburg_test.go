package readers

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"
)

// npyFile writes format 1 of NumPy.
func npyFile(dtype string, fortran bool, shape string, content any) []byte {
	order := map[bool]string{false: "False", true: "True"}[fortran]
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", dtype, order, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	b = append(b, header...)
	b, _ = binary.Append(b, binary.LittleEndian, content)
	return b
}

// fourRows are the features 1, 2; 3, 4; 5, 6; 7, 8.
var fourRows = npyFile("<f4", false, "(4, 2)", []float32{1, 2, 3, 4, 5, 6, 7, 8})

// writeFreiburg writes two classes and split 0: one test image, two training
// images of which one comes twice; and features of these and of another.
func writeFreiburg(t *testing.T, changed map[string][]byte) (splits, features string) {
	t.Helper()
	files := map[string][]byte{
		"classid.txt":       []byte("TEA 0\nJAM 1\n"),
		"splits/test0.txt":  []byte("JAM/1.png 1\n"),
		"splits/train0.txt": []byte("TEA/2.png 0\nJAM/2.png 1\nTEA/2.png 0\n"),
		"images.txt":        []byte("JAM/2.png\nTEA/1.png\nJAM/1.png\nTEA/2.png\n"),
		"features.npy":      fourRows,
	}
	folder := t.TempDir()
	for name, content := range files {
		if c, ok := changed[name]; ok {
			content = c
		}
		filetest.WriteFile(t, content, folder, name)
	}
	return folder, folder
}

func TestLoadFreiburg(t *testing.T) {
	var written bytes.Buffer
	if err := npy.Write(&written, mat.NewDense(4, 2, []float64{1, 2, 3, 4, 5, 6, 7, 8})); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{
		"float32":                   fourRows,
		"float64":                   npyFile("<f8", false, "(4, 2)", []float64{1, 2, 3, 4, 5, 6, 7, 8}),
		"float64 by another writer": written.Bytes(),
	} {
		t.Run(name, func(t *testing.T) {
			splits, features := writeFreiburg(t, map[string][]byte{"features.npy": file})
			f, err := LoadFreiburg(splits, features, 0)
			if err != nil {
				t.Fatalf("%v", err)
			}
			if !slices.Equal(f.Classes, []string{"TEA", "JAM"}) {
				t.Errorf("classes %v", f.Classes)
			}
			// The repeated training image comes once; rows go by their names.
			if !slices.Equal(f.Train.Images, []string{"TEA/2.png", "JAM/2.png"}) || !slices.Equal(f.Train.Labels, []int{0, 1}) ||
				!mat.Equal(f.Train.Features, mat.NewDense(2, 2, []float64{7, 8, 1, 2})) {
				t.Errorf("training %+v", f.Train)
			}
			if !slices.Equal(f.Test.Labels, []int{1}) || !mat.Equal(f.Test.Features, mat.NewDense(1, 2, []float64{5, 6})) {
				t.Errorf("test %+v", f.Test)
			}
		})
	}
}

func TestLoadFreiburgErrors(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name, file string
		content    []byte
		want       string
	}{
		{"no classes", "classid.txt", nil, "classid.txt: the file is empty"},
		{"gap in the class ids", "classid.txt", []byte("TEA 0\nJAM 2\n"), "line 2: the class JAM has the id 2, expected 1"},
		{"class twice", "classid.txt", []byte("TEA 0\nTEA 1\n"), "line 2: the class TEA comes twice"},
		{"no class", "splits/test0.txt", []byte("JAM/1.png\n"),
			`test0.txt: line 1: "JAM/1.png", expected a name, a space and a number`},
		{"unknown class", "splits/train0.txt", []byte("TEA/2.png 0\nJAM/2.png 2\n"),
			"train0.txt: line 2: the image JAM/2.png has class 2, expected 0 to 1"},
		{"two classes", "splits/train0.txt", []byte("TEA/2.png 0\nTEA/2.png 1\n"),
			"line 2: the image TEA/2.png has class 1, but class 0 before"},
		{"test image in training", "splits/train0.txt", []byte("JAM/1.png 1\n"),
			"the image JAM/1.png is in the test list too"},
		{"empty list", "splits/train0.txt", nil, "train0.txt: the file is empty"},

		{"missing images", "images.txt", []byte("TEA/1.png\nJAM/1.png\n"),
			"2 of the 3 images of the split are not in the list, such as JAM/2.png"},
		{"doubled image", "images.txt", []byte("TEA/2.png\nJAM/1.png\nTEA/2.png\n"),
			"images.txt: line 3: the image TEA/2.png comes twice, first in line 1"},
		{"empty line", "images.txt", []byte("TEA/2.png\n\nJAM/1.png\n"), "images.txt: line 2: the line is empty"},
		{"more rows than names", "images.txt", []byte("JAM/2.png\nJAM/1.png\nTEA/2.png\n"),
			"features.npy: 4 rows, but images.txt names 3 images"},

		{"not NumPy", "features.npy", []byte("1,2\n3,4\n5,6\n7,8\n"), "not a .npy file"},
		{"empty", "features.npy", nil, "not a .npy file"},
		{"integers", "features.npy", npyFile("<i4", false, "(4, 2)", make([]int32, 8)), `the elements are "<i4", expected`},
		{"big-endian", "features.npy", npyFile(">f4", false, "(4, 2)", make([]float32, 8)),
			`the elements are ">f4", expected`},
		{"Fortran order", "features.npy", npyFile("<f4", true, "(4, 2)", make([]float32, 8)), "Fortran order"},
		{"one dimension", "features.npy", npyFile("<f4", false, "(8,)", make([]float32, 8)),
			"the shape is [8], expected two dimensions"},
		{"no columns", "features.npy", npyFile("<f4", false, "(4, 0)", []float32{}), "the shape is [4 0]"},
		{"negative size", "features.npy", npyFile("<f4", false, "(-4, -2)", make([]float32, 8)), "the shape is [-4 -2]"},
		{"cut off", "features.npy", fourRows[:len(fourRows)-1], "announces 4×2 numbers of 4 bytes, but 31 bytes follow it"},
		{"too long", "features.npy", append(bytes.Clone(fourRows), 0), "but 33 bytes follow it"},
		{"header of a huge array", "features.npy", npyFile("<f8", false, "(4611686018427387904, 4611686018427387904)",
			[]float64{1}), "but 8 bytes follow it"},
		{"not a number", "features.npy", npyFile("<f4", false, "(4, 2)", []float32{1, 2, 3, nan, 5, 6, 7, 8}),
			"row 2 of 4, column 2: NaN"},
		{"infinite", "features.npy", npyFile("<f8", false, "(4, 2)", []float64{1, 2, 3, 4, 5, 6, math.Inf(-1), 8}),
			"row 4 of 4, column 1: -Inf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			splits, features := writeFreiburg(t, map[string][]byte{c.file: c.content})
			_, err := LoadFreiburg(splits, features, 0)
			filetest.MustFail(t, err, c.want)
		})
	}
	_, err := LoadFreiburg(t.TempDir(), t.TempDir(), 5)
	filetest.MustFail(t, err, "split 5 of the Freiburg Groceries; there are 0 to 4")
}

// For any file the reader returns rows of finite numbers or an error.
func FuzzNPY(f *testing.F) {
	f.Add(fourRows)
	f.Add(npyFile("<f8", true, "(1, 2)", []float64{1, 2}))
	f.Add([]byte("\x93NUMPY\x01\x00\x02\x00{}"))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"))
	f.Add([]byte("\x93NUMPY\x01\x00\x30\x00{}'descr': 'fortran_order': 'shape': \n            "))
	f.Fuzz(func(t *testing.T, file []byte) {
		in, err := newNPYRows(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		row := make([]float64, in.cols)
		for range in.rows {
			if in.next(row) != nil {
				return
			}
			for _, v := range row {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("a row holds %g", v)
				}
			}
		}
	})
}

func TestFreiburgLists(t *testing.T) {
	folder := realData(t, "freiburg", ".")
	f := []struct{ train, test int }{{3929, 1018}, {3989, 958}, {3962, 977}, {3937, 995}, {3943, 999}}
	tested := map[string]bool{}
	for split, want := range f {
		t.Run(fmt.Sprint("split ", split), func(t *testing.T) {
			// Features of one number: the number of the image.
			names := map[string]bool{}
			for _, list := range []string{"train", "test"} {
				err := readFile(fmt.Sprintf("%s/splits/%s%d.txt", folder, list, split), func(r io.Reader) error {
					images, _, err := readSplit(r, 25)
					for _, name := range images {
						names[name] = true
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			list := make([]string, 0, len(names))
			values := make([]float32, 0, len(names))
			for name := range names {
				list = append(list, name)
				values = append(values, float32(len(list)))
			}
			features := t.TempDir()
			filetest.WriteFile(t, []byte(strings.Join(list, "\n")+"\n"), features, "images.txt")
			filetest.WriteFile(t, npyFile("<f4", false, fmt.Sprintf("(%d, 1)", len(list)), values), features, "features.npy")
			got, err := LoadFreiburg(folder, features, split)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Classes) != 25 || got.Classes[24] != "FISH" {
				t.Errorf("classes %v", got.Classes)
			}
			if len(got.Train.Images) != want.train || len(got.Test.Images) != want.test {
				t.Errorf("split %d: %d training and %d test images, want %+v", split, len(got.Train.Images), len(got.Test.Images),
					want)
			}
			for i, name := range got.Test.Images {
				tested[name] = true
				if list[int(got.Test.Features.At(i, 0))-1] != name ||
					!strings.HasPrefix(name, got.Classes[got.Test.Labels[i]]+"/") {
					t.Fatalf("split %d: the test image %s has another's features or class", split, name)
				}
			}
		})
	}
	if len(tested) != 4947 {
		t.Errorf("the test lists have %d images, want 4947", len(tested))
	}
}
