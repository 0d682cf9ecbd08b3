package plot

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"privkern/runner/experiment"
)

// darkness returns the area that black has covered, in square points.
func darkness(r *raster) float64 {
	sum := 0.0
	for i := 0; i < len(r.image.Pix); i += 4 {
		sum += 1 - float64(r.image.Pix[i])/255
	}
	return sum / (pixels * pixels)
}

// Areas cover pixels in proportion, where they overlap or are turned too; those beyond the page are cut off.
func TestAreas(t *testing.T) {
	circle := func(x, y, radius vg.Length) (p vg.Path) {
		p.Move(vg.Point{X: x + radius, Y: y})
		p.Arc(vg.Point{X: x, Y: y}, radius, 0, 2*math.Pi)
		p.Close()
		return p
	}
	line := func(points ...vg.Point) (p vg.Path) {
		p.Move(points[0])
		for _, q := range points[1:] {
			p.Line(q)
		}
		return p
	}
	square := line(vg.Point{X: 10.3, Y: 10.2}, vg.Point{X: 20.3, Y: 10.2}, vg.Point{X: 20.3, Y: 20.2},
		vg.Point{X: 10.3, Y: 20.2})
	dashes := func(offset vg.Length) func(r *raster) {
		return func(r *raster) {
			r.SetLineWidth(2)
			r.SetLineDash([]vg.Length{6, 4}, offset)
			r.Stroke(line(vg.Point{X: 10, Y: 10}, vg.Point{X: 40, Y: 10}))
		}
	}
	bend := line(vg.Point{X: 10, Y: 10}, vg.Point{X: 40, Y: 10}, vg.Point{X: 40, Y: 40})
	for _, c := range []struct {
		name string
		draw func(r *raster)
		want float64
	}{
		{"square", func(r *raster) { r.Fill(square) }, 100},
		{"twice in one path", func(r *raster) { r.Fill(append(square, square...)) }, 100},
		{"disc", func(r *raster) { r.Fill(circle(25, 25, 10)) }, 100 * math.Pi},
		{"half beyond the page", func(r *raster) { r.Fill(circle(0, 25, 10)) }, 50 * math.Pi},
		{"all beyond the page", func(r *raster) { r.Fill(circle(-30, 25, 10)); r.Fill(circle(25, 90, 10)) }, 0},
		{"translucent", func(r *raster) { r.SetColor(color.NRGBA{A: 51}); r.Fill(square) }, 20},
		{"turned", func(r *raster) {
			r.Push()
			r.Translate(vg.Point{X: 25, Y: 10})
			r.Rotate(math.Pi / 5)
			r.Scale(2, 0.5)
			r.Fill(line(vg.Point{}, vg.Point{X: 8}, vg.Point{X: 8, Y: 10}, vg.Point{Y: 10}))
			r.Pop()
		}, 80},
		{"line", func(r *raster) { r.SetLineWidth(2); r.Stroke(bend[:2]) }, 60},
		{"bend with a round corner", func(r *raster) { r.SetLineWidth(2); r.Stroke(bend) }, 120 - 1 + math.Pi/4},
		{"dashes", dashes(0), 36},
		{"dashes from within", dashes(3), 36},
		{"no width", func(r *raster) { r.SetLineWidth(0); r.Stroke(bend) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRaster(50, 50)
			c.draw(r)
			if got := darkness(r); math.Abs(got-c.want) > 0.004*c.want {
				t.Errorf("%v square points are covered, want %v", got, c.want)
			}
		})
	}
}

// named is a panel with all elements that names go with.
func named() experiment.Panel {
	x := []float64{0.1, 1, 10}
	return experiment.Panel{XLabel: "epsilon", YLabel: "accuracy", LogX: true, YCovers: [2]float64{0, 1},
		Lines:    []experiment.Line{{Name: "a", X: x, Y: []float64{0.2, 0.5, 0.7}, Marked: true}},
		Bands:    []experiment.Band{{Name: "a", X: x, Low: []float64{0.1, 0.4, 0.6}, High: []float64{0.3, 0.6, 0.8}}},
		Points:   []experiment.Line{{Name: "a", X: []float64{40}, Y: []float64{0.75}}},
		Whiskers: []experiment.Band{{Name: "a", X: []float64{40}, Low: []float64{0.7}, High: []float64{0.8}}},
		XNames:   []experiment.Name{{At: 40, Text: "inf"}}, XNumbers: [2]float64{0.1, 10}}
}

