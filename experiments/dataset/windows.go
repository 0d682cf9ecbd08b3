package dataset

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
// Windows overlap where they start closer than they are long, by half in UCI HAR: a
// random split then puts halves of one stretch on both sides, and accuracies come out
// too high. [Windows.Disjoint] and splits by time or subject avoid that.
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

// Disjoint returns the rows of windows of the given number of samples of which
// none shares a sample with another: of each recording the first one, the next
// one that starts after its end, and so on. Windows of one recording must come
// in the order of their starts.
func (w *Windows) Disjoint(samples int) []int {
	var rows []int
	for i := range w.Start {
		if len(rows) > 0 {
			last := rows[len(rows)-1]
			if w.Recording[i] == w.Recording[last] && w.Subject[i] == w.Subject[last] && w.Start[i] < w.Start[last]+samples {
				continue
			}
		}
		rows = append(rows, i)
	}
	return rows
}

// ChannelMeans replaces windows of several samples, one after the other, by the mean
// of each channel (N×channels). The number of columns must be a multiple of the number
// of channels. Columns are samples in time, each with all channels: column j is of
// channel j mod channels.
func (w *Windows) ChannelMeans(channels int) *Windows {
	n, d := w.Inputs.Dims()
	out := *w
	out.Inputs = mat.NewDense(n, channels, nil)
	for i := range n {
		from, to := w.Inputs.RawRowView(i), out.Inputs.RawRowView(i)
		for j, v := range from {
			to[j%channels] += v / float64(d/channels)
		}
	}
	return &out
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
