package plan_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
)

var demonstration = experiment.Of(experiment.Declaration[*demoSettings, struct{}]{
	Name: "demo/a", Version: 1,
	Run: func(context.Context, *experiment.Trial, *demoSettings) (*experiment.Outcome[struct{}], error) {
		return nil, errors.New("the tests of this package run no trial")
	},
	Datasets: func(*demoSettings) []string { return []string{"set"} },
})()

type demoSettings struct {
	X int `name:"x" default:"0" doc:"any number"`
}

var demo = demonstration.Experiment

// finder knows the digest of "set", whether it is there or not.
type finder struct{ err error }

func (f finder) Find(string) (string, string, error) { return "folder", "digest", f.err }

type missingError struct{}

func (missingError) Error() string  { return "not there" }
func (missingError) Advice() string { return "run data fetch set" }

func newPlan(t testing.TB, f finder) *plan.Plan {
	t.Helper()
	params, err := demo.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New([]sweep.Assignment{{Experiment: demo, Params: params}}, plan.NewDatasets(f),
		plan.Options{Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A machine without the data makes the same plan as one with them: otherwise a
// repeated command would take finished results for others.
func TestPlanDoesNotDependOnWhetherDataAreThere(t *testing.T) {
	with, without := newPlan(t, finder{}), newPlan(t, finder{missingError{}})
	if with.Trials[0].Key != without.Trials[0].Key || with.Digest != without.Digest ||
		without.Datasets["set"] != "digest" {
		t.Errorf("with data:    %+v\nwithout data: %+v", with, without)
	}
}

func TestWithoutData(t *testing.T) {
	for err, want := range map[error]record.Status{missingError{}: record.Skipped,
		errors.New("wrong file"): record.Failed} {
		t.Run(err.Error(), func(t *testing.T) {
			r := plan.WithoutData(&record.Record{Provenance: record.Provenance{Datasets: map[string]string{"set": "digest"}}},
				err)
			if r.Status != want || *r.Error != err.Error() || len(r.Provenance.Datasets) != 0 {
				t.Errorf("%v: %+v", err, r)
			}
		})
	}
}

// A plan is not made where a file of the user's is not there or lacks a column. It
// is asked for the same columns once, however many trials read them.
func TestPlanLooksForColumns(t *testing.T) {
	lacks := errors.New("my.csv:1: unknown column")
	for _, c := range []struct {
		name    string
		found   error
		lacks   error
		want    error
		checked []string
	}{
		{"all there", nil, nil, nil, []string{"folder x", "folder y"}},
		{"no file", missingError{}, nil, missingError{}, nil},
		{"no column", nil, lacks, lacks, []string{"folder x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var checked []string
			e := *demo
			e.Tables = func(p experiment.Params) []experiment.InputTable {
				column := []string{"x", "y"}[demonstration.Settings(p).X]
				return []experiment.InputTable{{Dataset: "set", Columns: []string{column}, Check: func(path string) error {
					checked = append(checked, path+" "+column)
					return c.lacks
				}}}
			}
			var settings []sweep.Assignment
			for seed := range int64(2) {
				for x := range 2 {
					settings = append(settings, sweep.Assignment{Experiment: &e, Params: experiment.Params{"x": x}, Seed: seed})
				}
			}
			p, err := plan.New(settings, plan.NewDatasets(finder{c.found}), plan.Options{Backend: "cpu", DType: "float64"})
			if !errors.Is(err, c.want) || (p == nil) != (c.want != nil) || !slices.Equal(checked, c.checked) {
				t.Errorf("%v, %v, looked at %q; want %v, %q", p, err, checked, c.want, c.checked)
			}
		})
	}
}

// A trial's key stands for everything that determines its result. The digest
// of the plan stands for the settings; the data sets are compared apart from it.
func TestKeysAndDigest(t *testing.T) {
	type input struct {
		experiment experiment.Experiment
		setting    sweep.Assignment
		opts       plan.Options
		digest     string
	}
	planOf := func(change func(*input)) *plan.Plan {
		in := input{experiment: *demo, opts: plan.Options{Backend: "cpu", DType: "float64"}, digest: "digest"}
		in.setting.Params = experiment.Params{"x": 0}
		change(&in)
		in.setting.Experiment = &in.experiment
		p, err := plan.New([]sweep.Assignment{in.setting}, plan.NewDatasets(holds(in.digest)), in.opts)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	base := planOf(func(*input) {})
	for _, c := range []struct {
		name        string
		change      func(*input)
		key, digest bool // changed
	}{
		{"nothing", func(*input) {}, false, false},
		{"title", func(in *input) { in.opts.Title = "other" }, false, false},
		{"tables", func(in *input) { in.opts.Tables = []string{"demo/table1"} }, false, false},
		{"metrics", func(in *input) { in.opts.Metrics = []string{"rmse"} }, false, false},
		{"experiment", func(in *input) { in.experiment.Name = "demo/b" }, true, true},
		{"result version", func(in *input) { in.experiment.Version = 2 }, true, true},
		{"parameter", func(in *input) { in.setting.Params = experiment.Params{"x": 1} }, true, true},
		{"seed", func(in *input) { in.setting.Seed = 1 }, true, true},
		{"backend", func(in *input) { in.opts.Backend = "cuda" }, true, true},
		{"number format", func(in *input) { in.opts.DType = "float32" }, true, true},
		{"data", func(in *input) { in.digest = "other" }, true, false},
		{"entropy", func(in *input) { in.opts.RNG = "secure 1" }, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := planOf(c.change)
			if changed := p.Trials[0].Key != base.Trials[0].Key; changed != c.key {
				t.Errorf("the key changed: %v", changed)
			}
			if changed := p.Digest != base.Digest; changed != c.digest {
				t.Errorf("the digest changed: %v", changed)
			}
		})
	}
}

// holds is a finder of data sets that all hold the same.
type holds string

func (h holds) Find(string) (string, string, error) { return "folder", string(h), nil }

// Neighbours go to different shards, so that settings of one cost do.
func TestShards(t *testing.T) {
	for _, c := range []struct {
		shard plan.Shard
		n     int
		want  []int
	}{
		{plan.Shard{}, 3, []int{0, 1, 2}},
		{plan.Shard{Index: 0, Count: 3}, 7, []int{0, 3, 6}},
		{plan.Shard{Index: 1, Count: 3}, 7, []int{1, 4}},
		{plan.Shard{Index: 2, Count: 3}, 7, []int{2, 5}},
		{plan.Shard{Index: 2, Count: 3}, 2, nil},
		{plan.Shard{Index: 2, Count: math.MaxInt}, 7, []int{2}},
	} {
		t.Run(fmt.Sprintf("part %d of %d, %d trials", c.shard.Index, c.shard.Count, c.n), func(t *testing.T) {
			if got := c.shard.Indices(c.n); !slices.Equal(got, c.want) {
				t.Errorf("shard %+v of %d trials: %v, want %v", c.shard, c.n, got, c.want)
			}
		})
	}
}

// countingFinder counts how often each data set is looked for.
type countingFinder struct{ times sync.Map }

func (c *countingFinder) Find(name string) (string, string, error) {
	n, _ := c.times.LoadOrStore(name, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
	return "folder of " + name, "digest of " + name, nil
}

// Finding a data set may mean to read all of it: it happens once, however many
// trials ask.
func TestDatasetsAreLookedForOnce(t *testing.T) {
	var finder countingFinder
	data := plan.NewDatasets(&finder)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 50 {
				name := fmt.Sprint("set ", i)
				if d := data.Get(name); d.Folder != "folder of "+name || d.Digest != "digest of "+name || d.Err != nil {
					t.Errorf("%s: %+v", name, d)
				}
			}
		})
	}
	wg.Wait()
	finder.times.Range(func(name, n any) bool {
		if times := n.(*atomic.Int64).Load(); times != 1 {
			t.Errorf("%s was looked for %d times", name, times)
		}
		return true
	})
}

func TestParseRefuses(t *testing.T) {
	registry := experiment.NewRegistry(demo)
	for text, want := range map[string]string{
		`{"schema":1,`:             "not a plan",
		`{"schema":2,"trials":[]}`: "the plan has schema 2; this version reads 1",
		`{"schema":1,"trials":[{"experiment":"demo/b"}]}`:                    `did you mean "demo/a"?`,
		`{"schema":1,"trials":[{"experiment":"demo/a","params":{"x":0.5}}]}`: `trial 0 of the plan: demo/a: parameter "x"`,
		`{"schema":1,"trials":[{"experiment":"demo/a","params":{"y":1}}]}`:   `unknown parameter "y"`,
	} {
		t.Run(text, func(t *testing.T) {
			if p, err := plan.Parse([]byte(text), registry); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, %v, want %s", text, p, err, want)
			}
		})
	}
}

