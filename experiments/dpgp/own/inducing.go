package own

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Inducing describes the inducing inputs of a model: those of a file, a list for one input, or a
// grid over the public range of the inputs. All of them are public.
type Inducing struct {
	File   string    // a data set, such as csv:PATH; empty for none
	Values []float64 // a list; nil for none
	Count  int       // of a grid, in every input
	Range  method.InputRange
	// Reading is how the file is read.
	Reading table.Reading
}

// Grid reports whether the inducing inputs are a grid.
func (i Inducing) Grid() bool { return i.File == "" && i.Values == nil }

// Check refuses a grid in so many inputs that has too many points.
func (i Inducing) Check(inputs int) error {
	if all := math.Pow(float64(i.Count), float64(inputs)); i.Grid() && all > sparse.MaxInducing {
		noun := fmt.Sprintf("%d inputs", inputs)
		if inputs == 1 {
			noun = "one input"
		}
		return fmt.Errorf("inducing = %d: a grid in %s has %.4g points; at most %d are possible: use fewer, or give points "+
			"in a file", i.Count, noun, all, sparse.MaxInducing)
	}
	return nil
}

// Place returns the inducing inputs (M×d) for rows, and adds to [method.Rows.Suspect].
func (i Inducing) Place(t *experiment.Trial, rows *method.Rows) (z *mat.Dense, err error) {
	inputs := len(rows.Inputs)
	switch {
	case i.File != "":
		z, err = i.load(t, rows.Inputs)
	case i.Values != nil && inputs > 1:
		err = fmt.Errorf("inducing is a list, which is for one input, and there are %d", inputs)
	case i.Values != nil:
		z = sparse.Column(i.Values)
	default:
		z, err = i.overRange(inputs)
	}
	if err != nil {
		return nil, err
	}
	number, _ := z.Dims()
	if n := rows.Slots; number > sparse.MaxInducing {
		return nil, fmt.Errorf("%d inducing inputs; at most %d are possible", number, sparse.MaxInducing)
	} else if n*number > sparse.MaxKernel {
		return nil, fmt.Errorf("%d rows with %d inducing inputs: their kernel matrix has more than %.0e elements; use fewer "+
			"of either", n, number, sparse.MaxKernel)
	}
	if _, _, least := sparse.Nearest(z); number > 1 && least == 0 {
		return nil, errors.New("two inducing inputs are equal, which makes their covariance singular")
	}
	if i.Grid() {
		rows.Suspect = append(rows.Suspect, i.Range.Warnings(rows)...)
	} else if allAmong(z, rows.X) {
		rows.Suspect = append(rows.Suspect, amongWarning(number))
	}
	return z, nil
}

// overRange returns the grid.
func (i Inducing) overRange(inputs int) (*mat.Dense, error) {
	if err := i.Check(inputs); err != nil {
		return nil, err
	}
	low, high, err := i.Range.Of(inputs, simulatedEnd)
	if err != nil {
		return nil, err
	}
	return Regular(i.Count, low, high), nil
}

// simulatedEnd is the end of the grid for simulated data.
const simulatedEnd = 3.5

// load reads the file.
func (i Inducing) load(t *experiment.Trial, inputs []string) (*mat.Dense, error) {
	z, err := table.LoadPoints(t, i.File, i.Reading, inputs)
	if err != nil {
		return nil, err
	}
	n, _ := z.Dims()
	written, _ := dataset.FilePath(i.File)
	if n > sparse.MaxInducing {
		return nil, fmt.Errorf("%s: %d inducing inputs; at most %d are possible", written, n, sparse.MaxInducing)
	}
	if n > 1 {
		if i, j, distance := sparse.Nearest(z); distance == 0 {
			return nil, fmt.Errorf("%s: the inducing inputs %d and %d are equal, which makes their covariance singular",
				written, min(i, j)+1, max(i, j)+1)
		}
	}
	return z, nil
}
