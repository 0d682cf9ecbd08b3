package pages

import "testing"

func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, largeBytes/8 - 1, largeBytes / 8, largeBytes} {
		s := Make[float64](n)
		if len(s) != n {
			t.Fatalf("%d elements, want %d", len(s), n)
		}
		for i, v := range s {
			if v != 0 {
				t.Fatalf("element %d of %d is %g", i, n, v)
			}
		}
	}
}
