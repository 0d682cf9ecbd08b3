package golden

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// difference is a quantity that two runs of a setting have differently.
type difference struct {
	path string // metrics.NAME, series.NAME.COLUMN[ENTRY], or key
	text string // the new value and the old one
	// apart is |now − was| relative to the larger of both: 0 for the sign of zero,
	// infinite where one is not finite or not there, NaN where values are not kept.
	apart float64
}

// rounding is how far apart, relative to the larger of both, two numbers are at most that
// differ in their last bits only: the same formula in another order of its operations.
const rounding = 1e-12

// differences are those of the metrics and series of two runs of a setting, one for
// each metric and each column. With a tolerance numbers may differ, relative to the
// larger one and absolutely below 1, and digests are not compared.
func differences(was, now goldenTrial, tolerance float64) []difference {
	out := members("metrics.", was.Metrics, now.Metrics, func(path string, was, now float64) []difference {
		return number(path, was, now, tolerance)
	})
	type series = map[string]record.SeriesColumn
	out = append(out, members("series.", was.Series, now.Series, func(path string, was, now series) []difference {
		return members(path+".", was, now, func(path string, was, now record.SeriesColumn) []difference {
			return column(path, was, now, tolerance)
		})
	})...)
	if tolerance > 0 {
		return out
	}
	return append(out, members("series.", was.SeriesSHA256, now.SeriesSHA256, func(path, was, now string) []difference {
		if was == now {
			return nil
		}
		return []difference{{path, "has another digest", math.NaN()}}
	})...)
}

// members returns the differences of the members of both maps, and the names that only one has.
func members[V any](prefix string, was, now map[string]V, of func(path string, was, now V) []difference) []difference {
	all := maps.Clone(was)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, now)
	var out []difference
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, before := was[name]
		b, after := now[name]
		switch {
		case !before:
			out = append(out, difference{prefix + name, "is new", math.Inf(1)})
		case !after:
			out = append(out, difference{prefix + name, "is gone", math.Inf(1)})
		default:
			out = append(out, of(prefix+name, a, b)...)
		}
	}
	return out
}

// column is the largest of the differences of a column's entries.
func column(path string, was, now record.SeriesColumn, tolerance float64) []difference {
	if len(was) != len(now) {
		return []difference{{path, fmt.Sprintf("has %d values, had %d", len(now), len(was)), math.Inf(1)}}
	}
	var out []difference
	for i := range was {
		out = append(out, number(fmt.Sprintf("%s[%d]", path, i), was[i], now[i], tolerance)...)
	}
	if len(out) < 2 {
		return out
	}
	largest := slices.MaxFunc(out, func(a, b difference) int { return cmp.Compare(a.apart, b.apart) })
	largest.text += fmt.Sprintf(", the largest of %d of %d entries", len(out), len(was))
	return []difference{largest}
}

func number(path string, was, now, tolerance float64) []difference {
	if math.Float64bits(was) == math.Float64bits(now) || math.IsNaN(was) && math.IsNaN(now) {
		return nil
	}
	d := difference{path, fmt.Sprintf("is %v, was %v", now, was), math.Inf(1)}
	between, larger := math.Abs(was-now), max(math.Abs(was), math.Abs(now))
	switch {
	case tolerance > 0 && between <= tolerance*max(1, larger):
		return nil
	case was == now: // zeros
		d.apart = 0
	case !math.IsNaN(larger) && !math.IsInf(larger, 0):
		d.apart = between / larger
		d.text += fmt.Sprintf(" (relative difference %.2g)", d.apart)
	}
	return []difference{d}
}

const sameParameters = "differs, of the same parameters"

// keyDifference is that of the keys, and of the parameters that it comes from.
func keyDifference(was, now goldenTrial) (d difference, differ bool) {
	var changes []string
	for _, p := range members("", was.Params, now.Params, func(name string, was, now any) []difference {
		a, b := experiment.FormatValue(was), experiment.FormatValue(now)
		if a == b {
			return nil
		}
		return []difference{{path: name, text: fmt.Sprintf("is %s, was %s", b, a)}}
	}) {
		changes = append(changes, p.path+" "+p.text)
	}
	text := sameParameters
	if len(changes) > 0 {
		text = "differs, of other parameters: " + strings.Join(changes, ", ")
	}
	return difference{"key", text, math.Inf(1)}, was.Key != now.Key
}

// updates is the command that adds files, and writes those of raised versions anew.
const updates = "go generate ./experiments"

// changedError is a result that changed, or a version that was raised.
type changedError struct {
	experiment  string
	was, now    int // result versions
	differences []difference
}

// Error names all kinds of change before it asks for anything, numbers that changed
// most first; the command comes last.
func (e *changedError) Error() string {
	var bits, unknown, beyond []difference
	for _, d := range e.differences {
		switch {
		case math.IsNaN(d.apart):
			unknown = append(unknown, d)
		case d.apart <= rounding:
			bits = append(bits, d)
		default:
			beyond = append(beyond, d)
		}
	}
	var b strings.Builder
	if e.now == e.was {
		fmt.Fprintf(&b, "the result of %s changed without raising its version, %d:\n", e.experiment, e.was)
	} else {
		fmt.Fprintf(&b, "the file of %s is of result version %d, the code of version %d:\n", e.experiment, e.was, e.now)
	}
	if len(e.differences) == 0 {
		b.WriteString("  nothing but the version changed\n")
	}
	list(&b, beyond, 12, fmt.Sprintf("beyond rounding (%g), the largest first", rounding))
	list(&b, unknown, 4, "by an unknown amount, because of real data only digests are kept")
	list(&b, bits, 4, "in the last bits only, the largest first")
	if e.now == e.was {
		b.WriteString("If that is not meant, it is a mistake: stored results of the old code would pass for new ones. " +
			"If it is, raise Version, and give the reason in CHANGELOG.md.")
	} else {
		fmt.Fprintf(&b, "Give the reason in CHANGELOG.md, then write the file anew: `%s`.", updates)
	}
	return b.String()
}

// list writes the first of the differences, the largest before the others.
func list(b *strings.Builder, of []difference, shown int, title string) {
	if len(of) == 0 {
		return
	}
	slices.SortStableFunc(of, func(x, y difference) int { return cmp.Compare(y.apart, x.apart) })
	fmt.Fprintf(b, "%d of the quantities differ %s:\n", len(of), title)
	for _, d := range of[:min(shown, len(of))] {
		fmt.Fprintf(b, "  %s %s\n", d.path, d.text)
	}
	if len(of) > shown {
		fmt.Fprintf(b, "  ... and %d more\n", len(of)-shown)
	}
}
