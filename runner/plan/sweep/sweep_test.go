package sweep_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan/sweep"
)

func nothing(context.Context, *experiment.Trial, experiment.Params) (*experiment.Result, error) {
	return &experiment.Result{}, nil
}

type curveSettings struct {
	Epsilon float64                  `name:"epsilon" default:"1" above:"0" infinite:"yes" doc:"privacy loss"`
	Delta   float64                  `name:"delta" default:"0.01" above:"0" below:"1" doc:"its slack"`
	Folds   int                      `name:"folds" default:"14" doc:"parts"`
	Method  method                   `name:"method" default:"standard" doc:"how"`
	Points  experiment.Points        `name:"points" default:"5" doc:"where"`
	At      []float64                `name:"at" default:"0..14 step 7" doc:"when"`
	Rank    experiment.Or[full, int] `name:"rank" default:"full" doc:"directions"`
	Score   bool                     `name:"score" default:"true" doc:"whether"`
}

type sparseSettings struct {
	Method   sparsity `name:"method" default:"standard" doc:"how"`
	Inducing int      `name:"inducing" default:"5" doc:"how many" when:"method is sparse"`
	Epsilon  float64  `name:"epsilon" default:"1" doc:"privacy loss"`
}

type sparsity int

func (sparsity) Choices() []string { return []string{"standard", "dense", "sparse"} }

type method int

func (method) Choices() []string { return []string{"standard", "sparse"} }

type full int

func (full) Choices() []string { return []string{"full"} }

var names = sweep.Names{
	Experiments: experiment.NewRegistry(
		experiment.Of(experiment.Declaration[*curveSettings, struct{}]{Name: "demo/curve", Version: 1,
			Check: func(s *curveSettings) error {
				if s.Epsilon == 7 {
					return errors.New("epsilon may not be 7")
				}
				return nil
			},
		})().Experiment,
		&experiment.Experiment{Untyped: experiment.Untyped{Name: "demo/other", Version: 1, Run: nothing},
			Params: []experiment.Param{{Name: "size", Kind: experiment.Integer, Default: 3}}},
		experiment.Of(experiment.Declaration[*sparseSettings, struct{}]{Name: "demo/when", Version: 1})().Experiment,
	),
	Tables: func() ([]string, error) { return []string{"demo/table1"}, nil },
}

// show writes settings as "name=value ... #seed" with the parameters asked for.
func show(settings []sweep.Assignment, params ...string) []string {
	var out []string
	for _, s := range settings {
		line := ""
		for _, p := range params {
			line += experiment.FormatValue(s.Params[p]) + " "
		}
		out = append(out, fmt.Sprintf("%s#%d", line, s.Seed))
	}
	return out
}

