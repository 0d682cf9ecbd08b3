package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// filePrefix starts the names of data sets that are one file of the user's.
const filePrefix = "csv:"

// FileName returns the name of the data set that is the file at path.
func FileName(path string) string { return filePrefix + path }

// FilePath returns the path in the name of a data set that is a file of the
// user's, "csv:PATH", as the user wrote it.
func FilePath(name string) (path string, ok bool) { return strings.CutPrefix(name, filePrefix) }

// findFile is [Locator.Find] for a file of the user's: its absolute path, which
// holds in processes with another current folder, and its SHA-256. Messages
// have the path as the user wrote it.
func findFile(path string) (absolute, sha string, err error) {
	fail := func(err error) (string, string, error) { return "", notSupplied, err }
	if path == "" {
		return fail(fmt.Errorf("the data set %q names no file; write %sPATH", filePrefix, filePrefix))
	}
	f, err := openTable(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fail(&MissingFileError{Path: path})
		}
		return fail(err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	info, err := f.Stat()
	if err != nil {
		return fail(err)
	}
	if absolute, err = filepath.Abs(path); err != nil {
		return fail(fmt.Errorf("%s: %w", path, err))
	}
	if sha, err = suppliedDigests.get(context.Background(), path, f, info); err != nil {
		return fail(err)
	}
	return absolute, sha, nil
}

// AsWritten puts the path in the name of a data set "csv:PATH" in the place of
// that of the file in a [TableError]: a record does not say where on a machine
// the user's files lie.
func AsWritten(err error, name string) error {
	path, ok := FilePath(name)
	var in *TableError
	if ok && errors.As(err, &in) {
		in.Path = path
	}
	return err
}

// TablesOf describes what a trial reads of the user's files among data sets: of
// each the columns, none where it is no such file.
func TablesOf(columns map[string][]string) []experiment.InputTable {
	var out []experiment.InputTable
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		if _, own := FilePath(name); !own {
			continue
		}
		out = append(out, experiment.InputTable{Dataset: name, Columns: columns[name], Check: func(path string) error {
			return AsWritten(CheckColumns(path, columns[name]), name)
		}})
	}
	return out
}

// MissingFileError says that a file of the user's is not there.
type MissingFileError struct{ Path string }

func (e *MissingFileError) Error() string {
	return fmt.Sprintf("the file %s is not there; %s", e.Path, e.Advice())
}

// Advice says where the file is looked for.
func (e *MissingFileError) Advice() string {
	if filepath.IsAbs(e.Path) {
		return "it is looked for on the machine that runs the trial"
	}
	return "its path starts at the current folder"
}
