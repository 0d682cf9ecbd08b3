package tradeoff

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write writes a file and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ownFile is a file of 96 rows by a formula: inputs a to d that differ by three kinds and
// less by four persons, and columns that are no good.
func ownFile(t *testing.T) string {
	t.Helper()
	return scaledFile(t, 1)
}

// scaledFile has inputs that are so many times as large.
func scaledFile(t *testing.T, scale float64) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,b,c,d,kind,size,who,visit,one,same,rare,date,other\n")
	for i := range 96 {
		kind, who := i%3, i/3%4
		for j := range 4 {
			v := 1.5*math.Sin(float64(2*kind+j)) + .8*math.Cos(float64(3*who+2*j)) + .4*math.Sin(float64(97*i+31*j))
			fmt.Fprintf(&b, "%g,", scale*math.Round(1024*v)/1024)
		}
		rare, size := "s", "large"
		if i == 7 {
			rare = "r"
		}
		if kind == 1 {
			size = "small"
		}
		fmt.Fprintf(&b, "k%d,%s,w%d,%d,1,x,%s,2020-01-%02d,%d\n", kind, size, who, i/5, rare, 1+i%28, i%7%2)
	}
	return write(t, b.String())
}

// own are the settings of a trial on that file.
func own(file string) func(*Settings) {
	return func(s *Settings) {
		s.Dataset, s.Inputs, s.Utility, s.Privacy = "csv:"+file, "a+b+c+d", "kind", "who"
	}
}

// reversedInputs are the inputs of the rows of a file of [ownFile], from the last column to
// the first.
func reversedInputs(t *testing.T, file string) []string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n")[1:] {
		cells := strings.Split(line, ",")[:4]
		slices.Reverse(cells)
		rows = append(rows, strings.Join(cells, ","))
	}
	return rows
}
