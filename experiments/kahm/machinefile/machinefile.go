// Package machinefile is the file format of a released classifier of affine hull machines, and
// the predictions of those who get such a file, alone or united with the files of other
// parties. Nothing here needs the data that the machines were made from.
//
// A machine is a function of its samples, of two public numbers and of the regularisation λ of
// its layers, so that a file holds these, and the machines are fitted when it is used. λ* is a
// function of the samples, too (Eq. 40): a file of the first version has none, and it is solved
// for. docs/formats has the JSON Schema of a file.
package machinefile

import (
	"context"
	"fmt"
	"slices"

	"privkern/experiments/model"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Format is the version that this package writes; it reads the first one, too.
const (
	Format      = "privkern/kahm-model/2"
	firstFormat = "privkern/kahm-model/1"
)

// PredictFormat makes run predict read these files.
var PredictFormat = model.Format{Versions: []string{firstFormat, Format},
	New: func() model.Payload { return new(Model) }}

const (
	columnDistance = "distance"
	columnParty    = "party"
)

// Reserved are the names of columns of predictions, which no input can have.
var Reserved = []string{model.LabelColumn, columnDistance, columnParty}

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
	Data    string    `json:"data"`    // kind of the samples: original, noisy or fabricated
	// Directions (n) and Layers (L) of the machines.
	Directions int                 `json:"directions"`
	Layers     int                 `json:"layers"`
	Machines   []Machine           `json:"machines"`
	Privacy    *experiment.Privacy `json:"privacy"`
}

// Machine holds the samples of one machine.
type Machine struct {
	Class   int         `json:"class"`   // index into Model.Classes
	Samples [][]float64 `json:"samples"` // rows of p numbers
	// Lambda is λ* of its layers, within 1e-10 of itself; there is none in the first version. A
	// machine whose samples lie in a plane has fewer layers than the others.
	Lambda []float64 `json:"lambda,omitempty"`
}

// Envelope implements [model.Payload].
func (m *Model) Envelope() model.Envelope {
	return model.Envelope{Inputs: m.Inputs, Reserved: Reserved, Output: m.Output, Classes: m.Classes,
		Privacy: m.Privacy}
}

// Check implements [model.Payload].
func (m *Model) Check(c *model.Checker) {
	p := len(m.Inputs)
	c.Length("low", m.Low, p, "inputs")
	c.Length("high", m.High, p, "inputs")
	c.Some("classes", len(m.Classes))
	c.Names("classes", m.Classes, "a class")
	c.Require(1 <= m.Directions && m.Directions <= p, "directions",
		"it is %d; 1 to %d, the number of inputs, are possible", m.Directions, p)
	c.Require(1 <= m.Layers && m.Layers <= m.Directions, "layers",
		"it is %d; 1 to %d, the directions, are possible", m.Layers, m.Directions)
	if c.Failed() {
		return
	}
	for j, high := range m.High {
		c.Require(m.Low[j] <= high, fmt.Sprintf("high[%d]", j), "it is %g, below low, %g", high, m.Low[j])
	}
	known := make([]bool, len(m.Classes))
	for i, one := range m.Machines {
		if m.checkMachine(c, i); !c.Failed() {
			known[one.Class] = true
		}
	}
	for class, name := range m.Classes {
		c.Require(known[class], "machines", "there is none of the class %q", name)
	}
}

// checkMachine checks machine i.
func (m *Model) checkMachine(c *model.Checker, i int) {
	one := m.Machines[i]
	class, samples := fmt.Sprintf("machines[%d].class", i), fmt.Sprintf("machines[%d].samples", i)
	c.Require(0 <= one.Class && one.Class < len(m.Classes), class,
		"it is %d, and there are %d classes, counted from 0", one.Class, len(m.Classes))
	c.Some(samples, len(one.Samples))
	c.Rows(samples, one.Samples, len(m.Inputs), "inputs")
	zero := !slices.ContainsFunc(one.Samples, func(row []float64) bool {
		return slices.ContainsFunc(row, func(v float64) bool { return v != 0 })
	})
	c.Require(!zero, samples, "all are zero, of which there is no machine")
	least, most := 1, m.Layers
	if m.Format == firstFormat {
		least, most = 0, 0
	}
	lambda := fmt.Sprintf("machines[%d].lambda", i)
	c.Require(least <= len(one.Lambda) && len(one.Lambda) <= most, lambda, "there are %d; %d to %d are possible, one for "+
		"each layer", len(one.Lambda), least, most)
	for j, v := range one.Lambda {
		c.Positive(fmt.Sprintf("%s[%d]", lambda, j), v)
	}
}

// Solve finds λ of all machines, which have none yet.
func (m *Model) Solve(ctx context.Context, e *engine.Engine) error {
	fitted, err := m.fit(ctx, e)
	for i, machine := range fitted {
		for layer := range machine.Layers() {
			m.Machines[i].Lambda = append(m.Machines[i].Lambda, machine.Lambda(layer))
		}
	}
	return err
}
