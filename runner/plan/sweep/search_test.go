package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan/search"
	"privkern/runner/plan/sweep"
)

type fitted struct {
	Accuracy float64            `name:"accuracy" doc:"share that is right"`
	Each     map[string]float64 `name:"class_*" doc:"of each class"`
}

type fitSettings struct {
	Lengthscale float64  `name:"lengthscale" default:"1" above:"0" doc:"of the kernel"`
	Epochs      int      `name:"epochs" default:"1" min:"1" doc:"passes"`
	Method      sparsity `name:"method" default:"standard" doc:"how"`
	Inducing    int      `name:"inducing" default:"5" doc:"how many" when:"method is sparse"`
}

var fits = sweep.Names{Experiments: experiment.NewRegistry(
	experiment.Of(experiment.Declaration[*fitSettings, fitted]{Name: "demo/fit", Version: 1,
		Check: func(s *fitSettings) error {
			if s.Lengthscale > 1000 || s.Method == 1 {
				return errors.New("too much")
			}
			return nil
		}})().Experiment,
	&experiment.Experiment{Untyped: experiment.Untyped{Name: "demo/other", Version: 1, Run: nothing}},
), Tables: names.Tables}

const searchFile = `experiment: demo/fit
params: {epochs: 2}
search: {method: random, budget: 6, metric: accuracy, direction: maximise,
  space: {lengthscale: log(1, 100), method: [standard, sparse]}}
seeds: 0..1
`

// A search stands for the trials of its first round, and its specification has all that was written.
func TestSearch(t *testing.T) {
	s, err := sweep.Read("s.yaml", []byte(searchFile), fits)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Expand()
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Settings) != 12 || len(x.Warnings) != 0 {
		t.Errorf("%d trials, warnings %q", len(x.Settings), x.Warnings)
	}
	for _, a := range x.Settings {
		if p := experiment.SettingsIn[fitSettings](a.Params); p.Epochs != 2 || p.Lengthscale < 1 || p.Lengthscale > 100 {
			t.Errorf("%v is outside of the space", a.Params)
		}
	}
	const want = "random maximise accuracy seed=0; seeds: 0..1; lengthscale: log(1, 100); " +
		"method: [standard, sparse]"
	if got := x.Search.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if round, err := x.Search.Next(context.Background(), make([]search.Observation, 6), nil); err != nil || round != nil {
		t.Errorf("after the budget: %v, %v", round, err)
	}
	if err := s.Override("epochs=3"); err != nil {
		t.Fatal(err)
	}
	if x, err = s.Expand(); err != nil || experiment.SettingsIn[fitSettings](x.Settings[0].Params).Epochs != 3 {
		t.Errorf("epochs=3 from the command line: %v", err)
	}
	for given, want := range map[string]string{"lengthscale=3": "by the command line (lengthscale=3)",
		"epochs=1,2": "epochs has several values"} {
		again, err := sweep.Read("s.yaml", []byte(searchFile), fits)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Override(given); err != nil {
			t.Fatal(err)
		}
		if _, err = again.Expand(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s from the command line: %v", given, err)
		}
	}
}

// The three ways to write a space mean the same: within braces, where YAML splits at commas, quoted and in lines.
func TestSearchSpaces(t *testing.T) {
	for _, space := range []string{
		"{lengthscale: log(1, 100), epochs: 1..9}", `{"lengthscale": "log(1,100)", epochs: "1 .. 9"}`,
		"\n    lengthscale: log( 1e0 , 100 )\n    epochs: linear(1, 9)",
	} {
		file := "experiment: demo/fit\nsearch:\n  method: random\n  budget: 2\n  metric: class_2\n  direction: minimise\n" +
			"  seed: 7\n  space: " + space + "\n"
		s, err := sweep.Read("s.yaml", []byte(file), fits)
		if err != nil {
			t.Fatalf("%s: %v", space, err)
		}
		x, err := s.Expand()
		if err != nil {
			t.Fatalf("%s: %v", space, err)
		}
		const want = "random minimise class_2 seed=7; seeds: 0; lengthscale: log(1, 100); epochs: linear(1, 9)"
		if got := x.Search.String(); got != want {
			t.Errorf("%s: %s, want %s", space, got, want)
		}
	}
}

