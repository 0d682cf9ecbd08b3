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
	"privkern/runner/show/plot"
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

// demos returns panels of every kind, whose drawings are the golden files.
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
	single := experiment.Panel{Title: "One point", XLabel: "x", YLabel: "y",
		Lines: []experiment.Line{{Name: "a", X: []float64{3}, Y: []float64{7}}}}
	many := experiment.Panel{Title: "More curves than colours", XLabel: "x", YLabel: "y"}
	for i := range 9 {
		many.Lines = append(many.Lines, sine(fmt.Sprintf("curve %d", i+1), 30, 5, float64(i)/3, i))
	}
	pictures := experiment.Pictures{Rows: 14, Columns: 14}
	for i := range 3 {
		var row [][]float64
		for j := range 4 {
			row = append(row, ring(14, 2.5+float64(i), 0.25*float64(j)))
		}
		pictures.Grid = append(pictures.Grid, append(row, nil))
		pictures.RowLabels = append(pictures.RowLabels, fmt.Sprintf("class %d", i))
	}
	pictures.Grid[1][3][0] = math.NaN()

	regions := experiment.Heatmap{XRange: [2]float64{-3, 3}, YRange: [2]float64{-2, 2},
		Categories: []string{"class 0", "class 1", "class 2"}}
	for i := range 60 {
		var row []float64
		for j := range 90 {
			x, y := -3+6*(float64(j)+0.5)/90, 2-4*(float64(i)+0.5)/60
			row = append(row, math.Floor(math.Mod(math.Atan2(y, x)+math.Pi+0.3*math.Hypot(x, y), 2*math.Pi)/(2*math.Pi/3)))
		}
		regions.Values = append(regions.Values, row)
	}
	classes := experiment.Panel{Title: "Decision regions", XLabel: "x", YLabel: "y", Heatmap: &regions}
	for class := range 3 {
		l := experiment.Line{Name: regions.Categories[class], Color: class}
		for i := range 25 {
			angle := float64(2*class+1)*math.Pi/3 - math.Pi - 0.3 + 0.4*math.Sin(float64(7*i))
			r := 1 + 0.6*math.Sin(float64(3*i+class))
			l.X, l.Y = append(l.X, r*math.Cos(angle)), append(l.Y, r*math.Sin(angle))
		}
		classes.Points = append(classes.Points, l)
	}
	field := experiment.Heatmap{XRange: [2]float64{0, 10}, YRange: [2]float64{0, 1}, Label: "distance"}
	for i := range 10 {
		var row []float64
		for j := range 20 {
			row = append(row, math.Abs(float64(j)-10)+float64(i))
		}
		field.Values = append(field.Values, row)
	}
	ranged := experiment.Panel{Title: "Distance, and a curve that leaves it", XLabel: "x", YLabel: "y", Heatmap: &field,
		Lines: []experiment.Line{{Name: "path", X: []float64{1, 5, 11}, Y: []float64{0.2, 0.9, 0.5}, Color: 1}}}

	bars := experiment.Panel{Title: "Distances", XLabel: "distance from the affine hull", YLabel: "density (1/distance)",
		Bars: []experiment.Bars{{Name: "training images", Color: 0}, {Name: "test images", Color: 1}}}
	for k := range bars.Bars {
		b := &bars.Bars[k]
		for i := range 31 {
			b.Edges = append(b.Edges, float64(i)/10)
			if i < 30 {
				z := float64(i)/10 + 0.05 - 1 - 0.6*float64(k)
				h := math.Exp(-8*z*z) * 1.6
				if h < 0.01 || i == 14 && k == 0 {
					h = 0
				}
				b.Heights = append(b.Heights, h)
			}
		}
	}
	counts := bars
	counts.LogY, counts.Title = true, "The same, logarithmic"
	return map[string][]experiment.Panel{
		"discs":    {hinton(), bubbles()},
		"violins":  {violins()},
		"pictures": {{Title: "Images of three classes", Pictures: &pictures}},
		"regions":  {classes, ranged},
		"bars":     {bars, counts},
		"beside": {curves, {Title: "Pictures beside curves", XLabel: "what was done",
			YLabel: "class", Pictures: &pictures}},
		"curves":      {curves},
		"shared":      {curves, second},
		"logarithmic": {logarithmic},
		"heatmap":     {{Title: "Accuracy by ε and lengthscale", XLabel: "lengthscale", YLabel: "privacy", Heatmap: &heat}},
		"mixed":       {curves, logarithmic, single, many, {Title: "Heat map", Heatmap: &heat}},
	}
}