func TestExpansion(t *testing.T) {
	for _, c := range []struct {
		name, file string
		params     []string
		want       []string
	}{
		{"defaults", "experiment: demo/curve", []string{"epsilon", "rank", "at"}, []string{"1 full [0,7,14] #0"}},
		{"a product changes its last parameter fastest",
			"experiment: demo/curve\nsweep:\n  epsilon: [1, inf]\n  folds: [2, 3]\n", []string{"epsilon", "folds"},
			[]string{"1 2 #0", "1 3 #0", "inf 2 #0", "inf 3 #0"}},
		{"zip pairs", "experiment: demo/curve\nzip:\n  epsilon: [1, 2]\n  folds: [2, 3]\n", []string{"epsilon", "folds"},
			[]string{"1 2 #0", "2 3 #0"}},
		{"cases override params",
			"experiment: demo/curve\nparams: {folds: 9}\ncases:\n  - {epsilon: 2}\n  - {epsilon: 3, folds: 4}\n",
			[]string{"epsilon", "folds"},
			[]string{"2 9 #0", "3 4 #0"}},
		{"a case's parameters are its own", "experiment: demo/curve\ncases:\n  - {epsilon: 2}\n  - {folds: 4}\n",
			[]string{"epsilon", "folds"},
			[]string{"2 14 #0", "1 4 #0"}},
		{"zip and cases may stand inside sweep",
			"experiment: demo/curve\nsweep:\n  zip: {epsilon: [1, 2], folds: [2, 3]}\n  cases:\n    - {method: sparse}\n",
			[]string{"epsilon", "folds", "method"},
			[]string{"1 2 sparse #0", "2 3 sparse #0"}},
		{"seeds are innermost", "experiment: demo/curve\nsweep: {folds: [2, 3]}\nseeds: 4..5\n", []string{"folds"},
			[]string{"2 #4", "2 #5", "3 #4", "3 #5"}},
		{"linspace and logspace include both ends",
			"experiment: demo/curve\nsweep:\n  epsilon: linspace(1, 2, 3)\n  delta: logspace(-3,-1,3)\n",
			[]string{"epsilon", "delta"},
			[]string{"1 0.001 #0", "1 0.01 #0", "1 0.1 #0", "1.5 0.001 #0", "1.5 0.01 #0", "1.5 0.1 #0", "2 0.001 #0",
				"2 0.01 #0", "2 0.1 #0"}},
		{"lists as values", "experiment: demo/curve\nparams: {at: 0..4 step 2}\nsweep:\n  points: [[5, 20], 3]\n",
			[]string{"at", "points"},
			[]string{"[0,2,4] [5,20] #0", "[0,2,4] 3 #0"}},
		{"numbers are decimal, and zero has no sign",
			"\ufeffexperiment: demo/curve\nsweep:\n  folds: [010]\n  at: [[-0, 1]]\n", []string{"folds", "at"},
			[]string{"10 [0,1] #0"}},
		{"several experiments", "runs:\n  - experiment: demo/other\n    sweep: {size: [1, 2]}\n  - experiment: " +
			"demo/other\n    seeds: [7]\n", []string{"size"},
			[]string{"1 #0", "2 #0", "3 #7"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sweep.Read("test.yaml", []byte(c.file), names)
			if err != nil {
				t.Fatal(err)
			}
			x, err := s.Expand()
			if err != nil {
				t.Fatal(err)
			}
			if got := show(x.Settings, c.params...); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// A file's trials compute in one element type, wherever its key stands.
func TestElementType(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"none", "experiment: demo/curve\n", "float64"},
		{"first", "dtype: float32\nexperiment: demo/curve\n", "float32"},
		{"last", "experiment: demo/curve\ndtype: float64\n", "float64"},
		{"beside runs", "runs:\n  - experiment: demo/other\ndtype: 'float32'\n", "float32"},
		{"beside tables only", "dtype: float32\ntables: [demo/table1]\n", "float32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sweep.Read("test.yaml", []byte(c.file), names)
			if err != nil {
				t.Fatal(err)
			}
			if s.DType != c.want {
				t.Errorf("%s, want %s", s.DType, c.want)
			}
		})
	}
}

// Every mistake names its place and the correction.
func TestMistakesHaveAPlace(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"misspelt key", "experiment: demo/curve\nswep: {folds: [1]}\n",
			`test.yaml:2:1: unknown key "swep"; did you mean "sweep"?`},
		{"misspelt experiment", "title: x\nexperiment: demo/curv\n",
			`test.yaml:2:13: unknown experiment "demo/curv"; did you mean "demo/curve"?`},
		{"misspelt parameter", "experiment: demo/curve\nparams:\n  epsilom: 1\n",
			`test.yaml:3:3: demo/curve: unknown parameter "epsilom"; did you mean "epsilon"?`},
		{"misspelt value", "experiment: demo/curve\nsweep:\n  method: [standard, spars]\n",
			`test.yaml:3:22: parameter "method": "spars" is not one of standard, sparse; did you mean "sparse"?`},
		{"misspelt table", "experiment: demo/curve\ntables: [demo/tabel1]\n",
			`test.yaml:2:10: unknown table "demo/tabel1"; did you mean "demo/table1"?`},
		{"text for a number", "experiment: demo/curve\nparams: {folds: many}\n",
			`test.yaml:2:17: parameter "folds": "many" is not a number`},
		{"fraction for a whole number", "experiment: demo/curve\nparams: {folds: 2.5}\n", `"2.5" is not a whole number`},
		{"an octal number", "experiment: demo/curve\nparams: {folds: 0x10}\n", `"0x10" is not a number`},
		{"half a bracket", "experiment: demo/curve\nparams: {at: '[1,2'}\n", `a bracket without its other half`},
		{"an anchor", "experiment: demo/curve\nparams: &p {folds: 1}\n", `anchors and aliases are not supported`},
		{"out of range", "experiment: demo/curve\nparams: {delta: 1}\n", `parameter "delta": 1 is outside (0, 1)`},
		{"not a number", "experiment: demo/curve\nparams: {delta: .nan}\n", `NaN`},
		{"infinite", "experiment: demo/curve\nparams: {delta: .inf}\n", `inf is not finite`},
		{"empty list", "experiment: demo/curve\nsweep:\n  folds: []\n",
			`test.yaml:3:10: the list of values of "folds" is empty`},
		{"a single value that varies", "experiment: demo/curve\nsweep:\n  folds: 3\n",
			`test.yaml:3:10: parameter "folds" varies here and needs a list`},
		{"a call in braces", "experiment: demo/curve\nsweep: {epsilon: linspace(0.1,0.9,9)}\n",
			`test.yaml:2:18: parameter "epsilon": "linspace(0.1" is cut off, since YAML splits at commas within braces ` +
				`and brackets; quote it: "linspace(a,b,n)"`},
		{"a call in brackets", "experiment: demo/curve\nsweep:\n  epsilon: [1, logspace(0,1,2)]\n",
			`test.yaml:3:16: parameter "epsilon": "logspace(0" is cut off`},
		{"a list that does not vary", "experiment: demo/curve\nparams:\n  folds: [1, 2]\n",
			`takes one value here, not a list of 2; lists go under sweep`},
		{"unequal zip", "experiment: demo/curve\nzip:\n  folds: [1, 2]\n  epsilon: [1]\n",
			`test.yaml:4:3: zip pairs lists of equal length, but "epsilon" has 1 values and "folds" has 2`},
		{"given twice", "experiment: demo/curve\nparams: {folds: 1}\nsweep: {folds: [1]}\n",
			`test.yaml:3:9: parameter "folds" is given under params and under sweep`},
		{"given in a case, too", "experiment: demo/curve\nzip: {folds: [1, 2]}\ncases:\n  - {folds: 3}\n",
			`test.yaml:4:6: parameter "folds" is given under zip and in a case`},
		{"zip twice", "experiment: demo/curve\nzip: {folds: [1]}\nsweep:\n  zip: {epsilon: [1]}\n",
			`test.yaml:4:3: zip is given twice`},
		{"a key twice", "experiment: demo/curve\nexperiment: demo/other\n", `test.yaml:2:1`},
		{"bad function", "experiment: demo/curve\nsweep:\n  folds: geomspace(1,2,3)\n", `unknown function "geomspace"`},
		{"bad count", "experiment: demo/curve\nsweep:\n  folds: linspace(1,2,0)\n", `the count must be a whole number`},
		{"another element type", "experiment: demo/curve\ndtype: float16\n",
			"test.yaml:2:8: dtype: \"float16\" is not one of float64, float32\n  dtype: float16\n"},
		{"a number for an element type", "dtype: 32\nexperiment: demo/curve\n",
			`test.yaml:1:8: dtype: "32" is not one of float64, float32`},
		{"two element types", "experiment: demo/curve\ndtype: [float32, float64]\n",
			`test.yaml:2:8: dtype: "[float32 float64]" is not one of float64, float32`},
		{"no element type", "experiment: demo/curve\ndtype:\n", `the value is missing`},
		{"an element type of one experiment", "runs:\n  - experiment: demo/curve\n    dtype: float32\n",
			`test.yaml:3:5: unknown key "dtype"; the nearest are sweep, zip, name`},
		{"an element type only", "dtype: float32\n", `nothing to run`},
		{"bad seeds", "experiment: demo/curve\nseeds: 5..1\n", `test.yaml:2:8: "5..1" are not seeds`},
		{"check of the experiment", "experiment: demo/curve\nsweep:\n  epsilon: [1, 7]\n",
			`epsilon may not be 7 (setting epsilon=7)`},
		{"no experiment", "params: {folds: 1}\n", `no experiment is named`},
		{"nothing", "title: x\n", `nothing to run`},
		{"empty", "", `the file is empty`},
		{"only a comment", "# hello\n", `the file is empty`},
		{"not a mapping", "- 1\n", `must be a mapping`},
		{"not YAML", "experiment: [demo/curve\n", `test.yaml:1:`},
		{"a tab", "experiment: demo/curve\nparams:\n\tfolds: 1\n", `test.yaml:`},
		{"two documents", "experiment: demo/curve\n---\nexperiment: demo/curve\n", `one YAML document`},
		{"runs and fields", "title: t\nexperiment: demo/curve\nruns:\n  - experiment: demo/other\n",
			`test.yaml:2:1: the file has both runs and experiment at the top; experiment goes into the blocks under runs`},
		{"runs and seeds", "title: t\nseeds: 0..1\nruns:\n  - experiment: demo/other\n", "test.yaml:2:1: the file has both " +
			"runs and seeds at the top; seeds goes into the blocks under runs, or is given by --seeds\n"},
		{"tables and params", "tables: [demo/table1]\nparams: {folds: 1}\n", `test.yaml:2:1: a file of tables alone has ` +
			`the settings of the tables; params goes with an experiment`},
		{"an alias for a list", "experiment: demo/curve\nsweep:\n  epsilon: *nope\n",
			`test.yaml:3:12: anchors and aliases are not supported`},
		{"too many", "experiment: demo/curve\nsweep:\n  epsilon: linspace(1,2,100000)\n  delta: linspace(.1,.2,100000)\n",
			`more than 2000000 trials`},
		{"too many blocks", "runs:\n" + strings.Repeat("  - experiment: demo/other\n    seeds: 0..699999\n", 3),
			`test.yaml:6:15: the sweep has more than 2000000 trials`},
		{"too many cases", "experiment: demo/other\nseeds: 0..699999\ncases:\n" + strings.Repeat("  - {size: 1}\n", 3),
			`more than 2000000 trials`},
		{"missing value", "experiment: demo/curve\nparams:\n  folds:\n", `the value is missing`},
		{"a value twice", "experiment: demo/curve\nsweep:\n  epsilon: [1, 2, 1]\n",
			`test.yaml:3:19: parameter "epsilon" has the value 1 twice; each value runs once: leave one of them out`},
		{"a value twice, in other words", "experiment: demo/curve\nsweep:\n  epsilon: [1, 1.0]\n",
			`test.yaml:3:16: parameter "epsilon" has the value 1 twice`},
		{"a value as a text", "experiment: demo/curve\nsweep:\n  epsilon: [1e0, \"1\"]\n",
			`test.yaml:3:18: parameter "epsilon" has the value 1 twice`},
		{"a flag twice", "experiment: demo/curve\nsweep:\n  score: [true, yes]\n",
			`test.yaml:3:17: parameter "score" has the value true twice`},
		{"a word twice", "experiment: demo/curve\nsweep:\n  rank: [full, 3, full]\n",
			`test.yaml:3:19: parameter "rank" has the value full twice`},
		{"a list twice", "experiment: demo/curve\nsweep:\n  points: [[5, 20], 3, [5.0, 20]]\n",
			`test.yaml:3:24: parameter "points" has the value [5,20] twice`},
		{"a space of one value", "experiment: demo/curve\nsweep:\n  epsilon: linspace(1,1,3)\n",
			`test.yaml:3:12: parameter "epsilon" has the value 1 twice`},
		{"a seed twice", "experiment: demo/curve\nseeds: [1, 0..2]\n", `test.yaml:2:8: seed 1 is given twice`},
		{"a pair twice", "experiment: demo/curve\nzip:\n  epsilon: [1, 2, 1]\n  folds: [3, 3, 3]\n",
			`test.yaml:3:19: demo/curve epsilon=1 folds=3 stands twice, first at line 3, column 13; leave one of them out`},
		{"a case twice", "experiment: demo/curve\ncases:\n  - {epsilon: 2}\n  - {folds: 3}\n  - {epsilon: 2.0}\n",
			`test.yaml:5:6: demo/curve epsilon=2 stands twice, first at line 3, column 6; leave one of them out`},
		{"a case twice, with a default", "experiment: demo/curve\ncases:\n  - {epsilon: 2}\n  - {epsilon: 2, folds: 14}\n",
			`test.yaml:4:6: demo/curve epsilon=2 folds=14 stands twice`},
		{"a block twice", "runs:\n  - experiment: demo/other\n    sweep: {size: [3, 4]}\n    seeds: 0..2\n  - experiment: " +
			"demo/other\n    seeds: 2..3\n",
			`test.yaml:5:15: demo/other with all defaults stands twice, first at line 2, column 15`},
		{"varies and does nothing", "experiment: demo/when\nsweep:\n  inducing: [5, 10]\n",
			`test.yaml:3:3: demo/when: inducing does nothing where method is standard; it applies where method is sparse. A ` +
				`sweep over it repeats one computation: leave it out, or choose settings to which it applies`},
		{"varies and does nothing for any method",
			"experiment: demo/when\nsweep:\n  method: [standard, dense]\n  inducing: [5, 10]\n",
			`test.yaml:4:3: demo/when: inducing does nothing where method is standard or method is dense; it applies`},
		{"varies in a zip and does nothing", "experiment: demo/when\nzip:\n  epsilon: [1, 2]\n  inducing: [5, 10]\n",
			`test.yaml:4:3: demo/when: inducing does nothing where method is standard`},
		{"varies in cases and does nothing",
			"experiment: demo/when\ncases:\n  - {epsilon: 2, inducing: 5}\n  - {inducing: 6}\n",
			`test.yaml:3:18: demo/when: inducing does nothing where method is standard`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sweep.Read("test.yaml", []byte(c.file), names)
			if err == nil {
				_, err = s.Expand()
			}
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if !strings.HasPrefix(err.Error(), "test.yaml:") {
				t.Errorf("the error does not begin with its place: %v", err)
			}
		})
	}
}

