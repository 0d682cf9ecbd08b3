package picture

import (
	"math"

	"privkern/runner/experiment"
)

// flat returns the points of a series as they are drawn: those of space in a
// fixed oblique projection, the second axis going back and up at 30 degrees and
// half its length. Points that do not exist are left out.
func flat(s experiment.Series, prefix string) (x, y []float64) {
	z := s[prefix+"z"]
	sin, cos := math.Sincos(math.Pi / 6)
	for i, a := range s[prefix+"x"] {
		b := s[prefix+"y"][i]
		if z != nil {
			a, b = a+0.5*cos*b, z[i]+0.5*sin*b
		}
		if !math.IsNaN(a) && !math.IsNaN(b) {
			x, y = append(x, a), append(y, b)
		}
	}
	return x, y
}

// marked returns the points of a series as markers.
func marked(name string, s experiment.Series, prefix string, color int) experiment.Line {
	x, y := flat(s, prefix)
	return experiment.Line{Name: name, X: x, Y: y, Color: color}
}

// thinned keeps the first point of a series, and one in every few from there.
func thinned(s experiment.Series, every int) experiment.Series {
	out := experiment.Series{}
	for name, column := range s {
		for i := 0; i < len(column); i += every {
			out[name] = append(out[name], column[i])
		}
	}
	return out
}

// meshLines is the approximate number of lines of a lattice along each axis.
const meshLines = 16

// mesh returns the images of lines of a lattice of per×per points of the plane.
// Where points have no image, lines end. The first one has the name.
func mesh(name string, s experiment.Series, per, color int) []experiment.Line {
	x, y := s["image_x"], s["image_y"]
	var lines []experiment.Line
	add := func(first, step int) {
		var line experiment.Line
		end := func() {
			if len(line.X) > 1 {
				line.Color = color
				if lines == nil {
					line.Name = name
				}
				lines = append(lines, line)
			}
			line = experiment.Line{}
		}
		for k := range per {
			i := first + k*step
			if math.IsNaN(x[i]) || math.IsNaN(y[i]) {
				end()
				continue
			}
			line.X, line.Y = append(line.X, x[i]), append(line.Y, y[i])
		}
		end()
	}
	every := max(1, (per-1)/meshLines)
	for k := 0; k < per; k += every {
		add(k*per, 1)
		add(k, per)
	}
	return lines
}
