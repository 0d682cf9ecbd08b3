package plot_test

import (
	"bytes"
	"errors"
	"math"
	"regexp"
	"strconv"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/show/plot"
)

// Markers beyond the ends of the y axis are inside the axes, once, with their values in order, and the others are where
// they are without them. Lines, bands and whiskers end at the axes.
func TestBeyond(t *testing.T) {
	at := func(ys ...float64) experiment.Line { return experiment.Line{X: []float64{1, 2, 3}[:len(ys)], Y: ys} }
	path, number := regexp.MustCompile(` d="[^"]*`), regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)
	for _, c := range []struct {
		name   string
		points []experiment.Line
		ends   [2]float64
		values []string // from the top down
	}{
		{"above", []experiment.Line{at(0, 5, 123.456), at(5, 1, 987)}, [2]float64{0, 5}, []string{"↑ 987", "↑ 123"}},
		{"a line of one point", []experiment.Line{at(5.2), at(0, 1, 4)}, [2]float64{0, 5}, []string{"↑ 5.2"}},
		{"below", []experiment.Line{at(-76.5, 1, 1), at(-3, 1, 1)}, [2]float64{0, 1}, []string{"↓ -3", "↓ -76.5"}},
		{"none", []experiment.Line{at(0, 1, 4)}, [2]float64{0, 5}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			reach := []experiment.Band{{X: []float64{1, 3}, Low: []float64{0, -1e6}, High: []float64{1, 1e6}}}
			p := experiment.Panel{Lines: c.points, Points: c.points, YEnds: c.ends, Bands: reach, Whiskers: reach}
			out := svg(t, []experiment.Panel{p}, plot.Options{})
			last, markers := math.Inf(1), 0
			for _, value := range c.values {
				y := regexp.MustCompile(` y="-([0-9.]+)"[^>]*>` + value + "<").FindSubmatch(out)
				if y == nil {
					t.Fatalf("no %s:\n%s", value, out)
				}
				height, err := strconv.ParseFloat(string(y[1]), 64)
				if err != nil || height >= last {
					t.Errorf("%s at %g, and the one above at %g: %v", value, height, last, err)
				}
				last = height
			}
			for _, l := range c.points {
				markers += len(l.X)
			}
			if n := bytes.Count(out, []byte(`Z" style="fill:#0072B2" />`)); n != markers {
				t.Errorf("%d markers, want %d:\n%s", n, markers, out)
			}
			for _, text := range number.FindAll(bytes.Join(path.FindAll(out, -1), nil), -1) {
				if v, err := strconv.ParseFloat(string(text), 64); err != nil || v < 0 || v > 480 {
					t.Fatalf("drawn at %s:\n%s", text, out)
				}
			}
		})
	}
	for _, p := range []experiment.Panel{{YEnds: [2]float64{2, 1}}, {YEnds: [2]float64{1, 2}, LogY: true}} {
		p.Lines = []experiment.Line{at(1, 2, 3)}
		if err := plot.SVG(&bytes.Buffer{}, []experiment.Panel{p}, plot.Options{}); err == nil ||
			errors.Is(err, plot.ErrNoData) {
			t.Errorf("%v: %v", p.YEnds, err)
		}
	}
}
