package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// MissingError is a sweep file that does not exist.
type MissingError struct {
	Path    string
	Nearest string // a sweep file of almost that name; empty where there is none
}

func (e *MissingError) Error() string {
	s := fmt.Sprintf("there is no sweep file %q", e.Path)
	if e.Nearest != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return s
}

// missing returns the error of a path at which there is no file.
func missing(path string) *MissingError {
	return &MissingError{Path: path, Nearest: nearestFile(path)}
}

// extensions are those of sweep files.
var extensions = []string{".yaml", ".yml"}

// nearestFile returns the sweep file that a path misspells, or whose extension or
// folder (configs) it lacks.
func nearestFile(path string) string {
	dir, base := filepath.Split(path)
	dirs := []string{dir}
	if dir == "" {
		dirs = append(dirs, "configs")
	}
	for _, dir := range dirs {
		files := sweepFiles(dir)
		names := make([]string, len(files))
		for i, f := range files {
			names[i] = stem(f)
		}
		if slices.Contains(files, base) {
			return filepath.Join(dir, base)
		}
		// Extensions are all alike, and would make any two names so.
		if i := slices.Index(names, experiment.Nearest(stem(base), names)); i >= 0 {
			return filepath.Join(dir, files[i])
		}
	}
	return ""
}

// stem is a file's name without its extension.
func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

// sweepFiles returns the names of the sweep files in a folder, which may be "" for
// the current one.
func sweepFiles(dir string) []string {
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() && slices.Contains(extensions, filepath.Ext(e.Name())) {
			out = append(out, e.Name())
		}
	}
	return out
}
