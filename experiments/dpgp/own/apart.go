package own

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// CheckApart refuses inducing inputs z (M×D) of the file of a data set, which a release
// publishes as they are, where they are the private rows x (N×D): the same file by another
// name, a copy of it, or, of several inputs, rows of it. Of one input values are often the
// same by chance.
func CheckApart(t *experiment.Trial, data, file string, z, x *mat.Dense) error {
	written, _ := dataset.FilePath(file)
	same, err := sameContent(t.Dataset(data), t.Dataset(file))
	if err != nil {
		return fmt.Errorf("%s: %w", written, err)
	}
	if same || allAmong(z, x) {
		return fmt.Errorf("%s: the inducing inputs are rows of the private data, and are released as they are; give public "+
			"ones, such as a grid", written)
	}
	return nil
}

// sameContent says whether two paths are of one file, or of files with the same bytes.
func sameContent(a, b string) (bool, error) {
	first, err := os.Stat(a)
	if err != nil {
		return false, pathless(err)
	}
	second, err := os.Stat(b)
	if err != nil {
		return false, pathless(err)
	}
	if os.SameFile(first, second) {
		return true, nil
	}
	if first.Size() != second.Size() || first.IsDir() || second.IsDir() {
		return false, nil
	}
	x, err := os.ReadFile(a)
	if err != nil {
		return false, pathless(err)
	}
	y, err := os.ReadFile(b)
	if err != nil {
		return false, pathless(err)
	}
	return bytes.Equal(x, y), nil
}

// pathless leaves out the path of an error: the user's is written before it.
func pathless(err error) error {
	var in *fs.PathError
	if errors.As(err, &in) {
		return in.Err
	}
	return err
}

// allAmong says whether every row of z is one of x, where there are several of several
// columns.
func allAmong(z, x *mat.Dense) bool {
	m, d := z.Dims()
	if m < 2 || d < 2 {
		return false
	}
	rows := map[string]bool{}
	n, _ := x.Dims()
	for i := range n {
		rows[fmt.Sprint(x.RawRowView(i))] = true
	}
	for i := range m {
		if !rows[fmt.Sprint(z.RawRowView(i))] {
			return false
		}
	}
	return true
}

// CheckNamed refuses inputs=* in a release: which columns are numbers is inferred from the
// private rows.
func CheckNamed(inputs string) error {
	if inputs == table.Every {
		return fmt.Errorf("inputs = *: which columns are numbers would be read off the private rows; name them, joined by +")
	}
	return nil
}
