package table

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments/dataset"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// census is the folder of a file of the form of the !Kung census, whose females come first: person i has an age of i
// years, 20 + i kg and 100 + i cm.
func census(t *testing.T) (folder string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("\"height\";\"weight\";\"age\";\"male\"\n")
	for i := range 544 {
		male := 0
		if i >= 287 {
			male = 1
		}
		fmt.Fprintf(&b, "%d;%d;%d;%d\n", 100+i, 20+i, i, male)
	}
	return filepath.Dir(fileOf(t, "Howell1.csv", []byte(b.String())))
}

// A registered set is read as a table of the user's own: columns by name, no setting of reading.
func TestSetAsTable(t *testing.T) {
	d, err := loadFrom(census(t), Spec{Dataset: "set:kung", Inputs: "weight+age", Others: []string{"height"}})
	if err != nil {
		t.Fatal(err)
	}
	if n, p := d.X.Dims(); n != 287 || p != 2 {
		t.Fatalf("%d × %d, want 287 × 2", n, p)
	}
	trialtest.Near(t, "weight", d.X.At(286, 0), 306, 0)
	trialtest.Near(t, "age", d.X.At(286, 1), 286, 0)
	trialtest.Near(t, "height", numbersOf(t, d, "height")[286], 386, 0)
	images := Spec{Dataset: "set:mnist/test@7x7", Inputs: "*", Others: []string{"label"}}
	if rows, inputs, err := images.Size(); err != nil || rows != 10000 || inputs != 49 {
		t.Errorf("%d rows, %d inputs, %v; they are known without the files", rows, inputs, err)
	}
}

// Names without a registered set in the form of a table are refused.
func TestSetRefused(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"set:mhealth", "no form as a table; those that have one are har, har-reconstructed, hmeq"},
		{"set:kung@7x7", "only pictures have a size"},
		{"set:mnist@0x7", "from 1 to 1024"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := loadFrom(t.TempDir(), Spec{Dataset: c.name, Inputs: "*"})
			trialtest.Refuses(t, err, c.want)
		})
	}
}

// The forms are those of the publishers' files.
func TestSetsOfPublishers(t *testing.T) {
	if os.Getenv(dataset.DataVariable) == "" {
		t.Skip("needs the data sets: set $" + dataset.DataVariable)
	}
	for _, c := range []struct {
		name, input, other string
		rows, distinct     int
		least, largest     float64 // of the input
	}{
		{"set:kung", "age", "height", 287, 0, 0, 85.6},
		{"set:hmeq", "NINQ", "BAD", 5450, 0, 0, 17}, // 510 lack it
		{"set:har-reconstructed", "subject", "activity", 6531, 6, 1, 20},
		{"set:mnist/test@7x7", "p25", "label", 10000, 10, 0, 1},
		{"set:stress", "subject", "label", 1806, 2, 2, 35},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder, _, err := dataset.NewLocator("").Find(c.name)
			if err != nil {
				t.Skip(err)
			}
			s := Spec{Dataset: c.name, Inputs: c.input, Others: []string{c.other}}
			d, err := s.Load(&experiment.Trial{Dataset: func(string) string { return folder }})
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := d.X.Dims(); n != c.rows {
				t.Errorf("%d rows, want %d", n, c.rows)
			}
			trialtest.Near(t, "least", d.Extremes.At(0, 0), c.least, 1e-9)
			trialtest.Near(t, "largest", d.Extremes.At(1, 0), c.largest, 1e-9)
			if c.distinct == 0 {
				return
			}
			if _, classes, err := d.Labels(c.other); err != nil || len(classes) != c.distinct {
				t.Errorf("classes %q, %v; want %d", classes, err, c.distinct)
			}
		})
	}
}