// hinton is a grid of blocks of 25 discs each, white above and black below zero,
// over markers.
func hinton() experiment.Panel {
	white := experiment.Discs{Name: "above 0", Color: 6, Open: true}
	black := experiment.Discs{Name: "below 0", Color: 6}
	for k := range 7 * 5 * 25 {
		x, y, draw := float64(k/25%7), float64(k/175), k%25
		v := math.Sin(0.9*x+0.3*y) + 0.4*math.Sin(float64(5*draw))
		d := &white
		if v < 0 {
			d = &black
		}
		d.X, d.Y = append(d.X, x-0.36+0.18*float64(draw%5)), append(d.Y, y-0.36+0.18*float64(draw/5))
		d.Radius = append(d.Radius, 0.09*min(math.Abs(v), 1))
	}
	p := experiment.Panel{Title: "Grouped Hinton plot", XLabel: "x", YLabel: "y", EqualAspect: true,
		Spans: []experiment.Span{{Low: math.Inf(-1), High: math.Inf(1)}}, Discs: []experiment.Discs{white, black}}
	for class := range 2 {
		l := experiment.Line{Name: fmt.Sprintf("class %d", class), Color: class, Marker: experiment.Cross}
		for i := range 8 {
			l.X, l.Y = append(l.X, 3*float64(class)+1.5+math.Sin(float64(3*i))), append(l.Y, 2+1.5*math.Cos(float64(5*i)))
		}
		p.Points = append(p.Points, l)
	}
	return p
}

// bubbles are discs that fade, with gaps, under small markers.
func bubbles() experiment.Panel {
	d := experiment.Discs{Name: "height", Color: 2}
	dots := experiment.Line{Name: "data", Color: 6, Marker: experiment.Dot}
	for k := range 12 * 10 {
		x, y := 5+5*float64(k%12), 10*float64(k/12)
		if k%31 == 7 {
			y = math.NaN()
		}
		d.X, d.Y = append(d.X, x), append(d.Y, y)
		d.Radius = append(d.Radius, 2*x/60)
		d.Opacity = append(d.Opacity, max(0, 1-math.Abs(x-40)/30))
		dots.X, dots.Y = append(dots.X, 32+25*math.Sin(float64(k))),
			append(dots.Y, 45+30*math.Sin(float64(k)+0.4*math.Cos(float64(7*k))))
	}
	return experiment.Panel{Title: "Discs that fade", XLabel: "weight (kg)", YLabel: "age (years)",
		Discs: []experiment.Discs{d}, Points: []experiment.Line{dots}}
}

// violins are samples that drift to both ends of their range, two without
// spread, and one that has no range.
func violins() experiment.Panel {
	p := experiment.Panel{Title: "Probabilities", XLabel: "count", YLabel: "probability"}
	means := experiment.Line{Name: "mean", Color: 6, Marker: experiment.Cross}
	for at := range 8 {
		v := experiment.Violin{Name: "samples", At: float64(at), Range: [2]float64{0, 1}}
		sum := 0.0
		for i := range 60 {
			z := (float64(i) - 29.5) / 30 * float64(at)
			v.Values = append(v.Values, 1/(1+math.Exp(-z)))
			sum += v.Values[i] / 60
		}
		means.X, means.Y = append(means.X, v.At), append(means.Y, sum)
		p.Violins = append(p.Violins, v)
	}
	p.Violins = append(p.Violins, experiment.Violin{Name: "one", At: 8, Values: []float64{0.7}, Color: 1},
		experiment.Violin{Name: "no range", At: 9, Values: []float64{0.2, 0.3, 0.35, 0.5, 0.9}, Color: 2})
	p.Points = []experiment.Line{means}
	return p
}

// ring is a picture of a bright ring on dark ground, with a grain of the given
// strength.
func ring(side int, radius, grain float64) []float64 {
	out := make([]float64, side*side)
	for k := range out {
		x, y := float64(k%side)-float64(side-1)/2, float64(k/side)-float64(side-1)/2
		d := math.Hypot(x, y) - radius
		out[k] = math.Exp(-d*d) + grain*math.Sin(float64(k*k))
	}
	return out
}

func svg(t *testing.T, panels []experiment.Panel, o plot.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := plot.SVG(&b, panels, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Drawings equal the golden files. Pictures are compressed by Go's library, whose output may
// change between versions: then the golden files with pictures must be written anew.
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
		if again := svg(t, panels, plot.Options{Title: name, Description: "A demonstration", ID: name}); !bytes.Equal(got,
			again) {
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
		name        string
		y           []float64
		lines, dots int
	}{
		{"no gap", []float64{1, 2, 3, 4}, 1, 0},
		{"a gap", []float64{1, 2, nan, 3, 4}, 2, 0},
		{"a point between gaps", []float64{nan, 1, 2, nan, 3, nan}, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if lines, dots := count(c.y...); lines != c.lines || dots != c.dots {
				t.Errorf("%v: %d lines and %d dots, want %d and %d", c.y, lines, dots, c.lines, c.dots)
			}
		})
	}
}

