package table

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
	"privkern/tests/tier"
)

// Of data with more values than are read, as rows are shorter than they look at first, the persons of
// all rows count.
func TestPersonsOfAllRows(t *testing.T) {
	tier.Night(t, "forty million values are read")
	const columns, long, rows = 4000, 30, 10000
	var b bytes.Buffer
	b.WriteString("id" + strings.Repeat(",x", columns-1) + "\n")
	for i := range rows {
		value := ",1"
		if i < long {
			value = ",1.000000000000000000001"
		}
		fmt.Fprintf(&b, "P%d%s\n", i, strings.Repeat(value, columns-1))
	}
	path := filetest.WriteFile(t, b.Bytes(), t.TempDir(), "x.csv")
	persons := map[string]bool{}
	hash := func(string) uint64 { return 1 }
	w, err := ReadWhole("csv:"+path, path, Reading{}, "id", hash, func(name string) { persons[name] = true })
	if err != nil || w.Rows >= rows || len(persons) != rows {
		t.Fatalf("%d persons, %v", len(persons), err)
	}
}
