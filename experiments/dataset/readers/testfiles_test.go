package readers

import (
	"os"
	"path/filepath"
	"testing"
)

// realData returns the folder of a set, and skips the test where the folder or the file is not there.
func realData(t *testing.T, name, file string) string {
	t.Helper()
	folder := filepath.Join(os.Getenv("PRIVKERN_DATA"), name)
	if _, err := os.Stat(filepath.Join(folder, file)); err != nil || os.Getenv("PRIVKERN_DATA") == "" {
		t.Skipf("needs the data set %s: set $PRIVKERN_DATA", name)
	}
	return folder
}