// Data that cannot be drawn are refused with panel and curve, and nothing is written.
func TestUndrawableData(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	two, unit := []float64{1, 2}, [2]float64{0, 1}
	panel := func(p experiment.Panel) []experiment.Panel { return []experiment.Panel{p} }
	line := func(x, y []float64) []experiment.Panel {
		return panel(experiment.Panel{Title: "P", Lines: []experiment.Line{{Name: "L", X: x, Y: y}}})
	}
	heat := func(h experiment.Heatmap) []experiment.Panel { return panel(experiment.Panel{Heatmap: &h}) }
	bars := func(edges, heights []float64) []experiment.Panel {
		return panel(experiment.Panel{Bars: []experiment.Bars{{Name: "B", Edges: edges, Heights: heights}}})
	}
	discs := func(d experiment.Discs) []experiment.Panel {
		d.Name, d.X = "D", two
		return panel(experiment.Panel{Discs: []experiment.Discs{d}})
	}
	violin := func(values ...float64) []experiment.Panel {
		return panel(experiment.Panel{Violins: []experiment.Violin{{Name: "V", Values: values}}})
	}
	pictures := func(p experiment.Pictures) []experiment.Panel { return panel(experiment.Panel{Pictures: &p}) }
	one := [][][]float64{{{0.5}}}
	for _, c := range []struct {
		name   string
		panels []experiment.Panel
		want   string
		noData bool // the error is ErrNoData
	}{
		{"no panels", nil, "a figure without panels", true},
		{"an empty panel", panel(experiment.Panel{Title: "P"}), `panel 1 "P": no data to draw`, true},
		{"an empty curve", line(nil, nil), `panel 1 "P": curve 1 "L": no data to draw`, true},
		{"only NaN", line(two, []float64{nan, nan}), "all values of y are NaN", true},
		{"infinite y", line(two, []float64{1, inf}), "y[1] is +Inf", false},
		{"infinite x", line([]float64{1, inf}, two), "x[1] is +Inf", false},
		{"NaN in x", line([]float64{nan, 1}, two), "x[0] is NaN", false},
		{"unequal lengths", line(two, []float64{1}), "2 values of x, but 1 of y", false},
		{"zero on a logarithmic x axis",
			panel(experiment.Panel{LogX: true, Lines: []experiment.Line{{X: []float64{0}, Y: []float64{1}}}}),
			"x[0] is 0, on a logarithmic axis", false},
		{"negative on a logarithmic y axis",
			panel(experiment.Panel{LogY: true, Points: []experiment.Line{{X: two, Y: []float64{1, -1}}}}),
			"y[1] is -1, on a logarithmic axis", false},
		{"a band of unequal lengths",
			panel(experiment.Panel{Bands: []experiment.Band{{Name: "B", X: two, Low: two, High: []float64{1}}}}),
			`band 1 "B": 2 values of x, but 1 of y`, false},
		{"a reversed span", panel(experiment.Panel{
			Lines: []experiment.Line{{X: two, Y: two}}, Spans: []experiment.Span{{Low: 2, High: 1}}}), "is no interval", false},
		{"an empty heat map", heat(experiment.Heatmap{}), "an empty heat map", true},
		{"a ragged heat map", heat(experiment.Heatmap{Values: [][]float64{{1, 2}, {1}}}),
			"row 1 of the heat map has 1 values, row 0 has 2", false},
		{"a heat map of NaN", heat(experiment.Heatmap{Values: [][]float64{{nan}}}), "all values of cell are NaN", true},
		{"an infinite heat map", heat(experiment.Heatmap{Values: [][]float64{{1, inf}}}), "cell[1] is +Inf", false},
		{"a large heat map", heat(experiment.Heatmap{Values: [][]float64{make([]float64, 250_001)}}),
			"a heat map of 250001 cells", false},
		{"a reversed range", heat(experiment.Heatmap{Values: [][]float64{{1}}, XRange: [2]float64{1, 0}, YRange: unit}),
			"the heat map's XRange is [1 0]", false},
		{"one range of two", heat(experiment.Heatmap{Values: [][]float64{{1}}, XRange: unit}), "YRange is [0 0]", false},
		{"a curve over a heat map", panel(experiment.Panel{
			Heatmap: &experiment.Heatmap{Values: [][]float64{{1}}, XRange: unit, YRange: unit},
			Lines:   []experiment.Line{{X: two, Y: []float64{1, inf}}}}), "y[1] is +Inf", false},
		{"no bars", bars(nil, nil), `bars 1 "B": no data to draw`, true},
		{"too few edges", bars(two, two), "2 values of height, but 1 are required", false},
		{"edges that fall", bars([]float64{2, 1}, two[:1]), "do not rise", false},
		{"an infinite edge", bars([]float64{1, inf}, two[:1]), "edge[1] is +Inf", false},
		{"a negative bar", bars(two, []float64{-1}), "height[0] is -1", false},
		{"a bar of NaN", bars(two, []float64{nan}), "height[0] is NaN", false},
		{"bars of no height on a logarithmic axis",
			panel(experiment.Panel{LogY: true, Bars: []experiment.Bars{{Edges: two, Heights: []float64{0}}}}),
			"all heights are 0", true},
		{"no discs", panel(experiment.Panel{Discs: []experiment.Discs{{Name: "D"}}}), `discs 1 "D": no data to draw`, true},
		{"discs without radii", discs(experiment.Discs{Y: two}), "0 values of radius, but 2 are required", false},
		{"an infinite radius", discs(experiment.Discs{Y: two, Radius: []float64{inf, 1}}), "radius[0] is +Inf", false},
		{"too few opacities", discs(experiment.Discs{Y: two, Radius: two, Opacity: two[:1]}), "1 values of opacity", false},
		{"an empty sample", violin(), `violin 1 "V": no data to draw`, true},
		{"a sample with NaN", violin(1, nan), "value[1] is NaN", false},
		{"only gaps", pictures(experiment.Pictures{Rows: 1, Columns: 1, Grid: [][][]float64{{nil, nil}}}),
			"a grid without pictures", true},
		{"pictures without pixels", pictures(experiment.Pictures{Grid: [][][]float64{{{}}}}), "0 × 0 are required", false},
		{"pictures of another size", pictures(experiment.Pictures{Rows: 2, Columns: 1, Grid: one}),
			"the picture at row 0, column 0 has 1 pixels; 2 × 1 are required", false},
		{"a ragged grid", pictures(experiment.Pictures{Rows: 1, Columns: 1, Grid: append([][][]float64{{nil, nil}}, one...)}),
			"row 1 of the pictures has 1 of them, row 0 has 2", false},
		{"too many pixels", pictures(
			experiment.Pictures{Rows: 3000, Columns: 3000, Grid: [][][]float64{{make([]float64, 9_000_000)}}}),
			"at most 4000000 pixels", false},
	} {
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

// Ranges at the ends of float64 cause neither a panic nor NaN.
func TestExtremeRanges(t *testing.T) {
	for _, y := range [][]float64{
		{0, 0}, {5, 5}, {-5, -5}, {1e-300, 2e-300}, {1e300, -1e300}, {math.MaxFloat64 / 8, -math.MaxFloat64 / 8},
		{1, 1 + 1e-15}, {1e15, 1e15 + 1}, {5e-324, 5e-324},
	} {
		for _, logarithmic := range []bool{false, true} {
			if logarithmic && (y[0] <= 0 || y[1] <= 0) {
				continue
			}
			s := svg(t, []experiment.Panel{{LogY: logarithmic, Lines: []experiment.Line{{X: []float64{0, 1}, Y: y}}}},
				plot.Options{})
			if bytes.Contains(s, []byte("NaN")) || bytes.Contains(s, []byte("Inf")) {
				t.Errorf("%v (logarithmic %t) draws something that is not a number", y, logarithmic)
			}
		}
	}
}

// Thin lines are thinner, in the axes and in the legend.
func TestThinLines(t *testing.T) {
	line := experiment.Line{Name: "a draw", X: []float64{0, 1}, Y: []float64{0, 1}}
	for _, thin := range []bool{false, true} {
		line.Thin = thin
		got := svg(t, []experiment.Panel{{Lines: []experiment.Line{line}}}, plot.Options{})
		usual, thinner := bytes.Count(got, []byte(`stroke-width:1.6"`)), bytes.Count(got, []byte(`stroke-width:0.5"`))
		if want := map[bool][2]int{false: {2, 0}, true: {0, 2}}[thin]; usual != want[0] || thinner != want[1] {
			t.Errorf("thin %v: %d lines of the usual width and %d thinner, want %v", thin, usual, thinner, want)
		}
	}
}
