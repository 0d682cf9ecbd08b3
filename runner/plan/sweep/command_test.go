package sweep_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/runner/command"
	"privkern/runner/experiment"
	"privkern/runner/plan/sweep"
)

// withPrograms are names with the experiment of programs.
func withPrograms() sweep.Names {
	out := sweep.Names{Experiments: experiment.NewRegistry(), Tables: names.Tables}
	command.Admit(out.Experiments)
	return out
}

// commandFile writes a sweep file into a folder that has a program and a file of data.
func commandFile(t *testing.T, text string) *sweep.Sweep {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"train.sh", "data.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "mine.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sweep.ReadFile(path, withPrograms())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCommandSettings(t *testing.T) {
	s := commandFile(t, `
experiment: command
command: [./train.sh, data.csv, "--lr={lr}", "--decay={decay}", "{mode}{on}{layers}", "--seed={seed}", 3]
declare:
  lr: {type: float, min: 0, max: 1}
  decay: {type: float, min: 0, max: .inf, default: 1e-3, unit: 1/step, doc: how fast weights go}
params: {on: yes, mode: fast}
sweep:
  lr: [0.1, "linspace(0.2,0.4,3)"]
  layers: [[64, 32], [8]]
seeds: 0..1
`)
	if err := s.Override("lr=0.5,1"); err != nil {
		t.Fatal(err)
	}
	x, err := s.Expand()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0.5 0.001 fast yes [64,32] #0", "0.5 0.001 fast yes [64,32] #1", "0.5 0.001 fast yes [8] #0",
		"0.5 0.001 fast yes [8] #1"}
	if got := show(x.Settings, "lr", "decay", "mode", "on", "layers"); len(got) != 8 {
		t.Errorf("%d trials: %q", len(got), got)
	} else if got = sorted(got)[:4]; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	e := x.Settings[0].Experiment
	if e.Name != "command/train.sh" {
		t.Errorf("the experiment is %s", e.Name)
	}
	if got := e.Datasets(x.Settings[0].Params); !slices.Equal(got, []string{"file:train.sh", "file:data.csv"}) {
		t.Errorf("the version is that of %q", got)
	}
	if p, err := e.Param("decay"); err != nil || p.Unit != "1/step" || p.Doc != "how fast weights go" || !p.Infinite {
		t.Errorf("%+v, %v", p, err)
	}
	if err := s.Override("lr=2"); err == nil || !strings.Contains(err.Error(), "2 is outside [0, 1]") {
		t.Errorf("a bound is not held: %v", err)
	}
	programs := &command.Frozen{}
	if err := s.Programs(programs); err != nil || !filepath.IsAbs(programs.Folder) ||
		len(programs.Programs["command/train.sh"].Settings) != 5 {
		t.Errorf("%+v, %v", programs, err)
	}
}

// A file that is the default of a setting is part of the version.
func TestDefaultFile(t *testing.T) {
	x, err := commandFile(t, `
experiment: command
command: [./train.sh, "{data}"]
declare: {data: {type: text, default: data.csv}}
`).Expand()
	if err != nil {
		t.Fatal(err)
	}
	s := x.Settings[0]
	if got := s.Experiment.Datasets(s.Params); !slices.Equal(got, []string{"file:train.sh", "file:data.csv"}) {
		t.Errorf("the version is that of %q", got)
	}
}

func sorted(list []string) []string { slices.Sort(list); return list }

// The kind of a setting that is not declared is that of its values.
func TestKindsOfSettings(t *testing.T) {
	for _, c := range []struct{ values, want string }{
		{"[1, 2]", "integer"}, {"[1, 2.5]", "number"}, {"[2.5, 1]", "number"}, {"[1, inf]", "number"}, {"[inf]", "number"},
		{"[.inf, 1]", "number"}, {`["1", "2"]`, "text"}, {"[1e-7]", "number"}, {"[1E+3, 2]", "number"},
		{`["1e-7"]`, "text"}, {"[a, inf]", "text"}, {"[true, false]", "flag"},
		{"[[1], [1, 2]]", "numbers"}, {"logspace(0,1,2)", "number"},
	} {
		t.Run(c.values, func(t *testing.T) {
			s := commandFile(t, "experiment: command\ncommand: [./train.sh, \"{a}\"]\nsweep: {a: "+quoteCall(c.values)+"}\n")
			x, err := s.Expand()
			if err != nil {
				t.Fatal(err)
			}
			if p, err := x.Settings[0].Experiment.Param("a"); err != nil || string(p.Kind) != c.want {
				t.Errorf("%v, %v, want %s", p, err, c.want)
			}
		})
	}
}

func quoteCall(s string) string {
	if strings.Contains(s, "(") {
		return `"` + s + `"`
	}
	return s
}

