package machinefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/schematest"
	"privkern/experiments/model"
	"privkern/runner/experiment"
)

// kept is a file that version 1 of the format was released in: of rows with a near 20 and
// the class low, near 70 and high, at ε = 20 for an entry.
const kept = "testdata/released-1.json"

func readKept(t *testing.T) (*Model, []byte) {
	t.Helper()
	text, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Decode(kept, text)
	if err != nil {
		t.Fatal(err)
	}
	return m, text
}

// twoClasses is a model of two classes in two inputs, with a machine each.
func twoClasses(changes ...func(*Model)) *Model {
	m := &Model{Format: Format, About: "a test", Inputs: []string{"a", "b"}, Low: []float64{0, 0}, High: []float64{10, 1},
		Output: "kind", Classes: []string{"x", "y"}, Data: "noisy", Directions: 2, Layers: 1,
		Privacy: &experiment.Privacy{Guarantee: "(2, 0)-DP", Notes: []string{}}}
	for class, at := range []float64{.2, .8} {
		samples := mat.NewDense(5, 2, nil)
		samples.Apply(func(i, j int, _ float64) float64 { return at + .03*math.Sin(float64(5*i+3*j)) }, samples)
		m.Machines = append(m.Machines, Machine{class, SamplesOf(samples)})
	}
	for _, change := range changes {
		change(m)
	}
	return m
}

