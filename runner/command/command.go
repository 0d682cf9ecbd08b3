// Package command is the experiment that runs a program of the user's, in any language.
//
// A [Definition] states how: the arguments with places for settings, the files whose
// digests are the version of the program, and the source of the result. It is a parameter
// of every trial, so that a record has all that its key is made of. The folder in which
// the program runs is none of these: a plan has it apart from its keys.
package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// Name is the experiment of a block of a sweep file, and the parameter that holds the
// definition. The trials of a program belong to the experiment "command/PROGRAM".
const Name = "command"

// Version is the version of the results: of the way in which programs are run and read.
const Version = 1

// StdinJSON is the value of stdin for settings as a JSON object.
const StdinJSON = "json"

// OutputStdout is the value of output for the last line of JSON on standard output.
const OutputStdout = "stdout"

// Definition states how a trial runs a program. Its canonical JSON is part of keys.
type Definition struct {
	// Command is the program with its arguments. {name} stands for the value of a setting,
	// or for one of [Given]; {{ and }} for braces.
	Command []string `json:"command"`
	// Files are the files whose digests are the version, relative to the folder in which
	// the program runs. They may have places for settings.
	Files []string `json:"files,omitempty"`
	// Output is the file with the result, relative to the scratch folder; empty for
	// standard output.
	Output string `json:"output,omitempty"`
	// Stdin is StdinJSON, or empty where nothing is to be read.
	Stdin string `json:"stdin,omitempty"`
}

// Given are the names that stand for a part of a trial other than a setting.
var Given = []string{"seed", "backend", "workers", "scratch"}

// Text returns the canonical JSON of the definition.
func (d *Definition) Text() string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(d) // texts always have a JSON form
	return strings.TrimSpace(b.String())
}

// own is the setting that every program has.
type own struct {
	Command string `name:"command" default:"" later:"yes" doc:"the program, its arguments and its files"`
}

// Of returns the definition that the parameters of a trial hold.
func Of(p experiment.Params) (*Definition, error) {
	text := experiment.SettingsIn[own](p).Command
	if text == "" {
		return nil,
			errors.New("the program is given in a sweep file (run help sweep-files), and run by run sweep or run work")
	}
	var d Definition
	strict := json.NewDecoder(strings.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&d); err != nil || len(d.Command) == 0 {
		return nil, fmt.Errorf("parameter %q is no definition of a program: %.80q", Name, text)
	}
	return &d, nil
}

// Setting is a setting of a program as a plan keeps it.
type Setting struct {
	Name string               `json:"name"`
	Kind experiment.ParamKind `json:"kind"`
	Unit string               `json:"unit,omitempty"`
	Doc  string               `json:"doc,omitempty"`
}

// Program is a program of a plan.
type Program struct {
	Definition string    `json:"definition"` // of the first block of that name
	Settings   []Setting `json:"settings"`
}

// Frozen has the programs of a plan. It is no part of any key.
type Frozen struct {
	// Folder is the absolute path of the folder in which they run: that of the sweep file.
	Folder   string             `json:"folder"`
	Programs map[string]Program `json:"programs"` // by the name of the experiment
}

// Path returns the folder; empty where f is nil.
func (f *Frozen) Path() string {
	if f == nil {
		return ""
	}
	return f.Folder
}

// Define adds the experiments of the programs to a registry; f may be nil.
func (f *Frozen) Define(r *experiment.Registry) {
	if f == nil {
		return
	}
	for name, program := range f.Programs {
		params := make([]experiment.Param, len(program.Settings))
		for i, s := range program.Settings {
			params[i] = experiment.Param{Name: s.Name, Kind: s.Kind, Unit: s.Unit, Doc: s.Doc, Infinite: true}
		}
		r.Define(Experiment(name, program.Definition, params))
	}
}

// Add adds the experiment of a block. Two blocks of one name must agree on the kinds of
// their common settings.
func (f *Frozen) Add(e *experiment.Experiment) error {
	program, known := f.Programs[e.Name]
	if !known {
		program.Definition, _ = e.Params[0].Default.(string)
	}
	for i := range e.Params[1:] {
		p := &e.Params[i+1]
		at := slices.IndexFunc(program.Settings, func(s Setting) bool { return s.Name == p.Name })
		switch {
		case at < 0:
			program.Settings = append(program.Settings, Setting{p.Name, p.Kind, p.Unit, p.Doc})
		case program.Settings[at].Kind != p.Kind:
			return fmt.Errorf("%s: %q is a %s in one block and a %s in another; give one of the blocks another name",
				e.Name, p.Name, program.Settings[at].Kind, p.Kind)
		}
	}
	if f.Programs == nil {
		f.Programs = map[string]Program{}
	}
	f.Programs[e.Name] = program
	return nil
}

// Experiment returns the experiment of a program. definition is the default of its first
// parameter, and is empty for programs in general.
func Experiment(name, definition string, settings []experiment.Param) *experiment.Experiment {
	own := experiment.Param{Name: Name, Kind: experiment.Text, Doc: "the program, its arguments and its files"}
	if definition != "" {
		own.Default = definition
	}
	return &experiment.Experiment{
		Untyped: experiment.Untyped{
			Name: name, Version: Version, Summary: "a program of yours, given in a sweep file", Source: "docs/command.md",
			Datasets: datasets, Check: check, Run: run, External: true,
		},
		Params:  append([]experiment.Param{own}, settings...),
		Metrics: []experiment.Metric{{Name: "*", Doc: "as the program prints them"}},
	}
}

// Admit makes a registry know programs in general.
func Admit(r *experiment.Registry) { r.Admit(Experiment(Name, "", nil)) }

// check refuses parameters with which no program can be run.
func check(p experiment.Params) error {
	d, err := Of(p)
	if err != nil {
		return err
	}
	for _, text := range slices.Concat(d.Command, d.Files) {
		if _, err := Parse(text); err != nil {
			return err
		}
	}
	_, err = d.files(p)
	return err
}

// datasets names the files of a trial's version. The parameters have been checked.
func datasets(p experiment.Params) []string {
	d, err := Of(p)
	if err != nil {
		return nil
	}
	names, _ := d.files(p)
	return names
}
