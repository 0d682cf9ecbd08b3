package compare_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"privkern/experiments/compare"
	"privkern/experiments/mechanism"
	"privkern/experiments/page"
	"privkern/runner/experiment"
)

// seeds are those of five splits.
var seeds = []int64{0, 1, 2, 3, 4}

// spread are differences of splits from their mean.
var spread = []float64{-.2, -.1, 0, .1, .2}

// trial is an ok trial, or one that failed.
func trial(e *compare.Entry, at int, seed int64, score float64, failure string) compare.Trial {
	t := compare.Trial{Experiment: e.Experiment, Params: e.Params[at], Seed: seed, CPU: .5, Failure: failure}
	if failure == "" {
		t.Metrics = map[string]float64{"rmse": score, "rmse_centre": 10 + spread[(seed+1)%5], "rmse_without_noise": 1,
			"mae": score / 2, "mae_centre": 5}
	}
	return t
}

// private are the entries of private methods.
func private(c *compare.Contest) []*compare.Entry {
	return slices.DeleteFunc(slices.Clone(c.Entries), func(e *compare.Entry) bool { return e.Role != compare.Private })
}

// judged are results of the two regressions that protect outputs: scores by method and epsilon, where NaN in text
// stands for a failure on the last split.
func judged(t *testing.T, args string, seeds []int64, scores map[string][]float64, failing string) *compare.Results {
	t.Helper()
	c, err := settle(t, 40, args)
	if err != nil {
		t.Fatal(err)
	}
	var trials []compare.Trial
	for i, e := range private(c) {
		for at := range e.Params {
			for k, seed := range seeds {
				failure := ""
				if failing == e.Experiment && k == len(seeds)-1 {
					failure = "it broke"
				}
				// The second method's splits go another way, so that differences have a variance.
				trials = append(trials, trial(e, at, seed, scores[e.Experiment][at]+spread[(k+2*i)%5], failure))
			}
		}
	}
	m, err := compare.MeasureOf(c.Task, "")
	if err != nil {
		t.Fatal(err)
	}
	return c.Judge(trials, seeds, m)
}

const both = numbers + two + "unit=output"

// What is stated follows from the scores.
func TestSentences(t *testing.T) {
	const dpgp, cloaking = "dpgp/regression", "cloaking/regression"
	for _, c := range []struct {
		name, args string
		seeds      []int64
		scores     map[string][]float64
		failing    string
		want       string // the sentence at the first epsilon
		winner     string // of it
	}{
		{"a clear winner", both, seeds, map[string][]float64{dpgp: {2, 2}, cloaking: {6, 2}}, "",
			"At (1, 1e-4) per output: dpgp/regression 2.00 ± 0.07, better than cloaking/regression 6.00 ± 0.07 (3 times its " +
				"rmse); always the middle 10; without privacy 1.", dpgp},
		{"no difference", both, seeds, map[string][]float64{dpgp: {2.05, 2}, cloaking: {2, 2}}, "",
			"At (1, 1e-4) per output: cloaking/regression 2.00 ± 0.07, not distinguished from dpgp/regression 2.05 ± 0.07; " +
				"always the middle 10; without privacy 1.", cloaking},
		{"rows only", numbers + two, seeds, map[string][]float64{dpgp: {6, 2}, cloaking: {2, 2}}, "",
			"At (1, 1e-4) per row: dpgp/regression 6.00 ± 0.07, the only method that is ranked; always the middle 10; " +
				"without privacy 1.", dpgp},
		{"all worse than trivial", both, seeds, map[string][]float64{dpgp: {20, 2}, cloaking: {30, 2}}, "",
			"At (1, 1e-4) per output: every method is worse than always the middle, 10.00 ± 0.07, which looks at no input: " +
				"the best is dpgp/regression with 20.00 ± 0.07; use a larger epsilon or more rows.", ""},
		{"outputs only", numbers + "methods=cloaking/regression", seeds, map[string][]float64{cloaking: {6, 2}}, "",
			"At (1, 1e-4) per output: cloaking/regression 6.00 ± 0.07, the only method that takes part; always the middle 10; " +
				"without privacy 1.", cloaking},
		{"a person's outputs", numbers + "methods=cloaking/regression person=id rows_per_person=2", seeds,
			map[string][]float64{cloaking: {6, 2}}, "",
			"At (1, 1e-4) per person's outputs: cloaking/regression 6.00 ± 0.07, the only method that takes part; always the " +
				"middle 10; without privacy 1.", cloaking},
		{"rows added or removed", numbers + "methods=baseline/histogram neighbours=add-remove", seeds,
			map[string][]float64{"baseline/histogram": {6, 2}}, "",
			"At (1, 1e-4) per row added or removed: baseline/histogram 6.00 ± 0.07, the only method that is ranked; always " +
				"the middle 10; without privacy 1.", ""},
		{"samples", numbers + "methods=baseline/sgd-regression rate=0.5", seeds,
			map[string][]float64{"baseline/sgd-regression": {6, 2}}, "",
			"At (1, 1e-4) per row: baseline/sgd-regression 6.00 ± 0.07, the only method that is ranked; always the middle 10; " +
				"without privacy 1.", ""},
		{"as good as trivial", both, seeds[:1], map[string][]float64{dpgp: {10.1, 2}, cloaking: {30, 2}}, "",
			"At (1, 1e-4) per output: no method is better than always the middle, 9.9, which looks at no input: the best is " +
				"dpgp/regression with 9.9; use a larger epsilon or more rows.", ""},
		{"hardly better than trivial", both, seeds, map[string][]float64{dpgp: {9.98, 2}, cloaking: {30, 2}}, "",
			"At (1, 1e-4) per output: dpgp/regression 9.98 ± 0.07, better than cloaking/regression 30.00 ± 0.07 (3 times its " +
				"rmse); not distinguished from always the middle 10; without privacy 1.", dpgp},
		{"a failure on a split", both, seeds, map[string][]float64{dpgp: {2, 2}, cloaking: {1, 1}}, cloaking,
			"At (1, 1e-4) per output: dpgp/regression 2.00 ± 0.07, not compared with cloaking/regression; always the middle " +
				"10; without privacy 1.", dpgp},
		{"one split", both, seeds[:1], map[string][]float64{dpgp: {2, 2}, cloaking: {3, 3}}, "",
			"At (1, 1e-4) per output: dpgp/regression 1.8, not distinguished from cloaking/regression 3; always the middle " +
				"9.9; without privacy 1; one split tells no methods apart.", dpgp},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judged(t, c.args, c.seeds, c.scores, c.failing)
			if r.Sentences[0] != c.want {
				t.Errorf("got  %s\nwant %s", r.Sentences[0], c.want)
			}
			got := ""
			if r.Winners[0] != nil {
				got = r.Winners[0].Method
			}
			if got != c.winner {
				t.Errorf("winner %q, want %q", got, c.winner)
			}
		})
	}
}

