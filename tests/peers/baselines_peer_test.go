package peers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/tests/program"
	"privkern/tests/tier"
)

// splitsOfPeers is the number of splits, on each of which both sides learn once.
const splitsOfPeers = 10

// publicTable is a CSV file with columns x0, x1, … and y.
type publicTable struct {
	Name        string       `json:"name"`
	Path        string       `json:"path"`
	Rows        int          `json:"rows"`
	Ranges      [][2]float64 `json:"ranges"` // of the inputs
	Classes     []int        `json:"classes"`
	OutputRange *[2]float64  `json:"output_range"` // of a regression
	Tests       [][]int      `json:"tests"`        // the rows that each split holds out
}

// judgedPeer has the scores of a peer on the splits of a table, of which less is better.
type judgedPeer struct {
	Table, Peer, Ours string
	Epsilon           float64
	Scores            []float64
}

// Each of our baselines is as good as a peer's at the same ε with δ = 1e-5, where a row is added or removed: the mean
// of the paired differences over common splits is at most two of its standard errors in favour of the peer.
func TestBaselinesAgainstLibraries(t *testing.T) {
	tier.Night(t, "it compares with interpret-core, diffprivlib, Opacus and a reference of AdaSSP")
	for _, c := range []struct{ library, module, variable string }{ // each needs a scikit-learn of its own
		{"interpret-core", "interpret.privacy", "PRIVKERN_PYTHON"},
		{"diffprivlib", "diffprivlib.models", "PRIVKERN_DIFFPRIVLIB"},
		{"opacus", "opacus, sklearn", "PRIVKERN_OPACUS"},
		{"adassp", "numpy, sklearn", "PRIVKERN_PYTHON"},
	} {
		t.Run(c.library, func(t *testing.T) {
			python := cmp.Or(os.Getenv(c.variable), "python3")
			if out, err := exec.Command(python, "-c", "import "+c.module).CombinedOutput(); err != nil {
				if os.Getenv(c.variable) != "" {
					t.Fatalf("%s is %s: %v\n%s", c.variable, python, err, out)
				}
				t.Skipf("python3 with %s is not installed: the comparison with it is not made", c.library)
			}
			tables := publicTables(t, python)
			var peers []judgedPeer
			request, err := json.Marshal(map[string]any{"delta": deltaOfPeers, "epsilons": []int{1, 3}, "tables": tables})
			if err != nil {
				t.Fatal(err)
			}
			printedBy(t, python, &peers, "baselines.py", "judge", strings.ReplaceAll(c.library, "-", "_"), string(request))
			if len(peers) == 0 {
				t.Fatal("the peer printed nothing")
			}
			compareWithPeers(t, tables, peers)
		})
	}
}

// publicTables writes the tables, that of the !Kung where it is among the real data, and draws their splits.
func publicTables(t *testing.T, python string) []publicTable {
	t.Helper()
	args := []string{"tables", t.TempDir()}
	if data := os.Getenv("PRIVKERN_DATA"); data != "" {
		howell := filepath.Join(data, "kung", "Howell1.csv")
		if _, err := os.Stat(howell); err == nil {
			args = append(args, howell)
		}
	}
	var tables []publicTable
	printedBy(t, python, &tables, "baselines.py", args...)
	for i := range tables {
		tests := int(math.Round(float64(tables[i].Rows) / 5)) // holdout=0.2
		for seed := range int64(splitsOfPeers) {
			tables[i].Tests = append(tables[i].Tests, method.CommonSplit(seed, 0, tables[i].Rows, tests).Test)
		}
	}
	return tables
}

// compareWithPeers prints a table of means with their standard errors, and refuses a peer that is better.
func compareWithPeers(t *testing.T, tables []publicTable, peers []judgedPeer) {
	t.Helper()
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "table\tpeer\tepsilon\tsubstituted\ttheirs\tours\tours less theirs\t")
	for _, p := range peers {
		at := slices.IndexFunc(tables, func(table publicTable) bool { return table.Name == p.Table })
		ours := ourScores(t, tables[at], p)
		less := floats.SubTo(make([]float64, len(ours)), ours, p.Scores)
		_, _ = fmt.Fprintf(w, "%s\t%s\t%g\t%.3g\t%s\t%s\t%s\t\n", p.Table, p.Peer, p.Epsilon,
			substituted(t, p.Epsilon), meanAndError(p.Scores), meanAndError(ours), meanAndError(less))
		if mean, sd := stat.MeanStdDev(less, nil); !(mean <= 2*stat.StdErr(sd, float64(len(less)))) {
			t.Errorf("%s is worse than %s on %s at epsilon = %g", p.Ours, p.Peer, p.Table, p.Epsilon)
		}
	}
	_ = w.Flush()
	t.Logf("errors on %d splits (RMSE, or the share of wrong classes) with a row added or removed, and epsilon of the "+
		"same Gaussian noise where it is substituted:\n%s",
		splitsOfPeers, text.String())
}

// deltaOfPeers is that of both sides.
const deltaOfPeers = 1e-5

// substituted returns the epsilon, where a row is substituted, of the Gaussian noise that has epsilon where it is added
// or removed: the row moves the query twice as far.
func substituted(t *testing.T, epsilon float64) float64 {
	t.Helper()
	factor, err := mechanism.SafeFactor(mechanism.Analytic, epsilon, deltaOfPeers)
	if err != nil {
		t.Fatal(err)
	}
	out, err := mechanism.GaussianEpsilon(deltaOfPeers, factor/2)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// meanAndError formats a mean with its standard error.
func meanAndError(values []float64) string {
	mean, sd := stat.MeanStdDev(values, nil)
	return fmt.Sprintf("%.3f ± %.3f", mean, stat.StdErr(sd, float64(len(values))))
}

// ourScores are those of trials of our baseline, one for each split.
func ourScores(t *testing.T, table publicTable, p judgedPeer) (scores []float64) {
	t.Helper()
	var inputs, low, high []string
	for i, r := range table.Ranges {
		inputs = append(inputs, fmt.Sprintf("x%d", i))
		low, high = append(low, fmt.Sprint(r[0])), append(high, fmt.Sprint(r[1]))
	}
	args := append([]string{"trial"}, strings.Fields(p.Ours)...) // with settings
	args = append(args, "dataset=csv:"+table.Path, "inputs="+strings.Join(inputs, "+"),
		"input_low="+strings.Join(low, ","), "input_high="+strings.Join(high, ","), fmt.Sprintf("delta=%g", deltaOfPeers),
		fmt.Sprintf("epsilon=%g", p.Epsilon), "neighbours=add-remove", "splits=common", "repeats=1")
	metric, best := "rmse", 0.0
	if r := table.OutputRange; r != nil {
		args = append(args, "output=y", fmt.Sprintf("low=%g", r[0]), fmt.Sprintf("high=%g", r[1]))
	} else {
		metric, best = "accuracy", 1.0
		args = append(args, "output=y["+strings.ReplaceAll(strings.Trim(fmt.Sprint(table.Classes), "[]"), " ", "|")+"]")
	}
	for seed := range splitsOfPeers {
		out, err := program.Command(t, append(args, "--seed", fmt.Sprint(seed))...).Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		var record struct{ Metrics map[string]float64 }
		if err := json.Unmarshal(out, &record); err != nil {
			t.Fatal(err)
		}
		score, ok := record.Metrics[metric]
		if !ok {
			t.Fatalf("%s has no %s: %s", p.Ours, metric, out)
		}
		scores = append(scores, math.Abs(score-best))
	}
	return scores
}
