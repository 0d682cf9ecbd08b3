package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plot"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sine is a curve of n points on [0, high] with a gap in the middle.
func sine(name string, n int, high, phase float64, color int) experiment.Line {
	l := experiment.Line{Name: name, Color: color}
	for i := range n {
		x := high * float64(i) / float64(n-1)
		y := math.Sin(x+phase) + 1.5
		if i == n/2 {
			y = math.NaN()
		}
		l.X, l.Y = append(l.X, x), append(l.Y, y)
	}
	return l
}

// demos are drawings of every kind; their golden files show what they look
// like.
func demos() map[string][]experiment.Panel {
	mean := sine("posterior mean ± 2σ", 41, 6, 0, 0)
	band := experiment.Band{Name: mean.Name, X: mean.X, Color: 0}
	for _, y := range mean.Y {
		band.Low, band.High = append(band.Low, y-0.3), append(band.High, y+0.3)
	}
	dashed := sine("without privacy", 41, 6, 0.5, 1)
	dashed.Dashed = true
	data := sine("obfuscated data", 13, 6, 0.1, 2)
	curves := experiment.Panel{Title: "Radius of the orbit", XLabel: "time (orbits)", YLabel: "radius (Earth radii)",
		Lines: []experiment.Line{mean, dashed}, Bands: []experiment.Band{band}, Points: []experiment.Line{data},
		Spans: []experiment.Span{{Name: "private segment", Low: 1, High: 2}}}

	second := curves
	second.Title = "A panel with a much longer title, which therefore takes two lines of its own"
	second.Spans = []experiment.Span{{Name: "private segment", Low: math.Inf(-1), High: 1}}
	logarithmic := experiment.Panel{Title: "Gap by iteration", XLabel: "iteration", YLabel: "gap", LogX: true, LogY: true}
	for k, name := range []string{"interior point", "gradient descent"} {
		l := experiment.Line{Name: name, Color: 3 + k}
		for i := 1; i <= 300; i++ {
			l.X, l.Y = append(l.X, float64(i)), append(l.Y, math.Pow(float64(i), -2-float64(2-2*k)))
		}
		logarithmic.Lines = append(logarithmic.Lines, l)
	}

	heat := experiment.Heatmap{Label: "accuracy"}
	for i := range 6 {
		var row []float64
		for j := range 9 {
			row = append(row, math.Sin(float64(i)*0.5)*math.Cos(float64(j)*0.4))
		}
		heat.Values = append(heat.Values, row)
		heat.YTicks = append(heat.YTicks, fmt.Sprintf("ε = %d", 1<<i))
	}
	for j := range 9 {
		heat.XTicks = append(heat.XTicks, fmt.Sprintf("l = %d", j*5))
	}
	heat.Values[2][3] = math.NaN()
	single := experiment.Panel{Title: "One point", XLabel: "x", YLabel: "y", Lines: []experiment.Line{{Name: "a", X: []float64{3}, Y: []float64{7}}}}
	many := experiment.Panel{Title: "More curves than colours", XLabel: "x", YLabel: "y"}
	for i := range 9 {
		many.Lines = append(many.Lines, sine(fmt.Sprintf("curve %d", i+1), 30, 5, float64(i)/3, i))
	}
	return map[string][]experiment.Panel{
		"curves":      {curves},
		"shared":      {curves, second},
		"logarithmic": {logarithmic},
		"heatmap":     {{Title: "Accuracy by ε and lengthscale", XLabel: "lengthscale", YLabel: "privacy", Heatmap: &heat}},
		"mixed":       {curves, logarithmic, single, many, {Title: "Heat map", Heatmap: &heat}},
	}
}

func svg(t *testing.T, panels []experiment.Panel, o plot.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := plot.SVG(&b, panels, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for name, panels := range demos() {
		got := svg(t, panels, plot.Options{Title: name, Description: "A demonstration", ID: name})
		path := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v (run the tests with -update)", err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from the golden file", name)
		}
		if again := svg(t, panels, plot.Options{Title: name, Description: "A demonstration", ID: name}); !bytes.Equal(got, again) {
			t.Errorf("%s: two drawings of the same panels differ", name)
		}
	}
}

func TestDrawingIsWellFormed(t *testing.T) {
	hostile := `</svg><script>alert("x")</script>&` + "\x00\x1b\u0085\n'"
	panels := demos()["curves"]
	panels[0].Title, panels[0].XLabel = hostile, hostile
	panels[0].Lines[0].Name = hostile
	got := svg(t, panels, plot.Options{Title: hostile, Description: hostile, ID: hostile})
	d := xml.NewDecoder(bytes.NewReader(got))
	texts := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			switch e.Name.Local {
			case "script", "image", "use", "foreignObject":
				t.Errorf("an element %s", e.Name.Local)
			case "text":
				texts++
			}
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
	if texts < 10 {
		t.Errorf("only %d texts", texts)
	}
}

