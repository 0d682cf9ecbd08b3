package tests

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/runner"
	"privkern/runner/claims/ledger"
)

// The parts of a line of the best baseline: the suite of comparisons, and scores in it.
var (
	suiteName    = regexp.MustCompile(`compare/(\w+)`)
	baselineItem = regexp.MustCompile(`(baseline/[\w-]+) ([\d.]+) ± ([\d.]+) at \(([\d.]+), ([\de.-]+)\)`)
)

// compared is a row of results/NAME.csv, by the names of columns.
type compared map[string]string

// comparedIn are the rows of a file of results.
func comparedIn(t *testing.T, name string) (out []compared) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "results", name+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		of := compared{}
		for i, name := range rows[0] {
			of[name] = row[i]
		}
		out = append(out, of)
	}
	return out
}

// number is a column of numbers.
func (c compared) number(t *testing.T, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(c[name], 64)
	if err != nil {
		t.Fatalf("%s of %v: %v", name, c, err)
	}
	return v
}

// prints reports whether a text is a number of the row, rounded as the text is.
func (c compared) prints(t *testing.T, name, text string) bool {
	t.Helper()
	_, decimals, _ := strings.Cut(text, ".")
	return strconv.FormatFloat(c.number(t, name), 'f', len(decimals), 64) == text
}

// rivals reports whether a row has another baseline's score for the same.
func (c compared) rivals(other compared) bool {
	return strings.HasPrefix(other["method"], "baseline/") && other["mean"] != "" &&
		!slices.ContainsFunc([]string{"comparison", "unit", "epsilon", "delta", "ranked"}, func(name string) bool {
			return c[name] != other[name]
		})
}

// attackItem are the parts of a line of the best attack: a page of results, the attack, and two areas with intervals.
var attackItem = regexp.MustCompile(`results/(attack/[\w-]+).*: ([\w, ]+) has the AUC ([\d.]+) ` +
	`\[([\d.]+), ([\d.]+)\] with noise.* ([\d.]+) \[([\d.]+), ([\d.]+)\] without noise`)

// The lines of best attacks beneath tables have the numbers of attacks in results.
func TestBestAttacks(t *testing.T) {
	lines := 0
	for _, table := range tablesOf(t) {
		if table.Attack == "" {
			continue
		}
		lines++
		item := attackItem.FindStringSubmatch(table.Attack)
		if item == nil {
			t.Errorf("%s: %q has no page, or an area without its interval", table.Name, table.Attack)
			continue
		}
		for i, noise := range []string{"true", "false"} {
			if !slices.ContainsFunc(comparedIn(t, item[1]), func(c compared) bool {
				return c["attack"] == item[2] && c["noise"] == noise && c.prints(t, "auc", item[3+3*i]) &&
					c.prints(t, "auc_low", item[4+3*i]) && c.prints(t, "auc_high", item[5+3*i])
			}) {
				t.Errorf("%s: no attack has %s of %q", table.Name, item[3+3*i], table.Attack)
			}
		}
	}
	if lines == 0 {
		t.Error("no table has a best attack")
	}
}

// tablesOf are those of all ledgers.
func tablesOf(t *testing.T) (out []*ledger.Table) {
	t.Helper()
	ledgers, err := runner.NewCatalogue(experiments.Papers()).Ledgers()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range ledgers {
		out = append(out, l.Tables...)
	}
	return out
}

// The lines of best baselines beneath tables have the numbers of the comparisons in results, and none is better.
func TestBestBaselines(t *testing.T) {
	lines := 0
	for _, table := range tablesOf(t) {
		if table.Baseline == "" {
			continue
		}
		lines++
		suite, items := suiteName.FindStringSubmatch(table.Baseline), baselineItem.FindAllStringSubmatch(table.Baseline, -1)
		if suite == nil || items == nil || len(items) != strings.Count(table.Baseline, "baseline/") {
			t.Errorf("%s: %q has no suite, or a score without its (ε, δ)", table.Name, table.Baseline)
			continue
		}
		rows := comparedIn(t, "compare/"+suite[1])
		for _, item := range items {
			checkBaseline(t, table.Name, item, rows)
		}
	}
	if lines == 0 {
		t.Error("no table has a best baseline")
	}
}

// checkBaseline checks one score of a line.
func checkBaseline(t *testing.T, table string, item []string, rows []compared) {
	t.Helper()
	i := slices.IndexFunc(rows, func(c compared) bool {
		return c["method"] == item[1] && c["epsilon"] == item[4] && c["delta"] == item[5] && c["mean"] != "" &&
			c.prints(t, "mean", item[2]) && c.prints(t, "standard_error", item[3])
	})
	if i < 0 {
		t.Errorf("%s: no comparison has %s", table, item[0])
		return
	}
	for _, other := range rows {
		mean, best := other["mean"], rows[i].number(t, "mean")
		if mean == "" || !rows[i].rivals(other) {
			continue
		}
		if v := other.number(t, "mean"); v < best == (other["metric"] == "rmse") && v != best {
			t.Errorf("%s: %s has %g, which is better than %s", table, other["method"], v, item[0])
		}
	}
}
