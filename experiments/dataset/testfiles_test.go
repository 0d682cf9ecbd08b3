package dataset

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeFile writes a file, with its folders, and returns its path.
func writeFile(t testing.TB, content []byte, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func gzipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// mustFail wants an error that contains the text, or none for "".
func mustFail(t testing.TB, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("error %v; want %q", err, want)
	}
}

// realData returns the folder of a registered set and skips the test where it
// is not there.
func realData(t *testing.T, name string) string {
	t.Helper()
	if os.Getenv(DataVariable) == "" {
		t.Skipf("needs the data set %s: set $%s", name, DataVariable)
	}
	folder, _, err := NewLocator("").Find(name)
	if err != nil {
		t.Skip(err)
	}
	return folder
}
