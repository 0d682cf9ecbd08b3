package readers

import (
	"os"
	"path/filepath"
	"testing"
)

// realData returns the folder of a set, and skips the test where it is not there.
func realData(t *testing.T, name string) string {
	t.Helper()
	folder := filepath.Join(os.Getenv("PRIVKERN_DATA"), name)
	if _, err := os.Stat(folder); err != nil || os.Getenv("PRIVKERN_DATA") == "" {
		t.Skipf("needs the data set %s: set $PRIVKERN_DATA", name)
	}
	return folder
}
