package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"privkern/experiments/dataset/table"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Request is a comparison that is asked for by arguments name=value.
type Request struct {
	// Given are the settings that go to the methods, in the order in which they are given.
	Given    []Setting
	Epsilons []float64 // at which methods are compared, increasing
	Unit     string    // [experiment.UnitRow], [experiment.UnitOutput] or [experiment.UnitPerson]
	Methods  []string  // names of experiments; nil for all
	Task     string    // of taskNames; empty where the output decides
	Reading  table.Reading
	// Facts are those of the data; nil where they are to be read.
	Facts *Facts

	// alone is that one method is asked for: its epsilon may be inf, and is the setting of the method.
	alone bool
}

// Setting is a setting with its text.
type Setting struct{ Name, Text string }

// taskNames are the texts of the setting task, by tasks.
var taskNames = []string{method.Regression: "regression", method.Classification: "classification"}

// units are the texts of the setting unit.
var units = []string{experiment.UnitRow, experiment.UnitOutput, experiment.UnitPerson}

// held are settings that a comparison sets itself, besides those that candidates have fixed.
var held = []string{"holdout", "membership"}

// ParseRequest reads arguments: epsilon (numbers), unit, methods, task, and settings of methods. Each is given once.
func ParseRequest(args []string) (*Request, error) { return parse(args, false) }

// RequestOf reads the arguments of [ParseRequest] for one method alone. Its epsilon may be inf, and is the setting of
// the method, also where that is for one entry of a row.
func RequestOf(name string, args []string) (*Request, error) {
	return parse(append(slices.Clone(args), "methods="+name), true)
}

// parse reads arguments, of one method or of any number.
func parse(args []string, alone bool) (*Request, error) {
	r := &Request{alone: alone}
	seen := map[string]bool{}
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		switch {
		case !ok || name == "":
			return nil, fmt.Errorf("%q is not of the form name=value", arg)
		case seen[name]:
			return nil, fmt.Errorf("%s is given twice; several values of epsilon and methods go behind one =, separated "+
				"by commas", name)
		case text == "":
			return nil, fmt.Errorf("%s is empty; give a value or leave it out", name)
		}
		seen[name] = true
		if err := r.set(name, text); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"dataset", "output", "epsilon"} {
		if !seen[name] {
			return nil, fmt.Errorf("%s is not given; needed are dataset=csv:PATH, output=COLUMN, epsilon=.3,1,3 and delta", name)
		}
	}
	if data := r.Text("dataset"); !table.Is(data) {
		return nil, fmt.Errorf("dataset = %q: methods are compared on data of your own, such as csv:PATH%s", data,
			method.Like(data))
	}
	return r, r.setUnit(seen["person"] && r.Text("person") != method.NoColumn)
}

// set sets one of the settings.
func (r *Request) set(name, text string) (err error) {
	switch name {
	case "epsilon":
		p := experiment.Param{Name: name, Kind: experiment.Numbers, Min: experiment.Bound(0), OpenMin: true,
			Infinite: r.alone}
		v, err := p.Convert(text)
		if err != nil {
			return err
		}
		r.Epsilons = v.([]float64)
		slices.Sort(r.Epsilons)
		for _, epsilon := range r.Epsilons {
			if !math.IsInf(epsilon, 0) && !mechanism.Rounds(epsilon) {
				return fmt.Errorf("epsilon = %s: it is outside [%g, %g], for which the rounding of noise is known", text,
					mechanism.LeastEpsilon, mechanism.LargestEpsilon)
			}
		}
		if len(slices.Compact(slices.Clone(r.Epsilons))) < len(r.Epsilons) {
			return fmt.Errorf("epsilon = %s: a value is there twice", text)
		}
		return nil
	case "unit":
		r.Unit, err = choice(name, text, units)
	case "task":
		r.Task, err = choice(name, text, taskNames)
	case "methods":
		r.Methods = strings.Split(text, ",")
	case "canaries":
		if !r.alone {
			return errors.New("canaries are rows that run attack adds to be found; leave them out")
		}
		r.Given = append(r.Given, Setting{name, text})
	default:
		if slices.Contains(held, name) || slices.ContainsFunc(Candidates(), func(c Candidate) bool {
			_, fixed := c.Fixed[name]
			return fixed
		}) {
			if r.alone {
				return fmt.Errorf("%s is set by the attack: each seed is one model, of a random half of the rows", name)
			}
			return fmt.Errorf("%s is set by the comparison: each seed is one split, which holds out %g of the rows, the same "+
				"for all methods", name, HeldOut)
		}
		r.Given = append(r.Given, Setting{name, text})
		// A candidate refuses what no reading is.
		if settings, err := experiment.ReadSettings[table.Reading](r.reading()); err == nil {
			r.Reading = *settings
		}
	}
	return err
}

// reading returns the settings that tell how a file is read.
func (r *Request) reading() []string {
	known := experiment.SettingValues(table.Reading{})
	var args []string
	for _, s := range r.Given {
		if _, ok := known[s.Name]; ok {
			args = append(args, s.Name+"="+s.Text)
		}
	}
	return args
}

// choice refuses a text that is none of the choices.
func choice(name, text string, choices []string) (string, error) {
	p := experiment.Param{Name: name, Kind: experiment.Text, Values: choices}
	_, err := p.Convert(text)
	return text, err
}

// setUnit settles the unit where persons are named or not.
func (r *Request) setUnit(person bool) error {
	switch {
	case r.Unit == experiment.UnitPerson && !person:
		return fmt.Errorf("unit = person: name the column of the persons, person=COLUMN, and rows_per_person")
	case person && r.Unit != "" && r.Unit != experiment.UnitPerson:
		return fmt.Errorf("unit = %s and person = %s: the guarantee would be for a person; use unit=person, or leave person "+
			"out", r.Unit, r.Text("person"))
	case person:
		r.Unit = experiment.UnitPerson
	case r.Unit == "":
		r.Unit = experiment.UnitRow
	}
	return nil
}

// Text returns the text of a setting that is given; empty for none.
func (r *Request) Text(name string) string {
	for _, s := range r.Given {
		if s.Name == name {
			return s.Text
		}
	}
	return ""
}
