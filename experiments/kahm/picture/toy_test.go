package picture

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// Without scatter, samples lie on their shape.
func TestShapes(t *testing.T) {
	off := map[Shape]func(p []float64) float64{
		Circle: func(p []float64) float64 { return math.Hypot(p[0], p[1]) - 1 },
		Spiral: func(p []float64) float64 {
			// The angle is 3π times the radius.
			return math.Remainder(math.Atan2(p[1], p[0])-3*math.Pi*math.Hypot(p[0], p[1]), 2*math.Pi)
		},
		Moons: func(p []float64) float64 {
			upper, lower := math.Hypot(p[0]+0.3, p[1]+0.15)-0.65, math.Hypot(p[0]-0.3, p[1]-0.15)-0.65
			return min(math.Abs(upper), math.Abs(lower))
		},
		Gaussian: func([]float64) float64 { return 0 },
		Helix: func(p []float64) float64 {
			return math.Hypot(math.Hypot(p[0], p[1])-1, math.Remainder(math.Atan2(p[1], p[0])-2*math.Pi*(p[2]+1), 2*math.Pi))
		},
		Sphere: func(p []float64) float64 { return math.Hypot(math.Hypot(p[0], p[1]), p[2]) - 1 },
		SwissRoll: func(p []float64) float64 {
			return math.Remainder(math.Atan2(p[2], p[0])-4.5*math.Pi*math.Hypot(p[0], p[2]), 2*math.Pi)
		},
		ThreeClasses: func(p []float64) float64 {
			arm := math.Atan2(p[1], p[0]) - 1.8*(math.Hypot(p[0], p[1])-0.2)/0.8
			return math.Remainder(arm, 2*math.Pi/3)
		},
		ThreeParties: func(p []float64) float64 { return math.Hypot(p[0], p[1]) - 1 },
	}
	for i, name := range Shape(0).Choices() {
		t.Run(name, func(t *testing.T) {
			f, points := off[Shape(i)], Shape(i).points()
			if f == nil {
				t.Fatal("no formula")
			}
			for part := range points.parts {
				y := points.draw(part, 100, 0, trialtest.New(t, trialtest.Options{}).Stream(name))
				if _, dim := y.Dims(); dim != points.dim {
					t.Errorf("%d coordinates", dim)
				}
				for i := range 100 {
					if d := f(y.RawRowView(i)); math.Abs(d) > 1e-9 {
						t.Errorf("point %v is off by %g", y.RawRowView(i), d)
					}
				}
			}
		})
	}
}

// Points on a circle of samples have their images near it, points away from it
// are farther from theirs.
func TestMachineOfACircle(t *testing.T) {
	_, r := runOfToy(t, 1, func(s *ToySettings) { s.SD, s.Grid = 0, 101 })
	g := r.Series["grid"]
	on, away := 0, 0
	for i, x := range g["x"] {
		radius := math.Hypot(x, g["y"][i])
		switch {
		case math.Abs(radius-1) < 0.02:
			on++
			if image := math.Hypot(g["image_x"][i], g["image_y"][i]); math.Abs(image-1) > 0.05 {
				t.Fatalf("(%g, %g) has an image of radius %g", x, g["y"][i], image)
			}
		case radius > 1.8:
			away++
			if g["distance"][i] < 0.3 {
				t.Fatalf("(%g, %g) is only %g from its image", x, g["y"][i], g["distance"][i])
			}
		}
	}
	if on == 0 || away == 0 {
		t.Fatalf("%d points of the grid on the circle, %d away from it", on, away)
	}
	if d := r.Metrics.DistanceMean; d > 0.03 {
		t.Errorf("samples are on average %g from the machine", d)
	}
}

