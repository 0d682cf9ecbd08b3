package store_test

import (
	"encoding/binary"
	"errors"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// both is a release with all forms: two pictures of 2×1 pixels.
func both() *experiment.Release {
	return &experiment.Release{Columns: []string{"p1", "p2"}, Rows: [][]float64{{-.5, .25}, {1, 7}, {0, 1}},
		Classes: []string{"cat", "dog, big", "cat"}, ClassColumn: "label", Picture: &experiment.Picture{Width: 2, Height: 1},
		Model: map[string]int{"weights": 3}}
}

var allForms = []experiment.Form{experiment.FormTable, experiment.FormArrays, experiment.FormModel,
	experiment.FormPictures}

// written writes the release under a name, in a folder of its own, which is returned.
func written(t *testing.T, name string, rel *experiment.Release) string {
	t.Helper()
	dir := t.TempDir()
	path := dir + "/" + name
	if err := store.CheckReleasePath(disk.System, path, allForms, experiment.Size{}); err != nil {
		t.Fatal(err)
	}
	if err := store.WriteRelease(disk.System, path, releaseRecord, rel); err != nil {
		t.Fatal(err)
	}
	var exists *store.ExistsError
	if err := store.WriteRelease(disk.System, path, releaseRecord, rel); !errors.As(err, &exists) {
		t.Errorf("a second release of that name: %v", err)
	}
	if err := store.CheckReleasePath(disk.System, path, allForms, experiment.Size{}); !errors.As(err, &exists) {
		t.Errorf("a second release of that name: %v", err)
	}
	return dir
}

func content(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The name selects the form; each has its description, and no other file.
func TestFormsOfRelease(t *testing.T) {
	dir := written(t, "x.csv", both())
	if got := content(t, dir, "x.csv"); got != "p1,p2,label\n-0.5,0.25,cat\n1,7,\"dog, big\"\n0,1,cat\n" {
		t.Errorf("%q", got)
	}
	if got := namesIn(t, dir); got != "x.csv x.csv.json" {
		t.Errorf("the folder holds %s", got)
	}
	dir = written(t, "x.json", both())
	if got := content(t, dir, "x.json"); got != "{\n \"weights\": 3\n}\n" {
		t.Errorf("%q", got)
	}
	dir = written(t, "x.npy", both())
	if got := namesIn(t, dir); got != "x.labels.npy x.npy x.npy.json" {
		t.Errorf("the folder holds %s", got)
	}
}

// The arrays, by their bytes: format 1.0 of NumPy, the content from a multiple of 64 on.
func TestArraysOfRelease(t *testing.T) {
	dir := written(t, "x.npy", both())
	numbers, texts := content(t, dir, "x.npy"), content(t, dir, "x.labels.npy")
	for _, c := range []struct{ what, text, header string }{
		{"numbers", numbers, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }"},
		{"texts", texts, "{'descr': '<U8', 'fortran_order': False, 'shape': (3,), }"},
	} {
		length := int(binary.LittleEndian.Uint16([]byte(c.text[8:10])))
		if !strings.HasPrefix(c.text, "\x93NUMPY\x01\x00") || (10+length)%64 != 0 || c.text[9+length] != '\n' ||
			strings.TrimRight(c.text[10:10+length], " \n") != c.header {
			t.Errorf("%s: %q", c.what, c.text[:10+length])
		}
	}
	at := len(numbers) - 6*8
	for i, want := range []float64{-.5, .25, 1, 7, 0, 1} {
		if got := math.Float64frombits(binary.LittleEndian.Uint64([]byte(numbers[at+8*i:]))); got != want {
			t.Errorf("number %d is %g, want %g", i, got, want)
		}
	}
	if got := texts[len(texts)-3*8*4:]; got != wide("cat")+wide("dog, big")+wide("cat") {
		t.Errorf("%q", got)
	}
}

// wide is a text as NumPy has it: eight characters of four bytes.
func wide(text string) string {
	out := make([]byte, 32)
	for i, c := range text {
		binary.LittleEndian.PutUint32(out[4*i:], uint32(c))
	}
	return string(out)
}

// A picture for each row in the folder of its class, with grey values from black to white.
func TestPicturesOfRelease(t *testing.T) {
	dir := written(t, "out/", both())
	if got := namesIn(t, dir) + ": " + namesIn(t, filepath.Join(dir, "out")) + ": " +
		namesIn(t, filepath.Join(dir, "out", "cat")); got != "out out.json: cat dog, big: 000001.png 000002.png" {
		t.Errorf("%s", got)
	}
	f, err := os.Open(filepath.Join(dir, "out", "cat", "000001.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	a, _, _, _ := picture.At(0, 0).RGBA()
	b, _, _, _ := picture.At(1, 0).RGBA()
	if a != 0 || b>>8 != 64 || picture.Bounds().Dx() != 2 || picture.Bounds().Dy() != 1 {
		t.Errorf("%v: %d and %d", picture.Bounds(), a, b>>8)
	}
}

// A class that is no name of a folder leaves nothing behind.
func TestPicturesOutside(t *testing.T) {
	for _, class := range []string{"../up", "a/b", `a\b`, "..", "."} {
		dir := t.TempDir()
		rel := both()
		rel.Classes[1] = class
		err := store.WriteRelease(disk.System, dir+"/out/", releaseRecord, rel)
		if err == nil || !strings.Contains(err.Error(), "cannot be the name of a folder") || namesIn(t, dir) != "" {
			t.Errorf("%s: %v; the folder holds %s", class, err, namesIn(t, dir))
		}
	}
}

func TestFormRefused(t *testing.T) {
	dir := t.TempDir()
	var form *store.FormError
	for _, name := range []string{"x", "x.txt", "x.csv.gz", "out/"} {
		err := store.CheckReleasePath(disk.System, dir+"/"+name, allForms[:3], experiment.Size{})
		if !errors.As(err, &form) || !strings.Contains(err.Error(), "use NAME.csv (a table), NAME.npy (NumPy arrays), "+
			"NAME.json (a model for run predict)") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(dir+"/x.labels.npy", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var exists *store.ExistsError
	if err := store.CheckReleasePath(disk.System, dir+"/x.npy", allForms, experiment.Size{}); !errors.As(err, &exists) {
		t.Errorf("labels that are there: %v", err)
	}
	// Another release of one form is written under any name.
	if err := store.CheckReleasePath(disk.System, dir+"/x.npy", nil, experiment.Size{}); err != nil {
		t.Error(err)
	}
}

func TestFolderWithoutAName(t *testing.T) {
	err := store.CheckReleasePath(disk.System, "/", allForms, experiment.Size{})
	if err == nil || !strings.Contains(err.Error(), "no folder of its own") {
		t.Errorf("error %v", err)
	}
}

// A name may have the extension of its format, none, or one of no format; that of another format
// is an error that names the right one.
func TestCheckEnding(t *testing.T) {
	for _, c := range []struct {
		path string
		form experiment.Form
		want string // "" for none
	}{
		{"model.json", experiment.FormModel, ""},
		{"model.JSON", experiment.FormModel, ""},
		{"dir.zip/model", experiment.FormModel, ""},
		{"model-0.5", experiment.FormModel, ""},
		{"model.v2", experiment.FormModel, ""},
		{"model.zip", "", ""},
		{"rows.csv", experiment.FormTable, ""},
		{"a/model.zip", experiment.FormModel, "a/model.zip: what is written is JSON, although the name ends in .zip; " +
			"name it a/model.json"},
		{"model.json.gz", experiment.FormModel, "although the name ends in .gz; name it model.json"},
		{"rows.json", experiment.FormTable,
			"what is written is comma-separated values, although the name ends in .json; name it rows.csv"},
	} {
		t.Run(c.path, func(t *testing.T) {
			err := store.CheckEnding(c.path, c.form)
			var ending *store.EndingError
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (!errors.As(err, &ending) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
