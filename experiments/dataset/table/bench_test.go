package table

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// Loading of large files, with the bytes that are allocated.
func BenchmarkLoad(b *testing.B) {
	for _, size := range [][2]int{{5000, 200}, {1_000_000, 10}} {
		path := filepath.Join(b.TempDir(), "t.csv")
		if err := writeRandom(path, size[0], size[1]); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d, err := loadFrom(path, Spec{Dataset: "csv:t.csv", Inputs: Every, Others: []string{"x1"}})
				if err != nil || len(d.Names) != size[1]-1 {
					b.Fatal(err)
				}
			}
		})
	}
}

func writeRandom(path string, rows, columns int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	r := rand.New(rand.NewPCG(1, 2))
	for j := range columns {
		if j > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, "x%d", j+1)
	}
	for range rows {
		for j := range columns {
			fmt.Fprintf(w, "%c%v", "\n,"[min(j, 1)], r.NormFloat64())
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
