package readers

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Sizes of UCI HAR.
const (
	HARWindows    = 10299 // 7352 in the files "train", then 2947 in "test"
	HARFeatures   = 561
	HARSubjects   = 30
	HARActivities = 6
	// HARReconstructed is the number of windows of the set
	// "har-reconstructed", all of subjects 1 to HARReconstructedSubjects.
	HARReconstructed         = 6531
	HARReconstructedSubjects = 20
)

// HARActivityNames are the names of activity 0, 1, ...
func HARActivityNames() []string { return slices.Clone(harActivities) }

var harActivities = []string{"walking", "walking upstairs", "walking downstairs", "sitting", "standing", "laying"}

// LoadHAR reads the windows of both parts from the folder of the set "har":
// first those of the files "train", then those of the files "test", each in
// the order of the file, which is that of time for each subject and activity.
// The activity is the number in the file less 1. The parts are of different
// subjects. Errors name the file and the line.
//
// A window is 2.56 s at 50 Hz, 128 samples, of which the 561 columns are features in
// [−1, 1] without unit, as published.
func LoadHAR(folder string) (*Windows, error) {
	w, err := loadHAR(folder)
	if err != nil {
		return nil, err
	}
	if w.Len() != HARWindows {
		return nil, fmt.Errorf("%s: %d windows; UCI HAR has %d", folder, w.Len(), HARWindows)
	}
	return w, nil
}

// HARReconstructedFile is the file of the set "har-reconstructed".
const HARReconstructedFile = "har_recon561_first20.npz"

// loadHAR reads both parts, of any length.
func loadHAR(folder string) (*Windows, error) {
	w := &Windows{Activities: harActivities}
	var inputs []float64
	for _, part := range []string{"train", "test"} {
		path := func(kind string) string { return filepath.Join(folder, kind+"_"+part+".txt") }
		before := len(w.Activity)
		err := readPlainOrCompressed(path("y"), func(r io.Reader) (err error) {
			w.Activity, err = appendIntegers(r, w.Activity, 1, HARActivities)
			return err
		})
		if err != nil {
			return nil, err
		}
		for i := before; i < len(w.Activity); i++ {
			w.Activity[i]--
		}
		err = readPlainOrCompressed(path("subject"), func(r io.Reader) (err error) {
			w.Subject, err = appendIntegers(r, w.Subject, 1, HARSubjects)
			return err
		})
		if err != nil {
			return nil, err
		}
		n := len(w.Activity) - before
		if subjects := len(w.Subject) - before; subjects != n {
			return nil, fmt.Errorf("%s has %d lines, but %s has %d; they must be as many",
				path("subject"), subjects, path("y"), n)
		}
		rows := 0
		err = readPlainOrCompressed(path("X"), func(r io.Reader) error {
			row := make([]float64, HARFeatures)
			return forLines(r, func(text string) error {
				if err := numbers(text, row); err != nil {
					return err
				}
				inputs = append(inputs, row...)
				rows++
				return nil
			})
		})
		if err != nil {
			return nil, err
		}
		if rows != n || n == 0 {
			return nil, fmt.Errorf("%s has %d lines, but %s has %d; they must be as many, and at least one",
				path("X"), rows, path("y"), n)
		}
	}
	w.Inputs = mat.NewDense(w.Len(), HARFeatures, inputs)
	return w, nil
}

// appendIntegers reads one integer from low to high on each line.
func appendIntegers(r io.Reader, to []int, low, high int) ([]int, error) {
	err := forLines(r, func(text string) error {
		v, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || v < low || v > high {
			return fmt.Errorf("%q, expected an integer from %d to %d", text, low, high)
		}
		to = append(to, v)
		return nil
	})
	return to, err
}

// LoadHARReconstructed reads the windows from the folder of the set
// "har-reconstructed": X (float32), activity, subject, experiment and
// start_row. A window has 128 samples and starts 64 after the one before it.
func LoadHARReconstructed(folder string) (*Windows, error) {
	path := filepath.Join(folder, HARReconstructedFile)
	w, err := loadHARReconstructed(path)
	if err != nil {
		return nil, err
	}
	if _, d := w.Inputs.Dims(); w.Len() != HARReconstructed || d != HARFeatures {
		return nil, fmt.Errorf("%s: %d windows of %d features; the set has %d of %d", path, w.Len(), d, HARReconstructed,
			HARFeatures)
	}
	return w, nil
}

// loadHARReconstructed reads a file of any number of windows and features.
func loadHARReconstructed(path string) (*Windows, error) {
	w := &Windows{Activities: harActivities}
	err := readFile(path, func(r io.Reader) error {
		z, err := readNPZ(r)
		if err != nil {
			return err
		}
		x, err := z.floats("X", 2)
		if err != nil {
			return err
		}
		n := x.shape[0]
		w.Inputs = mat.NewDense(n, x.shape[1], x.values)
		for _, column := range []struct {
			name      string
			to        *[]int
			low, high int
		}{
			{"activity", &w.Activity, 0, HARActivities - 1},
			{"subject", &w.Subject, 1, HARReconstructedSubjects},
			{"experiment", &w.Recording, 1, 1 << 30},
			{"start_row", &w.Start, 0, 1 << 30},
		} {
			if *column.to, err = z.integers(column.name, n, column.low, column.high); err != nil {
				return err
			}
		}
		return nil
	})
	return w, err
}

// WriteHARReconstructed writes windows of smartphones as [LoadHARReconstructed] reads
// them, of any number and of any subjects below 128. The features become float32.
func WriteHARReconstructed(out io.Writer, w *Windows) error {
	z := npzWriter{Writer: zip.NewWriter(out)}
	n, d := w.Inputs.Dims()
	z.array("X", "<f4", []int{n, d}, func(to []byte) []byte {
		for i := range n {
			for _, v := range w.Inputs.RawRowView(i) {
				to = binary.LittleEndian.AppendUint32(to, math.Float32bits(float32(v)))
			}
		}
		return to
	})
	z.integers("activity", "|i1", w.Activity)
	z.integers("subject", "|i1", w.Subject)
	z.integers("experiment", "<i2", w.Recording)
	z.integers("start_row", "<i4", w.Start)
	return errors.Join(z.err, z.Close())
}

// readAll reads at most limit bytes.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return b.Bytes(), err
}