// A failure is shown with its splits, and a mean over the others is not.
func TestFailures(t *testing.T) {
	r := judged(t, both, seeds, map[string][]float64{"dpgp/regression": {2, 2}, "cloaking/regression": {1, 1}},
		"cloaking/regression")
	f := r.Failures[0]
	if f.Method != "cloaking/regression" || !slices.Equal(f.Seeds, []int64{4}) || f.Reason != "it broke" {
		t.Errorf("%+v", f)
	}
	cell := r.Blocks[0].Rows[1].Cells[0]
	if cell.Mean != nil || cell.OK != 4 {
		t.Errorf("%+v", cell)
	}
	var b strings.Builder
	if err := r.Write(&b, page.Text, quoted, page.Width); err != nil || !strings.Contains(b.String(), "failed 1/5") {
		t.Errorf("%v:\n%s", err, b.String())
	}
	// Trials that have not run are no scores.
	m, _ := compare.MeasureOf(r.Contest.Task, "")
	none := r.Contest.Judge(nil, seeds, m)
	if none.Winners[0] != nil || none.Trivial != nil || none.Exact != nil ||
		none.Sentences[0] != "At (1, 1e-4) per output: no method has a score on every split." {
		t.Errorf("%+v", none)
	}
}

// A method that is best with settings that its release refuses has a note in place of a command.
func TestNoRelease(t *testing.T) {
	const sgd = "baseline/sgd-regression"
	const note = sgd + " at epsilon 1 has no release: rate is below 1"
	for args, want := range map[string]string{"rate=0.5": note, "rate=1": ""} {
		r := judged(t, numbers+"methods="+sgd+" "+args, seeds, map[string][]float64{sgd: {6, 2}}, "")
		if got := strings.Join(r.Notes, "\n"); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: notes %q, want %q", args, got, want)
		}
	}
}

func quoted(arguments []string, _ int) string { return "<" + strings.Join(arguments, ">\n<") + ">" }

