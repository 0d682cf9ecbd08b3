package readers

import (
	"archive/zip"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"

	"gonum.org/v1/gonum/mat"
)

// harLine is a line of X_*.txt in the publisher's format, all numbers equal.
func harLine(value string) string { return strings.Repeat("  "+value, HARFeatures) + "\n" }

var harFiles = map[string]string{
	"X_train.txt":       harLine("2.8858451e-001") + harLine("-1.0000000e+000"),
	"y_train.txt":       "5\n1\n",
	"subject_train.txt": "1\n30\n",
	"X_test.txt":        harLine("5.0000000e-001"),
	"y_test.txt":        "6\n",
	"subject_test.txt":  "2\n",
}

// writeHAR writes harFiles but for those that are given; those with the suffix
// .gz are compressed.
func writeHAR(t *testing.T, changed map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range harFiles {
		if c, ok := changed[name]; ok {
			text = c
		} else if c, ok := changed[name+".gz"]; ok {
			filetest.WriteFile(t, filetest.Gzipped(t, []byte(c)), folder, name+".gz")
			continue
		}
		filetest.WriteFile(t, []byte(text), folder, name)
	}
	return folder
}

func TestLoadHAR(t *testing.T) {
	for name, changed := range map[string]map[string]string{
		"plain":      nil,
		"compressed": {"X_train.txt.gz": harFiles["X_train.txt"], "y_test.txt.gz": "6\n"},
		"CRLF":       {"X_test.txt": strings.TrimSuffix(harFiles["X_test.txt"], "\n") + "\r\n", "y_train.txt": "5\r\n1\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := loadHAR(writeHAR(t, changed))
			if err != nil {
				t.Fatalf("%v", err)
			}
			if !slices.Equal(w.Activity, []int{4, 0, 5}) || !slices.Equal(w.Subject, []int{1, 30, 2}) ||
				len(w.Activities) != HARActivities {
				t.Errorf("activities %v, subjects %v", w.Activity, w.Subject)
			}
			if n, d := w.Inputs.Dims(); n != 3 || d != HARFeatures {
				t.Fatalf("%d×%d features", n, d)
			}
			for i, want := range []float64{0.28858451, -1, 0.5} {
				if w.Inputs.At(i, 0) != want || w.Inputs.At(i, HARFeatures-1) != want {
					t.Errorf("row %d starts with %g and ends with %g, want %g", i, w.Inputs.At(i, 0), w.Inputs.At(i, HARFeatures-1),
						want)
				}
			}
		})
	}
}

func TestLoadHARErrors(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"X_train.txt", harLine("1.0") + "1.0 2.0\n", "X_train.txt: line 2: 2 numbers, expected 561"},
		{"X_train.txt", harLine("1.0") + harLine("1.0")[2:] + "\n", "X_train.txt: line 3: 0 numbers"},
		{"X_train.txt", harLine("1.0") + "1 " + harLine("1.0"), "X_train.txt: line 2: 562 numbers, expected 561"},
		{"X_test.txt", "x " + harLine("1.0")[5:], `X_test.txt: line 1: number 1 is "x", expected a finite number`},
		{"X_test.txt", harLine("NaN"), `line 1: number 1 is "NaN"`},
		{"X_test.txt", harLine("1e999"), `line 1: number 1 is "1e999"`},
		{"X_test.txt", "", "X_test.txt has 0 lines, but"},
		{"X_train.txt.gz", harLine("1.0"), "X_train.txt has 1 lines, but"},
		{"y_train.txt", "5\n7\n", `y_train.txt: line 2: "7", expected an integer from 1 to 6`},
		{"y_train.txt", "5\n\n", `y_train.txt: line 2: ""`},
		{"subject_test.txt", "31\n", `subject_test.txt: line 1: "31", expected an integer from 1 to 30`},
		{"subject_test.txt", "1\n2\n", "subject_test.txt has 2 lines, but"},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, err := loadHAR(writeHAR(t, map[string]string{c.file: c.text}))
			filetest.MustFail(t, err, c.want)
		})
	}
	_, err := loadHAR(t.TempDir())
	filetest.MustFail(t, err, "y_train.txt")
	_, err = LoadHAR(writeHAR(t, nil))
	filetest.MustFail(t, err, "3 windows; UCI HAR has 10299")
}

