package dataset

import (
	"compress/gzip"
	"context"
	"crypto/sha1"
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
		return "", errors.New("no folder for data sets: give one with --data or $" + DataVariable + " (this user " +
			"has no cache folder)")
	}
	return l.Roots[0], nil
}

// Find returns the folder of a data set after checking every file, and the
// set's digest, which is known even where the files are not there. It returns
// an *[UnknownError], a *[MissingError] where no root holds all files, and a
// *[WrongFileError] where a file differs from the registered one.
//
// Of names such as "csv:PATH" the data set is the file or folder at PATH: Find
// returns its absolute path, and a *[MissingFileError] where it is not there; its
// digest is then unknown. A name such as "set:NAME" has folder and digest of the set.
func (l Locator) Find(name string) (folder, digest string, err error) {
	if set, ok := SetName(name); ok && set != "" {
		name = set
	}
	if IsOwn(name) {
		return findOwn(name)
	}
	set, err := Lookup(name)
	if err != nil {
		return "", "", err
	}
	folder, set, err = l.Resolve(context.Background(), set)
	return folder, set.Digest(), err
}

// FindSet returns the folder of a set, which need not be registered, after
// checking every file. The errors are those of [Locator.Find].
func (l Locator) FindSet(ctx context.Context, set Set) (folder string, err error) {
	folder, _, err = l.Resolve(ctx, set)
	return folder, err
}

// Resolve is [Locator.FindSet] and returns the set with the sizes and SHA-256
// of the files that the user supplied. With an error it is the set as given.
func (l Locator) Resolve(ctx context.Context, set Set) (folder string, found Set, err error) {
	missing := &MissingError{Set: set.Name, Roots: l.Roots, Supplied: set.Supplied}
	for _, root := range l.Roots {
		folder, err := set.FolderIn(root)
		if err != nil {
			return "", set, err
		}
		found, err := identify(ctx, set, folder)
		var absent *absentError
		switch {
		case err == nil:
			return folder, found, nil
		case errors.As(err, &absent):
			missing.Absent = append(missing.Absent, absent.path)
		default:
			return "", set, err
		}
	}
	return "", set, missing
}

// notSupplied takes the place of a digest that only the user's files can give.
const notSupplied = "not supplied"

