package tests

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestSources looks at every file of the program. go test keeps the results of a
// package until a file changes that its tests looked at, and the program is built
// by another process: a change of a command would not run its tests again.
func TestSources(t *testing.T) {
	seen := map[string]bool{}
	for _, folder := range []string{".ci", "cmd", "configs", "docker", "experiments", "graphs", "runner", "tests/tally"} {
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(path)
			}
			seen[filepath.ToSlash(path)] = true
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	for _, file := range []string{"../.ci/lib.sh", "../cmd/run/main.go",
		"../runner/show/report/report.js", "tally/main.go"} {
		if !seen[file] && !seen["../tests/"+file] {
			t.Errorf("%s is not looked at", file)
		}
	}
}
