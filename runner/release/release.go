// Package release writes what is published: a table of released numbers, or a
// model, and, beside it, what they protect and how they were made.
package release

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/store"
)

// DescriptionSuffix is added to the name of a release for that of the file that
// describes it.
const DescriptionSuffix = ".json"

// ExistsError says that a file of the release's name is there: a release is
// never overwritten, since what has been published cannot be taken back.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s is there already; a release never replaces a file: give another name", e.Path)
}

// Check refuses a path at which [Write] would fail, before a budget is spent.
func Check(path string) error {
	for _, p := range []string{path, path + DescriptionSuffix} {
		if _, err := os.Lstat(p); err == nil {
			return &ExistsError{p}
		}
	}
	probe, err := os.CreateTemp(filepath.Dir(path), temporary(path))
	if err != nil {
		return fmt.Errorf("the release cannot be written: %w", err)
	}
	// Room for what is released, so that a full disk is found before a budget is
	// spent.
	_, err = probe.Write(make([]byte, roomFor))
	if err = errors.Join(err, probe.Close(), os.Remove(probe.Name())); err != nil {
		return fmt.Errorf("the release cannot be written: %w", err)
	}
	return nil
}

// roomFor is more than most releases take.
const roomFor = 1 << 20

func temporary(path string) string { return "." + filepath.Base(path) + ".*.tmp" }

// Write writes the rows to path as comma-separated values with a header, or the
// model as JSON, and the record without them to path.json. Both files appear whole or not at all,
// and replace nothing.
func Write(path string, r *record.Record, rel *experiment.Release) error {
	encode := encodeTable
	if rel.Model != nil {
		encode = encodeModel
	}
	content, err := encode(rel)
	if err != nil {
		return err
	}
	description, err := encodeDescription(r)
	if err != nil {
		return err
	}
	side := path + DescriptionSuffix
	if err := create(side, description); err != nil {
		return fmt.Errorf("nothing is released: %w", err)
	}
	if err := create(path, content); err != nil {
		return errors.Join(fmt.Errorf("nothing is released: %w", err), os.Remove(side))
	}
	if err := store.SyncDir(filepath.Dir(path)); err != nil {
		return errors.Join(fmt.Errorf("nothing is released: %w", err), os.Remove(path), os.Remove(side))
	}
	return nil
}

// encodeTable writes numbers with the digits that they need to be read back.
func encodeTable(rel *experiment.Release) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(rel.Columns); err != nil {
		return nil, err
	}
	row := make([]string, len(rel.Columns))
	for _, values := range rel.Rows {
		for j, v := range values {
			row[j] = strconv.FormatFloat(v, 'g', -1, 64)
		}
		if err := w.Write(row); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// encodeModel writes the model for people, too.
func encodeModel(rel *experiment.Release) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(rel.Model); err != nil {
		return nil, fmt.Errorf("nothing is released: the model cannot be written: %w", err)
	}
	return b.Bytes(), nil
}

// encodeDescription writes the record for people, without the released numbers.
func encodeDescription(r *record.Record) ([]byte, error) {
	described := *r
	described.Series = map[string]map[string]record.Column{}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(&described)
	return b.Bytes(), err
}

// create makes a file that is whole from the moment that it is there, and fails
// where one is there.
func create(path string, content []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), temporary(path))
	if err != nil {
		return err
	}
	defer func() {
		_ = os.Remove(f.Name()) // after a rename it is gone
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	err = os.Link(f.Name(), path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return &ExistsError{path}
	case err == nil:
		return nil
	}
	// A file system without links has no such test in one step.
	if _, err := os.Lstat(path); err == nil {
		return &ExistsError{path}
	}
	return os.Rename(f.Name(), path)
}
