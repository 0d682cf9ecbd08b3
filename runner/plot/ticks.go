package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// linearTicks are gonum's, with labels as print writes numbers.
type linearTicks struct{}

func (linearTicks) Ticks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i := range ticks {
		ticks[i].Label = strings.ReplaceAll(ticks[i].Label, "-", "−")
	}
	return ticks
}

// logTicks label decades; also 2 and 5 where there are few decades, and fall
// back to even steps inside one decade.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	every := (last-first)/7 + 1
	labelled := map[int]bool{1: true}
	if last-first <= 3 {
		labelled = map[int]bool{1: true, 2: true, 5: true}
	}
	var out []plot.Tick
	count := 0
	for e := first; e <= last; e++ {
		for m := 1; m <= 9; m++ {
			v, err := strconv.ParseFloat(fmt.Sprintf("%de%d", m, e), 64)
			if err != nil || v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			if labelled[m] && e%every == 0 {
				t.Label = logLabel(v)
				count++
			}
			if every == 1 || m == 1 {
				out = append(out, t)
			}
		}
	}
	if count < 2 {
		return linearTicks{}.Ticks(low, high)
	}
	return out
}

func logLabel(v float64) string {
	if v >= 1e-3 && v < 1e5 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	n, _ := strconv.Atoi(exponent)
	return strings.ReplaceAll(fmt.Sprintf("%se%d", mantissa, n), "-", "−")
}