func encoded(t *testing.T, m *Model) []byte {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A file that was released is still read, and classifies.
func TestKeptFile(t *testing.T) {
	m, text := readKept(t)
	u, err := Unite(File{kept, m})
	if err != nil {
		t.Fatal(err)
	}
	c, err := u.Classify(t.Context(), mat.NewDense(3, 2, []float64{21, .4, 69, .5, 500, .4}))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(c.Class) != "[low high high]" || !(c.Distance[0] < c.Distance[2]) || len(c.Warnings) != 1 ||
		!strings.Contains(c.Warnings[0], "1 of 6 numbers are beyond the range") {
		t.Errorf("%+v", c)
	}
	schematest.Check(t, filepath.Join("..", "..", "..", "docs", "formats", "kahm-model.schema.json"), text)
}

// What is written reads the same, and has the documented form.
func TestEncoding(t *testing.T) {
	text := encoded(t, twoClasses())
	m, err := Decode("m.json", text)
	if err != nil || string(encoded(t, m)) != string(text) {
		t.Errorf("%v: %+v", err, m)
	}
	schematest.Check(t, filepath.Join("..", "..", "..", "docs", "formats", "kahm-model.schema.json"), text)
	x := mat.NewDense(2, 3, []float64{0, -1.5, 1e-300, math.MaxFloat64, 2, 3})
	part := x.Slice(0, 2, 1, 3).(*mat.Dense) // rows are apart in memory
	if one := (Machine{0, SamplesOf(part)}); !mat.Equal(one.matrix(), part) {
		t.Errorf("%v", one)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text   string // or
		change func(*Model)
		want   string
	}{
		"another file": {text: `{"model": "dpgp/1"}`, want: `model: unknown format "dpgp/1"`},
		"a newer version": {text: `{"format": "privkern/kahm-model/2", "new": 1}`,
			want: `"privkern/kahm-model/2"; this program reads "privkern/kahm-model/1": the file is of a later version`},
		"an unknown member": {text: `{"format": "privkern/kahm-model/1", "new": 1}`, want: `unknown member "new"`},
		"no inputs":         {change: func(m *Model) { m.Inputs = nil }, want: "inputs: there are none"},
		"an input twice":    {change: func(m *Model) { m.Inputs[1] = "a" }, want: `inputs[1]: "a" cannot be`},
		"a column":          {change: func(m *Model) { m.Inputs[1] = "distance" }, want: `inputs[1]: "distance" cannot be`},
		"low":               {change: func(m *Model) { m.Low = m.Low[:1] }, want: "low: it has 1 numbers for 2 inputs"},
		"high":              {change: func(m *Model) { m.High = nil }, want: "high: it has 0 numbers"},
		"range":             {change: func(m *Model) { m.High[0] = -1 }, want: "high[0]: it is -1, below low, 0"},
		"no classes":        {change: func(m *Model) { m.Classes = nil }, want: "classes: there are none"},
		"a class twice":     {change: func(m *Model) { m.Classes[1] = "x" }, want: `classes[1]: "x" cannot be`},
		"directions":        {change: func(m *Model) { m.Directions = 3 }, want: "directions: it is 3; 1 to 2"},
		"layers":            {change: func(m *Model) { m.Layers = 3 }, want: "layers: it is 3; 1 to 2"},
		"no privacy":        {change: func(m *Model) { m.Privacy = nil }, want: "privacy: it is missing"},
		"class":             {change: func(m *Model) { m.Machines[0].Class = 2 }, want: "machines[0].class: it is 2"},
		"a short row": {change: func(m *Model) { m.Machines[1].Samples[2] = []float64{1} },
			want: "machines[1].samples[2]: it has 1 numbers for 2 inputs"},
		"no rows": {change: func(m *Model) { m.Machines[1].Samples = nil }, want: "machines[1].samples: there are none"},
		"no machine": {change: func(m *Model) { m.Machines = m.Machines[:1] },
			want: `machines: there is none of the class "y"`},
		"zero": {change: func(m *Model) { m.Machines[0].Samples = SamplesOf(mat.NewDense(1, 2, nil)) },
			want: "all are zero"},
		"too large": {text: `{"format": "privkern/kahm-model/1", "low": [1e999]}`,
			want: "low[0]: it is 1e999, which is too large for a number"},
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte(c.text)
			if c.change != nil {
				text = encoded(t, twoClasses(c.change))
			}
			_, err := Decode("m.json", text)
			var at *model.Error
			if !errors.As(err, &at) || at.Path != "m.json" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}

// Parties of whom each has one class have together the classifier of both: a point gets the
// class of the nearest machine of any, and the distances are those of the file with both.
func TestUnite(t *testing.T) {
	whole := twoClasses()
	first := twoClasses(func(m *Model) { m.Classes, m.Machines = m.Classes[:1], m.Machines[:1] })
	second := twoClasses(func(m *Model) {
		m.Classes, m.Machines = m.Classes[1:], m.Machines[1:]
		m.Machines[0].Class = 0
	})
	x := mat.NewDense(4, 2, []float64{2, .2, 8, .8, 1, .3, 9, .6})
	classify := func(models ...*Model) *Classification {
		var files []File
		for _, m := range models {
			files = append(files, File{"m.json", m})
		}
		u, err := Unite(files...)
		if err != nil {
			t.Fatal(err)
		}
		c, err := u.Classify(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	one, both := classify(whole), classify(first, second)
	if fmt.Sprint(one.Class) != "[x y x y]" || !slices.Equal(one.Class, both.Class) ||
		!slices.Equal(one.Distance, both.Distance) || fmt.Sprint(both.Party) != "[1 2 1 2]" ||
		fmt.Sprint(one.Party) != "[1 1 1 1]" {
		t.Errorf("%+v and %+v", one, both)
	}
	if alone := classify(first); fmt.Sprint(alone.Class) != "[x x x x]" {
		t.Errorf("one class alone: %v", alone.Class)
	}
	if again := classify(second, first); !slices.Equal(again.Class, both.Class) || fmt.Sprint(again.Party) != "[2 1 2 1]" {
		t.Errorf("in the other order: %+v", again)
	}
}

func TestUniteRefuses(t *testing.T) {
	north := File{"north.json", twoClasses()}
	for _, c := range []struct {
		change func(*Model)
		want   string
	}{
		{func(m *Model) { m.Inputs[1] = "c" }, `south.json is of other inputs than north.json, or has them in another ` +
			`order: ["a" "c"] and not ["a" "b"]`},
		{func(m *Model) { m.High[0] = 11 }, `south.json has another range of the input "a" than north.json, 0 to 11 and ` +
			`not 0 to 10`},
		{func(m *Model) { m.Low[1] = -1 }, `south.json has another range of the input "b" than north.json, -1 to 1`},
	} {
		if _, err := Unite(north, north, File{"south.json", twoClasses(c.change)}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
	whole, _ := Unite(north)
	const want = "other.json is of another format than north.json"
	if _, err := whole.Unite([]model.File{{Path: "other.json"}}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
	many := twoClasses(func(m *Model) { m.Inputs[1] = "c" })
	many.Inputs = append(many.Inputs, "d", "e", "f", "g", "h")
	const more = `["a" "c" "d" "e" "f"] and 2 more`
	if _, err := Unite(north, File{"many.json", many}); err == nil || !strings.Contains(err.Error(), more) {
		t.Error(err)
	}
}

// Whatever the file, it is refused with its place, or what was read reads the same again.
func FuzzDecode(f *testing.F) {
	text, err := os.ReadFile(kept)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(text[:len(text)/2])
	f.Add([]byte(`{"format":"privkern/kahm-model/1","inputs":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Decode("m.json", text)
		if err != nil {
			var at *model.Error
			if !errors.As(err, &at) {
				t.Errorf("an error without a place: %v", err)
			}
			return
		}
		again := encoded(t, m)
		if n, err := Decode("m.json", again); err != nil || string(encoded(t, n)) != string(again) {
			t.Errorf("%v", err)
		}
	})
}

// The estimate of memory is above what was measured (memory.go), and within a half of it; a
// file of a few megabytes that would take terabytes is known for that before anything is done.
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
			m := twoClasses(func(m *Model) {
				m.Inputs, m.Directions, m.Layers = make([]string, c.inputs), c.directions, c.layers
				m.Low, m.High = make([]float64, c.inputs), make([]float64, c.inputs)
				m.Machines = nil
				for _, n := range c.samples {
					m.Machines = append(m.Machines, Machine{0, make([][]float64, n)})
				}
			})
			u, err := Unite(File{"m.json", m})
			if err != nil {
				t.Fatal(err)
			}
			if got := u.Memory(100) / mib; got < c.measured || got > c.measured*3/2 {
				t.Errorf("%d MiB, measured were %d", got, c.measured)
			}
		})
	}
}
