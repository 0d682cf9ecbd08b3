package trialtest

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Rewritten writes columns of the last rows of a CSV file of numbers anew, the last row first, with
// other separators and digits and a column more. It returns the path of the file.
func Rewritten(t testing.TB, path string, rows int, columns ...string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{strings.Join(columns, ";") + ";other"}
	for _, row := range slices.Backward(all[len(all)-rows:]) {
		line := ""
		for _, name := range columns {
			v, err := strconv.ParseFloat(row[slices.Index(all[0], name)], 64)
			if err != nil {
				t.Fatal(err)
			}
			line += strconv.FormatFloat(v, 'e', 9, 64) + ";"
		}
		lines = append(lines, line+"text")
	}
	out := filepath.Join(t.TempDir(), "rewritten.csv")
	if err := os.WriteFile(out, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}
