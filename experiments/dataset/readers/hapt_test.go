package readers

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"

	"gonum.org/v1/gonum/mat"
)

func TestLoadHAPTSegments(t *testing.T) {
	load := func(text string) ([]Segment, error) {
		folder := t.TempDir()
		filetest.WriteFile(t, []byte(text), folder, "labels.txt")
		return LoadHAPTSegments(folder)
	}
	segments, err := load("1 1 5 250 1232\n61 30 12 1 1\n")
	if want := []Segment{{1, 1, 4, 249, 1232}, {61, 30, 11, 0, 1}}; err != nil || !slices.Equal(segments, want) {
		t.Errorf("%v, %v; want %v", segments, err, want)
	}
	for text, want := range map[string]string{
		"1 1 5 250\n":                    "labels.txt: line 1: 4 numbers, expected 5",
		"1 1 5 1 2\n1 1 13 250 1232\n":   "line 2: number 3 is 13, expected an integer from 1 to 12",
		"62 1 5 250 1232\n":              "number 1 is 62, expected an integer from 1 to 61",
		"1 31 5 250 1232\n":              "number 2 is 31",
		"1 1 5.5 250 1232\n":             "number 3 is 5.5",
		"1 1 5 0 1232\n":                 "number 4 is 0",
		"1 1 5 250 1e99\n":               "number 5 is 1e+99",
		"1 1 5 250 249\n":                "the segment starts at 250 and ends at 249",
		strings.Repeat("1 ", 70000) + "": "line 1",
	} {
		_, err := load(text)
		filetest.MustFail(t, err, want)
	}
	_, err = LoadHAPTSegments(t.TempDir())
	filetest.MustFail(t, err, "labels.txt")
}

func TestLoadHAPTRecording(t *testing.T) {
	load := func(acc, gyro string) (*Recording, error) {
		folder := t.TempDir()
		filetest.WriteFile(t, []byte(acc), folder, "acc_exp07_user04.txt")
		filetest.WriteFile(t, filetest.Gzipped(t, []byte(gyro)), folder, "gyro_exp07_user04.txt.gz")
		return LoadHAPTRecording(folder, 7, 4)
	}
	r, err := load("1 2 3 \n4 5 6\n", "7 8 9\r\n.1 .2 .3\r\n")
	if err != nil || fmt.Sprint(*r) != "{[[1 4] [2 5] [3 6]] [[7 0.1] [8 0.2] [9 0.3]]}" {
		t.Errorf("%v, %v", r, err)
	}
	for _, c := range []struct{ acc, gyro, want string }{
		{"1 2 3\n4 5\n", "7 8 9\n", "acc_exp07_user04.txt: line 2: 2 numbers, expected 3"},
		{"1 2 3\n", "7 NaN 9\n", `gyro_exp07_user04.txt.gz: line 1: number 2 is "NaN"`},
		{"1 2 3\n", "7 8 9\n7 8 9\n", "acc_exp07_user04.txt has 1 lines, but"},
		{"", "", "at least one"},
	} {
		_, err := load(c.acc, c.gyro)
		filetest.MustFail(t, err, c.want)
	}
}

// A written set is read again, and has the same bytes each time.
func TestWriteHARReconstructed(t *testing.T) {
	w := &Windows{Inputs: mat.NewDense(HARReconstructed, HARFeatures, nil), Activities: harActivities}
	for i := range HARReconstructed {
		w.Inputs.Set(i, i%HARFeatures, float64(float32(float64(i)/7-400)))
		w.Activity, w.Subject = append(w.Activity, i%HARActivities), append(w.Subject, 1+i%20)
		w.Recording, w.Start = append(w.Recording, 1+i%61), append(w.Start, 64*i)
	}
	var once, again bytes.Buffer
	if err := errors.Join(WriteHARReconstructed(&once, w), WriteHARReconstructed(&again, w)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(once.Bytes(), again.Bytes()) {
		t.Error("the bytes differ from one time to the next")
	}
	folder := t.TempDir()
	filetest.WriteFile(t, once.Bytes(), folder, HARReconstructedFile)
	got, err := LoadHARReconstructed(folder)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(got.Inputs, w.Inputs) || !slices.Equal(got.Activity, w.Activity) ||
		!slices.Equal(got.Subject, w.Subject) || !slices.Equal(got.Recording, w.Recording) ||
		!slices.Equal(got.Start, w.Start) {
		t.Error("other windows are read than were written")
	}
	if err := WriteHARReconstructed(failingWriter{}, w); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

var errFull = errors.New("no space left")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }
