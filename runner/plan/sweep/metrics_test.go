package sweep_test

import (
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan/sweep"
)

type scores struct {
	Accuracy  float64            `name:"accuracy" doc:"share of right ones" best:"high" result:"yes"`
	Confusion map[string]float64 `name:"confusion_*" doc:"confusion_A_as_B: rows"`
}

type errorsOf struct {
	RMSE float64 `name:"rmse" doc:"an error" best:"low" result:"yes"`
}

type noSettings struct {
	Draws int `name:"draws" default:"0" doc:"random numbers"`
}

// scored has two experiments with metrics: the first draws nothing at random without draws.
var scored = sweep.Names{
	Experiments: experiment.NewRegistry(
		experiment.Of(experiment.Declaration[*noSettings, scores]{Name: "demo/classes", Version: 1,
			Seedless: func(s *noSettings) bool { return s.Draws == 0 }})().Experiment,
		experiment.Of(experiment.Declaration[*noSettings, errorsOf]{Name: "demo/numbers", Version: 1})().Experiment,
		experiment.Of(experiment.Declaration[*noSettings, timeOf]{Name: "demo/times", Version: 1,
			Seedless: func(*noSettings) bool { return true }})().Experiment),
	Tables: func() ([]string, error) { return []string{"demo/table1"}, nil },
}

type timeOf struct {
	Time float64 `name:"time_s" doc:"wall time" unit:"s" timing:"yes" best:"low" result:"yes"`
}

func TestMetricsOfAFile(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		err        string
	}{
		{"none", "experiment: demo/classes\n", nil, ""},
		{"before the experiment", "metrics: [accuracy]\nexperiment: demo/classes\n", []string{"accuracy"}, ""},
		{"a family and a member", "experiment: demo/classes\nmetrics: [confusion_*, confusion_0_as_1]\n",
			[]string{"confusion_*", "confusion_0_as_1"}, ""},
		{"of several experiments", "metrics: [rmse, accuracy]\nruns:\n- experiment: demo/classes\n" +
			"- experiment: demo/numbers\n", []string{"rmse", "accuracy"}, ""},
		{"misspelt", "experiment: demo/classes\nmetrics: [akkuracy]\n", nil,
			`t.yaml:2:11: unknown metric "akkuracy"; did you mean "accuracy"?`},
		{"of another experiment", "experiment: demo/classes\nmetrics: [rmse]\n", nil,
			`t.yaml:2:11: unknown metric "rmse"; valid: accuracy, confusion_*`},
		{"twice", "experiment: demo/classes\nmetrics: [accuracy, accuracy]\n", nil,
			`t.yaml:2:21: the metric "accuracy" stands twice; leave one of them out`},
		{"empty", "experiment: demo/classes\nmetrics: []\n", nil, "t.yaml:2:10: metrics is an empty list"},
		{"no list", "experiment: demo/classes\nmetrics: accuracy\n", nil, "t.yaml:2:10: metrics must be a list"},
		{"no text", "experiment: demo/classes\nmetrics: [1]\n", nil, "t.yaml:2:11: a metric's name must be a text"},
		{"tables only", "metrics: [accuracy]\ntables: [demo/table1]\n", nil,
			"t.yaml:1:11: metrics are those of an experiment, and the file names none"},
		{"in a block", "runs:\n- experiment: demo/classes\n  metrics: [accuracy]\n", nil, "t.yaml:3:3: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sweep.Read("t.yaml", []byte(c.text), scored)
			switch {
			case c.err == "" && err == nil:
				if !slices.Equal(s.Metrics, c.want) {
					t.Errorf("%q, want %q", s.Metrics, c.want)
				}
			case c.err == "" || err == nil || !strings.Contains(err.Error(), c.err):
				t.Errorf("error %v, want one with %q", err, c.err)
			}
		})
	}
}

// A trial that draws nothing at random runs with the first seed alone, unless it measures time.
func TestSeedsOfATrialWithoutRandomness(t *testing.T) {
	for _, c := range []struct {
		name, text      string
		trials, left    int
		first, lastSeed int64
	}{
		{"nothing drawn", "experiment: demo/classes\nseeds: 3..7\n", 1, 4, 3, 3},
		{"one seed", "experiment: demo/classes\nseeds: 3\n", 1, 0, 3, 3},
		{"in some settings", "experiment: demo/classes\nsweep: {draws: [0, 2]}\nseeds: 3..5\n", 4, 2, 3, 5},
		{"a random one", "experiment: demo/numbers\nseeds: 3..5\n", 3, 0, 3, 5},
		{"a time", "experiment: demo/times\nseeds: 3..5\n", 3, 0, 3, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sweep.Read("t.yaml", []byte(c.text), scored)
			if err != nil {
				t.Fatal(err)
			}
			x, err := s.Expand()
			if err != nil {
				t.Fatal(err)
			}
			got := x.Settings
			if len(got) != c.trials || x.Seedless != c.left || got[0].Seed != c.first || got[len(got)-1].Seed != c.lastSeed {
				t.Errorf("%d trials without %d from seed %d to %d", len(got), x.Seedless, got[0].Seed, got[len(got)-1].Seed)
			}
		})
	}
}
