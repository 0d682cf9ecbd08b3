package regress

import (
	"fmt"
	"math"

	"privkern/experiments/cloaking/cloak"
	"privkern/runner/experiment"
)

// Figure2 follows the paper's Fig. 2: predictions over weight and age that fade
// with their noise.
func Figure2() experiment.Figure {
	return experiment.Figure{
		Name:  "cloaking/figure2",
		Title: "Height over weight and age with privacy noise (Fig. 2)",
		Caption: "Discs: predictions of the three methods, their radius proportional to the predicted height, the more " +
			"transparent the larger the standard deviation of their noise; at 40 cm they vanish. Lines: where the " +
			"prediction without noise is 80, 100, 120 and 140 cm. Dots: weight and age of the !Kung females; crosses: " +
			"inducing inputs. Far from all data, predictions fall back to the prior mean and need little noise. Where the " +
			"noise is secure, discs show the noisy predictions and there are no lines. The first variant of the table.",
		Match: Surface().Matches(nil),
		Draw:  Surface().Draws(drawFigure2),
	}
}

func drawFigure2(trials []experiment.ObservationOf[surfaceSettings, surfaceMetrics]) []experiment.Panel {
	var panels []experiment.Panel
	for _, m := range []cloak.Method{cloak.Standard, cloak.Sparse, cloak.Nonstationary} { // (A), (B), (C)
		t := firstOf(trials, func(s *surfaceSettings) bool { return s.Method == m && !s.Noiseless() }, "surface")
		if t == nil {
			continue
		}
		s, data := t.Series["surface"], t.Series["data"]
		height := s["mean_cm"]
		panel := experiment.Panel{
			Title:  fmt.Sprintf("%s, ε = %s", m, experiment.FormatNumber(t.Settings.Epsilon)),
			XLabel: "weight (kg)", YLabel: "age (years)",
		}
		if height == nil {
			height = t.Series["released"]["noisy_cm"]
		} else {
			panel.Lines = heightContours(t.Settings.Weights, t.Settings.Ages, height)
		}
		panel.Discs = []experiment.Discs{t.Settings.discs(s, height)}
		panel.Points = []experiment.Line{{Name: "data", X: data["x"], Y: data["age"], Color: 6, Marker: experiment.Dot}}
		if z := t.Series["inducing"]; z != nil {
			panel.Points = append(panel.Points, experiment.Line{Name: "inducing inputs", X: z["x"], Y: z["age"], Color: 1,
				Marker: experiment.Cross})
		}
		panels = append(panels, panel)
	}
	return panels
}

// discs are the predictions as discs. The largest fill the distance
// between two points of the grid, in a panel a little wider than high.
func (s *surfaceSettings) discs(surface experiment.Series, height []float64) experiment.Discs {
	const widerBy, tallestCM = 1.15, 160
	largest := min(spacing(s.Weights), spacing(s.Ages)/extentOf(s.Ages)*extentOf(s.Weights)/widerBy) / 2
	d := experiment.Discs{Name: "prediction", X: surface["x"], Y: surface["age"], Color: 0}
	for i, h := range height {
		d.Radius = append(d.Radius, largest*min(max(h/tallestCM, 0), 1))
		d.Opacity = append(d.Opacity, min(max(1-surface["noise_sd_cm"][i]/transparentCM, 0), 1))
	}
	return d
}

// spacing is the smallest distance between neighbours of an increasing list, and
// extentOf that of its ends; both are 1 for a single value.
func spacing(values []float64) float64 {
	smallest := math.Inf(1)
	for i, v := range values[1:] {
		smallest = min(smallest, v-values[i])
	}
	if math.IsInf(smallest, 1) {
		return 1
	}
	return smallest
}

func extentOf(values []float64) float64 {
	if len(values) == 1 {
		return 1
	}
	return values[len(values)-1] - values[0]
}

// heightContours are where a surface of heights, given row by row over a grid of
// weights and ages, has the heights of the levels.
func heightContours(weights, ages, height []float64) []experiment.Line {
	var out []experiment.Line
	for i, level := range []float64{80, 100, 120, 140} {
		x, y := contour(weights, ages, height, level)
		if x == nil {
			continue
		}
		// Sky blue, orange, reddish purple, bluish green.
		out = append(out, experiment.Line{Name: fmt.Sprintf("%g cm", level), X: x, Y: y, Color: []int{5, 4, 3, 2}[i]})
	}
	return out
}

// contour returns the line along which a surface has the level, as segments
// that NaN in y separates. The surface z is linear in each of the two triangles
// that a cell of the grid is cut into, which leaves no ambiguity; z[j·len(x)+i]
// is its value at x[i] and y[j].
func contour(xs, ys, z []float64, level float64) (x, y []float64) {
	type corner struct{ x, y, z float64 }
	triangle := func(corners ...corner) {
		var cut []corner
		for k, a := range corners {
			b := corners[(k+1)%3]
			if (a.z < level) != (b.z < level) {
				share := (level - a.z) / (b.z - a.z)
				cut = append(cut, corner{x: a.x + share*(b.x-a.x), y: a.y + share*(b.y-a.y)})
			}
		}
		if len(cut) == 2 {
			x, y = append(x, cut[0].x, cut[1].x, cut[1].x), append(y, cut[0].y, cut[1].y, math.NaN())
		}
	}
	at := func(i, j int) corner { return corner{xs[i], ys[j], z[j*len(xs)+i]} }
	for j := range len(ys) - 1 {
		for i := range len(xs) - 1 {
			triangle(at(i, j), at(i+1, j), at(i+1, j+1))
			triangle(at(i, j), at(i+1, j+1), at(i, j+1))
		}
	}
	return x, y
}