func TestOverrides(t *testing.T) {
	const file = "runs:\n  - experiment: demo/curve\n    sweep: {folds: [2, 3]}\n    zip: {epsilon: [1, 2], method: " +
		"[standard, sparse]}\n  - experiment: demo/other\n"
	for _, c := range []struct {
		assignments []string
		want        []string // folds epsilon method points of the first block
	}{
		{[]string{"folds=9"}, []string{"9 1 standard 5 #0", "9 2 sparse 5 #0"}},
		{[]string{"folds=8,9", "epsilon=5"},
			[]string{"8 5 standard 5 #0", "9 5 standard 5 #0", "8 5 sparse 5 #0", "9 5 sparse 5 #0"}},
		{[]string{"points=[5,20],7", "folds=1"},
			[]string{"1 1 standard [5,20] #0", "1 1 standard 7 #0", "1 2 sparse [5,20] #0", "1 2 sparse 7 #0"}},
		{[]string{"folds=linspace(1,3,2)", "epsilon=inf"},
			[]string{"1 inf standard 5 #0", "3 inf standard 5 #0", "1 inf sparse 5 #0", "3 inf sparse 5 #0"}},
	} {
		t.Run(strings.Join(c.assignments, " "), func(t *testing.T) {
			s, err := sweep.Read("test.yaml", []byte(file), names)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range c.assignments {
				if err := s.Override(a); err != nil {
					t.Fatal(err)
				}
			}
			x, err := s.Expand()
			if err != nil {
				t.Fatal(err)
			}
			got := show(x.Settings[:len(x.Settings)-1], "folds", "epsilon", "method", "points")
			if !slices.Equal(got, c.want) {
				t.Errorf("%v\ngot  %q\nwant %q", c.assignments, got, c.want)
			}
		})
	}
	s, err := sweep.Read("test.yaml", []byte(file), names)
	if err != nil {
		t.Fatal(err)
	}
	for assignment, want := range map[string]string{
		"fold=1":                  `unknown parameter "fold"; did you mean "folds"?`,
		"folds":                   `not of the form name=value`,
		"folds=":                  `an empty value`,
		"folds=1,,2":              `an empty value`,
		"folds=x":                 `"x" is not a number`,
		"size=1.5":                `not a whole number`,
		"epsilon=1,1.0":           `epsilon=1,1.0: demo/curve: the value 1 is given twice`,
		"epsilon=linspace(2,2,2)": `the value 2 is given twice`,
	} {
		t.Run(assignment, func(t *testing.T) {
			if err := s.Override(assignment); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", assignment, err, want)
			}
		})
	}
}

