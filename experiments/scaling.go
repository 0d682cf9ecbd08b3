package experiments

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// ScalingData is the kind of the simulated data of a case.
type ScalingData string

// The kinds: x1, x2, ... uniform in [0, 1], with an output in [-1, 1], with a class, a or b, or also with one of four
// persons.
const (
	values  ScalingData = "y"
	classes ScalingData = "kind"
	persons ScalingData = "kind,person"
)

// ScalingCase is a method for own data whose cost is measured by size.
type ScalingCase struct {
	Experiment, Variant string // Variant is its setting method; empty for the default
	Family              string
	Data                ScalingData
	Settings            []string // besides dataset; defaults for others
	Inner               string   // the setting that is the number of the method's own; empty for none
	// Peer is the work of a peer, with as many fits as a trial of the method makes; empty for none.
	Peer string
	Fits int
}

// Name is the experiment with its variant.
func (c ScalingCase) Name() string { return strings.TrimSpace(c.Experiment + " " + c.Variant) }

// ScalingCases are the methods for own data.
func ScalingCases() []ScalingCase {
	ranged := []string{"input_low=0", "input_high=1", "inputs=*"}
	regression := append([]string{"output=y", "low=-1", "high=1", "delta=1e-6"}, ranged...)
	classification := append([]string{"output=kind", "delta=1e-6"}, ranged...)
	cloaked := func(variant, data string, kind ScalingData, settings ...string) ScalingCase {
		c := ScalingCase{Experiment: "cloaking/" + data, Variant: variant, Family: "cloaking", Data: kind, Peer: "gp " + data,
			Fits: 5, Settings: append(settings, "inputs=*", "delta=1e-6", "method="+variant)}
		if variant == "sparse" {
			c.Inner, c.Peer = "inducing", ""
		}
		return c
	}
	of := func(family, name, inner, peer string) ScalingCase {
		c := ScalingCase{Experiment: family + "/" + name, Family: family, Data: values, Settings: regression, Inner: inner,
			Peer: peer, Fits: 10}
		if family == "baseline" {
			c.Family = "regression baselines"
		}
		return c
	}
	ofClasses := func(family, name, inner, peer string) ScalingCase {
		c := of(family, name, inner, peer)
		c.Data, c.Settings = classes, classification
		if family == "baseline" {
			c.Family = "classification baselines"
		}
		return c
	}
	hulls := []string{"output=kind", "low=0", "high=1", "n=2", "layers=2"}
	return []ScalingCase{
		cloaked("standard", "regression", values, "output=y", "low=-1", "high=1"),
		cloaked("sparse", "regression", values, "output=y", "low=-1", "high=1"),
		cloaked("standard", "classification", classes, "output=kind[a|b]"),
		cloaked("sparse", "classification", classes, "output=kind[a|b]"),
		of("dpgp", "regression", "inducing", "nystroem regression"),
		ofClasses("dpgp", "classification", "inducing", "nystroem classification"),
		{Experiment: "dpgp/hyperparameters", Family: "dpgp", Data: values, Inner: "inducing", Settings: append([]string{
			"output=y", "output_low=-1", "output_high=1", "delta=1e-6"}, ranged...)},
		{Experiment: "privacygp/regression", Family: "other methods", Data: values, Peer: "gp-likelihood regression",
			Fits: 5, Settings: []string{"inputs=*", "output=y", "sensitive=x1:0.4..0.6"}},
		{Experiment: "kahm/classifier", Family: "other methods", Data: classes, Inner: "n", Settings: hulls},
		{Experiment: "kahm/federated", Family: "other methods", Data: persons, Settings: append(hulls, "party=person",
			"epsilon=1")},
		{Experiment: "multikernel/learn", Family: "other methods", Data: persons, Inner: "components",
			Settings: []string{"utility=kind", "privacy=person"}, Peer: "svc classification", Fits: 1},
		of("baseline", "ridge", "frequencies", "fourier-ridge regression"),
		of("baseline", "histogram", "cells", ""),
		of("baseline", "ebm-regression", "rounds", "boosting regression"),
		of("baseline", "sgd-regression", "steps", "sgd regression"),
		of("baseline", "label-noise", "frequencies", ""),
		of("baseline", "exact-regression", "", ""),
		ofClasses("baseline", "logistic", "frequencies", "fourier-logistic classification"),
		ofClasses("baseline", "forest", "trees", "trees classification"),
		ofClasses("baseline", "ebm-classification", "rounds", "boosting classification"),
		ofClasses("baseline", "sgd-classification", "steps", "sgd classification"),
		ofClasses("baseline", "randomised-response", "features", ""),
		ofClasses("baseline", "class-means", "", "centroid classification"),
		ofClasses("baseline", "largest-class", "", ""),
		ofClasses("baseline", "exact-classification", "", ""),
	}
}

