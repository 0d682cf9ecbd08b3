package kahm

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

func runOfToy(t *testing.T, workers int, given map[string]any) *experiment.Result {
	t.Helper()
	e := toy()
	r, err := e.Run(context.Background(), pictureTrial(t, e, workers, given))
	if err != nil {
		t.Fatalf("%v: %v", given, err)
	}
	checkReported(t, e, r)
	return r
}

// Without scatter, samples lie on their shape.
func TestShapes(t *testing.T) {
	off := map[string]func(p []float64) float64{
		"circle": func(p []float64) float64 { return math.Hypot(p[0], p[1]) - 1 },
		"spiral": func(p []float64) float64 {
			// The angle is 3π times the radius.
			return math.Remainder(math.Atan2(p[1], p[0])-3*math.Pi*math.Hypot(p[0], p[1]), 2*math.Pi)
		},
		"moons": func(p []float64) float64 {
			upper, lower := math.Hypot(p[0]+0.3, p[1]+0.15)-0.65, math.Hypot(p[0]-0.3, p[1]-0.15)-0.65
			return min(math.Abs(upper), math.Abs(lower))
		},
		"gaussian": func([]float64) float64 { return 0 },
		"helix": func(p []float64) float64 {
			return math.Hypot(math.Hypot(p[0], p[1])-1, math.Remainder(math.Atan2(p[1], p[0])-2*math.Pi*(p[2]+1), 2*math.Pi))
		},
		"sphere": func(p []float64) float64 { return math.Hypot(math.Hypot(p[0], p[1]), p[2]) - 1 },
		"swiss-roll": func(p []float64) float64 {
			return math.Remainder(math.Atan2(p[2], p[0])-4.5*math.Pi*math.Hypot(p[0], p[2]), 2*math.Pi)
		},
		"three-classes": func(p []float64) float64 {
			arm := math.Atan2(p[1], p[0]) - 1.8*(math.Hypot(p[0], p[1])-0.2)/0.8
			return math.Remainder(arm, 2*math.Pi/3)
		},
		"three-parties": func(p []float64) float64 { return math.Hypot(p[0], p[1]) - 1 },
	}
	for _, s := range shapes {
		f, ok := off[s.name]
		if !ok {
			t.Errorf("%s: no test", s.name)
			continue
		}
		for part := range s.parts {
			rng := pictureTrial(t, toy(), 1, nil).Stream(s.name)
			y := s.draw(part, 100, 0, rng)
			if _, dim := y.Dims(); dim != s.dim {
				t.Errorf("%s: %d coordinates", s.name, dim)
			}
			for i := range 100 {
				if d := f(y.RawRowView(i)); math.Abs(d) > 1e-9 {
					t.Errorf("%s: point %v is off by %g", s.name, y.RawRowView(i), d)
				}
			}
		}
	}
}

// Points on a circle of samples have their images near it, points away from it
// are farther from theirs.
func TestMachineOfACircle(t *testing.T) {
	r := runOfToy(t, 1, map[string]any{"sd": 0, "grid": 101})
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
	if d := r.Metrics["distance_mean"]; d > 0.03 {
		t.Errorf("samples are on average %g from the machine", d)
	}
}

// Of all machines the grid shows the nearest, and distances are those of the
// images; both as far as four decimals say.
func TestGridShowsTheNearestMachine(t *testing.T) {
	for _, given := range []map[string]any{
		{"shape": "three-classes", "samples": 60, "grid": 20, "layers": 2},
		{"shape": "three-parties", "samples": 60, "grid": 20, "data": dataFabricated, "epsilon": 8},
	} {
		r := runOfToy(t, 1, given)
		g := r.Series["grid"]
		for i := range g["x"] {
			best := math.Inf(1)
			for k := range 3 {
				m := r.Series[machineSeries(k)]
				best = min(best, m["distance"][i])
				d := math.Hypot(g["x"][i]-m["image_x"][i], g["y"][i]-m["image_y"][i])
				if math.Abs(d-m["distance"][i]) > 3e-4 {
					t.Fatalf("%v: point %d is %g from its image, not %g", given, i, d, m["distance"][i])
				}
			}
			if own := r.Series[machineSeries(int(g["group"][i]))]; own["distance"][i] != best || own["image_x"][i] != g["image_x"][i] {
				t.Fatalf("%v: point %d belongs to machine %g, which is not the nearest", given, i, g["group"][i]+1)
			}
		}
		if a := r.Metrics["accuracy"]; a < 0.9 {
			t.Errorf("%v: accuracy %g", given, a)
		}
	}
}

func TestToyLattice(t *testing.T) {
	for shape, want := range map[string]int{"moons": 400, "helix": 343} { // 20², and 7³ for 20^(2/3) = 7.4
		r := runOfToy(t, 1, map[string]any{"shape": shape, "grid": 20, "samples": 50})
		if got := len(r.Series["grid"]["x"]); got != want {
			t.Errorf("%s: %d points, want %d", shape, got, want)
		}
		for _, axis := range axes {
			if s, l := r.Series["samples"][axis], r.Series["grid"][axis]; s != nil && !(minOf(l) < minOf(s) && -minOf(negated(l)) > -minOf(negated(s))) {
				t.Errorf("%s: the lattice does not go around the samples along %s", shape, axis)
			}
		}
	}
}

func minOf(a []float64) float64 {
	low := math.Inf(1)
	for _, v := range a {
		low = min(low, v)
	}
	return low
}

func TestToyData(t *testing.T) {
	given := func(data string, epsilon any) map[string]any {
		return map[string]any{"data": data, "epsilon": epsilon, "samples": 60, "grid": 10, "variant": variantPublished}
	}
	original := runOfToy(t, 1, given(dataOriginal, 8))
	if original.Privacy != nil || original.Series["noisy"] != nil || original.Metrics["displacement_mean"] != 0 {
		t.Errorf("original data: %v, %v", original.Privacy, original.Metrics)
	}
	little, much := runOfToy(t, 1, given(dataNoisy, 100)), runOfToy(t, 1, given(dataNoisy, 4))
	if !(0 < little.Metrics["displacement_mean"] && little.Metrics["displacement_mean"] < much.Metrics["displacement_mean"]) {
		t.Errorf("displacements %g and %g", little.Metrics["displacement_mean"], much.Metrics["displacement_mean"])
	}
	if !reflect.DeepEqual(original.Series["samples"], much.Series["samples"]) {
		t.Error("the samples depend on the noise")
	}
	fabricated := runOfToy(t, 1, given(dataFabricated, 4))
	if !reflect.DeepEqual(fabricated.Series["noisy"], much.Series["noisy"]) {
		t.Error("fabrication starts from other noise")
	}
	if m := fabricated.Metrics; !(m["error_fabricated"] <= m["error_original"] && m["error_original"] < m["error_noisy"]) {
		t.Errorf("errors %v", m)
	}
	if p := fabricated.Privacy; p == nil || !strings.Contains(p.Unit, "one coordinate of one sample") {
		t.Errorf("%+v", p)
	}
}

func TestToyDoesNotDependOnWorkers(t *testing.T) {
	given := map[string]any{"shape": "three-classes", "data": dataFabricated, "epsilon": 8, "samples": 60, "grid": 10}
	if one, four := runOfToy(t, 1, given), runOfToy(t, 4, given); !reflect.DeepEqual(one, four) {
		t.Errorf("one worker %v, four %v", one.Metrics, four.Metrics)
	}
}
