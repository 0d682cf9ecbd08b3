package sweep

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"privkern/runner/experiment"
)

// maxValues bounds the values of one linspace, logspace or range of seeds.
const maxValues = 1_000_000

var spaceCall = regexp.MustCompile(`^\s*([A-Za-z]+space)\s*\((.*)\)\s*$`)

// isSpace reports whether a text is a call such as linspace(a,b,n).
func isSpace(s string) bool { return spaceCall.MatchString(s) }

// cutCall is the beginning of a linspace or logspace whose end is missing.
var cutCall = regexp.MustCompile(`^\s*(linspace|logspace)\s*\([^)]*$`)

// checkCut refuses a call that YAML has split at its commas.
func checkCut(s string) error {
	m := cutCall.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	return fmt.Errorf("%q is cut off, since YAML splits at commas within braces and brackets; quote it: \"%s(a,b,n)\"",
		s, m[1])
}

// convert returns the values that a raw value stands for: several for
// linspace(a,b,n) and logspace(a,b,n), else one.
func convert(p *experiment.Param, raw any) ([]any, error) {
	raws := []any{raw}
	if s, ok := raw.(string); ok && isSpace(s) {
		var err error
		if raws, err = space(s); err != nil {
			return nil, err
		}
	}
	out := make([]any, len(raws))
	for i, raw := range raws {
		c, err := p.Convert(raw)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

// space evaluates linspace(a,b,n) and logspace(a,b,n): n values from a to b inclusive,
// equally spaced, or 10 to the power of these. They are (a(n-1-i) + b·i)/(n-1), as rounded:
// from b to a the same, reversed. Rounding may part the ends from a and b, by a last bit
// (linspace(0.1,1,4) begins with 0.10000000000000002). NumPy computes a + i·step, with the
// last value b, which may differ in the last bits. Keys are made of the values: the formula
// must not change.
func space(s string) (values []any, err error) {
	m := spaceCall.FindStringSubmatch(s)
	if m[1] != "linspace" && m[1] != "logspace" {
		return nil, fmt.Errorf("unknown function %q; linspace(a,b,n) and logspace(a,b,n) are known", m[1])
	}
	args := strings.Split(m[2], ",")
	if len(args) != 3 {
		return nil, fmt.Errorf("%s takes three arguments, first, last and count, not %d", m[1], len(args))
	}
	a, errA := strconv.ParseFloat(strings.TrimSpace(args[0]), 64)
	b, errB := strconv.ParseFloat(strings.TrimSpace(args[1]), 64)
	n, errN := strconv.Atoi(strings.TrimSpace(args[2]))
	if errA != nil || errB != nil || math.IsInf(a-b, 0) || math.IsNaN(a-b) {
		return nil, fmt.Errorf("%q: the first two arguments must be finite numbers", s)
	}
	if errN != nil || n < 1 || n > maxValues {
		return nil, fmt.Errorf("%q: the count must be a whole number from 1 to %d", s, maxValues)
	}
	for i := range n {
		v := a
		if n > 1 {
			// Products are rounded by themselves: some processors would fuse one with the sum.
			v = (float64(a*float64(n-1-i)) + float64(b*float64(i))) / float64(n-1)
		}
		if m[1] == "logspace" {
			v = math.Pow(10, v)
		}
		values = append(values, v)
	}
	return values, nil
}

// ParseSeeds reads one seed, a list of seeds, or a range "0..19" (inclusive).
// Seeds are whole numbers from 0 up. A text may list seeds and ranges with commas between.
func ParseSeeds(raw any) ([]int64, error) {
	form := "7, [0, 1, 2] or 0..19"
	if _, ok := raw.(string); ok {
		form = "7, 0,1,2 or 0..19"
	}
	var out []int64
	seen := map[int64]bool{}
	add := func(v int64) error {
		if v < 0 {
			return fmt.Errorf("seed %d is negative", v)
		}
		if seen[v] {
			return fmt.Errorf("seed %d is given twice", v)
		}
		if len(out) >= maxValues {
			return fmt.Errorf("more than %d seeds", maxValues)
		}
		seen[v] = true
		out = append(out, v)
		return nil
	}
	var one func(raw any) error
	one = func(raw any) error {
		switch v := raw.(type) {
		case int:
			return add(int64(v))
		case int64:
			return add(v)
		case uint64:
			if v > math.MaxInt64 {
				return fmt.Errorf("seed %d is too large", v)
			}
			return add(int64(v))
		case []any:
			for _, e := range v {
				if err := one(e); err != nil {
					return err
				}
			}
			return nil
		case string:
			for part := range strings.SplitSeq(v, ",") {
				low, high, isRange := strings.Cut(strings.TrimSpace(part), "..")
				a, err := strconv.ParseInt(strings.TrimSpace(low), 10, 64)
				b := a
				if err == nil && isRange {
					b, err = strconv.ParseInt(strings.TrimSpace(high), 10, 64)
				}
				if err != nil || b < a {
					return fmt.Errorf("%q are not seeds; write %s", v, form)
				}
				if b-a >= maxValues {
					return fmt.Errorf("%q are more than %d seeds", part, maxValues)
				}
				for s := a; s <= b; s++ {
					if err := add(s); err != nil {
						return err
					}
				}
			}
			return nil
		}
		return fmt.Errorf("%v are not seeds; write %s", raw, form)
	}
	if err := one(raw); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the list of seeds is empty")
	}
	return out, nil
}
