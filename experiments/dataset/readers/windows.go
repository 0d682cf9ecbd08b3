package readers

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Windows are pieces of recordings of people's movements, or features of them,
// in the order of the files.
//
// Windows overlap where they start closer than they are long, by half in UCI HAR: a random split then
// puts halves of the same recording on both sides, and accuracies come out too high. Splits by time or
// subject avoid that.
type Windows struct {
	Inputs   *mat.Dense // N×d, one window per row
	Activity []int      // N, from 0
	Subject  []int      // N, from 1
	// Recording and Start, N each, are the number of the recording and the
	// sample in it at which a window starts; nil where they are not known.
	Recording, Start []int
	// Activities are the names of activity 0, 1, ...
	Activities []string
}

// Len is the number of windows.
func (w *Windows) Len() int { return len(w.Activity) }

// Rows returns the given windows, in that order.
func (w *Windows) Rows(rows []int) *Windows {
	out := &Windows{Activities: w.Activities}
	if len(rows) == 0 {
		out.Inputs = new(mat.Dense)
		return out
	}
	_, d := w.Inputs.Dims()
	out.Inputs = mat.NewDense(len(rows), d, nil)
	for i, row := range rows {
		out.Inputs.SetRow(i, w.Inputs.RawRowView(row))
		out.Activity = append(out.Activity, w.Activity[row])
		out.Subject = append(out.Subject, w.Subject[row])
		if w.Start != nil {
			out.Recording = append(out.Recording, w.Recording[row])
			out.Start = append(out.Start, w.Start[row])
		}
	}
	return out
}

// numbers reads fields separated by white space into row and wants as many
// finite numbers as it has elements.
func numbers(text string, row []float64) error {
	n := 0
	for field := range strings.FieldsSeq(text) {
		if n < len(row) {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("number %d is %q, expected a finite number", n+1, field)
			}
			row[n] = v
		}
		n++
	}
	if n != len(row) {
		return fmt.Errorf("%d numbers, expected %d", n, len(row))
	}
	return nil
}

// readPlainOrCompressed is [readFile] of the file at path or, where there is
// none, of the content of path.gz.
func readPlainOrCompressed(path string, read func(io.Reader) error) error {
	err := readFile(path, read)
	if errors.Is(err, fs.ErrNotExist) {
		if packed := readFile(path+".gz", gunzipped(read)); !errors.Is(packed, fs.ErrNotExist) {
			return packed
		}
	}
	return err
}