// Digest identifies the content of a set. Of a set with a single file it is the
// file's SHA-256 in hexadecimal; of several files it is the SHA-256 of the lines
// "SHA256  PATH\n" that sha256sum prints for them in the order of their paths,
// with "git-blob:ID" for the SHA-256 of a file that is known by that alone.
// It is a property of the registered set, not of the files on a disk, but for
// files of the user's own: there it is that of the files which
// [Locator.Resolve] found, and "not supplied" without them.
func (s *Set) Digest() string {
	if !s.Registered() {
		return notSupplied
	}
	if len(s.Files) == 1 {
		return s.Files[0].identity().sum()
	}
	files := slices.Clone(s.Files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%s  %s\n", f.identity().sum(), f.Path)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Verify checks the files of a set in its folder. Of those without a registered
// content it checks only that they are there.
func Verify(ctx context.Context, set Set, folder string) error {
	_, err := identify(ctx, set, folder)
	return err
}

// identify checks the files of a set in its folder and fills in the sizes and
// SHA-256 of those without a registered content, or with two.
func identify(ctx context.Context, set Set, folder string) (Set, error) {
	found := set
	found.Files = slices.Clone(set.Files)
	for i := range found.Files {
		f := &found.Files[i]
		var err error
		if f.identity().sum() != "" {
			err = f.verify(ctx, folder)
			var wrong *WrongFileError
			if f.Made != "" && errors.As(err, &wrong) && wrong.SHA256 == f.Made {
				f.Size, f.SHA256, err = wrong.Size, f.Made, nil
			}
		} else {
			err = f.describe(ctx, folder)
		}
		if err != nil {
			return set, err
		}
	}
	return found, nil
}

// identity identifies the content of a file.
type identity struct {
	size            int64  // 0 where it is not known
	sha256, gitBlob string // hexadecimal; the first that is not empty counts
}

func (f *File) identity() identity { return identity{f.Size, f.SHA256, f.GitBlob} }

// sum is empty where nothing is known of the content.
func (d identity) sum() string {
	if d.sha256 == "" && d.gitBlob != "" {
		return "git-blob:" + d.gitBlob
	}
	return d.sha256
}

// verify checks the file in the folder of its set.
func (f *File) verify(ctx context.Context, folder string) error {
	path, err := localPath(folder, f.Path)
	if err != nil {
		return err
	}
	err = verifyFile(ctx, path, f.identity())
	var absent *absentError
	if f.Compressed && errors.As(err, &absent) {
		if packed := verifyCompressed(ctx, path+".gz", f.identity()); !errors.As(packed, &absent) {
			return packed
		}
	}
	return err
}

// verifyFile returns an *absentError or a *WrongFileError where the file at
// path is not the expected one.
func verifyFile(ctx context.Context, path string, want identity) error {
	f, err := openData(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	return verifyContent(ctx, f, path, want)
}

// verifyCompressed is verifyFile for the content of a gzip-compressed file.
func verifyCompressed(ctx context.Context, path string, want identity) error {
	f, err := openData(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("data file %s: %w", path, err)
	}
	var content io.Reader = z
	if want.size > 0 {
		// One byte more than expected is enough to know that it is wrong.
		content = io.LimitReader(z, want.size+1)
	}
	return verifyContent(ctx, content, path, want)
}

func verifyContent(ctx context.Context, r io.Reader, path string, want identity) error {
	blob := sha1.New()
	if want.sha256 == "" {
		fmt.Fprintf(blob, "blob %d\x00", want.size)
		r = io.TeeReader(r, blob)
	}
	got, n, err := digest(ctx, r)
	if err != nil {
		return fmt.Errorf("data file %s: %w", path, err)
	}
	found := identity{n, got, ""}
	if want.sha256 == "" {
		found = identity{n, "", hex.EncodeToString(blob.Sum(nil))}
	}
	if found.sum() != want.sum() {
		return &WrongFileError{Path: path, Size: n, WantSize: want.size, SHA256: found.sum(), WantSHA256: want.sum()}
	}
	return nil
}

// openData returns an *absentError where there is no file at path.
func openData(path string) (*os.File, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &absentError{path}
	case err != nil:
		return nil, fmt.Errorf("data file: %w", err)
	}
	return f, nil
}

// digest returns the SHA-256 in hexadecimal and the number of bytes of r.
func digest(ctx context.Context, r io.Reader) (sha string, size int64, err error) {
	sum := sha256.New()
	size, err = io.Copy(sum, contextReader{ctx, r})
	return hex.EncodeToString(sum.Sum(nil)), size, err
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

// MissingError reports a data set that is in none of the roots.
type MissingError struct {
	Set      string
	Roots    []string // where it was looked for
	Absent   []string // the first missing file in each
	Supplied string   // how to make it, where it cannot be fetched
}

func (e *MissingError) Error() string {
	s := fmt.Sprintf("the data set %q is not on this machine", e.Set)
	if len(e.Roots) > 0 {
		s += " (looked in " + strings.Join(e.Roots, ", ") + ")"
	}
	return s + "; " + e.Advice()
}

// Advice returns the way to get the data set.
func (e *MissingError) Advice() string {
	if e.Supplied != "" {
		return "it has no public address: " + e.Supplied
	}
	return "fetch it with: run data fetch " + e.Set
}

// WrongFileError reports a file that differs from the registered one.
type WrongFileError struct {
	Path           string
	Size, WantSize int64 // WantSize is 0 where it is not known
	// Hexadecimal, or "git-blob:ID" for a file that is known by that.
	SHA256, WantSHA256 string
}

func (e *WrongFileError) Error() string {
	kind := "SHA-256 "
	if strings.HasPrefix(e.WantSHA256, "git-blob:") {
		kind = ""
	}
	want := e.WantSHA256
	if e.WantSize > 0 {
		want += fmt.Sprintf(" (%d bytes)", e.WantSize)
	}
	return fmt.Sprintf("the data file %s is not the expected one: %s%s (%d bytes), expected %s; remove or rename it and "+
		"fetch the set again",
		e.Path, kind, e.SHA256, e.Size, want)
}
