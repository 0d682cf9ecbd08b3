package table

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
	"privkern/tests/tier"
)

// A person has the name that dates and decimal make of the cell, too: that of other files.
func TestPersonsAsTheyAreRead(t *testing.T) {
	names := func(text string, reading Reading) map[string]bool {
		path, persons := filetest.WriteFile(t, []byte(text), t.TempDir(), "x.csv"), map[string]bool{}
		_, err := ReadWhole("csv:"+path, path, reading, "id", func(string) uint64 { return 1 },
			func(name string) { persons[name] = true })
		if err != nil {
			t.Fatal(err)
		}
		return persons
	}
	for _, c := range []struct {
		cell, as string
		reading  Reading
	}{
		{"31/01/1960", "1960-01-31", Reading{Dates: "%d/%m/%Y"}},
		{"7,5", "7.5", Reading{Decimal: commaMark, Separator: "semicolon"}},
	} {
		written := names("id;v\n"+c.cell+";1\n", c.reading)
		for name := range names("id,v\n"+c.as+",1\n", Reading{}) {
			if !written[name] || len(written) != 2 {
				t.Errorf("%s is the person %v, and %s is %q", c.cell, written, c.as, name)
			}
		}
	}
}

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
