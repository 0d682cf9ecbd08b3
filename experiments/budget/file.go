package budget

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"privkern/runner/store/disk"
)

// schema is raised when the file changes its meaning. Files of the one before are read, and
// written as this one.
const schema = 2

// Suffixes of the files next to the ledger.
const (
	previousSuffix = ".bak"
	lockSuffix     = ".lock"
)

// document is the file.
type document struct {
	Schema   int        `json:"schema"`
	SHA256   string     `json:"sha256"` // of the file with 64 zeros in its place
	Key      string     `json:"key"`    // of all HMACs, in hexadecimal digits
	Default  *Limit     `json:"default,omitempty"`
	Sources  []*Source  `json:"sources"`
	Accounts []*Account `json:"accounts"`
}

var zeros = strings.Repeat("0", 64)

// encode writes a state, one member a line, so that a person can read it. Numbers
// have the digits that they need to be read back exactly.
func encode(s *State) ([]byte, error) {
	doc := document{Schema: schema, SHA256: zeros, Key: hex.EncodeToString(s.Key[:]), Default: s.Default,
		Sources: s.Sources, Accounts: s.Accounts}
	if doc.Accounts == nil {
		doc.Sources, doc.Accounts = []*Source{}, []*Account{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	return seal(b.Bytes()), nil
}

// seal puts the digest of a file into its place, the first 64 zeros.
func seal(raw []byte) []byte {
	sum := sha256.Sum256(raw)
	return bytes.Replace(raw, []byte(zeros), []byte(hex.EncodeToString(sum[:])), 1)
}

// errNewer is the error of a file that a newer version of the program wrote.
var errNewer = errors.New("its schema is newer")

// parse reads the output of encode, and nothing else: every byte is covered by
// the digest, and the content is checked besides. The schema comes first, since a
// newer one may have another digest. A member that this version does not know is
// refused: writing the ledger would lose it.
func parse(raw []byte) (*State, error) {
	if len(raw) == 0 {
		return nil, errors.New("it is empty")
	}
	var head struct {
		Schema int
		SHA256 string
	}
	err := json.Unmarshal(raw, &head)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, errors.New("it is not whole JSON")
	case err != nil || head.Schema < 1:
		return nil, errors.New("it is JSON, but no budget ledger")
	case head.Schema > schema:
		return nil, fmt.Errorf("%w: %d, and this version of the program reads %d", errNewer, head.Schema, schema)
	case !isDigest(head.SHA256):
		return nil, errors.New("it has no SHA-256")
	}
	// The first match is the member itself: only the schema is before it.
	blank := bytes.Replace(raw, []byte(head.SHA256), []byte(zeros), 1)
	if sum := sha256.Sum256(blank); hex.EncodeToString(sum[:]) != head.SHA256 {
		return nil, errors.New("its SHA-256 is not that of its content")
	}
	read := parse2
	if head.Schema == 1 {
		read = parse1
	}
	s, err := read(raw)
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// parse2 reads a file of the present schema, whose digest is right.
func parse2(raw []byte) (*State, error) {
	var doc document
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	s := &State{Default: doc.Default, Sources: doc.Sources, Accounts: doc.Accounts}
	if n, err := hex.Decode(s.Key[:], []byte(doc.Key)); err != nil || n != len(s.Key) || len(doc.Key) != 2*n {
		return nil, errors.New("its key is not of 64 hexadecimal digits")
	}
	return s, nil
}

// read returns the content of the ledger, or [ErrNone], and its bytes. Where there
// is anything at the path that cannot be read, it is an error: a new ledger in its
// place would forget the releases.
func (l *Ledger) read() (s *State, raw []byte, err error) {
	info, err := l.disk.Stat(l.path) // before opening: a pipe would be waited for
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := l.disk.Lstat(l.path + previousSuffix); err == nil {
			return nil, nil, l.problem("is gone, but its previous version is there", nil,
				"put the ledger back; "+l.restore())
		}
		return nil, nil, ErrNone
	case err != nil:
		return nil, nil, l.problem("cannot be read", err, "check the path and its permissions")
	case info.IsDir():
		return nil, nil, l.problem("is a folder", nil, "give a file with --budget-file")
	case !info.Mode().IsRegular():
		return nil, nil, l.problem("is no regular file", nil, "give another with --budget-file")
	}
	if raw, err = l.disk.ReadFile(l.path); err != nil {
		return nil, nil, l.problem("cannot be read", err, "check its permissions")
	}
	s, err = parse(raw)
	switch {
	case errors.Is(err, errNewer):
		return nil, nil, l.problem("cannot be used", err,
			"use the version of the program that wrote it, or a newer one")
	case err != nil:
		return nil, nil, l.problem("is damaged or was edited", err, "nothing replaces it by itself; "+l.restore())
	}
	return s, raw, nil
}

// present returns the content of the ledger that is to be changed, empty for none yet, and its bytes. A file that its
// owner made read-only is refused, since the new one would take its place all the same.
func (l *Ledger) present() (*State, []byte, error) {
	s, raw, err := l.read()
	if errors.Is(err, ErrNone) {
		return &State{}, nil, nil
	}
	if info, err := l.disk.Stat(l.path); err == nil && info.Mode().Perm()&0o200 == 0 {
		return nil, nil, l.problem("is read-only", nil, "nothing was booked or changed; make it writable, or give another "+
			"file with --budget-file")
	}
	return s, raw, err
}

// restore advises a person who has lost the ledger: no program knows
// the bookings since.
func (l *Ledger) restore() string {
	const lower = "lower the limits by what was released since (run budget set)"
	if _, err := l.disk.Lstat(l.path + previousSuffix); err != nil {
		return "put a copy in its place and " + lower
	}
	return fmt.Sprintf(
		"%s is the version before the last change: putting it in place forgets that change, at most one "+
			"booking, so %s",
		l.path+previousSuffix,
		lower,
	)
}

func (l *Ledger) problem(what string, err error, advice string) error {
	return &FileError{Path: l.path, Problem: what, Advice: advice, Err: err}
}

// write replaces the ledger durably; old is its present content, or nil. The
// caller holds the lock.
//
// A crash at any moment leaves the old file or the new one, since a rename is
// atomic, and the sync before it keeps a name from getting ahead of its content.
// Between the two renames the previous version equals the ledger, which does no
// harm.
func (l *Ledger) write(s *State, old []byte) error {
	const advice = "nothing was booked or changed; check that its folder can be written and has space, " +
		"or give another file with --budget-file"
	raw, err := encode(s)
	if err == nil {
		// A file that cannot be read again would lock up the ledger.
		_, err = parse(raw)
	}
	if err != nil {
		return l.problem("would become unreadable", err, "nothing was booked or changed")
	}
	l.removeLeftovers()
	if old != nil {
		// Who wrote it may have been killed before its name was durable: a crash must
		// not leave the previous version alone.
		err := l.disk.SyncDir(filepath.Dir(l.path))
		if err == nil {
			err = l.replace(l.path+previousSuffix, old)
		}
		if err != nil {
			return l.problem("cannot be written", err, advice)
		}
	}
	if err := l.replace(l.path, raw); err != nil {
		return l.problem("cannot be written", err, advice)
	}
	// From here on the booking may be in the ledger even after an error: it has
	// been spent.
	if err := l.disk.SyncDir(filepath.Dir(l.path)); err != nil {
		return l.problem("was written, but may not survive a crash", err,
			"what was booked counts as spent; nothing is released")
	}
	return nil
}

// replace writes a file for its owner only. On an error the old file, if any, is as
// it was.
func (l *Ledger) replace(path string, raw []byte) error {
	return disk.Replace(l.disk, path, 0o600, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
}

// removeLeftovers removes temporary files of killed processes. Under the lock no
// other process has one. CreateTemp puts digits into a name, so files of
// a ledger with a longer name stay.
func (l *Ledger) removeLeftovers() {
	dir, base := filepath.Split(l.path)
	if dir == "" {
		dir = "."
	}
	files, err := l.disk.Names(dir)
	if err != nil {
		return // they do no harm
	}
	for _, file := range files {
		for _, name := range []string{base, base + previousSuffix} {
			middle, found := strings.CutPrefix(file, "."+name+".")
			middle, ends := strings.CutSuffix(middle, ".tmp")
			if found && ends && middle != "" && strings.Trim(middle, "0123456789") == "" {
				_ = l.disk.Remove(filepath.Join(dir, file))
			}
		}
	}
}
