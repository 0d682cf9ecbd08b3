package own

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

// CheckApart refuses a file of inducing inputs, which a release publishes as they are, that
// is the file of the private rows by another name, or a copy of it. Single rows of the data
// are not looked for: on a lattice they are there by chance.
func CheckApart(t *experiment.Trial, data, file string) error {
	written, _ := dataset.FilePath(file)
	same, err := sameContent(t.Dataset(data), t.Dataset(file))
	if err != nil {
		return fmt.Errorf("%s: %w", written, err)
	}
	if same {
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
