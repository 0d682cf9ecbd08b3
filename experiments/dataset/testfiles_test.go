package dataset

import (
	"os"
	"testing"
)

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