// The grid shows the nearest of all machines, and distances are those of the images, to four
// decimals.
func TestGridShowsTheNearestMachine(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*ToySettings)
	}{
		{"classes, two layers", func(s *ToySettings) { s.Shape, s.Layers = ThreeClasses, 2 }},
		{"parties, fabricated", func(s *ToySettings) { s.Shape, s.Data, s.Epsilon = ThreeParties, wide.Fabricated, 8 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, r := runOfToy(t, 1, func(s *ToySettings) { s.Samples, s.Grid = 60, 20; c.change(s) })
			g := r.Series["grid"]
			for i := range g["x"] {
				best := math.Inf(1)
				for k := range 3 {
					m := r.Series[machineSeries(k)]
					best = min(best, m["distance"][i])
					d := math.Hypot(g["x"][i]-m["image_x"][i], g["y"][i]-m["image_y"][i])
					if math.Abs(d-m["distance"][i]) > 3e-4 {
						t.Fatalf("point %d is %g from its image, not %g", i, d, m["distance"][i])
					}
				}
				own := r.Series[machineSeries(int(g["group"][i]))]
				if own["distance"][i] != best || own["image_x"][i] != g["image_x"][i] {
					t.Fatalf("point %d belongs to machine %g, which is not the nearest", i, g["group"][i]+1)
				}
			}
			if a := r.Metrics.Accuracy; a < 0.9 {
				t.Errorf("accuracy %g", a)
			}
		})
	}
}

func TestToyLattice(t *testing.T) {
	for shape, want := range map[Shape]int{Moons: 400, Helix: 343} { // 20², and 7³ for 20^(2/3) = 7.4
		t.Run(experiment.NameOf(shape), func(t *testing.T) {
			_, r := runOfToy(t, 1, func(s *ToySettings) { s.Shape, s.Grid, s.Samples = shape, 20, 50 })
			if got := len(r.Series["grid"]["x"]); got != want {
				t.Errorf("%d points, want %d", got, want)
			}
			for _, axis := range axes {
				s, l := r.Series["samples"][axis], r.Series["grid"][axis]
				if s != nil && !(slices.Min(l) < slices.Min(s) && slices.Max(l) > slices.Max(s)) {
					t.Errorf("the lattice does not go around the samples along %s", axis)
				}
			}
		})
	}
}

func TestToyData(t *testing.T) {
	run := func(data wide.Data, epsilon float64) *experiment.Outcome[ToyMetrics] {
		_, out := runOfToy(t, 1, func(s *ToySettings) {
			s.Data, s.Epsilon, s.Samples, s.Grid, s.Variant = data, epsilon, 60, 10, wide.AsPublished
		})
		return out
	}
	original := run(wide.Original, 8)
	if original.Privacy != nil || original.Series["noisy"] != nil || original.Metrics.DisplacementMean != 0 ||
		original.Metrics.ErrorNoisy != nil {
		t.Errorf("original data: %v, %+v", original.Privacy, original.Metrics)
	}
	little, much := run(wide.Noisy, 100), run(wide.Noisy, 4)
	if a, b := little.Metrics.DisplacementMean, much.Metrics.DisplacementMean; !(0 < a && a < b) {
		t.Errorf("displacements %g and %g", a, b)
	}
	if !reflect.DeepEqual(original.Series["samples"], much.Series["samples"]) {
		t.Error("the samples depend on the noise")
	}
	fabricated := run(wide.Fabricated, 4)
	if !reflect.DeepEqual(fabricated.Series["noisy"], much.Series["noisy"]) {
		t.Error("fabrication starts from other noise")
	}
	if m := fabricated.Metrics; !(*m.ErrorFabricated <= m.ErrorOriginal && m.ErrorOriginal < *m.ErrorNoisy) {
		t.Errorf("errors %v", experiment.MetricValues(m))
	}
	if p := fabricated.Privacy; p == nil || !strings.Contains(p.Unit, "one coordinate of one sample") {
		t.Errorf("%+v", p)
	}
}

func TestToyDoesNotDependOnWorkers(t *testing.T) {
	given := func(s *ToySettings) {
		s.Shape, s.Data, s.Epsilon, s.Samples, s.Grid = ThreeClasses, wide.Fabricated, 8, 60, 10
	}
	_, one := runOfToy(t, 1, given)
	_, four := runOfToy(t, 4, given)
	if !reflect.DeepEqual(one, four) {
		t.Errorf("one worker %v, four %v",
			experiment.MetricValues(one.Metrics), experiment.MetricValues(four.Metrics))
	}
}
