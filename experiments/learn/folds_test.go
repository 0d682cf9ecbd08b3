package learn

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func ExampleContiguousFolds() {
	folds, _ := ContiguousFolds(7, 3)
	for _, f := range folds {
		fmt.Println(f.Test)
	}
	// Output:
	// [0 1 2]
	// [3 4]
	// [5 6]
}

func ExampleInterleavedFolds() {
	folds, _ := InterleavedFolds(7, 3)
	for _, f := range folds {
		fmt.Println(f.Test)
	}
	// Output:
	// [0 3 6]
	// [1 4]
	// [2 5]
}

var schemes = map[string]func(n, k int) ([]Fold, error){
	"contiguous":  ContiguousFolds,
	"interleaved": InterleavedFolds,
	"random":      func(n, k int) ([]Fold, error) { return RandomFolds(n, k, stream(5)) },
}

// Every row is tested once and trains all other folds; sizes differ by one at
// most.
func TestFoldsPartition(t *testing.T) {
	for name, scheme := range schemes {
		for _, c := range [][2]int{{2, 2}, {7, 3}, {287, 14}, {20, 20}} {
			t.Run(fmt.Sprint(c), func(t *testing.T) {
				n, k := c[0], c[1]
				folds, err := scheme(n, k)
				if err != nil || len(folds) != k {
					t.Fatalf("%s(%d, %d): %d folds, %v", name, n, k, len(folds), err)
				}
				tested := make([]int, n)
				for _, f := range folds {
					if s := len(f.Test); s < n/k || s > (n+k-1)/k || s+len(f.Train) != n {
						t.Errorf("%s(%d, %d): a fold of %d test and %d training rows", name, n, k, s, len(f.Train))
					}
					for _, row := range f.Test {
						tested[row]++
						if slices.Contains(f.Train, row) {
							t.Errorf("%s(%d, %d): row %d is in both parts", name, n, k, row)
						}
					}
				}
				if slices.ContainsFunc(tested, func(times int) bool { return times != 1 }) {
					t.Errorf("%s(%d, %d): rows are tested %v times", name, n, k, tested)
				}
			})
		}
	}
}

func TestFoldRefusals(t *testing.T) {
	for name, scheme := range schemes {
		if _, err := scheme(5, 6); err == nil || !strings.Contains(err.Error(), "more folds than rows") {
			t.Errorf("%s: 6 folds of 5 rows: %v", name, err)
		}
		if _, err := scheme(5, 1); err == nil {
			t.Errorf("%s: one fold is accepted", name)
		}
	}
}
