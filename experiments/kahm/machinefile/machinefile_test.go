package machinefile

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/modeltest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/model"
	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// twoClasses returns a model of two classes in two inputs, with a machine each.
func twoClasses(changes ...func(*Model)) *Model {
	m := &Model{Format: Format, About: "a test", Inputs: []string{"a", "b"}, Low: []float64{0, 0}, High: []float64{10, 1},
		Output: "kind", Classes: []string{"x", "y"}, Data: "noisy", Directions: 2, Layers: 1,
		Privacy: &experiment.Privacy{Guarantee: "(2, 0)-DP", Notes: []string{}}}
	for class, at := range []float64{.2, .8} {
		samples := mat.NewDense(5, 2, nil)
		samples.Apply(func(i, j int, _ float64) float64 { return at + .03*math.Sin(float64(5*i+3*j)) }, samples)
		m.Machines = append(m.Machines, Machine{Class: class, Samples: model.Rows(samples), Lambda: []float64{.5}})
	}
	for _, change := range changes {
		change(m)
	}
	return m
}

// A released file of rows with a near 20 and the class low, and near 70 and high, at ε = 20 for
// an entry, classifies as it did.
func TestReleasedFile(t *testing.T) {
	m := modeltest.Read[*Model](t, PredictFormat, "testdata/released-1.json")
	p := modeltest.Predict(t, mat.NewDense(3, 2, []float64{21, .4, 69, .5, 500, .4}), m)
	if fmt.Sprint(p.Labels) != "[low high high]" || !(p.Rows[0][0] < p.Rows[2][0]) || len(p.Warnings) != 1 ||
		!strings.Contains(p.Warnings[0], "1 of 6 numbers are beyond the range") {
		t.Errorf("%+v", p)
	}
}

func TestCheck(t *testing.T) {
	modeltest.CheckRefused(t, PredictFormat, func() *Model { return twoClasses() }, map[string]func(*Model){
		"inputs: there are none":                     func(m *Model) { m.Inputs = nil },
		`inputs[1]: "distance" cannot be`:            func(m *Model) { m.Inputs[1] = "distance" },
		"low: it has 1 number for 2 inputs":          func(m *Model) { m.Low = m.Low[:1] },
		"high: it has 0 numbers":                     func(m *Model) { m.High = nil },
		"high[0]: it is -1, below low, 0":            func(m *Model) { m.High[0] = -1 },
		"classes: there are none":                    func(m *Model) { m.Classes = nil },
		`classes[1]: "x" cannot be`:                  func(m *Model) { m.Classes[1] = "x" },
		"directions: it is 3; 1 to 2":                func(m *Model) { m.Directions = 3 },
		"layers: it is 3; 1 to 2":                    func(m *Model) { m.Layers = 3 },
		"privacy: it is missing":                     func(m *Model) { m.Privacy = nil },
		"machines[0].class: it is 2, and there are ": func(m *Model) { m.Machines[0].Class = 2 },
		"machines[1].samples[2]: it has 1 number for 2 inputs": func(m *Model) {
			m.Machines[1].Samples[2] = []float64{1}
		},
		"machines[1].samples: there are none":                  func(m *Model) { m.Machines[1].Samples = nil },
		"machines[1].lambda: there are 0; 1 to 1 are possible": func(m *Model) { m.Machines[1].Lambda = nil },
		"machines[0].lambda[0]: it is 0; a positive":           func(m *Model) { m.Machines[0].Lambda[0] = 0 },
		"machines[0].lambda: there are 1; 0 to 0 are possible": func(m *Model) { m.Format = firstFormat },
		"machines[0].samples: all are zero": func(m *Model) {
			m.Machines[0].Samples = [][]float64{{0, 0}}
		},
		`machines: there is none of the class "y"`: func(m *Model) { m.Machines = m.Machines[:1] },
	})
}

