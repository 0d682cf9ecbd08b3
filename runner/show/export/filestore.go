package export

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// newFolder makes the folder, and reports whether it is new.
func newFolder(dir string) (made bool, err error) {
	if err := os.Mkdir(dir, 0o777); err == nil || errors.Is(err, os.ErrExist) {
		return err == nil, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return false, cannotWrite(dir, err)
	}
	return true, nil
}

// checkFileStore refuses a folder that is neither empty nor an MLflow file store.
func checkFileStore(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s cannot be used as a folder: %w", dir, err)
	}
	empty := true
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) || e.Name() == ".trash" {
			continue
		}
		empty = false
		if _, err := readExperiment(filepath.Join(dir, e.Name())); err == nil {
			return nil
		}
	}
	if empty {
		return nil
	}
	return fmt.Errorf("%s is neither empty nor an MLflow file store; name another folder", dir)
}

// mlflowExperiment is the part of an experiment's meta.yaml that is read.
type mlflowExperiment struct {
	ID   string `yaml:"experiment_id"`
	Name string `yaml:"name"`
}

// maxMeta bounds the size of a parsed meta.yaml, far above those of MLflow, because a YAML text
// of many nested lists takes minutes.
const maxMeta = 64 << 10

func readExperiment(dir string) (mlflowExperiment, error) {
	var e mlflowExperiment
	raw, err := os.ReadFile(filepath.Join(dir, "meta.yaml"))
	if err != nil {
		return e, err
	}
	if len(raw) > maxMeta {
		return e, fmt.Errorf("a meta.yaml of %d bytes is none of MLflow's", len(raw))
	}
	if err := yaml.Unmarshal(raw, &e); err != nil {
		return e, err
	}
	if e.ID != filepath.Base(dir) {
		return e, errors.New("no experiment of MLflow")
	}
	return e, nil
}

// fileStore is an MLflow file store that is being written.
type fileStore struct {
	dir         string
	temp        string // folder in dir for incomplete files
	opts        Options
	experiments map[string]string // name to MLflow's id
	parents     map[parentID]*parent
	runs        int // planned
}

// block is the size of a small file on most file systems, in bytes.
const block = 4096

// foresee estimates the size of the store from that of the first run, which has a file for each
// metric, parameter and tag.
func (m *fileStore) foresee(first files) {
	if m.opts.Foresee == nil {
		return
	}
	var bytes int64
	for _, content := range first {
		bytes += (int64(len(content)) + block - 1) / block * block
	}
	m.opts.Foresee(len(first)*m.runs, bytes*int64(m.runs))
	m.opts.Foresee = nil
}

// removeLeftovers removes the temporary folders of killed exports.
func (m *fileStore) removeLeftovers() error {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), tempPrefix) &&
			time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(m.dir, e.Name())) // another export may have done it
		}
	}
	return nil
}

// readExperiments finds the existing experiments, so that runs are added to one of the same
// name.
func (m *fileStore) readExperiments() error {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if x, err := readExperiment(filepath.Join(m.dir, e.Name())); err == nil {
			m.experiments[x.Name] = x.ID
		}
	}
	return nil
}

func fileURI(parts ...string) string {
	path := filepath.ToSlash(filepath.Join(parts...))
	if !strings.HasPrefix(path, "/") { // C:/...
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// write writes files to a folder of the store. It replaces the folder of a run, but keeps tags
// that others added; it keeps the folder of an existing experiment.
func (m *fileStore) write(f files, folder ...string) error {
	var folders []string
	if len(folder) == 2 { // of an experiment and a run
		folders = runFolders
	}
	target := filepath.Join(append([]string{m.dir}, folder...)...)
	next, err := os.MkdirTemp(m.temp, "new-")
	if err != nil {
		return cannotWrite(target, err)
	}
	if err := f.write(next, folders...); err != nil {
		return cannotWrite(target, err)
	}
	if err := os.Chmod(next, 0o755); err != nil {
		return cannotWrite(target, err)
	}
	if err := keepTags(target, next); err != nil {
		return fmt.Errorf("the tags of %s cannot be kept: %w", target, err)
	}
	if len(folders) == 0 { // an experiment, under which there may be runs
		if err := os.Rename(next, target); err != nil {
			if _, other := readExperiment(target); other != nil {
				return cannotWrite(target, err)
			}
			return os.RemoveAll(next) // another export has just made it
		}
		return nil
	}
	old := next + ".old"
	if err := os.Rename(target, old); err != nil && !errors.Is(err, os.ErrNotExist) {
		return cannotWrite(target, err)
	}
	if err := os.Rename(next, target); err != nil {
		_ = os.Rename(old, target)
		return cannotWrite(target, err)
	}
	return os.RemoveAll(old)
}

// keepTags copies the tags that the next export does not set.
func keepTags(from, to string) error {
	old, err := os.ReadDir(filepath.Join(from, "tags"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range old {
		path := filepath.Join(to, "tags", e.Name())
		if _, err := os.Stat(path); err == nil || !e.Type().IsRegular() || strings.HasPrefix(e.Name(), "privkern.") {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(from, "tags", e.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			return err
		}
	}
	return nil
}
