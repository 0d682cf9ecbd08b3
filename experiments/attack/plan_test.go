package attack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/baseline"
	"privkern/experiments/baseline/histogram"
	"privkern/experiments/cloaking"
	"privkern/experiments/compare"
	"privkern/experiments/dpgp"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm"
	"privkern/experiments/method"
	"privkern/experiments/multikernel"
	"privkern/experiments/page"
	"privkern/experiments/privacygp"
	"privkern/runner/experiment"
	"privkern/tests/tier"
)

var registry = experiment.RegistryOf([]experiment.Paper{dpgp.Paper(), kahm.Paper(), cloaking.Paper(), privacygp.Paper(),
	multikernel.Paper(), baseline.Experiments()})

const data = "dataset=csv:my.csv inputs=x input_low=0 input_high=1 delta=1e-5 "

// fileRows is the number of rows of a file.
const fileRows = 24

// file has a number x, an output y that is 0 or 1, and a class.
func file(t *testing.T) string {
	t.Helper()
	text := "x,y,kind,id\n"
	rng := rand.New(rand.NewPCG(2, 4))
	for i := range fileRows {
		one := rng.IntN(2)
		text += fmt.Sprintf("%g,%d,%s,%d\n", rng.Float64(), one, []string{"a", "b"}[one], i/2)
	}
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// settle makes the plan of an attack on a file.
func settle(t *testing.T, path, method, args string) (*Plan, error) {
	t.Helper()
	r, err := compare.RequestOf(method, strings.Fields(args))
	if err != nil {
		return nil, err
	}
	return New(registry, r, path)
}

func TestRefusals(t *testing.T) {
	path := file(t)
	const numbers = data + "output=y low=0 high=1 task=regression epsilon=1 "
	for _, c := range []struct{ method, args, want string }{
		{"baseline/label-noise", numbers, "no membership to infer"},
		{"kahm/classifier", numbers, "it is for a classification"},
		{"kahm/federated", numbers, "do not record"},
		{"cloaking/regression", numbers, "no membership to infer"},
		{"privacygp/regression", numbers, "keeps a variance at sensitive places"},
		{"multikernel/learn", data + "output=kind[a|b] epsilon=1", "compresses rows"},
		{"baseline/nothing", numbers, "baseline/nothing"},
		{"baseline/histogram", numbers + "holdout=0.3", "holdout is set"},
		{"baseline/histogram", numbers + "membership=true", "membership is set"},
		{"baseline/histogram", numbers + "methods=baseline/ridge", "given twice"},
		{"baseline/histogram", data + "output=kind[a|b] epsilon=1", "it is for a regression"},
		{"baseline/histogram", data + "output=y low=0 high=1 epsilon=0", "epsilon"},
		{"baseline/largest-class", data + "output=kind[a|b] epsilon=1", "no method can be compared"},
	} {
		t.Run(c.method, func(t *testing.T) {
			_, err := settle(t, path, c.method, c.args)
			trialtest.Refuses(t, err, c.want)
		})
	}
}

// attacked judges the histogram of 24 rows by models of half of them.
func attacked(t *testing.T, models int) (*Plan, []compare.Trial, *Results) {
	t.Helper()
	p, trials := fitted(t, models, "epsilon=0.2")
	out, err := p.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	return p, trials, out
}

// fitted are models of a histogram of 24 rows, with further settings.
func fitted(t *testing.T, models int, args string) (*Plan, []compare.Trial) {
	t.Helper()
	path := file(t)
	p, err := settle(t, path, "baseline/histogram", data+"output=y low=0 high=1 task=regression "+args)
	if err != nil {
		t.Fatal(err)
	}
	settings := histogram.Definition.Experiment().Settings(p.Entry.Params[0])
	var trials []compare.Trial
	for seed := range models {
		trial := trialtest.New(t, trialtest.Options{Seed: uint64(seed), File: path})
		out, err := histogram.Definition.Experiment().Compute(t.Context(), trial, settings)
		if err != nil {
			t.Fatal(err)
		}
		trials = append(trials, compare.Trial{Experiment: "baseline/histogram", Params: p.Entry.Params[0], Seed: int64(seed),
			Series: out.Series, Warnings: out.Warnings, Simulated: out.Privacy.Simulated})
	}
	return p, trials
}

// Games of four models with canaries: a method without noise is found in most of them, and one with noise is within its
// guarantee but for one game in twenty.
func TestCanariesAreFound(t *testing.T) {
	tier.Sequential(t)
	const games, models = 40, 4
	p, trials := fitted(t, games*models, "epsilon=1 canaries=48 cells=4096")
	beyond, found := 0, 0
	for i := range games {
		out, err := p.Judge(trials[i*models : (i+1)*models])
		if err != nil {
			t.Fatal(err)
		}
		at := out.At[0]
		if at.Noise.Units != 96 || at.Noise.Proof.Pairs != 96 || at.Noise.Shadows != 2 || out.Canaries != 48 {
			t.Fatalf("%d units, %d pairs of %d canaries", at.Noise.Units, at.Noise.Proof.Pairs, out.Canaries)
		}
		if at.Refuted {
			beyond++
		}
		if at.Exact.Proof.Epsilon > 1 {
			found++
		}
	}
	if found < games*3/4 {
		t.Errorf("without noise %d of %d games prove more than the guarantee", found, games)
	}
	if beyond > games*5/100+3 { // two standard errors
		t.Errorf("%d of %d proofs are beyond epsilon", beyond, games)
	}
}

// Canaries are added by attacks alone, and to methods that have the setting.
func TestCanariesRefused(t *testing.T) {
	path := file(t)
	_, err := settle(t, path, "kahm/classifier", "dataset=csv:my.csv inputs=x+y input_low=0 input_high=1 delta=1e-5 "+
		"output=kind n=2 layers=2 epsilon=2 canaries=3")
	trialtest.Refuses(t, err, "kahm/classifier has no canaries")
	_, err = settle(t, path, "baseline/histogram", data+"output=y low=0 high=1 task=regression epsilon=1 canaries=-1")
	trialtest.Refuses(t, err, "canaries")
	_, err = compare.ParseRequest(strings.Fields(data + "output=y low=0 high=1 epsilon=1 canaries=3"))
	trialtest.Refuses(t, err, "run attack")
}

// What is found of a private method is within its guarantee, which a tenth of the noise would not keep, and the method
// without noise tells more than it allows.
func TestLeak(t *testing.T) {
	p, trials, out := attacked(t, 256)
	at := out.At[0]
	if out.Refuted() {
		t.Errorf("with noise %v is proved", at.Noise.Proof)
	}
	if at.Exact.Proof.Epsilon <= .2 {
		t.Errorf("without noise %v is proved", at.Exact.Proof)
	}
	if o := at.Noise; o.Shadows != 192 || o.Targets != 64 || o.Units != 24 || o.Proof.Pairs != 64*12 {
		t.Errorf("%d shadow models, %d targets, %d units, %d pairs", o.Shadows, o.Targets, o.Units, o.Proof.Pairs)
	}
	if rate := at.Noise.best().Rates[0]; !strings.Contains(out.Sentences[0], fmt.Sprintf(", %.3g] %% of others; "+
		"with %.3[1]g %% of others named, the guarantee allows %s;", 100*rate.Alarms.High, Percent(rate.Allowed))) {
		t.Errorf("%+v: %s", rate, out.Sentences[0])
	}
	// The same models as if their noise were none.
	for i := range trials {
		trials[i].Series = map[string]experiment.Series{"membership": trials[i].Series["membership_without_noise"],
			"membership_without_noise": trials[i].Series["membership_without_noise"]}
	}
	leaking, err := p.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if !leaking.Refuted() || !strings.Contains(leaking.Sentences[0], "CONTRADICTS") {
		t.Errorf("a leak is not found: %s", leaking.Sentences[0])
	}
}

// A comparison has the outcome of the attack on each method that protects rows, and of no other.
func TestAttacked(t *testing.T) {
	p, trials, own := attacked(t, 64)
	request, err := compare.ParseRequest(strings.Fields(data + "output=y low=0 high=1 task=regression epsilon=0.2 " +
		"methods=baseline/histogram,baseline/label-noise unit=output"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.New(registry, request, file(t))
	if err != nil {
		t.Fatal(err)
	}
	plans, refused := Each(c)
	if len(plans) != 1 || plans[0].Entry.Experiment != "baseline/histogram" || len(c.Entries) < 2 || refused != nil {
		t.Fatalf("%d attacks on %d methods: %q", len(plans), len(c.Entries), refused)
	}
	m, err := compare.MeasureOf(c.Task, "")
	if err != nil {
		t.Fatal(err)
	}
	var others []compare.Trial // on other data, at the same epsilon
	for i := range trials {
		other := trials[i]
		other.Params, other.Series = maps.Clone(other.Params), nil
		maps.Copy(other.Params, experiment.Params{"inputs": "id"})
		others, trials[i].Params = append(others, other), plans[0].Entry.Params[0]
	}
	trials = append(others, trials...)
	out := c.Judge(trials, []int64{0}, m)
	if err := Attacked(c, trials, out); err != nil {
		t.Fatal(err)
	}
	want := own.At[0].Noise.best()
	for _, b := range out.Blocks {
		for _, row := range b.Rows {
			if row.Method == p.Entry.Experiment {
				if a := row.Attacked; len(a) != 1 || *a[0].AUC != want.AUC.Mean || a[0].Attack != want.Attack {
					t.Errorf("%+v, and %+v of the attack alone", a, want)
				}
			} else if row.Attacked != nil {
				t.Errorf("%s is attacked", row.Method)
			}
		}
	}
	if text := strings.Join(slices.Concat(out.Page().Rows...), "\n"); !strings.Contains(text, "allowed by the guarantee") {
		t.Errorf("the table has no attack:\n%s", text)
	}
}

// Outcomes are at the epsilon of the comparison also of a method whose trials have that of an entry; and where persons
// are protected it is left out, with the reason.
func TestAttackedEntries(t *testing.T) {
	for _, c := range []struct {
		args    string
		attacks int
	}{{"", 2}, {"person=id rows_per_person=2", 1}} {
		request, err := compare.ParseRequest(strings.Fields("dataset=csv:my.csv inputs=x+y input_low=0 input_high=1 " +
			"delta=1e-5 output=kind[a|b] n=2 layers=2 epsilon=2 methods=kahm/classifier,baseline/class-means " + c.args))
		if err != nil {
			t.Fatal(err)
		}
		contest, err := compare.New(registry, request, file(t))
		if err != nil {
			t.Fatal(err)
		}
		m, err := compare.MeasureOf(contest.Task, "")
		if err != nil {
			t.Fatal(err)
		}
		out, attacks := contest.Judge(nil, []int64{0}, m), 0
		if err := Attacked(contest, nil, out); err != nil {
			t.Fatal(err)
		}
		for _, b := range out.Blocks {
			for _, row := range b.Rows {
				for _, a := range row.Attacked {
					if attacks++; a.Epsilon != 2 {
						t.Errorf("%s: an attack at epsilon %g", row.Method, a.Epsilon)
					}
				}
			}
		}
		noted := strings.Contains(strings.Join(out.Notes, "\n"), "not attacked: kahm/classifier: ")
		if attacks != c.attacks || noted != (c.attacks == 1) {
			t.Errorf("%s: %d attacks; notes %q", c.args, attacks, out.Notes)
		}
	}
}

// The area is that under the bound.
func TestArea(t *testing.T) {
	for _, g := range []Guarantee{{0, 0}, {.1, 0}, {1, 1e-5}, {3, .05}, {8, .3}, {1, 1}, {math.Inf(1), 0}} {
		const n = 1 << 16
		sum := 0.0
		for i := range n {
			sum += g.Allows((float64(i)+.5)/n) / n
		}
		if got := g.Area(); math.Abs(got-sum) > 1e-6 {
			t.Errorf("%+v: %g, want %g", g, got, sum)
		}
	}
}

// The guarantee of a method whose epsilon is for an entry is that of a whole row, which its records state; and where
// they state none all is allowed.
func TestGuaranteeOfEntries(t *testing.T) {
	p, err := settle(t, file(t), "kahm/classifier",
		"dataset=csv:my.csv inputs=x+y input_low=0 input_high=1 delta=1e-5 output=kind n=2 layers=2 epsilon=2")
	if err != nil {
		t.Fatal(err)
	}
	if got := budgetOf(p.Entry.Params[0]).Epsilon; got != 2 || !Is(p.Entry.Params[0]) {
		t.Fatalf("trials have epsilon %g for an entry", got)
	}
	series := func(seed uint64) map[string]experiment.Series {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := experiment.Series{"pair": {0, 0}, "member": {1, 0}, "confidence": {rng.Float64(), 0}, "statistic": {1, 0}}
		return map[string]experiment.Series{method.SeriesMembership: s, method.SeriesMembershipWithoutNoise: s}
	}
	for _, c := range []struct {
		stated  *experiment.Simulated
		allowed float64
		want    string
	}{
		{&experiment.Simulated{Epsilon: 4, Neighbours: "substitute"}, math.Exp(4) * 1e-3,
			"At epsilon 2 of an entry, (4, 0) per row"},
		{nil, 1, "At epsilon 2, which is no guarantee"},
	} {
		var trials []compare.Trial
		for seed := range 4 {
			trials = append(trials, compare.Trial{Experiment: "kahm/classifier", Params: p.Entry.Params[0], Seed: int64(seed),
				Series: series(uint64(seed)), Simulated: c.stated})
		}
		out, err := p.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		trialtest.Near(t, "allowed", out.At[0].guarantee.Allows(1e-3), c.allowed, 1e-12)
		if last := out.Notes[len(out.Notes)-1]; !strings.HasPrefix(out.Sentences[0], c.want) ||
			!strings.HasPrefix(last, "epsilon 2") {
			t.Errorf("%s; notes %q", out.Sentences[0], out.Notes)
		}
	}
}

// Results are written in all forms, and drawn.
func TestWritten(t *testing.T) {
	p, trials, out := attacked(t, 64)
	var text, table, structured bytes.Buffer
	if err := out.Page().Text(&text, nil, 60); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Membership attacks on baseline/histogram", "LiRA, online", "allowed", "without noise",
		"epsilon 0.2", "for your eyes"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if err := out.Write(&table, page.CSV, nil, 0); err != nil || strings.Count(table.String(), "\n") != 1+2*3*1 {
		t.Errorf("%v\n%s", err, table.String())
	}
	var back map[string]any
	if err := out.Write(&structured, page.JSON, nil, 0); err != nil || json.Unmarshal(structured.Bytes(), &back) != nil {
		t.Errorf("%v\n%s", err, structured.String())
	}
	var seen []experiment.Observation
	for _, trial := range trials {
		seen = append(seen, experiment.Observation{Identity: experiment.Identity{
			Experiment: trial.Experiment, Params: trial.Params, Seed: trial.Seed}, Series: trial.Series})
	}
	panels := trialtest.Panels(t, Paper().Figures[0], seen)
	if len(panels) != 1 || len(panels[0].Lines) != 8 || !panels[0].LogX || !panels[0].LogY {
		t.Errorf("%d panels", len(panels))
	}
	if !Is(p.Entry.Params[0]) || compare.Is("baseline/histogram", p.Entry.Params[0]) {
		t.Error("trials of an attack are those of a comparison")
	}
}

// Models that failed are counted, and too few are no attack.
func TestFailures(t *testing.T) {
	p, trials, _ := attacked(t, 64)
	for i := range trials[3:] {
		trials[3+i].Series, trials[3+i].Failure = nil, "no rows"
	}
	out, err := p.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.At[0].Failures; len(got) != 2 || got[0] != "61 of 64 models have no result: no rows" ||
		out.At[0].Exact != nil ||
		!strings.Contains(out.Sentences[0], "there is no attack") {
		t.Errorf("failures %q: %s", got, out.Sentences[0])
	}
	trials[0].Series = map[string]experiment.Series{}
	_, err = p.Judge(trials)
	trialtest.Refuses(t, err, "no series of members")
}

// Without a guarantee there is one outcome.
func TestWithoutGuarantee(t *testing.T) {
	path := file(t)
	p, err := settle(t, path, "baseline/histogram", data+"output=y low=0 high=1 task=regression epsilon=inf")
	if err != nil {
		t.Fatal(err)
	}
	_, trials, _ := attacked(t, 64)
	for i := range trials {
		trials[i].Params = p.Entry.Params[0]
	}
	out, err := p.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := out.Write(&b, page.JSON, nil, 0); err != nil || !strings.Contains(b.String(), `"epsilon": "inf"`) {
		t.Errorf("%v\n%s", err, b.String())
	}
	if out.At[0].Noise != nil || out.Refuted() || !strings.HasPrefix(out.Sentences[0], "Without noise") {
		t.Errorf("%s", out.Sentences[0])
	}
}