// A file's λ is taken as it is: solved for, it is λ* within 1e-10, with which distances are those of
// a file of the first version; another one gives other distances.
func TestLambdaOfTheFile(t *testing.T) {
	without := func(m *Model) {
		for i := range m.Machines {
			m.Machines[i].Lambda = nil
		}
	}
	old, solved := twoClasses(without, func(m *Model) { m.Format = firstFormat }), twoClasses(without)
	trial := trialtest.New(t, trialtest.Options{})
	e := engine.Of(trial.Engine)
	if err := solved.Solve(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	for i, one := range solved.Machines {
		m, err := hull.Fit(t.Context(), e, model.Dense(one.Samples), hull.Options{Dim: 2, Iteration: hull.Picard})
		if err != nil || len(one.Lambda) != 1 || math.Abs(one.Lambda[0]/m.Lambda(0)-1) > 1e-10 {
			t.Errorf("machine %d: λ is %.17g, want %.17g, %v", i, one.Lambda, m.Lambda(0), err)
		}
	}
	x := mat.NewDense(2, 2, []float64{2, .4, 7, .5})
	want, got := modeltest.Predict(t, x, old), modeltest.Predict(t, x, solved)
	other := modeltest.Predict(t, x, twoClasses())
	for i, row := range got.Rows {
		if d := want.Rows[i][0]; math.Abs(row[0]-d) > 1e-9*d || math.Abs(other.Rows[i][0]-d) < 1e-3*d {
			t.Errorf("the distance is %g, of the first version %g, with λ = .5 %g", row[0], d, other.Rows[i][0])
		}
	}
}

// Parties with one class each have together the classifier of both: a point gets the class of
// the nearest machine of any, and the distances are those of the file with both.
func TestUnite(t *testing.T) {
	first := twoClasses(func(m *Model) { m.Classes, m.Machines = m.Classes[:1], m.Machines[:1] })
	second := twoClasses(func(m *Model) {
		m.Classes, m.Machines = m.Classes[1:], m.Machines[1:]
		m.Machines[0].Class = 0
	})
	x := mat.NewDense(4, 2, []float64{2, .2, 8, .8, 1, .3, 9, .6})
	one, both := modeltest.Predict(t, x, twoClasses()), modeltest.Predict(t, x, first, second)
	again := modeltest.Predict(t, x, second, first)
	if fmt.Sprint(one.Labels, one.Columns, both.Columns) != "[x y x y] [distance] [distance party]" ||
		!slices.Equal(both.Labels, one.Labels) || !slices.Equal(again.Labels, one.Labels) {
		t.Errorf("%+v and %+v, %+v", one, both, again)
	}
	for i, row := range both.Rows {
		if party := float64(1 + i%2); row[0] != one.Rows[i][0] || row[1] != party || again.Rows[i][1] != 3-party {
			t.Errorf("%v and %v, alone %v", row, again.Rows[i], one.Rows[i])
		}
	}
	if alone := modeltest.Predict(t, x, first); fmt.Sprint(alone.Labels) != "[x x x x]" {
		t.Errorf("one class alone: %v", alone.Labels)
	}
}

func TestUniteRefuses(t *testing.T) {
	north := model.File{Path: "north.json", Payload: twoClasses()}
	many := twoClasses(func(m *Model) { m.Inputs[1] = "c" })
	many.Inputs = append(many.Inputs, "d", "e", "f", "g", "h")
	for want, south := range map[string]model.Payload{
		`south.json is of other inputs than north.json, or has them in another order: ["a" "c"] and not`: twoClasses(
			func(m *Model) { m.Inputs[1] = "c" }),
		`south.json has another range of the input "a" than north.json, 0 to 11 and not 0 to 10`: twoClasses(
			func(m *Model) { m.High[0] = 11 }),
		`south.json has another range of the input "b" than north.json, -1 to 1`: twoClasses(
			func(m *Model) { m.Low[1] = -1 }),
		`["a" "c" "d" "e" "f"] and 2 more`:                      many,
		"south.json is of another format than north.json: only": nil,
	} {
		err := twoClasses().Unite([]model.File{north, north, {Path: "south.json", Payload: south}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// The estimate of memory is above the measurements (memory.go), and within a half of them; a
// file of a few megabytes that would take terabytes is recognised before it is used.
func TestMemory(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		samples                    []int
		inputs, directions, layers int
		measured                   int64 // in MiB, with two processors
	}{
		{[]int{2000}, 2, 2, 1, 164},
		{[]int{2000, 2000}, 2, 2, 1, 266},
		{[]int{3000, 3000, 3000, 3000}, 2, 2, 1, 495},
		{[]int{3000}, 20, 10, 10, 713},
		{[]int{2000}, 100, 100, 100, 1285},
		{[]int{200, 200}, 800, 200, 200, 1755},
		{[]int{1e6}, 1, 1, 1, 25e6},
	} {
		t.Run(fmt.Sprint(c.samples, c.inputs, c.layers), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
			m := &Model{Inputs: make([]string, c.inputs), Directions: c.directions, Layers: c.layers}
			for _, n := range c.samples {
				m.Machines = append(m.Machines, Machine{Samples: make([][]float64, n)})
			}
			if got := m.Memory(modeltest.Of(m).Files, 100) / mib; got < c.measured || got > c.measured*3/2 {
				t.Errorf("%d MiB, measured were %d", got, c.measured)
			}
		})
	}
}

// Scores of classes agree with predictions, and the file holds its samples in the units of the inputs.
func TestScoresAndHeld(t *testing.T) {
	m := twoClasses()
	x := mat.NewDense(4, 2, []float64{2, .25, 8, .7, 5.2, .5, 1, .9})
	scores, err := modeltest.Of(m).Scores(t.Context(), m, x)
	if err != nil {
		t.Fatal(err)
	}
	p := modeltest.Predict(t, x, m)
	for i, row := range p.Rows {
		class := 0
		if scores[1][i] > scores[0][i] {
			class = 1
		}
		if m.Classes[class] != p.Labels[i] || scores[class][i] != -row[0] {
			t.Errorf("row %d: scores %g and %g, and %s at the distance %g", i, scores[0][i], scores[1][i], p.Labels[i], row[0])
		}
	}
	h := m.Held()
	if len(h.Points) != 10 || h.Outputs[4] != 0 || h.Outputs[5] != 1 || h.Scale[0] != .1 ||
		math.Abs(h.Points[5][0]-10*m.Machines[1].Samples[0][0]) > 1e-12 {
		t.Errorf("%+v", h)
	}
}

// Points without an image have a finite score.
func TestNearness(t *testing.T) {
	inf := math.Inf(1)
	scores := Nearness(mat.NewDense(2, 2, []float64{1, 3, inf, 2}))
	if !slices.Equal(scores[0], []float64{-1, -3}) || !slices.Equal(scores[1], []float64{-3, -2}) {
		t.Errorf("scores %v", scores)
	}
	if scores := Nearness(mat.NewDense(1, 1, []float64{inf})); scores[0][0] != 0 {
		t.Errorf("scores %v", scores)
	}
}
