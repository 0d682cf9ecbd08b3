// Package machinefile is the file format of a released classifier of affine hull machines,
// and what those who get such a file can do with it: classify, alone or united with the
// files of other parties. Nothing here needs the data that the machines were made from.
//
// A machine is a function of the samples that it models and of two public numbers, so that
// a file has the samples, and the machines are fitted when it is used. docs/formats has the
// JSON Schema of a file.
package machinefile

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/model"
	"privkern/runner/experiment"
)

// Name is the format, and Format the version of it that this package writes and reads.
const (
	Name   = "privkern/kahm-model"
	Format = Name + "/1"
)

// Columns of predictions beside the inputs.
const (
	ColumnClass    = "class"
	ColumnDistance = "distance"
	ColumnParty    = "party"
)

// Reserved are the names that no input can have.
var Reserved = []string{ColumnClass, ColumnDistance, ColumnParty}

// Model is a classifier (Definitions 7, 12 and 15): a point has the class of the machine
// that it is nearest to. An input x is brought to u = (min(max(x, low), high) − low)/(high −
// low) first, and to 0 where low and high are equal; samples and distances are of u.
type Model struct {
	Format string   `json:"format"` // Format
	About  string   `json:"about"`
	Inputs []string `json:"inputs"` // names of the p columns
	// Low and High are the ranges of the inputs, which files must share to be united.
	Low     []float64 `json:"low"`
	High    []float64 `json:"high"`
	Output  string    `json:"output"`  // name of the column with the class
	Classes []string  `json:"classes"` // each has a machine at least
	Data    string    `json:"data"`    // what the machines model: original, noisy or fabricated samples
	// Directions and Layers are those of the machines, n and L.
	Directions int                 `json:"directions"`
	Layers     int                 `json:"layers"`
	Machines   []Machine           `json:"machines"`
	Privacy    *experiment.Privacy `json:"privacy"`
}

// Machine is the samples of one machine.
type Machine struct {
	Class   int         `json:"class"`   // its place among Model.Classes, from 0
	Samples [][]float64 `json:"samples"` // rows of p numbers
}

// SamplesOf returns the rows of a matrix.
func SamplesOf(x *mat.Dense) [][]float64 {
	n, _ := x.Dims()
	out := make([][]float64, n)
	for i := range out {
		out[i] = slices.Clone(x.RawRowView(i))
	}
	return out
}

// matrix returns the samples.
func (m *Machine) matrix() *mat.Dense {
	out := mat.NewDense(len(m.Samples), len(m.Samples[0]), nil)
	for i, row := range m.Samples {
		out.SetRow(i, row)
	}
	return out
}

// Decode reads the text of a file; path is for errors, which are *[model.Error].
func Decode(path string, text []byte) (*Model, error) {
	return model.Parse(path, text, (*Model).check, Format)
}

// check returns what is wrong, and with which field.
func (m *Model) check() (field string, err error) {
	p := len(m.Inputs)
	switch {
	case p == 0:
		return "inputs", errors.New("there are none")
	case len(m.Low) != p:
		return "low", fmt.Errorf("it has %d numbers for %d inputs", len(m.Low), p)
	case len(m.High) != p:
		return "high", fmt.Errorf("it has %d numbers for %d inputs", len(m.High), p)
	case len(m.Classes) == 0:
		return "classes", errors.New("there are none")
	case m.Directions < 1 || m.Directions > p:
		return "directions", fmt.Errorf("it is %d; 1 to %d, the number of inputs, are possible", m.Directions, p)
	case m.Layers < 1 || m.Layers > m.Directions:
		return "layers", fmt.Errorf("it is %d; 1 to %d, the directions, are possible", m.Layers, m.Directions)
	case m.Privacy == nil:
		return "privacy", errors.New("it is missing: a model says what it protects")
	}
	if field, err := model.CheckNames("inputs", m.Inputs, "an input", Reserved...); err != nil {
		return field, err
	}
	for j, high := range m.High {
		if !(m.Low[j] <= high) {
			return fmt.Sprintf("high[%d]", j), fmt.Errorf("it is %g, below low, %g", high, m.Low[j])
		}
	}
	if field, err := model.CheckNames("classes", m.Classes, "a class"); err != nil {
		return field, err
	}
	return m.checkMachines()
}

// checkMachines is check of the machines.
func (m *Model) checkMachines() (field string, err error) {
	p := len(m.Inputs)
	known := make([]bool, len(m.Classes))
	for i, one := range m.Machines {
		field := func(name string) string { return fmt.Sprintf("machines[%d].%s", i, name) }
		if one.Class < 0 || one.Class >= len(m.Classes) {
			return field("class"), fmt.Errorf("it is %d, and there are %d classes, counted from 0", one.Class, len(m.Classes))
		}
		known[one.Class] = true
		if len(one.Samples) == 0 {
			return field("samples"), errors.New("there are none")
		}
		zero := true
		for k, row := range one.Samples {
			if len(row) != p {
				return fmt.Sprintf("%s[%d]", field("samples"), k), fmt.Errorf("it has %d numbers for %d inputs", len(row), p)
			}
			for _, v := range row {
				zero = zero && v == 0
			}
		}
		if zero {
			return field("samples"), errors.New("all are zero, of which there is no machine")
		}
	}
	for c, there := range known {
		if !there {
			return "machines", fmt.Errorf("there is none of the class %q", m.Classes[c])
		}
	}
	return "", nil
}
