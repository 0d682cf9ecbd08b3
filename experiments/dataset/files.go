package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Kinds of a user's own data: the part of the name before the colon.
const (
	OwnCSV     = "csv"     // a file of comma-separated values with a header
	OwnParquet = "parquet" // a file
	OwnNPY     = "npy"     // a NumPy array, with optional labels in a second file ([LabelsBeside])
	OwnImages  = "images"  // a folder of pictures, or of folders of them, one a class
	// OwnSet is a registered set in the form of a table ([SetName]), for methods on a user's own data.
	OwnSet = "set"
)

// ownKinds are all of them.
var ownKinds = []string{OwnCSV, OwnParquet, OwnNPY, OwnImages, OwnSet}

// FileName returns the name of the data set that is the file of comma-separated
// values at path.
func FileName(path string) string { return OwnName(OwnCSV, path) }

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

// IsOwn reports whether a name refers to a user's own data, such as csv:PATH.
func IsOwn(name string) bool { return OwnKind(name) != "" }

// OwnForms are the forms of names of a user's own data, for messages.
func OwnForms() string {
	return OwnName(OwnCSV, "PATH") + ", " + OwnName(OwnParquet, "PATH") + ", " + OwnName(OwnNPY, "PATH") + " or " +
		OwnName(OwnImages, "FOLDER")
}

// FilePath returns the path in the name of a user's own data, such as "csv:PATH",
// as the user wrote it.
func FilePath(name string) (path string, ok bool) {
	kind := OwnKind(name)
	if kind == "" {
		return "", false
	}
	path = name[len(kind)+1:]
	if kind == OwnImages {
		path, _, _, _ = cutSize(path)
	}
	return path, true
}

// SetName returns the registered set in the name of a table, set:NAME, set:NAME/PART or set:NAME@WxH, such as "mnist"
// in set:mnist/test@7x7; ok is false for other names.
func SetName(name string) (set string, ok bool) {
	if OwnKind(name) != OwnSet {
		return "", false
	}
	set = name[len(OwnSet)+1:]
	if i := strings.IndexAny(set, "/@"); i >= 0 {
		set = set[:i]
	}
	return set, true
}

// LabelsBeside is the path of the labels of the array at path.
func LabelsBeside(path string) string { return strings.TrimSuffix(path, ".npy") + ".labels.npy" }

// findOwn is [Locator.Find] for a user's own data: their absolute path, which holds in
// processes with another current folder, and the SHA-256 of all that is read. Messages
// have the path as the user wrote it.
func findOwn(name string) (absolute, sha string, err error) {
	path, _ := FilePath(name)
	kind := OwnKind(name)
	switch {
	case path == "":
		return "", notSupplied, fmt.Errorf("the data set %q names no file; write %s", name, OwnForms())
	case kind == OwnImages:
		return findPictures(path)
	case kind == OwnNPY:
		return findArrays(path)
	}
	return findFile(path)
}

// findArrays finds an array and its file of labels, if there is one.
func findArrays(path string) (absolute, sha string, err error) {
	if absolute, sha, err = findFile(path); err != nil {
		return "", notSupplied, err
	}
	_, labels, err := findFile(LabelsBeside(path))
	if _, ok := errors.AsType[*MissingFileError](err); ok {
		return absolute, sha, nil
	}
	if err != nil {
		return "", notSupplied, err
	}
	return absolute, together(sha+"  array", labels+"  labels"), nil
}

// together is the SHA-256 of lines.
func together(lines ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n") + "\n"))
	return hex.EncodeToString(sum[:])
}

// findFile finds a single file.
func findFile(path string) (absolute, sha string, err error) {
	fail := func(err error) (string, string, error) { return "", notSupplied, err }
	f, err := openOwn(path)
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

// openOwn refuses anything but a regular file, because a pipe could not be read twice.
func openOwn(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: it is not a regular file", path)
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(path)
	}
	if in, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("%s: %w", path, in.Err)
	}
	return f, err
}

// MissingFileError reports a file of the user's that does not exist.
type MissingFileError struct{ Path string }

func (e *MissingFileError) Error() string {
	return fmt.Sprintf("the file %s is not there; %s", e.Path, e.Advice())
}

// Advice returns the place where the file is looked for.
func (e *MissingFileError) Advice() string {
	if filepath.IsAbs(e.Path) {
		return "it is looked for on the machine that runs the trial"
	}
	return "its path starts at the current folder"
}