// The release has the settings that were given, its own epsilon, names for all inputs, and none of the splits.
func TestReleaseArguments(t *testing.T) {
	args := two + strings.Replace(numbers, "inputs=x", "inputs=*", 1)
	r := judged(t, args, seeds, map[string][]float64{"dpgp/regression": {2, 2}, "cloaking/regression": {1, 1}}, "")
	const want = "trial dpgp/regression dataset=csv:my.csv inputs=x+z+two+bit+id+same output=y low=0 high=9 input_low=0 " +
		"input_high=40 epsilon=3 delta=1e-4 --rng secure --release release-3.json"
	if got := strings.Join(r.Winners[1].Arguments, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c := r.Contest
	for _, e := range private(c) {
		given := map[string]any{}
		for _, arg := range c.ReleaseArguments(e, 1)[2:] {
			if name, text, ok := strings.Cut(arg, "="); ok {
				given[name] = text
			}
		}
		params, err := e.Definition.Resolve(given)
		if err != nil {
			t.Error(err)
		} else if e.Definition.CheckRelease != nil && e.Definition.CheckRelease(params) != nil {
			t.Errorf("%s: %v", e.Experiment, e.Definition.CheckRelease(params))
		}
	}
}

// Methods that protect less are in a block of their own, or marked where all protect enough.
func TestBlocks(t *testing.T) {
	scores := map[string][]float64{"dpgp/regression": {6, 6}, "cloaking/regression": {2, 2}}
	r := judged(t, numbers+two, seeds, scores, "")
	if len(r.Blocks) != 2 || r.Blocks[0].Less || !r.Blocks[1].Less || r.Winners[0].Method != "dpgp/regression" {
		t.Errorf("%+v", r.Blocks)
	}
	r = judged(t, both, seeds, scores, "")
	if len(r.Blocks) != 1 || r.Winners[0].Method != "cloaking/regression" {
		t.Errorf("%+v", r.Blocks)
	}
	var b strings.Builder
	err := r.Write(&b, page.Text, quoted, page.Width)
	if err != nil || !strings.Contains(b.String(), "dpgp/regression (row)") {
		t.Errorf("%v:\n%s", err, b.String())
	}
}

// The methods of which one is the best of a run are those of the first block, without references.
func TestRanking(t *testing.T) {
	names := []string{"dpgp/regression", "cloaking/regression", "baseline/exact-regression"}
	asked := "dataset=csv:my.csv " + numbers
	for _, c := range []struct {
		args  string
		names []string
		want  string
	}{
		{asked, names, "dpgp/regression"},
		{asked + "unit=output", names, "dpgp/regression cloaking/regression"},
		{asked + "methods=cloaking/regression", names[1:], "cloaking/regression"},
		{"compare/kung", names, "dpgp/regression"},
		{"baseline/ridge " + asked, names, ""}, // an attack
		{"", names, ""},
	} {
		if got := strings.Join(compare.Ranking(strings.Fields(c.args), c.names), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.args, got, c.want)
		}
	}
}

