package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// linearTicks are about six multiples of 1, 2 or 5 times a power of ten.
type linearTicks struct{}

func (linearTicks) ticks(low, high float64) []tick {
	const about = 6
	rough := high/about - low/about
	exponent := int(math.Floor(math.Log10(rough)))
	factor := 10
	for _, f := range []int{1, 2, 5} {
		if rough <= power(f, exponent)*1.0001 {
			factor = f
			break
		}
	}
	step := power(factor, exponent)
	if factor == 10 {
		exponent++
	}
	first, last := math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9)
	if !(step > 0) || !(last-first < 3*about) {
		// A range this narrow around a number this large has no ticks inside.
		return []tick{{low, label(low, 0)}}
	}
	var out []tick
	for i := first; i <= last; i++ {
		v := i*step + 0 // + 0 turns −0 into 0
		out = append(out, tick{v, label(v, exponent)})
	}
	return out
}

// power returns factor·10^exponent, correctly rounded.
func power(factor, exponent int) float64 {
	v, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", factor, exponent), 64) // its error is a range error, with 0 or Inf
	return v
}

// label writes a multiple of 10^exponent.
func label(v float64, exponent int) string {
	switch {
	case v == 0 && exponent < -6:
		return "0"
	case v != 0 && (math.Abs(v) >= 1e5 || exponent < -6):
		digits := int(math.Floor(math.Log10(math.Abs(v))+1e-9)) - exponent
		return scientific(v, min(max(digits, 0), 16))
	}
	return minus(strconv.FormatFloat(v, 'f', max(-exponent, 0), 64))
}

// scientific formats a number like 1.5e−7 with a number of digits after the point; −1 selects
// the shortest exact form.
func scientific(v float64, digits int) string {
	mantissa, e, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits, 64), "e")
	n, _ := strconv.Atoi(e) // as FormatFloat wrote it
	return minus(fmt.Sprintf("%se%d", mantissa, n))
}

// minus replaces hyphens by minus signs.
func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// logTicks label decades; also 2 and 5 where there are few decades, and fall
// back to even steps inside one decade.
type logTicks struct{}

func (logTicks) ticks(low, high float64) []tick {
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	every := (last-first)/7 + 1
	labelled := map[int]bool{1: true}
	if last-first <= 3 {
		labelled = map[int]bool{1: true, 2: true, 5: true}
	}
	var out []tick
	count := 0
	for e := first; e <= last; e++ {
		for m := 1; m <= 9; m++ {
			v, err := strconv.ParseFloat(fmt.Sprintf("%de%d", m, e), 64)
			if err != nil || v < low || v > high {
				continue
			}
			t := tick{value: v}
			if labelled[m] && e%every == 0 {
				t.label = logLabel(v)
				count++
			}
			if every == 1 || m == 1 {
				out = append(out, t)
			}
		}
	}
	if count < 2 {
		return linearTicks{}.ticks(low, high)
	}
	return out
}

func logLabel(v float64) string {
	if v >= 1e-3 && v < 1e5 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return scientific(v, -1)
}
