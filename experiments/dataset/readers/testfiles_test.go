package readers

import (
	"os"
	"path/filepath"
	"testing"
)

// realData returns a folder of the data, and skips the test where it or the file is not there.
func realData(t *testing.T, folder, file string) string {
	t.Helper()
	path := filepath.Join(os.Getenv("PRIVKERN_DATA"), folder)
	if _, err := os.Stat(filepath.Join(path, file)); err != nil || os.Getenv("PRIVKERN_DATA") == "" {
		t.Skipf("needs the data set in %s: set $PRIVKERN_DATA", folder)
	}
	return path
}
