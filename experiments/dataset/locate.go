package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DataVariable is the environment variable that names a root folder.
const DataVariable = "PRIVKERN_DATA"

// Locator finds data sets in root folders, in their order.
type Locator struct {
	Roots []string
}

// NewLocator returns a locator for the roots in use: the given folder (the
// --data flag; "" for none), $PRIVKERN_DATA, and privkern in the user's cache
// folder.
func NewLocator(folder string) Locator {
	var l Locator
	for _, root := range []string{folder, os.Getenv(DataVariable)} {
		if root != "" && !slices.Contains(l.Roots, root) {
			l.Roots = append(l.Roots, root)
		}
	}
	if cache, err := os.UserCacheDir(); err == nil {
		l.Roots = append(l.Roots, filepath.Join(cache, "privkern"))
	}
	return l
}

// FetchRoot is the root into which data sets are fetched: the first one.
// It returns an error where there is none.
func (l Locator) FetchRoot() (string, error) {
	if len(l.Roots) == 0 {
		return "", errors.New("no folder for data sets: give one with --data or $" + DataVariable + " (this user has no cache folder)")
	}
	return l.Roots[0], nil
}

// Find returns the folder of a data set after checking every file, and the
// set's digest, which is known even where the files are not there. It returns
// an *[UnknownError], a *[MissingError] where no root holds all files, and a
// *[WrongFileError] where a file differs from the registered one.
func (l Locator) Find(name string) (folder, digest string, err error) {
	set, err := Lookup(name)
	if err != nil {
		return "", "", err
	}
	folder, err = l.FindSet(context.Background(), set)
	return folder, set.Digest(), err
}

// FindSet returns the folder of a set, which need not be registered, after
// checking every file. The errors are those of [Locator.Find].
func (l Locator) FindSet(ctx context.Context, set Set) (folder string, err error) {
	missing := &MissingError{Set: set.Name, Roots: l.Roots}
	for _, root := range l.Roots {
		folder := filepath.Join(root, set.Name)
		err := Verify(ctx, set, folder)
		var absent *absentError
		switch {
		case err == nil:
			return folder, nil
		case errors.As(err, &absent):
			missing.Absent = append(missing.Absent, absent.path)
		default:
			return "", err
		}
	}
	return "", missing
}

// Digest identifies the content of a set. Of a set with a single file it is the
// file's SHA-256 in hexadecimal; of several files it is the SHA-256 of the lines
// "SHA256  PATH\n" that sha256sum prints for them in the order of their paths.
// It is a property of the registered set, not of the files on a disk.
func (s *Set) Digest() string {
	if len(s.Files) == 1 {
		return s.Files[0].SHA256
	}
	files := slices.Clone(s.Files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%s  %s\n", f.SHA256, f.Path)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Verify checks the files of a set in its folder.
func Verify(ctx context.Context, set Set, folder string) error {
	for _, f := range set.Files {
		if err := verifyFile(ctx, filepath.Join(folder, filepath.FromSlash(f.Path)), f.Size, f.SHA256); err != nil {
			return err
		}
	}
	return nil
}

// verifyFile returns an *absentError or a *WrongFileError where the file at
// path is not the expected one.
func verifyFile(ctx context.Context, path string, size int64, sha string) error {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &absentError{path}
	case err != nil:
		return fmt.Errorf("data file: %w", err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	sum := sha256.New()
	n, err := io.Copy(sum, contextReader{ctx, f})
	if err != nil {
		return fmt.Errorf("data file %s: %w", path, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != sha {
		return &WrongFileError{Path: path, Size: n, WantSize: size, SHA256: got, WantSHA256: sha}
	}
	return nil
}

// contextReader stops reading when the context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

type absentError struct{ path string }

func (e *absentError) Error() string {
	return fmt.Sprintf("the data file %s is not there", e.path)
}

// MissingError says that a data set is in none of the roots.
type MissingError struct {
	Set    string
	Roots  []string // where it was looked for
	Absent []string // the first missing file in each
}

func (e *MissingError) Error() string {
	s := fmt.Sprintf("the data set %q is not on this machine", e.Set)
	if len(e.Roots) > 0 {
		s += " (looked in " + strings.Join(e.Roots, ", ") + ")"
	}
	return s + "; fetch it with: " + e.Command()
}

// Command is the command that fetches the data set.
func (e *MissingError) Command() string { return "run data fetch " + e.Set }

// WrongFileError says that a file is not the registered one.
type WrongFileError struct {
	Path               string
	Size, WantSize     int64
	SHA256, WantSHA256 string
}

func (e *WrongFileError) Error() string {
	return fmt.Sprintf("the data file %s is not the expected one: SHA-256 %s (%d bytes), expected %s (%d bytes); remove or rename it and fetch the set again",
		e.Path, e.SHA256, e.Size, e.WantSHA256, e.WantSize)
}