func TestCommandMistakes(t *testing.T) {
	const head = "experiment: command\n"
	for _, c := range []struct{ name, text, want string }{
		{"no command", head + "params: {a: 1}", ":1:11: no command is given"},
		{"an empty command", head + "command: []", ":2:10: command is an empty list"},
		{"a shell line", head + "command: python3 train.py", ":2:10: command must be a list"},
		{"a list as an argument", head + "command: [a, [b]]", ":2:14: a text is expected, not a list"},
		{"half a brace", head + `command: [a, "{lr"]`, "a brace without its other half"},
		{"a place without a setting", head + `command: [a, "{lr}"]`, ":2:14: {lr} stands for no setting"},
		{"a setting without a place", head + "command: [a]\nparams: {lr: 1}", ":3:10: the command has no {lr}"},
		{"a misspelt member", head + "comand: [a]", `did you mean "command"`},
		{"a reserved name", head + "command: [a, \"{seed}\"]\nparams: {seed: 1}",
			":3:10: a setting cannot be named \"seed\""},
		{"two types", head + "command: [a, \"{b}\"]\nsweep: {b: [1, x]}",
			":3:16: \"b\" is of type text here and of type integer before"},
		{"an absolute file", head + "command: [a]\nfiles: [/etc/passwd]",
			":3:9: the file \"/etc/passwd\" of a command must have"},
		{"a place in files", head + "command: [a]\nfiles: [\"{seed}\"]", "{seed} stands for no setting"},
		{"an output elsewhere", head + "command: [a]\noutput: ../m.json", ":3:9: output is \"../m.json\""},
		{"an unknown input", head + "command: [a]\nstdin: yaml", ":3:8: stdin is \"yaml\"; it takes json"},
		{"a name with a slash", head + "command: [a]\nname: a/b", ":3:7: the name"},
		{"a declaration without a type", head + "command: [a]\ndeclare: {b: {min: 1}}",
			":3:11: \"b\" is declared without a type"},
		{"an unknown type", head + "command: [a]\ndeclare: {b: {type: flot}}", `did you mean "float"`},
		{"bounds of a text", head + "command: [a]\ndeclare: {b: {type: text, min: 1}}", "which has no bounds"},
		{"values of a number", head + "command: [a]\ndeclare: {b: {type: int, values: [x]}}", "which are those of a text"},
		{"bounds without a value", head + "command: [a]\ndeclare: {b: {type: int, min: 2, max: 1}}",
			"no value of \"b\" lies"},
		{"a default beyond a bound", head + "command: [a, \"{b}\"]\ndeclare: {b: {type: float, max: 1, default: 2}}",
			"2 is outside (-inf, 1]"},
		{"a value beyond a bound", head + "command: [a, \"{b}\"]\ndeclare: {b: {type: int, min: 1}}\nsweep: {b: [0, 1]}",
			":4:13: parameter \"b\": 0 is outside [1, inf)"},
		{"a search of a setting without a place", head + "command: [a]" + searchOfA, ":4:77: the command has no {a}"},
		{"a command for another experiment", "experiment: command/x\ncommand: [a]", "programs have `experiment: command`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := sweep.Read("mine.yaml", []byte(c.text), withPrograms())
			var placed *sweep.Error
			if !errors.As(err, &placed) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want a place and %q", err, c.want)
			}
		})
	}
	if _, err := sweep.Read("mine.yaml", []byte("experiment: demo/curve\ncommand: [a]"), names); err == nil ||
		!strings.Contains(err.Error(), ":2:1: command is for `experiment: command`") {
		t.Errorf("another experiment has a command: %v", err)
	}
}

const searchOfA = "\ndeclare: {a: {type: int}, b: {type: int}}\n" +
	"search: {method: random, budget: 2, metric: y, direction: minimise, space: {a: 1..9}}"

// Programs and values of places that a block lacks are found when it is expanded.
func TestCommandsThatCannotRun(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"command: [no-such-program-anywhere]", ":2:11: the program \"no-such-program-anywhere\" cannot be run"},
		{"command: [./absent.sh]", ":2:11: the program \"./absent.sh\" cannot be run"},
		{"command: [./data.txt]\nfiles: [train.sh]", "cannot be run"},
		{"command: [./train.sh, \"{a}\"]\ndeclare: {a: {type: int}}", "\"a\" has no value in it, and no default"},
		{"command: [./train.sh, \"{a}\", \"{b}\"]\ncases: [{a: 1, b: 2}, {a: 1}]", "\"b\" has no value in it"},
		{"command: [no-such-program-anywhere, \"{a}\"]" + searchOfA, "\"no-such-program-anywhere\" cannot be run"},
		{"command: [./train.sh, \"{a}\", \"{b}\"]" + searchOfA, "\"b\" has no value in it"},
	} {
		s := commandFile(t, "experiment: command\n"+c.text+"\n")
		if _, err := s.Expand(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}

// Programs of two folders cannot share a plan, which has one.
func TestProgramsOfTwoFolders(t *testing.T) {
	programs := &command.Frozen{}
	for i, want := range []string{"", "run in one folder"} {
		err := commandFile(t, "experiment: command\ncommand: [./train.sh]\n").Programs(programs)
		if got := err == nil; got != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("sweep %d: %v", i, err)
		}
	}
}

// The schema has all members of a program, and no other names.
func TestSchemaOfPrograms(t *testing.T) {
	raw, err := sweep.Schema(names)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs struct {
			File, Block struct{ Properties map[string]json.RawMessage }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	for _, properties := range []map[string]json.RawMessage{schema.Defs.File.Properties, schema.Defs.Block.Properties} {
		for _, member := range []string{"name", "command", "stdin", "output", "files", "declare"} {
			if !strings.Contains(string(properties[member]), `"description":`) {
				t.Errorf("%s is not described: %s", member, properties[member])
			}
		}
		if !strings.Contains(string(properties["experiment"]), `"command"`) {
			t.Errorf("command is no experiment of the schema: %s", properties["experiment"])
		}
	}
}