// A gap breaks a line in two, and a point alone between gaps still shows.
func TestGaps(t *testing.T) {
	nan := math.NaN()
	count := func(y ...float64) (lines, dots int) {
		x := make([]float64, len(y))
		for i := range x {
			x[i] = float64(i)
		}
		s := string(svg(t, []experiment.Panel{{Lines: []experiment.Line{{X: x, Y: y}}}}, plot.Options{}))
		return strings.Count(s, `stroke:#0072B2`), strings.Count(s, `style="fill:#0072B2"`)
	}
	for _, c := range []struct {
		y           []float64
		lines, dots int
	}{
		{[]float64{1, 2, 3, 4}, 1, 0},
		{[]float64{1, 2, nan, 3, 4}, 2, 0},
		{[]float64{nan, 1, 2, nan, 3, nan}, 1, 1},
	} {
		if lines, dots := count(c.y...); lines != c.lines || dots != c.dots {
			t.Errorf("%v: %d lines and %d dots, want %d and %d", c.y, lines, dots, c.lines, c.dots)
		}
	}
}

func TestWhatCannotBeDrawn(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	line := func(x, y []float64) []experiment.Panel {
		return []experiment.Panel{{Title: "P", Lines: []experiment.Line{{Name: "L", X: x, Y: y}}}}
	}
	two := []float64{1, 2}
	heat := func(h experiment.Heatmap) []experiment.Panel { return []experiment.Panel{{Heatmap: &h}} }
	cases := []struct {
		name   string
		panels []experiment.Panel
		want   string
		noData bool
	}{
		{"no panels", nil, "a figure without panels", true},
		{"an empty panel", []experiment.Panel{{Title: "P"}}, `panel 1 "P": no data to draw`, true},
		{"an empty curve", line(nil, nil), `panel 1 "P": curve 1 "L": no data to draw`, true},
		{"only NaN", line(two, []float64{nan, nan}), "all values of y are NaN", true},
		{"infinite y", line(two, []float64{1, inf}), "y[1] is +Inf", false},
		{"infinite x", line([]float64{1, inf}, two), "x[1] is +Inf", false},
		{"NaN in x", line([]float64{nan, 1}, two), "x[0] is NaN", false},
		{"unequal lengths", line(two, []float64{1}), "2 values of x, but 1 of y", false},
		{"zero on a logarithmic x axis", []experiment.Panel{{LogX: true, Lines: []experiment.Line{{X: []float64{0}, Y: []float64{1}}}}}, "x[0] is 0, on a logarithmic axis", false},
		{"negative on a logarithmic y axis", []experiment.Panel{{LogY: true, Points: []experiment.Line{{X: two, Y: []float64{1, -1}}}}}, "y[1] is -1, on a logarithmic axis", false},
		{"a band of unequal lengths", []experiment.Panel{{Bands: []experiment.Band{{Name: "B", X: two, Low: two, High: []float64{1}}}}}, `band 1 "B": 2 values of x, but 1 of y`, false},
		{"a reversed span", []experiment.Panel{{Lines: []experiment.Line{{X: two, Y: two}}, Spans: []experiment.Span{{Low: 2, High: 1}}}}, "is no interval", false},
		{"a negative colour", []experiment.Panel{{Lines: []experiment.Line{{X: two, Y: two, Color: -1}}}}, "color -1 is negative", false},
		{"an empty heat map", heat(experiment.Heatmap{}), "an empty heat map", true},
		{"a ragged heat map", heat(experiment.Heatmap{Values: [][]float64{{1, 2}, {1}}}), "row 1 of the heat map has 1 values, row 0 has 2", false},
		{"a heat map of NaN", heat(experiment.Heatmap{Values: [][]float64{{nan}}}), "all values of the heat map are NaN", true},
		{"an infinite heat map", heat(experiment.Heatmap{Values: [][]float64{{1, inf}}}), "the heat map is +Inf at row 0, column 1", false},
		{"wrong labels", heat(experiment.Heatmap{Values: [][]float64{{1, 2}}, XTicks: []string{"a"}}), "1 labels for 2 columns", false},
		{"a heat map with curves", []experiment.Panel{{Heatmap: &experiment.Heatmap{Values: [][]float64{{1}}}, Lines: []experiment.Line{{X: two, Y: two}}}}, "a heat map and curves", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			err := plot.SVG(&b, c.panels, plot.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, plot.ErrNoData) != c.noData {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if b.Len() > 0 {
				t.Error("something was written all the same")
			}
		})
	}
}

// Ranges at the ends of what a float64 holds make no panic and no NaN.
func TestExtremeRanges(t *testing.T) {
	for _, y := range [][]float64{
		{0, 0}, {5, 5}, {-5, -5}, {1e-300, 2e-300}, {1e300, -1e300}, {math.MaxFloat64 / 8, -math.MaxFloat64 / 8},
		{1, 1 + 1e-15}, {1e15, 1e15 + 1}, {5e-324, 5e-324},
	} {
		for _, logarithmic := range []bool{false, true} {
			if logarithmic && (y[0] <= 0 || y[1] <= 0) {
				continue
			}
			s := svg(t, []experiment.Panel{{LogY: logarithmic, Lines: []experiment.Line{{X: []float64{0, 1}, Y: y}}}}, plot.Options{})
			if bytes.Contains(s, []byte("NaN")) || bytes.Contains(s, []byte("Inf")) {
				t.Errorf("%v (logarithmic %t) draws something that is not a number", y, logarithmic)
			}
		}
	}
}
