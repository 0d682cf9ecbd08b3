package batch

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Problems are in groups of their size class, in their order, and as many together as are
// allowed.
func TestDivide(t *testing.T) {
	var problems []*mat.Dense
	for _, size := range [][2]int{{3, 9}, {20, 60}, {5, 12}, {8, 16}, {24, 64}, {1, 10}} {
		problems = append(problems, mat.NewDense(size[0], size[1], nil))
	}
	for most, want := range map[int]string{
		9: "[{8 16 [0 2 3 5]} {24 64 [1 4]}]",
		3: "[{8 16 [0 2 3]} {8 16 [5]} {24 64 [1 4]}]",
		0: "[{8 16 [0]} {8 16 [2]} {8 16 [3]} {8 16 [5]} {24 64 [1]} {24 64 [4]}]",
	} {
		if got := fmt.Sprint(Divide(problems, func(int, int) int { return most })); got != want {
			t.Errorf("%d together: %s, want %s", most, got, want)
		}
	}
	if got := Divide(nil, nil); got != nil {
		t.Errorf("no problems are %v", got)
	}
}
