package release

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// floatNoise lists the imports of a folder's files, tests left out, that draw
// noise in floating point or from another source than a release's.
func floatNoise(folder string) (found []string, files int, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, 0, err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return nil, 0, err
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, 0, err
			}
			if strings.HasPrefix(name, "math/rand") || name == "crypto/rand" || strings.HasSuffix(name, "/distuv") {
				found = append(found, filepath.Base(path)+" imports "+name)
			}
		}
	}
	return found, files, nil
}

// No file of the package draws from math/rand: its normal numbers have about 2^39
// values, and give a missing row away.
func TestNoFloatNoise(t *testing.T) {
	found, files, err := floatNoise(".")
	if err != nil || files < 10 || len(found) > 0 {
		t.Errorf("%d files, %v, %v", files, found, err)
	}
	for _, name := range []string{"math/rand", "math/rand/v2", "crypto/rand", "gonum.org/v1/gonum/stat/distuv"} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, alias := range map[string]string{"planted.go": "r ", "planted_test.go": ""} {
				text := fmt.Appendf(nil, "package release\n\nimport %s%q\n", alias, name)
				if err := os.WriteFile(filepath.Join(folder, file), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			found, files, err := floatNoise(folder)
			if err != nil || files != 1 || len(found) != 1 || found[0] != "planted.go imports "+name {
				t.Errorf("%d files, %v, %v", files, found, err)
			}
		})
	}
}
