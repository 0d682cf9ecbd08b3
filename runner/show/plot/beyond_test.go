package plot_test

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/show/plot"
)

// Markers beyond the ends of the y axis are inside the drawing, with their values, and the others are where they are
// without them.
func TestBeyond(t *testing.T) {
	at := func(ys ...float64) experiment.Line { return experiment.Line{X: []float64{1, 2, 3}, Y: ys} }
	path, number := regexp.MustCompile(` d="[^"]*`), regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)
	for _, c := range []struct {
		name   string
		points []experiment.Line
		ends   [2]float64
		values []string // at the edge
	}{
		{"above", []experiment.Line{at(0, 5, 123.456), at(5, 1, 987)}, [2]float64{0, 5}, []string{"123", "987"}},
		{"below", []experiment.Line{at(-76.5, 1, 1)}, [2]float64{0, 1}, []string{"-76.5"}},
		{"none", []experiment.Line{at(0, 1, 4)}, [2]float64{0, 5}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := experiment.Panel{Lines: c.points, Points: c.points, YEnds: c.ends,
				Bands: []experiment.Band{{X: []float64{1, 3}, Low: []float64{0, 0}, High: []float64{1, 1e6}}}}
			out := svg(t, []experiment.Panel{p}, plot.Options{})
			for _, value := range c.values {
				if !bytes.Contains(out, []byte(">"+value+"<")) {
					t.Errorf("no %s:\n%s", value, out)
				}
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
