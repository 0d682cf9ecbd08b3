package har

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/readers"
)

// realData returns the folder of a registered set and skips the test where it is not
// there.
func realData(t *testing.T, name string) string {
	t.Helper()
	if os.Getenv(dataset.DataVariable) == "" {
		t.Skipf("needs the data set %s: set $%s", name, dataset.DataVariable)
	}
	folder, _, err := dataset.NewLocator("").Find(name)
	if err != nil {
		t.Skip(err)
	}
	return folder
}

// near wants features that differ in the last bit of a float32 at most, in one place of a thousand.
func near(t *testing.T, w, other *readers.Windows) {
	t.Helper()
	d := Compare(w, other)
	if !d.Windows || d.Values != w.Len()*readers.HARFeatures || d.Largest > 6e-8 ||
		float64(d.Differing) > .001*float64(d.Values) {
		t.Error(d)
	}
}

// The first windows of the short recording are those of the data set.
func TestShortRecordingIsInTheDataSet(t *testing.T) {
	there, err := readers.LoadHARReconstructed(realData(t, "har-reconstructed"))
	if err != nil {
		t.Fatal(err)
	}
	scales, err := Published()
	if err != nil {
		t.Fatal(err)
	}
	w, err := Extract(t.Context(), short, nil)
	if err != nil {
		t.Fatal(err)
	}
	Apply(scales, w.Inputs)
	if w.Len() != 6 {
		t.Fatalf("%d windows", w.Len())
	}
	near(t, w, there.Rows([]int{0, 1, 2, 3, 4, 5}))
}