// A changed plan is refused: a sealed one by its digest, one of an early version by
// its names and keys.
func TestParseHoldsPlansAgainstThemselves(t *testing.T) {
	raw, err := json.Marshal(newPlan(t, finder{}))
	if err != nil {
		t.Fatal(err)
	}
	whole := string(raw)
	key := newPlan(t, finder{}).Trials[0].Key
	// Of a time when the experiment had no parameter.
	before := experiment.Identity{Experiment: "demo/a", ResultVersion: 1, Backend: "cpu", DType: "float64",
		Datasets: map[string]string{"set": "digest"}}
	earlier, err := record.Key(before)
	if err != nil {
		t.Fatal(err)
	}
	settings := sha256.Sum256([]byte("cpu\nfloat64\ndemo/a 1 0 {}\n"))
	old := strings.NewReplacer(key, earlier, `"params":{"x":0}`, `"params":{}`, newPlan(t, finder{}).Digest,
		hex.EncodeToString(settings[:])).Replace(whole)
	for _, c := range []struct {
		name, from, to string
		unsealed       string // the error without a digest; "" for none
		sealed         string // with the digest of the changed text, verified
	}{
		{"as it was", "", "", "", ""},
		{"a title", `"title":""`, `"title":"a"`, "", ""},
		{"a name", `"tables"`, `"tablas"`, `unknown field "tablas"`, ""},
		{"a setting", `"x":0`, `"x":1`, "not that of its settings", "not that of its settings"},
		{"a seed", `"seed":0`, `"seed":1`, "not that of its settings", "not that of its settings"},
		{"a version", `"demo/a":1`, `"demo/a":2`, "not that of its settings", "not that of its settings"},
		{"a data set", `"set":"digest"`, `"set":"digesu"`, "not that of its settings", "not that of its settings"},
		{"a backend", `"backend":"cpu"`, `"backend":"gpu"`, "not that of its settings", "not that of its settings"},
		{"a key", key, strings.Repeat("0", 64), "not that of its settings", "not that of its settings"},
		{"the digest of the settings", `"digest":"`, `"digest":"0`, "digest is not that of its settings",
			"digest is not that of its settings"},
		{"a parameter has come since", whole, old, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(whole, c.from, c.to, 1)
			if c.from != "" && changed == whole {
				t.Fatalf("%s has no %s", whole, c.from)
			}
			sealed, err := record.AppendDigest([]byte(changed), plan.DigestMember)
			if err != nil {
				t.Fatal(err)
			}
			broken := bytes.Replace(sealed, []byte(`"dtype":"float64"`), []byte(`"dtype":"float32"`), 1)
			for _, parsed := range []struct {
				how   string
				parse func([]byte, *experiment.Registry) (*plan.Plan, error)
				text  []byte
				want  string
			}{
				{"unsealed", plan.Parse, []byte(changed), c.unsealed},
				{"unsealed, verified", plan.Verify, []byte(changed), c.unsealed},
				{"sealed", plan.Parse, sealed, ""},
				{"sealed, verified", plan.Verify, sealed, c.sealed},
				{"sealed and changed", plan.Parse, broken, "its digest does not hold"},
			} {
				p, err := parsed.parse(parsed.text, experiment.NewRegistry(demo))
				if (err == nil) != (parsed.want == "") || err != nil && !strings.Contains(err.Error(), parsed.want) {
					t.Errorf("%s: %v, want %q", parsed.how, err, parsed.want)
				}
				if err == nil && p.Sealed != strings.HasPrefix(parsed.how, "sealed") {
					t.Errorf("%s: sealed is %v", parsed.how, p.Sealed)
				}
			}
		})
	}
}

// A plan that this program and the data here do not compute is refused: another
// version of results, other data, settings that the keys do not stand for.
func TestCheck(t *testing.T) {
	check := func(p *plan.Plan) error {
		return p.Check(experiment.NewRegistry(demo), plan.NewDatasets(finder{}))
	}
	if err := check(newPlan(t, finder{})); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*plan.Plan){
		"has version 2":            func(p *plan.Plan) { p.Versions["demo/a"] = 2 },
		"is not what the plan was": func(p *plan.Plan) { p.Datasets["set"] = "other" },
		"was changed by hand":      func(p *plan.Plan) { p.Trials[0].Params = experiment.Params{"x": 1} },
		"trial 0 of the plan has":  func(p *plan.Plan) { p.Trials[0].Backend = "cuda" },
	} {
		t.Run(want, func(t *testing.T) {
			p := newPlan(t, finder{})
			change(p)
			if err := check(p); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		})
	}
}
