package store

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/store/disk"
)

// DescriptionSuffix is added to the name of a release for that of the file that
// describes it.
const DescriptionSuffix = ".json"

// ExistsError is the error of a release whose name exists: a release is never overwritten,
// because a publication cannot be taken back.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s is there already; a release never replaces a file: give another name", e.Path)
}

// CheckReleasePath refuses a path at which [WriteRelease] would fail, before a budget is
// spent. forms are the possible forms of the release, nil if it has only one; size is zero
// while it is unknown.
func CheckReleasePath(d disk.Disk, path string, forms []experiment.Form, size experiment.Size) error {
	form := experiment.FormOf(path)
	if forms != nil && !slices.Contains(forms, form) {
		return &FormError{path, forms}
	}
	if forms != nil && strings.TrimRight(path, "/") == "" {
		return fmt.Errorf("%s: it names no folder of its own", path)
	}
	room := roomForRelease(form, forms != nil, size)
	for _, p := range releasePaths(path, forms != nil) {
		if _, err := d.Lstat(p); err == nil {
			return &ExistsError{p}
		}
	}
	if form == experiment.FormPictures && forms != nil {
		path = strings.TrimRight(path, "/")
	}
	if err := probeRoom(d, path, room); err != nil {
		return fmt.Errorf("the release cannot be written: %w", err)
	}
	return nil
}

// missingFolderError is a folder of a new file that does not exist.
type missingFolderError struct{ folder string }

func (e *missingFolderError) Error() string {
	return fmt.Sprintf("the folder %s is not there: make it first", e.folder)
}

func (e *missingFolderError) Unwrap() error { return fs.ErrNotExist }

// probeRoom writes room bytes to the folder of a path, and removes them. They are random, because
// compressing file systems take any number of zeros, and synced, because some file systems
// allocate only then.
func probeRoom(d disk.Disk, path string, room int64) error {
	probe, err := disk.CreateTemp(d, path)
	if errors.Is(err, fs.ErrNotExist) {
		return &missingFolderError{filepath.Dir(path)}
	}
	if err != nil {
		return err
	}
	var seed [32]byte
	random := rand.NewChaCha8(seed)
	block := make([]byte, min(room, 1<<20))
	for left := room; left > 0 && err == nil; left -= int64(len(block)) {
		block = block[:min(left, int64(len(block)))]
		_, _ = random.Read(block) // it never fails
		_, err = probe.Write(block)
	}
	if err == nil {
		err = probe.Sync()
	}
	if err != nil {
		err = fmt.Errorf("it may take %.1f MiB: %w", float64(room)/(1<<20), err)
	}
	return errors.Join(err, probe.Close(), d.Remove(probe.Name()))
}

// FormError is the error of a name that selects no form of the release.
type FormError struct {
	Path  string
	Forms []experiment.Form
}

func (e *FormError) Error() string {
	names := make([]string, len(e.Forms))
	for i, f := range e.Forms {
		names[i] = f.String()
	}
	return fmt.Sprintf("%s: the name says in which form it is written; use %s", e.Path, strings.Join(names, ", "))
}

// EndingError is the error of a name of a release or an export with the extension of another
// format.
type EndingError struct {
	Path string
	Form experiment.Form
}

func (e *EndingError) Error() string {
	what := "JSON"
	if e.Form == experiment.FormTable {
		what = "comma-separated values"
	}
	ending := filepath.Ext(e.Path)
	name := strings.TrimSuffix(strings.TrimSuffix(e.Path, ending), string(e.Form))
	return fmt.Sprintf("%s: what is written is %s, although the name ends in %s; name it %s", e.Path, what, ending,
		name+string(e.Form))
}

// CheckEnding returns an [EndingError] where the extension of a path is that of another format
// than form, the format of the file independently of its name; "" stands for any. Extensions
// of no format, such as .v2, are accepted. The error is no reason to refuse the path.
func CheckEnding(path string, form experiment.Form) error {
	ending := filepath.Ext(path)
	if form == "" || strings.EqualFold(ending, string(form)) || !slices.Contains(formats, strings.ToLower(ending)) {
		return nil
	}
	return &EndingError{path, form}
}