// An image has 144 pixels an inch of the drawing, equal bytes each time, and pictures where the drawing has them.
func TestPNG(t *testing.T) {
	pictures := experiment.Panel{Pictures: &experiment.Pictures{Rows: 1, Columns: 2, Grid: [][][]float64{{{0, 1}}}}}
	panels := []experiment.Panel{named(), pictures}
	var first, second, drawing bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		if err := PNG(b, panels); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two images of the same panels differ")
	}
	img, err := png.Decode(&first)
	if err != nil {
		t.Fatal(err)
	}
	l := newLayout(panels)
	if size := img.Bounds().Size(); size.X != int(2*l.width) || size.Y != int(2*l.height) {
		t.Errorf("%v pixels for %v × %v points", size, l.width, l.height)
	}
	counts := map[color.Color]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			counts[color.NRGBAModel.Convert(img.At(x, y))]++
		}
	}
	black := counts[color.NRGBA{A: 0xff}] // of the picture, half of whose 64 × 32 points it is
	if blue := counts[palette[0]]; blue < 500 || math.Abs(float64(black)-32*32*4) > 100 {
		t.Errorf("%d pixels in the colour of the line, %d black ones", blue, black)
	}
	if err := PNG(&drawing, []experiment.Panel{{}}); err == nil {
		t.Error("an empty panel was drawn")
	}
}

// labels returns the labels of an axis with their places.
func labels(a *axis) string {
	var out []string
	for _, t := range a.all() {
		if t.label != "" {
			out = append(out, t.label)
		}
	}
	return strings.Join(out, " ")
}

// Names stand behind the numbers; those that do not fit read upwards, and where even so there are too many some are
// left out.
func TestNames(t *testing.T) {
	p := named()
	if got := labels(&newAxes(&p, 460, 250).x); got != "0.1 0.2 0.5 1 2 5 10 inf" {
		t.Errorf("labels %s", got)
	}
	for _, c := range []struct {
		n, length, labels int
		upwards           bool
	}{{3, 5, 3, false}, {12, 15, 12, true}, {120, 5, 30, true}, {2, 100, 2, false}} {
		p := experiment.Panel{XCovers: [2]float64{-0.5, float64(c.n) - 0.5}}
		points := experiment.Line{}
		for i := range c.n {
			points.X, points.Y = append(points.X, float64(i)), append(points.Y, 1)
			p.XNames = append(p.XNames, experiment.Name{At: float64(i), Text: strings.Repeat("n", c.length)})
		}
		p.Points = []experiment.Line{points}
		x := newAxes(&p, 460, 250).x
		all := strings.Fields(labels(&x))
		if len(all) != c.labels || (x.tickLabel.Rotation != 0) != c.upwards || len([]rune(all[0])) > longestName {
			t.Errorf("%+v: %d labels like %s, turned by %v", c, len(all), all[0], x.tickLabel.Rotation)
		}
	}
}

// The numbers of a heat map are written where all of them fit.
func TestWrittenHeatmap(t *testing.T) {
	for n, want := range map[int]bool{3: true, 40: false} {
		h := &experiment.Heatmap{Written: true, Covers: [2]float64{0, 2}}
		for range n {
			row := make([]float64, n)
			for i := range row {
				row[i] = 1.2345
			}
			h.Values = append(h.Values, row)
		}
		h.Values[0][0] = math.NaN()
		var b bytes.Buffer
		if err := SVG(&b, []experiment.Panel{{Heatmap: h}}, Options{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(b.String(), ">1.23<"); got != map[bool]int{true: n*n - 1}[want] {
			t.Errorf("%d × %d cells have %d numbers", n, n, got)
		} else if kept := strings.Count(b.String(), `<text class="tone"`); kept != got {
			t.Errorf("%d of %d numbers keep their colour on a dark page", kept, got)
		}
	}
}

// Names and ranges that an axis cannot show are refused.
func TestUndrawableNames(t *testing.T) {
	for name, spoil := range map[string]func(p *experiment.Panel){
		"NaN":              func(p *experiment.Panel) { p.XNames[0].At = math.NaN() },
		"not positive":     func(p *experiment.Panel) { p.XNames[0].At = 0 },
		"not ascending":    func(p *experiment.Panel) { p.XNames = append(p.XNames, p.XNames[0]) },
		"infinite range":   func(p *experiment.Panel) { p.YCovers[1] = math.Inf(1) },
		"descending range": func(p *experiment.Panel) { p.XCovers = [2]float64{3, 2} },
		"negative range":   func(p *experiment.Panel) { p.XNumbers = [2]float64{-1, 2} },
		"whisker":          func(p *experiment.Panel) { p.Whiskers[0].High[0] = math.Inf(1) },
	} {
		p := named()
		if err := check(&p); err != nil {
			t.Fatal(err)
		}
		if spoil(&p); check(&p) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