func TestSearchMistakes(t *testing.T) {
	replaced := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(searchFile) }
	const space = "{lengthscale: log(1, 100), method: [standard, sparse]}"
	halving := func(fidelity string) string {
		return replaced("params: {epochs: 2}\n", "", "method: random", "method: halving"+fidelity)
	}
	for _, c := range []struct{ name, file, want string }{
		{"no member", "experiment: demo/fit\nsearch: {}\n", "2:1: the search has no method"},
		{"no space", replaced(",\n  space: "+space, ""), "3:1: the search has no space"},
		{"no mapping", "experiment: demo/fit\nsearch: 3\n", "2:9: search must be a mapping"},
		{"unknown member", replaced("budget", "budgets"), `3:26: unknown key "budgets"; did you mean "budget"?`},
		{"unknown method", replaced("random", "bayes"), `3:18: unknown method "bayes"; valid: random, halving, bayesian`},
		{"budget 0", replaced("budget: 6", "budget: 0"), "3:34: budget is 0; it must be a whole number from 1 up"},
		{"half a budget", replaced("budget: 6", "budget: 1.5"), "3:34: budget is 1.5"},
		{"huge budget", replaced("budget: 6", "budget: 99999999999999999999"), "3:34: budget is 99999999999999999999"},
		{"large budget", replaced("budget: 6", "budget: 3000000"), "may be 2000000 at most"},
		{"large Bayesian budget", replaced("random", "bayesian", "budget: 6", "budget: 1001"),
			"3:36: budget is 1001; a Bayesian"},
		{"many trials", replaced("budget: 6", "budget: 1500000"), "more than 2000000 trials"},
		{"unknown metric", replaced("accuracy", "accurate"), `unknown metric "accurate"; did you mean "accuracy"?`},
		{"no direction", replaced(", direction: maximise", ""), "add direction: maximise or direction: minimise"},
		{"unknown direction", replaced("maximise", "maximize"), `did you mean "maximise"?`},
		{"empty space", replaced(space, "{}"), "the space is empty"},
		{"unknown parameter", replaced("{lengthscale", "{length"), `demo/fit: unknown parameter "length"`},
		{"a value", replaced("log(1, 100)", "3"), "a single value goes under params"},
		{"a word", replaced("log(1, 100)", "wide"), "a space has log(a, b)"},
		{"inverted", replaced("log(1, 100)", "log(100, 1)"),
			"the interval from 100 to 1 is empty; the lower bound stands first"},
		{"a point", replaced("log(1, 100)", "linear(1, 1)"), "the interval from 1 to 1 is empty"},
		{"no logarithm", replaced("log(1, 100)", "log(0, 1)"), "the bound 0 has no logarithm"},
		{"outside", replaced("log(1, 100)", "linear(-1, 1)"), `parameter "lengthscale": -1`},
		{"infinite", replaced("log(1, 100)", "log(1, inf)"), "finite"},
		{"no numbers", replaced("log(1, 100)", "log(a, b)"), "must be numbers"},
		{"one bound", replaced("log(1, 100)", "log(1)"), "a space has log(a, b)"},
		{"half a range", replaced("log(1, 100)", "1..2.5"), "range of whole numbers"},
		{"numbers of a word", replaced("[standard, sparse]", "1..2"), `parameter "method" takes no numbers of an interval`},
		{"an empty list", replaced("[standard, sparse]", "[]"), "is empty"},
		{"twice in a list", replaced("[standard, sparse]", "[sparse, sparse]"), "twice"},
		{"a value that is refused", replaced("[standard, sparse]", "[standard, dense]"),
			"no setting of the space with method=dense is possible, such as: demo/fit: too much"},
		{"nothing is taken", replaced("log(1, 100)", "log(2000, 3000)"), "too much"},
		{"an inert setting", replaced("method: [standard, sparse]", "inducing: 1..9"),
			"inducing does nothing where method is"},
		{"fixed, too", replaced("{epochs: 2}", "{lengthscale: 2}"),
			`4:11: parameter "lengthscale" is given in the search and`},
		{"a sweep, too", searchFile + "sweep: {epochs: [1, 2]}\n",
			`parameter "epochs" is given under params and under sweep`},
		{"a product", replaced("params: {epochs: 2}", "sweep: {epochs: [1, 2]}"), "sweep, zip and cases do not combine"},
		{"two blocks", "runs:\n  - experiment: demo/other\n  - experiment: demo/fit\n    search: {method: random, " +
			"budget: 6, metric: accuracy, direction: maximise, space: {epochs: 1..9}}\n",
			"4:5: a search has its file for itself"},
		{"a fidelity of another method", replaced("budget: 6", "budget: 6, fidelity: {epochs: [1, 2]}"),
			"fidelity is for the method halving, and this one is random"},
		{"no fidelity", halving(""), "halving needs fidelity: {NAME: [...]}"},
		{"one level", halving(", fidelity: {epochs: [1]}"), "two levels of epochs at least"},
		{"two fidelities", halving(", fidelity: {epochs: [1, 2], inducing: [1, 2]}"), "fidelity names one setting"},
		{"fidelity in the space", halving(", fidelity: {lengthscale: [1, 2]}"),
			`parameter "lengthscale" is given in the search`},
		{"budget for no last level", halving(", fidelity: {epochs: [1, 3, 9]}"), "a budget of 6 is too small for 3 levels"},
		{"eta", halving(", eta: 1, fidelity: {epochs: [1, 3]}"), "eta is 1; it must be a number above 1"},
		{"batch of a halving", halving(", batch: 2, fidelity: {epochs: [1, 3]}"), "leave batch out"},
	} {
		s, err := sweep.Read("s.yaml", []byte(c.file), fits)
		if err == nil {
			_, err = s.Expand()
		}
		var placed *sweep.Error
		if !errors.As(err, &placed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, fmt.Sprint(err), c.want)
		}
	}
}

// A program has the settings of the space, whether they are declared or not.
func TestSearchOfProgram(t *testing.T) {
	const file = "experiment: command\ncommand: [sh, \"{lr}\", \"{depth}\", \"{mode}\"]\nsearch: {method: random, " +
		"budget: 3, metric: loss, direction: minimise, space: {lr: log(0.1, 1), depth: 1..9, mode: [a, b]}}\n"
	s, err := sweep.Read("s.yaml", []byte(file), withPrograms())
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Expand()
	if err != nil {
		t.Fatal(err)
	}
	const want = "random minimise loss seed=0; seeds: 0; lr: log(0.1, 1); depth: linear(1, 9); mode: [a, b]"
	if got := x.Search.String(); got != want || len(x.Settings) != 3 {
		t.Errorf("%d settings of %s, want %s", len(x.Settings), got, want)
	}
}
