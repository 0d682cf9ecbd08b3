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
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// CheckApart refuses a release of inducing inputs z (M×d), a file or a list, that are the private
// rows of data, or centres of them: the file of these by another name, or a copy of it in any order, layout
// and writing of the numbers, of all rows or of half of them and more, with fewer others beside them. How
// many rows there are is public, and with fewer inducing inputs than half of it the rows are not looked at:
// on a lattice some are there by chance, and of a large public file many are.
//
// The refusal depends on the rows, and is no part of a release: whoever runs it has the rows. It
// is there because a release of rows by mistake cannot be taken back.
func (i Inducing) CheckApart(t *experiment.Trial, data string, z *mat.Dense, rows *method.Rows) error {
	if i.Computed() {
		return nil
	}
	written, same := "inducing", false
	if i.File != "" {
		written, _ = dataset.FilePath(i.File)
		var err error
		if same, err = sameContent(t.Dataset(data), t.Dataset(i.File)); err != nil {
			return fmt.Errorf("%s: %w", written, err)
		}
		if i.Centres > 0 {
			if z, err = table.LoadPoints(t, i.File, i.Reading, rows.Inputs); err != nil {
				return err
			}
		}
	}
	if all, among := dataset.CountAmong(z, rows.X); same || 2*among >= rows.Len() && 2*among > all &&
		among >= fewestAmong {
		of := "the inducing inputs"
		if i.Centres > 0 {
			of = "the points whose centres are the inducing inputs"
		}
		return fmt.Errorf("%s: %s are rows of the private data, and are released as they are; give public ones, such as a "+
			"grid", written, of)
	}
	return nil
}

// fewestAmong is the least number of inducing inputs that are looked for among the rows: fewer
// are often there by chance.
const fewestAmong = 3

// amongWarning is for judging, and no part of a release: that the points, inducing inputs or those whose
// centres they are, are rows of x depends on the data. It is empty for none.
func (i Inducing) amongWarning(points, x *mat.Dense) string {
	all, same := dataset.CountAmong(points, x)
	if same < fewestAmong || 2*same <= all || i.Centres == 0 && same < all {
		return ""
	}
	of, handed, number := "inducing inputs", "them", fmt.Sprintf("all %d", all)
	if same < all {
		number = fmt.Sprintf("%d of the %d", same, all)
	}
	if i.Centres > 0 {
		of, handed = "points of the inducing inputs' file", "their centres"
	}
	return fmt.Sprintf("%s %s are rows of the data, and a release hands %s over as they are: where they were taken from "+
		"the rows, and are not there by chance, give public ones, such as a grid", number, of, handed)
}

// sameContent reports whether two paths are of one file, or of files with the same bytes.
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

// pathless removes the path from an error: the user's is written before it.
func pathless(err error) error {
	if in, ok := errors.AsType[*fs.PathError](err); ok {
		return in.Err
	}
	return err
}
