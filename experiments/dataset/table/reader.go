package table

import (
	"os"
	"path/filepath"
	"strings"

	"privkern/experiments/dataset"
)

// reader reads a file row by row.
type reader interface {
	// header returns the names of all columns, and where each stands.
	header() ([]string, func(column int) place)
	// want chooses the columns that are read. Those of texts are taken as they stand.
	want(columns []int, texts []bool) error
	// next goes to the next row; io.EOF where there is none.
	next() error
	// cell is the value of the i-th wanted column in the current row.
	cell(i int) cell
	// place is where it stands.
	place(i int) place
	close()
}

// shown is the path in the name of data, as the user wrote it: a record does not disclose where on
// a machine the files lie.
func shown(name string) string {
	path, _ := dataset.FilePath(name)
	return path
}

// open opens the data of a name at a path. Errors have the path of the name.
func open(name, path string) (reader, error) {
	switch dataset.OwnKind(name) {
	case dataset.OwnCSV:
		return openCSV(path, shown(name))
	case dataset.OwnParquet:
		return openParquet(path, shown(name))
	case dataset.OwnNPY:
		return openNPY(path, shown(name))
	case dataset.OwnImages:
		return openImages(name, path, shown(name))
	}
	return nil, errorf(shown(name), "%q is no kind of data of one's own; write %s", name, dataset.OwnForms())
}

// Named returns the name of data that are named by a path alone, by its ending or as a
// folder, or as in a setting.
func Named(arg string) string {
	if Is(arg) {
		return arg
	}
	kind := dataset.OwnCSV
	switch strings.ToLower(filepath.Ext(arg)) {
	case ".parquet", ".pq":
		kind = dataset.OwnParquet
	case ".npy":
		kind = dataset.OwnNPY
	default:
		name := dataset.OwnName(dataset.OwnImages, arg)
		if info, err := os.Stat(shown(name)); err == nil && info.IsDir() {
			return name
		}
	}
	return dataset.OwnName(kind, arg)
}