// An override that one block cannot take changes none of them, and one that
// some blocks have no parameter for changes the others only.
func TestOverrideAppliesToAllBlocksOrNone(t *testing.T) {
	const file = `runs:
  - {experiment: demo/other, sweep: {size: [1, 2]}}
  - {experiment: demo/curve, cases: [{folds: 2, epsilon: 3}, {folds: 4}]}
`
	for _, c := range []struct {
		assignment string
		mistake    bool
		want       []string // size, folds and epsilon
	}{
		{"size=7", false, []string{"7 <nil> <nil> #0", "<nil> 2 3 #0", "<nil> 4 1 #0"}},
		{"folds=9", false, []string{"1 <nil> <nil> #0", "2 <nil> <nil> #0", "<nil> 9 3 #0", "<nil> 9 1 #0"}},
		{"folds=9,x", true, []string{"1 <nil> <nil> #0", "2 <nil> <nil> #0", "<nil> 2 3 #0", "<nil> 4 1 #0"}},
		{"method=sparse", false, []string{"1 <nil> <nil> #0", "2 <nil> <nil> #0", "<nil> 2 3 #0", "<nil> 4 1 #0"}},
	} {
		t.Run(c.assignment, func(t *testing.T) {
			s, err := sweep.Read("test.yaml", []byte(file), names)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Override(c.assignment); (err != nil) != c.mistake {
				t.Errorf("%s: %v", c.assignment, err)
			}
			x, err := s.Expand()
			if err != nil {
				t.Fatal(err)
			}
			if got := show(x.Settings, "size", "folds", "epsilon"); !slices.Equal(got, c.want) {
				t.Errorf("%s\ngot  %q\nwant %q", c.assignment, got, c.want)
			}
		})
	}

	// Two experiments have the parameter, but only the first can take 11.
	bounded := func(name string, most float64) *experiment.Experiment {
		return &experiment.Experiment{Untyped: experiment.Untyped{Name: name, Version: 1, Run: nothing},
			Params: []experiment.Param{{Name: "size", Kind: experiment.Integer, Default: 3, Max: &most}}}
	}
	s, err := sweep.Read("test.yaml", []byte("runs:\n  - {experiment: demo/large}\n  - {experiment: demo/small}\n"),
		sweep.Names{Experiments: experiment.NewRegistry(bounded("demo/large", 20), bounded("demo/small", 10))})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Override("size=11"); err == nil || !strings.Contains(err.Error(), "demo/small: ") {
		t.Errorf("%v", err)
	}
	if x, err := s.Expand(); err != nil || !slices.Equal(show(x.Settings, "size"), []string{"3 #0", "3 #0"}) {
		t.Errorf("after a mistake: %v, %v", x, err)
	}
}