// Where all methods protect less, nothing claims more: neither caption, heading, note, release nor the column ranked.
func TestLessAlone(t *testing.T) {
	r := judged(t, numbers+"methods=cloaking/regression", seeds, map[string][]float64{"cloaking/regression": {6, 2}}, "")
	// A release is refused with a large delta, which its command tells.
	r.Warnings.Add("cloaking/regression", 1, []string{mechanism.SuspectDelta(.1, 40, "rows")})
	var text, table strings.Builder
	if err := errors.Join(r.Write(&text, page.Text, quoted, page.Width),
		r.Write(&table, page.CSV, quoted, page.Width)); err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{
		"a guarantee for one output at delta",
		"protect less than one row: one output and not its inputs",
		"note: no method that takes part protects one row: the guarantee of those here, and of their releases, is for one " +
			"output",
		"The release of cloaking/regression at epsilon 1, which protects one output; with delta = 1e-4, which is not " +
			"below 1/n, it is refused unless --allow-large-delta is added:",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("no %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(flat, "per row") || !strings.Contains(table.String(), "cloaking/regression,output,false,1,") {
		t.Errorf("%s\n%s", text.String(), table.String())
	}
}

// Where the unit is a person, no output has a smaller one.
func TestPersons(t *testing.T) {
	r := judged(t, numbers+two+" person=id rows_per_person=2", seeds,
		map[string][]float64{"dpgp/regression": {6, 6}, "cloaking/regression": {2, 2}}, "")
	for format, want := range map[page.Format][]string{
		page.CSV:  {"dpgp/regression,person,true,", "cloaking/regression,person's outputs,false,"},
		page.JSON: {`"protects": "person"`, `"protects": "person's outputs"`},
	} {
		var b strings.Builder
		if err := r.Write(&b, format, quoted, page.Width); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if strings.Contains(text, `"protects": "row"`) || strings.Contains(text, `"protects": "output"`) ||
			!strings.Contains(text, want[0]) || !strings.Contains(text, want[1]) {
			t.Errorf("%s lacks %q:\n%s", format, want, text)
		}
	}
}

// Every format is written, and text fits 80 columns for any number of epsilons but for long words.
func TestFormats(t *testing.T) {
	args := strings.Replace(both, "epsilon=1,3", "epsilon=.1,.3,1,3,10,30", 1)
	many := []float64{6, 6, 6, 6, 6, 6}
	r := judged(t, args, seeds, map[string][]float64{"dpgp/regression": many, "cloaking/regression": many}, "")
	write := func(f page.Format) string {
		var b strings.Builder
		if err := r.Write(&b, f, quoted, page.Width); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for line := range strings.Lines(write(page.Text)) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(write(page.CSV))).ReadAll()
	if err != nil || len(rows) != 1+2*6+2*6 || rows[1][0] != "dpgp/regression" || rows[1][6] != "6" {
		t.Errorf("%v: %q", err, rows)
	}
	var back struct {
		Sentences []string
		Winners   []*compare.Winner
	}
	if err := json.Unmarshal([]byte(write(page.JSON)), &back); err != nil || len(back.Sentences) != 6 ||
		back.Winners[0].Arguments[0] != "trial" {
		t.Errorf("%v: %+v", err, back)
	}
	for f, want := range map[page.Format]string{
		page.Markdown: "| dpgp/regression (row) | 6.00 ± 0.07", page.LaTeX: `dpgp/regression (row) & 6.00 $\pm$ 0.07`,
	} {
		if got := write(f); !strings.Contains(got, want) {
			t.Errorf("%s lacks %q:\n%s", f, want, got)
		}
	}
}

// The figure has a curve with a band for each method that has all splits, and two dashed lines; at a single epsilon,
// methods side by side with error bars. Trials of several comparisons are none.
func TestFigure(t *testing.T) {
	c, err := settle(t, 40, numbers+two)
	if err != nil {
		t.Fatal(err)
	}
	var all []experiment.Observation
	for i, e := range private(c) {
		for at, p := range e.Params {
			for _, seed := range seeds {
				all = append(all, experiment.Observation{
					Identity: experiment.Identity{Experiment: e.Experiment, Params: p, Seed: seed},
					Metrics:  trial(e, at, seed, float64(2+i+at)+spread[seed], "").Metrics,
				})
			}
		}
	}
	figure := compare.Paper().Figures[0]
	shown := func(trials []experiment.Observation) string {
		text := ""
		for _, p := range figure.Draw(trials) {
			for _, l := range p.Lines {
				text += fmt.Sprintf("%s %v %.4g; ", l.Name, l.X, l.Y)
			}
			if text += fmt.Sprint(len(p.Bands)); !strings.HasSuffix(p.Title, ", per row") {
				t.Error(p.Title)
			}
			for _, n := range p.XNames {
				text += fmt.Sprintf("; %s at %g", n.Text, n.At)
			}
			for i, b := range p.Whiskers {
				text += fmt.Sprintf("; %v %.4g to %.4g", p.Points[len(p.Points)-len(p.Whiskers)+i].X, b.Low, b.High)
			}
		}
		return text
	}
	n := len(seeds)
	single := slices.Concat(all[:n], all[2*n:3*n]) // of two epsilons
	const middle = "always the middle [1 3] [10 10]; without privacy [1 3] [1 1]; "
	for _, x := range []struct {
		name   string
		trials []experiment.Observation
		want   string
	}{
		{"all", all, "dpgp/regression [1 3] [2 3]; cloaking/regression (outputs only) [1 3] [3 4]; " + middle + "2"},
		{"a split is missing", all[:len(all)-1],
			"dpgp/regression [1 3] [2 3]; cloaking/regression (outputs only) [1] [3]; " + middle +
				"1; [1] [2.929] to [3.071]"},
		{"a single epsilon", single, "always the middle [-0.5 1.5] [10 10]; without privacy [-0.5 1.5] [1 1]; 0; " +
			"dpgp at 0; cloaking at 1; [0] [1.929] to [2.071]; [1] [2.929] to [3.071]"},
		{"a single split", single[:1], "always the middle [-0.5 0.5] [9.9 9.9]; without privacy [-0.5 0.5] [1 1]; 0; " +
			"dpgp at 0"},
		{"another comparison", append(slices.Clone(all), experiment.Observation{Identity: experiment.Identity{
			Experiment: "dpgp/regression", Params: experiment.Params{"epsilon": 1., "lengthscale": 7.}}}), ""},
		{"none", nil, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got := shown(x.trials); got != x.want {
				t.Errorf("got  %s\nwant %s", got, x.want)
			}
		})
	}
	plain, err := c.Entries[0].Definition.Resolve(map[string]any{"low": "0", "high": "1", "input_low": "0",
		"input_high": "1"})
	if err != nil || figure.Match("dpgp/regression", plain) || !figure.Match("dpgp/regression", c.Entries[0].Params[0]) {
		t.Errorf("%v", err)
	}
}
