package har

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"privkern/experiments/dataset/readers"
)

// Reconstruct makes the windows of all 30 people from the folder of the set "hapt",
// with the features of the set "har-reconstructed". Rows are those of that set
// ([FirstSubjects]).
func Reconstruct(ctx context.Context, folder string, progress func(done, total int)) (w *readers.Windows, rows []int,
	err error) {
	scales, err := Published()
	if err != nil {
		return nil, nil, err
	}
	if w, err = Extract(ctx, folder, progress); err != nil {
		return nil, nil, err
	}
	if rows, err = FirstSubjects(w); err != nil {
		return nil, nil, err
	}
	Apply(scales, w.Inputs)
	return w, rows, nil
}

// Differences holds the distances between the features of windows and reference features.
type Differences struct {
	Values, Differing int
	// Largest absolute difference.
	Largest float64
	// Median and largest difference in units of the other value, of values that
	// differ and are not 0; 0 where there are none.
	MedianRelative, LargestRelative float64
	// Windows reports whether the windows are the same: their number, and the activity, subject and
	// place in the recordings of each.
	Windows bool
}

// Compare compares windows with others, one by one in their order. Where they are not
// the same windows their features are not compared.
func Compare(w, other *readers.Windows) Differences {
	d := Differences{Windows: slices.Equal(w.Activity, other.Activity) && slices.Equal(w.Subject, other.Subject) &&
		slices.Equal(w.Recording, other.Recording) && slices.Equal(w.Start, other.Start)}
	_, columns := w.Inputs.Dims()
	if _, c := other.Inputs.Dims(); c != columns {
		d.Windows = false
	}
	if !d.Windows {
		return d
	}
	var relative []float64
	for i := range w.Len() {
		a, b := w.Inputs.RawRowView(i), other.Inputs.RawRowView(i)
		for j := range a {
			d.Values++
			if a[j] == b[j] {
				continue
			}
			d.Differing++
			difference := math.Abs(a[j] - b[j])
			d.Largest = max(d.Largest, difference)
			if b[j] != 0 {
				relative = append(relative, difference/math.Abs(b[j]))
			}
		}
	}
	if len(relative) > 0 {
		slices.SortFunc(relative, cmp.Compare)
		d.MedianRelative, d.LargestRelative = quantile(relative, .5), relative[len(relative)-1]
	}
	return d
}

// String returns the end of a sentence: the differing features and the size of their differences.
func (d Differences) String() string {
	switch {
	case !d.Windows:
		return "the windows are others"
	case d.Differing == 0:
		return fmt.Sprintf("all %d values are equal", d.Values)
	}
	return fmt.Sprintf("%d of %d values differ, by %.3g at most; of these, relative to the value, the median is %.3g and "+
		"the largest %.3g", d.Differing, d.Values, d.Largest, d.MedianRelative, d.LargestRelative)
}