// The recordings of all people give the registered data set, byte for byte, and the scales embedded
// in the program.
func TestReconstruct(t *testing.T) {
	recordings := realData(t, "hapt")
	w, rows, err := Reconstruct(t.Context(), recordings, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := w.Rows(rows)
	set, err := dataset.Lookup("har-reconstructed")
	if err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	if err := readers.WriteHARReconstructed(&content, first); err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(content.Bytes()); hex.EncodeToString(sum[:]) != set.Files[0].Made {
		t.Errorf("SHA-256 %x, registered is %s", sum, set.Files[0].Made)
	}
	there, err := readers.LoadHARReconstructed(realData(t, "har-reconstructed"))
	if err != nil {
		t.Fatal(err)
	}
	near(t, first, there)
}

func TestCalibrationOfTheRecordings(t *testing.T) {
	recordings := realData(t, "hapt")
	means, err := LoadMeans(filepath.Join(os.Getenv(dataset.DataVariable), "har", "partial", "har_group_means.csv.gz"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := Extract(t.Context(), recordings, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, r2, err := Calibrate(w, means)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Published()
	if err != nil {
		t.Fatal(err)
	}
	good, ranges := 0, 0
	for j, s := range got {
		if math.Abs(s.Slope-want[j].Slope) > 1e-9*math.Abs(s.Slope) || math.Abs(s.Intercept-want[j].Intercept) > 1e-9 {
			t.Errorf("feature %d: %v, not %v", j+1, want[j], s)
		}
		if r2[j] > .8 {
			good++
		}
		if r2[j] < fitted {
			ranges++
		}
	}
	if good != 543 || ranges != 9 {
		t.Errorf("R² is above 0.8 for %d features and below %g for %d", good, fitted, ranges)
	}
}

func TestPublishedScales(t *testing.T) {
	scales, err := Published()
	if err != nil || len(scales) != readers.HARFeatures {
		t.Fatalf("%d scales, %v", len(scales), err)
	}
	x := mat.NewDense(2, readers.HARFeatures, nil)
	x.Set(1, 0, 1e9)
	Apply(scales, x)
	for j, s := range scales {
		if s.Slope == 0 {
			t.Errorf("feature %d is lost", j+1)
		}
		if v, want := x.At(0, j), float64(float32(max(-limit, min(s.Intercept, limit)))); v != want {
			t.Errorf("0 in feature %d becomes %g, want %g", j+1, v, want)
		}
	}
	if v := x.At(1, 0); v != float64(float32(limit)) {
		t.Errorf("a large value becomes %g", v)
	}
}

// groups returns two windows each of six activities of one subject, whose features are
// numbers of their own.
func groups() *readers.Windows {
	w := &readers.Windows{Inputs: mat.NewDense(12, readers.HARFeatures, nil)}
	for i := range 12 {
		w.Activity, w.Subject = append(w.Activity, i/2), append(w.Subject, 7)
		for j := range readers.HARFeatures {
			w.Inputs.Set(i, j, math.Sin(float64(i*i+j)))
		}
	}
	return w
}

// Calibration finds the map that the published means were made with; where there is none
// the range decides.
func TestCalibrate(t *testing.T) {
	w := groups()
	published := map[Group][]float64{}
	slope := func(j int) float64 { return 2 - float64(j)/100 }
	for a := range 6 {
		means := make([]float64, readers.HARFeatures)
		for j := range means {
			means[j] = slope(j)*(w.Inputs.At(2*a, j)+w.Inputs.At(2*a+1, j))/2 - .25
		}
		means[5] = 3 // constant, to which nothing is fitted
		published[Group{a, 7}] = means
	}
	scales, r2, err := Calibrate(w, published)
	if err != nil {
		t.Fatal(err)
	}
	for j, s := range scales {
		if j == 5 || j == 200 { // the latter has a slope of 0
			continue
		}
		if math.Abs(s.Slope-slope(j)) > 1e-12 || math.Abs(s.Intercept+.25) > 1e-12 || math.Abs(r2[j]-1) > 1e-12 {
			t.Errorf("feature %d: %v with R² %g, want %g and -0.25", j+1, s, r2[j], slope(j))
		}
	}
	column := mat.Col(nil, 5, w.Inputs)
	low, high := slices.Min(column), slices.Max(column)
	if s := scales[5]; math.Abs(s.Slope*low+s.Intercept+1) > 1e-12 || math.Abs(s.Slope*high+s.Intercept-1) > 1e-12 {
		t.Errorf("%v maps [%g, %g] to [%g, %g]", s, low, high, s.Slope*low+s.Intercept, s.Slope*high+s.Intercept)
	}
	published[Group{5, 8}] = published[Group{5, 7}]
	if _, _, err := Calibrate(w, published); err == nil || !strings.Contains(err.Error(),
		"6 groups have windows, 7 have") {
		t.Error(err)
	}
	delete(published, Group{2, 7})
	if _, _, err := Calibrate(w, published); err == nil || !strings.Contains(err.Error(),
		"activity 2 of subject 7 has 0 published means") {
		t.Error(err)
	}
}

func TestCalibrationIsReadAsWritten(t *testing.T) {
	scales, err := Published()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(calibration, "\n"), "\n")
	var out bytes.Buffer
	if err := WriteCalibration(&out, []string{"tBodyAcc-mean()-X"}, scales[:1], []float64{.95651}); err != nil {
		t.Fatal(err)
	}
	if want := lines[0] + "\n" + lines[1] + "\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestLoadMeans(t *testing.T) {
	header := strings.Repeat("x,", before+readers.HARFeatures-1) + "x\n"
	row := func(start string) string { return start + strings.Repeat(",0.5", readers.HARFeatures) + "\n" }
	load := func(text string) (map[Group][]float64, error) {
		path := filepath.Join(t.TempDir(), "means.csv.gz")
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := z.Write([]byte(text))
		if err := errors.Join(err, z.Close(), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		return LoadMeans(path)
	}
	means, err := load(header + row("6,LAYING,30,70"))
	if err != nil || len(means) != 1 || len(means[Group{5, 30}]) != readers.HARFeatures || means[Group{5, 30}][560] != .5 {
		t.Errorf("%v, %v", means, err)
	}
	for text, want := range map[string]string{
		header + row("six,LAYING,30,70"):                                  "line 2",
		header + row("6,LAYING,30"):                                       "wrong number of fields",
		header + row("6,LAYING,30,70,0.1"):                                "wrong number of fields",
		header + strings.Replace(row("6,LAYING,30,70"), "0.5", "half", 1): `line 2: strconv.ParseFloat: parsing "half"`,
		"": "EOF",
	} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// The last windows in time are left out, from the last group of the last subject on.
func TestFirstSubjects(t *testing.T) {
	w := new(readers.Windows)
	add := func(subject, activity, n int) {
		for range n {
			w.Activity, w.Subject = append(w.Activity, activity), append(w.Subject, subject)
		}
	}
	for s, counts := range published {
		for a, n := range counts {
			add(s+1, a, n)
		}
	}
	add(21, 0, 5) // of no interest
	add(1, 2, 4)
	add(20, 5, 3)
	add(20, 4, 2)
	all := w.Len()
	rows, err := FirstSubjects(w)
	if err != nil || len(rows) != readers.HARReconstructed || !slices.IsSorted(rows) ||
		rows[len(rows)-1] != readers.HARReconstructed-1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	// One window less of subject 3 keeps the first of those of subject 1.
	w.Subject[slices.Index(w.Subject, 3)] = 21
	if rows, err = FirstSubjects(w); err != nil || rows[len(rows)-1] != all-3-2-4 {
		t.Errorf("the last row is %d of %d, %v", rows[len(rows)-1], all, err)
	}
	w.Subject[slices.Index(w.Subject, 21)] = 3
	w.Subject[0] = 22
	w.Subject = w.Subject[:readers.HARReconstructed]
	w.Activity = w.Activity[:readers.HARReconstructed]
	if _, err := FirstSubjects(w); err == nil || !strings.Contains(err.Error(), "there must be 6531") {
		t.Error(err)
	}
}

func TestExtract(t *testing.T) {
	var reports [][2]int
	w, err := Extract(t.Context(), short, func(done, total int) { reports = append(reports, [2]int{done, total}) })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.Start, []int{249, 313, 377, 441, 505, 569}) || w.Activity[0] != 4 || w.Subject[5] != 1 ||
		w.Recording[5] != 1 || w.Activities[4] != "standing" {
		t.Errorf("%+v", w)
	}
	if !slices.Equal(reports, [][2]int{{0, readers.HAPTRecordings}}) {
		t.Errorf("progress %v", reports)
	}
	for name, c := range map[string]struct{ labels, want string }{
		"too long":        {"1 1 5 250 701\n", "ends at sample 701; the recording is of subject 1 and has 700 samples"},
		"another subject": {"1 1 5 250 500\n1 2 5 501 700\n", "is of subject 2"},
		"a transition":    {"1 1 7 250 700\n", "no windows"},
		"too short":       {"1 1 5 250 376\n", "no windows"},
		"another":         {"2 1 5 250 376\n", "acc_exp02_user01.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(short)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, "labels.txt"), []byte(c.labels), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Extract(t.Context(), folder, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Extract(ctx, short, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCompare(t *testing.T) {
	windows := func(values ...float64) *readers.Windows {
		return &readers.Windows{Inputs: mat.NewDense(1, len(values), values), Activity: []int{1}, Subject: []int{2},
			Recording: []int{3}, Start: []int{4}}
	}
	other := windows(1, 2, 4, 0)
	if d := Compare(windows(1, 2, 4, 0), other); !d.Windows || d.String() != "all 4 values are equal" {
		t.Error(d)
	}
	d := Compare(windows(1, 3, 5, .5), other)
	if d.Differing != 3 || d.Largest != 1 || d.MedianRelative != .375 || d.LargestRelative != .5 ||
		!strings.HasPrefix(d.String(), "3 of 4 values differ, by 1 at most") {
		t.Errorf("%+v: %[1]s", d)
	}
	moved := windows(1, 2, 4, 0)
	moved.Start[0]++
	for _, w := range []*readers.Windows{moved, windows(1)} {
		if d := Compare(w, other); d.Windows || d.String() != "the windows are others" {
			t.Error(d)
		}
	}
}