func TestSetSeedsReplacesThoseOfAllBlocks(t *testing.T) {
	s, err := sweep.Read("test.yaml",
		[]byte("runs:\n  - {experiment: demo/other, seeds: 0..9}\n  - {experiment: demo/other, params: {size: 4}}\n"), names)
	if err != nil {
		t.Fatal(err)
	}
	s.SetSeeds([]int64{5, 3})
	x, err := s.Expand()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(x.Settings, "size"), []string{"3 #5", "3 #3", "4 #5", "4 #3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadFileRefusesWhatIsNoSweepFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := sweep.ReadFile(dir, names); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("folder: %v", err)
	}
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, make([]byte, 5<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sweep.ReadFile(big, names); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("big file: %v", err)
	}
}

// The schema knows every experiment, parameter and table, and no others.
func TestSchemaNamesWhatThereIs(t *testing.T) {
	raw, err := sweep.Schema(names)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(raw) {
		t.Fatal("the schema is not JSON")
	}
	for _, want := range []string{`"demo/curve"`, `"demo/other"`, `"epsilon"`, `"size"`, `"demo/table1"`,
		`"exclusiveMaximum": 1`, `"sparse"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the schema does not contain %s", want)
		}
	}
}

// A parameter that has no effect in some settings, or has one value, is run as given, with a
// warning.
func TestWarningsOfWhatDoesNothing(t *testing.T) {
	const needs = "it applies where method is sparse"
	for _, c := range []struct {
		name, file string
		trials     int
		want       []string
	}{
		{"applies", "experiment: demo/when\nparams: {method: sparse}\nsweep: {inducing: [5, 10]}\n", 2, nil},
		{"one value", "experiment: demo/when\nparams: {inducing: 5}\n", 1,
			[]string{"test.yaml:2:10: inducing=5: inducing does nothing where method is standard; " + needs}},
		{"a sweep over one value", "experiment: demo/when\nsweep: {inducing: [6]}\n", 1,
			[]string{"test.yaml:2:9: inducing=6: inducing does nothing where method is standard; " + needs}},
		{"one value that applies to one of two",
			"experiment: demo/when\nparams: {inducing: 6}\nsweep: {method: [standard, sparse]}\n", 2, nil},
		{"several values that apply to one of three", "experiment: demo/when\nsweep: {method: [standard, dense, sparse], " +
			"inducing: [5, 10]}\nseeds: 0..2\n", 18,
			[]string{"test.yaml:1:11: 6 of 18 trials repeat the computation of another: inducing does nothing where method is " +
				"standard or method is dense; " + needs + ". Explicit cases leave such trials out"}},
		{"cases, each as it needs", "experiment: demo/when\ncases:\n  - {method: standard}\n  - {method: sparse, inducing: " +
			"5}\n  - {method: sparse, inducing: 6}\n", 3, nil},
		{"a case that repeats the default", "experiment: demo/when\ncases:\n  - {method: standard}\n  - {method: standard, " +
			"inducing: 7}\n  - {method: sparse, inducing: 8}\n", 3,
			[]string{"test.yaml:1:11: 1 of 3 trials repeat the computation of another: inducing does nothing where method is " +
				"standard; " + needs + ". Explicit cases leave such trials out"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sweep.Read("test.yaml", []byte(c.file), names)
			if err != nil {
				t.Fatal(err)
			}
			x, err := s.Expand()
			if err != nil {
				t.Fatal(err)
			}
			if len(x.Settings) != c.trials || !slices.Equal(x.Warnings, c.want) {
				t.Errorf("%d trials, warnings %q\nwant %d, %q", len(x.Settings), x.Warnings, c.trials, c.want)
			}
		})
	}
}

// Replacements from the command line may make trials equal that differ in the file:
// each of them is left once.
func TestWhatIsReplacedMergesTrials(t *testing.T) {
	for _, c := range []struct {
		name, file, argument string
		seeds                []int64
		merged               int
		want                 []string // size
	}{
		{"cases", "experiment: demo/other\ncases:\n  - {size: 1}\n  - {size: 2}\n", "size=7", nil, 1, []string{"7 #0"}},
		{"a zip", "experiment: demo/when\nzip: {epsilon: [1, 2, 3], inducing: [5, 5, 6]}\nparams: {method: sparse}\n",
			"epsilon=4", nil, 1, []string{"<nil> #0", "<nil> #0"}},
		{"seeds", "runs:\n  - {experiment: demo/other, seeds: 0..1}\n  - {experiment: demo/other, seeds: 2}\n", "",
			[]int64{5, 6}, 2, []string{"3 #5", "3 #6"}},
		{"some seeds", "runs:\n  - {experiment: demo/other, params: {size: 4}, seeds: 0..2}\n  - {experiment: demo/other, " +
			"seeds: 2..3}\n", "size=3", nil, 1,
			[]string{"3 #0", "3 #1", "3 #2", "3 #3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sweep.Read("test.yaml", []byte(c.file), names)
			if err != nil {
				t.Fatal(err)
			}
			if c.argument != "" {
				if err := s.Override(c.argument); err != nil {
					t.Fatal(err)
				}
			}
			if c.seeds != nil {
				s.SetSeeds(c.seeds)
			}
			x, err := s.Expand()
			if err != nil {
				t.Fatal(err)
			}
			if got := show(x.Settings, "size"); x.Merged != c.merged || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %d merged; want %q, %d", got, x.Merged, c.want, c.merged)
			}
		})
	}
}

// A sweep reports whether an argument has an effect there; it may have one in another
// sweep.
func TestArgumentsOfASweep(t *testing.T) {
	for _, c := range []struct {
		argument, file string
		inert, varies  bool
	}{
		{"inducing=7", "experiment: demo/when\n", true, false},
		{"inducing=7,8", "experiment: demo/when\n", true, true},
		{"inducing=7,8", "experiment: demo/when\nsweep: {method: [standard, sparse]}\n", false, true},
		{"inducing=7", "experiment: demo/when\nparams: {method: sparse}\n", false, false},
	} {
		t.Run(c.argument+" "+c.file, func(t *testing.T) {
			s, err := sweep.Read("test.yaml", []byte(c.file), names)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Override(c.argument); err != nil {
				t.Fatal(err)
			}
			x, err := s.Expand()
			if err != nil {
				t.Fatal(err)
			}
			if a := x.Arguments; len(a) != 1 || a[0].Text != c.argument || (a[0].Inert != nil) != c.inert ||
				a[0].Varies != c.varies {
				t.Errorf("%+v", a)
			}
		})
	}
}