// Arguments are the settings of a trial on a file, with the number of the method's own unless it is 0.
func (c ScalingCase) Arguments(file string, inner int) []string {
	out := append([]string{"dataset=csv:" + file}, c.Settings...)
	if inner > 0 {
		set := func(s string) bool { return strings.HasPrefix(s, c.Inner+"=") || c.Inner == "n" && s == "layers=2" }
		out = append(slices.DeleteFunc(out, set), fmt.Sprintf("%s=%d", c.Inner, inner))
		if c.Inner == "n" {
			out = append(out, fmt.Sprintf("layers=%d", min(inner, 2)))
		}
	}
	return out
}

// WriteScalingData writes a table of that kind. Tables of the same seed and inputs begin with the same rows.
func WriteScalingData(w io.Writer, kind ScalingData, seed uint64, rows, inputs int) error {
	b := bufio.NewWriter(w)
	for j := range inputs {
		fmt.Fprintf(b, "x%d,", j+1)
	}
	fmt.Fprintln(b, string(kind))
	rng := rand.New(rand.NewPCG(seed, uint64(inputs)))
	for range rows {
		first, sum := 0., 0.
		for j := range inputs {
			x := rng.Float64()
			if j == 0 {
				first = x
			}
			sum += x
			fmt.Fprintf(b, "%.6f,", x)
		}
		y := .7*math.Sin(6*first) + .2*(sum/float64(inputs)-.5) + .05*rng.NormFloat64()
		class, person := "b", rng.IntN(4)
		if y < 0 {
			class = "a"
		}
		switch kind {
		case values:
			fmt.Fprintf(b, "%.6f\n", max(-1, min(1, y)))
		case classes:
			fmt.Fprintln(b, class)
		case persons:
			fmt.Fprintf(b, "%s,p%d\n", class, person)
		}
	}
	return b.Flush()
}

// ownData are the settings by which the size of own data is found.
type ownData struct {
	Dataset string `name:"dataset" default:"none" doc:"the data"`
	Inputs  string `name:"inputs" default:"*" doc:"columns"`
	Output  string `name:"output" default:"" doc:"no input"`
	Person  string `name:"person" default:"" doc:"no input"`
	Party   string `name:"party" default:"" doc:"no input"`
	Utility string `name:"utility" default:"" doc:"no input"`
	Privacy string `name:"privacy" default:"" doc:"no input"`
	table.Reading
}

// withColumns are settings with those of [ownData] that an experiment does not have.
func withColumns(p experiment.Params) experiment.Params {
	out := experiment.Params{"output": "", "person": "", "party": "", "utility": "", "privacy": ""}
	maps.Copy(out, p)
	return out
}

// size is estimated from a file's size and header; it has no rows where these cannot be read.
func (o *ownData) size() OwnData {
	var others []string
	for _, text := range []string{o.Output, o.Person, o.Party, o.Utility, o.Privacy} {
		if text != "none" {
			others = append(others, strings.Split(text, "+")...)
		}
	}
	rows, inputs, err := table.Spec{Dataset: o.Dataset, Inputs: o.Inputs, Others: others, Reading: o.Reading}.Size()
	if err != nil {
		return OwnData{}
	}
	return OwnData{Rows: rows, Inputs: inputs}
}

// variant is the setting by which the cases of an experiment differ.
type variant struct {
	Method string `name:"method" default:"none" doc:"the variant"`
}

// repeats is how many splits a trial fits.
type repeats struct {
	Repeats int `name:"repeats" default:"10" doc:"splits"`
}

// OwnData is the size of a trial's own data, and its fits as a multiple of those of the default settings.
type OwnData struct {
	Rows, Inputs int
	Fits         float64
}

// OwnSizes finds the sizes of own data. It reads the data of several trials once.
type OwnSizes struct {
	cases []ScalingCase
	read  map[ownData]OwnData // of no rows where the data cannot be read
}

// NewOwnSizes returns sizes of which none is read.
func NewOwnSizes() *OwnSizes { return &OwnSizes{cases: ScalingCases(), read: map[ownData]OwnData{}} }

// Of returns the name of the case that settings are of, and the size of their data, estimated from the file's size and
// header. ok is false for an experiment that is no case, for other data, and for a file that cannot be read, which the
// trial reports.
func (s *OwnSizes) Of(e *experiment.Experiment, p experiment.Params) (name string, size OwnData, ok bool) {
	for _, c := range s.cases {
		if c.Experiment != e.Name {
			continue
		}
		p := e.Whole(p)
		if c.Variant != "" && experiment.SettingsIn[variant](p).Method != c.Variant {
			continue
		}
		own := experiment.SettingsIn[ownData](withColumns(p))
		if !table.Is(own.Dataset) {
			return "", size, false
		}
		size, known := s.read[*own]
		if !known {
			size = own.size()
			s.read[*own] = size
		}
		size.Fits = 1
		if slices.Contains(e.ParamNames(), "repeats") && c.Fits > 0 {
			size.Fits = float64(experiment.SettingsIn[repeats](p).Repeats) / float64(c.Fits)
		}
		return c.Name(), size, size.Rows > 0
	}
	return "", size, false
}