// formats are the extensions of file formats.
var formats = []string{
	".csv", ".gz", ".json", ".npy", ".npz", ".parquet", ".tsv", ".txt", ".xlsx", ".yaml", ".yml", ".zip",
}

// releasePaths returns the files and folders of a release.
func releasePaths(path string, formed bool) []string {
	if !formed {
		return []string{path, path + DescriptionSuffix}
	}
	clean := strings.TrimRight(path, "/")
	out := []string{clean, clean + DescriptionSuffix}
	if experiment.FormOf(path) == experiment.FormArrays {
		out = append(out, classesPath(path))
	}
	return out
}

// classesPath returns the file with the classes of the rows in the .npy file at path.
func classesPath(path string) string {
	return strings.TrimSuffix(path, string(experiment.FormArrays)) + ".labels" + string(experiment.FormArrays)
}

// WriteRelease writes the rows to path as comma-separated values with a header, or the
// model as JSON, and the record without them to path.json. The path selects one of several
// forms, see [experiment.Form]. All files appear whole or not at all, and replace nothing.
func WriteRelease(d disk.Disk, path string, r *record.Record, rel *experiment.Release) error {
	files, err := releaseFiles(path, rel)
	if err != nil {
		return err
	}
	description, err := encodeReleaseRecord(r)
	if err != nil {
		return err
	}
	clean, folder := path, rel.Picture != nil && experiment.FormOf(path) == experiment.FormPictures
	if folder {
		clean = strings.TrimRight(path, "/")
	}
	side := clean + DescriptionSuffix
	if err := createReleaseFile(d, side, description); err != nil {
		return fmt.Errorf("nothing is written: %w", err)
	}
	if folder {
		if err := createFolder(d, clean, files); err != nil {
			return errors.Join(fmt.Errorf("nothing is written: %w", err), d.Remove(side))
		}
		return nil
	}
	written := []string{side}
	for _, f := range files {
		if err := createReleaseFile(d, f.path, f.content); err != nil {
			err = fmt.Errorf("nothing is written: %w", err)
			for _, made := range slices.Backward(written) {
				err = errors.Join(err, d.Remove(made))
			}
			return err
		}
		written = append(written, f.path)
	}
	return nil
}

// createReleaseFile makes a file that is whole and durable, and replaces none. The description
// is durable before the release is made, so that a crash leaves no release without it.
func createReleaseFile(d disk.Disk, path string, content []byte) error {
	err := disk.CreateFile(d, path, content)
	if errors.Is(err, fs.ErrExist) {
		return &ExistsError{path}
	}
	if err != nil {
		return err
	}
	if err := d.SyncDir(filepath.Dir(path)); err != nil {
		return errors.Join(err, d.Remove(path))
	}
	return nil
}

// encodeReleaseTable returns CSV in which numbers have the shortest digits that read back as
// the same number.
func encodeReleaseTable(rel *experiment.Release) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	header := slices.Clone(rel.Columns)
	if rel.Classes != nil {
		header = append(header, rel.ClassColumn)
	}
	if err := w.Write(header); err != nil {
		return nil, err
	}
	row := make([]string, len(rel.Columns), len(rel.Columns)+1)
	for i, values := range rel.Rows {
		for j, v := range values {
			row[j] = strconv.FormatFloat(v, 'g', -1, 64)
		}
		if rel.Classes != nil {
			row = append(row[:len(rel.Columns)], rel.Classes[i])
		}
		if err := w.Write(row); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// encodeReleaseModel returns the model as indented JSON.
func encodeReleaseModel(rel *experiment.Release) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(rel.Model); err != nil {
		return nil, fmt.Errorf("nothing is written: the model cannot be written: %w", err)
	}
	return b.Bytes(), nil
}

// encodeReleaseRecord returns the record as indented JSON without the released numbers.
func encodeReleaseRecord(r *record.Record) ([]byte, error) {
	described := *r
	described.Series = map[string]map[string]record.SeriesColumn{}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(&described)
	return b.Bytes(), err
}
