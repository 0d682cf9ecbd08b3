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

// Kinds of a user's own data: what stands before the colon in their name.
const (
	CSV = "csv"
)

// ownKinds are all of them.
var ownKinds = []string{CSV}

// FileName returns the name of the data set that is the file of comma-separated
// values at path.
func FileName(path string) string { return OwnName(CSV, path) }

// OwnName returns the name of the user's own data of a kind at path.
func OwnName(kind, path string) string { return kind + ":" + path }

// OwnKind returns the kind of a user's own data, and "" where the name is that of
// no such data.
func OwnKind(name string) string {
	if kind, _, ok := strings.Cut(name, ":"); ok && slices.Contains(ownKinds, kind) {
		return kind
	}
	return ""
}

// IsOwn says whether a name is that of a user's own data, such as csv:PATH.
func IsOwn(name string) bool { return OwnKind(name) != "" }

// OwnForms are the forms of names of a user's own data, for messages.
func OwnForms() string {
	forms := make([]string, len(ownKinds))
	for i, kind := range ownKinds {
		forms[i] = OwnName(kind, "PATH")
	}
	return strings.Join(forms, ", ")
}

// FilePath returns the path in the name of a user's own data, such as "csv:PATH",
// as the user wrote it.
func FilePath(name string) (path string, ok bool) {
	if !IsOwn(name) {
		return "", false
	}
	_, path, _ = strings.Cut(name, ":")
	return path, true
}

// findFile is [Locator.Find] for a file of the user's: its absolute path, which
// holds in processes with another current folder, and its SHA-256. Messages
// have the path as the user wrote it.
func findFile(path string) (absolute, sha string, err error) {
	fail := func(err error) (string, string, error) { return "", notSupplied, err }
	if path == "" {
		return fail(fmt.Errorf("the data set %q names no file; write %s", FileName(""), FileName("PATH")))
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