// npzFile packs arrays as numpy.savez_compressed does.
func npzFile(t *testing.T, arrays map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range arrays {
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// reconstructed is two windows of two features.
func reconstructed() map[string][]byte {
	return map[string][]byte{
		"X":          npyFile("<f4", false, "(2, 2)", []float32{0.5, -0.25, 1, 0}),
		"activity":   npyFile("|i1", false, "(2,)", []int8{0, 5}),
		"subject":    npyFile("|i1", false, "(2,)", []int8{1, 20}),
		"experiment": npyFile("<i2", false, "(2,)", []int16{1, 41}),
		"start_row":  npyFile("<i4", false, "(2,)", []int32{249, 0}),
	}
}

func TestLoadHARReconstructed(t *testing.T) {
	load := func(arrays map[string][]byte) (*Windows, error) {
		return loadHARReconstructed(filetest.WriteFile(t, npzFile(t, arrays), t.TempDir(), HARReconstructedFile))
	}
	w, err := load(reconstructed())
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(w.Inputs, mat.NewDense(2, 2, []float64{0.5, -0.25, 1, 0})) ||
		fmt.Sprint(w.Activity, w.Subject, w.Recording, w.Start) != "[0 5] [1 20] [1 41] [249 0]" {
		t.Errorf("%+v", w)
	}
	for _, c := range []struct {
		array   string
		content []byte
		want    string
	}{
		{"X", nil, `there is no array "X"`},
		{"X", []byte("text"), `the array "X": not a .npy file`},
		{"X", npyFile("<f4", false, "(2, 2)", []float32{1, 2, 3}),
			`the array "X": the header announces 4 elements of 4 bytes, but 12 bytes`},
		{"X", npyFile("<f4", false, "(2, 2, 1)", []float32{1, 2, 3, 4}), "expected 2 dimensions"},
		{"X", npyFile("<f4", false, "(9223372036854775807, 9223372036854775807)", []float32{1}), `the array "X": the shape`},
		{"X", npyFile("<f4", false, "(0, 2)", []float32{}), `the array "X": the shape`},
		{"X", npyFile("<f4", true, "(2, 2)", []float32{1, 2, 3, 4}), "Fortran order"},
		{"X", npyFile(">f4", false, "(2, 2)", []float32{1, 2, 3, 4}), `the elements are ">f4"`},
		{"X", npyFile("<i4", false, "(2, 2)", []int32{1, 2, 3, 4}), "expected floats"},
		{"X", npyFile("<f4", false, "(1, 2)", []float32{1, 2}), `the array "activity": 2 elements, expected 1`},
		{"activity", npyFile("|i1", false, "(2,)", []int8{0, 6}),
			`the array "activity": element 1 is 6, expected an integer from 0 to 5`},
		{"subject", npyFile("<f8", false, "(2,)", []float64{1, 1.5}), `the array "subject": element 1 is 1.5`},
	} {
		t.Run(c.array+": "+c.want, func(t *testing.T) {
			arrays := reconstructed()
			arrays[c.array] = c.content
			if c.content == nil {
				delete(arrays, c.array)
			}
			_, err := load(arrays)
			filetest.MustFail(t, err, c.want)
		})
	}
	_, err = loadHARReconstructed(filetest.WriteFile(t, []byte("text"), t.TempDir(), HARReconstructedFile))
	filetest.MustFail(t, err, HARReconstructedFile+": not an .npz file")
	cut := npzFile(t, reconstructed())
	_, err = loadHARReconstructed(filetest.WriteFile(t, cut[:len(cut)/2], t.TempDir(), HARReconstructedFile))
	filetest.MustFail(t, err, "not an .npz file")
}

func TestLoadHARReconstructedRealData(t *testing.T) {
	w, err := LoadHARReconstructed(realData(t, "har/reconstructed", "."))
	if err != nil {
		t.Fatal(err)
	}
	count := make([]int, HARActivities)
	groups := map[[2]int]int{}
	for i, a := range w.Activity {
		count[a]++
		groups[[2]int{a, w.Subject[i]}]++
	}
	// As many as UCI HAR has of subjects 1 to 20; 9 of each group are the
	// paper's 1080 test windows.
	if !slices.Equal(count, []int{1145, 1009, 908, 1084, 1201, 1184}) ||
		len(groups) != HARActivities*HARReconstructedSubjects {
		t.Errorf("%v windows of the activities, %d groups", count, len(groups))
	}
	if low, high := mat.Min(w.Inputs), mat.Max(w.Inputs); low < -1.2 || high > 1.2 {
		t.Errorf("features from %g to %g", low, high)
	}
}

func TestLoadHARRealData(t *testing.T) {
	w, err := LoadHAR(realData(t, "har", "X_train.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if low, high := mat.Min(w.Inputs), mat.Max(w.Inputs); low != -1 || high != 1 {
		t.Errorf("features from %g to %g, want -1 to 1", low, high)
	}
}
