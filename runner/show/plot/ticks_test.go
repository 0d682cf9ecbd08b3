package plot

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestTickLabels(t *testing.T) {
	cases := []struct {
		ticks     ticker
		low, high float64
		want      string
	}{
		{linearTicks{}, 0, 6, "0 1 2 3 4 5 6"},
		{linearTicks{}, -0.1, 2.9, "0.0 0.5 1.0 1.5 2.0 2.5"},
		{linearTicks{}, -1, 1, "−1.0 −0.5 0.0 0.5 1.0"},
		{linearTicks{}, 1.05255, 1.05259, "1.05255 1.05256 1.05257 1.05258 1.05259"},
		{linearTicks{}, 0, 3e-9, "0 5e−10 1.0e−9 1.5e−9 2.0e−9 2.5e−9 3.0e−9"},
		{linearTicks{}, 0, 400000, "0 1e5 2e5 3e5 4e5"},
		{logTicks{}, 1, 100, "1 2 5 10 20 50 100"},
		{logTicks{}, 0.9e-10, 1.1, "1e−10 1e−8 1e−6 1e−4 0.01 1"},
		{logTicks{}, 3.1, 4.2, "3.2 3.4 3.6 3.8 4.0 4.2"},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.low, " ", c.high), func(t *testing.T) {
			var labels []string
			for _, k := range c.ticks.ticks(c.low, c.high) {
				if k.label != "" {
					labels = append(labels, k.label)
				}
			}
			if got := strings.Join(labels, " "); got != c.want {
				t.Errorf("%T on [%v, %v]: got %s, want %s", c.ticks, c.low, c.high, got, c.want)
			}
		})
	}
}

// Any range gives a bounded number of ticks, in order and inside it.
func TestTicksOfAnyRange(t *testing.T) {
	for e := -300; e <= 300; e += 7 {
		for _, r := range [][2]float64{{1, 2}, {1, 1.0000001}, {-3, 5}, {1, 1 + 1e-14}} {
			low, high := r[0]*math.Pow(10, float64(e)), r[1]*math.Pow(10, float64(e))
			ticks := linearTicks{}.ticks(low, high)
			if len(ticks) == 0 || len(ticks) > 20 {
				t.Errorf("[%v, %v] has %d ticks", low, high, len(ticks))
			}
			for i, k := range ticks {
				slack := (high - low) * 1e-9
				if k.value < low-slack || k.value > high+slack || i > 0 && k.value <= ticks[i-1].value {
					t.Errorf("[%v, %v]: tick %v", low, high, k.value)
				}
			}
		}
	}
}
