package golden

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// made is what is kept of a fictitious experiment.
func made(change func(*file)) file {
	f := file{Experiment: "demo/a", ResultVersion: 2, Class: madeOn, Trials: []goldenTrial{{
		Setting: "x=1", Seed: 1, Key: "k", Params: map[string]any{"x": 1.0, "y": "inf"},
		Series:       map[string]map[string]record.SeriesColumn{"curve": {"x": {0, 2}, "y": {.1, math.NaN()}}},
		SeriesSHA256: map[string]string{"data": "0123"},
	}}}
	metrics(1e6, 1e-14)(&f)
	if change != nil {
		change(&f)
	}
	return f
}

// metrics gives the trial these metrics.
func metrics(large, small float64) func(*file) {
	return func(f *file) { f.Trials[0].Metrics = map[string]float64{"large": large, "small": small} }
}

// TestDecisions holds results against what is kept: what the comparison says, and
// whether -update may replace the file.
func TestDecisions(t *testing.T) {
	up := func(v float64) float64 { return math.Nextafter(v, math.Inf(1)) }
	const raise = "changed without raising its version, 2"
	for _, c := range []struct {
		name      string
		change    func(*file)
		want      string // in the error of the comparison; empty for none
		mayUpdate bool
	}{
		{"equal", nil, "", true},
		{"the last bit of a metric", metrics(up(1e6), 1e-14),
			"large is 1.0000000000000001e+06, was 1e+06", false},
		{"the last bit of a small one", metrics(1e6, up(1e-14)), raise, false},
		{"the sign of nothing", func(f *file) {
			f.Trials[0].Series["curve"]["x"] = record.SeriesColumn{math.Copysign(0, -1), 2}
		}, "column x at 0 is -0, was 0", false},
		{"the last bit in a series", func(f *file) { f.Trials[0].Series["curve"]["y"][0] = up(.1) },
			"series curve column y at 0 is", false},
		{"a gap filled", func(f *file) { f.Trials[0].Series["curve"]["y"][1] = 0 },
			"series curve column y at 1 is 0, was NaN", false},
		{"a longer series", func(f *file) { f.Trials[0].Series["curve"]["x"] = record.SeriesColumn{1, 2, 3} },
			"has 3 values, had 2", false},
		{"a new column", func(f *file) { f.Trials[0].Series["curve"]["z"] = record.SeriesColumn{1, 2} },
			"column z is new", false},
		{"series of real data", func(f *file) { f.Trials[0].SeriesSHA256["data"] = "4567" },
			"series data has another digest", false},
		{"a new metric", func(f *file) {
			f.Trials[0].Metrics = map[string]float64{"large": 1e6, "small": 1e-14, "new": 1}
		}, "new is new", false},
		{"a metric less", func(f *file) { f.Trials[0].Metrics = map[string]float64{"large": 1e6} }, "small is gone", false},
		{"another default", func(f *file) {
			f.Trials[0].Key, f.Trials[0].Params = "l", map[string]any{"x": 2.0, "y": "inf"}
		}, "the key, of other parameters: x is 2, was 1", false},
		{"a new parameter", func(f *file) {
			f.Trials[0].Key, f.Trials[0].Params = "l", map[string]any{"x": 1.0, "y": "inf", "z": 2.0}
		}, "the key, of other parameters: z is new", false},
		{"a version raised", func(f *file) { f.ResultVersion = 3; metrics(1, 1e-14)(f) },
			"version 2, the code of version 3: run", true},
		{"a version raised for nothing", func(f *file) { f.ResultVersion = 3 }, "version 2, the code of version 3: run",
			true},
		{"a version lowered", func(f *file) { f.ResultVersion = 1 }, "the code of the earlier version 1", false},
		{"a new setting", func(f *file) { f.Trials = append(f.Trials, goldenTrial{Setting: "x=2", Seed: 1}) },
			`does not have the settings: "x=2", seed 1: run`, true},
		{"a setting less", func(f *file) { f.Trials = nil }, "no longer among the settings", true},
		{"a new setting and a changed result", func(f *file) {
			metrics(2, 1e-14)(f)
			f.Trials = append(f.Trials, goldenTrial{Setting: "x=2", Seed: 1})
		}, raise, false},
		{"another class, the same bits", func(f *file) { f.Class, f.Tolerance = "gonum-arm64", otherClass }, "", false},
		{"another class, other last bits", func(f *file) {
			f.Class, f.Tolerance = "gonum-arm64", otherClass
			metrics(1e6*(1+1e-8), -1e-9)(f)
			f.Trials[0].Series["curve"]["y"][0], f.Trials[0].SeriesSHA256["data"] = .1+1e-10, "4567"
		}, "", false},
		{"another class, another result", func(f *file) {
			f.Class, f.Tolerance = "gonum-arm64", otherClass
			metrics(1e6*(1+1e-5), 1e-14)(f)
		}, raise, false},
		{"another class, a gap", func(f *file) {
			f.Class, f.Tolerance, f.Trials[0].Series["curve"]["y"][0] = "gonum-arm64", otherClass, math.NaN()
		}, "is NaN, was 0.1", false},
		{"another class, a metric less", func(f *file) {
			f.Class, f.Tolerance = "gonum-arm64", otherClass
			f.Trials[0].Metrics = map[string]float64{"large": 1e6}
		}, "small is gone", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := compare(made(nil), made(c.change))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err := rewrite(made(nil), made(c.change)); (err == nil) != c.mayUpdate {
				t.Errorf("-update: %v, want that it may: %v", err, c.mayUpdate)
			}
		})
	}
}

// A file reads back as it was written, to the last bit.
func TestFilesReadBack(t *testing.T) {
	before := testdata
	testdata = t.TempDir()
	t.Cleanup(func() { testdata = before })
	f := made(func(f *file) {
		f.Trials[0].Metrics = map[string]float64{"third": 1.0 / 3, "denormal": 5e-324}
		f.Trials[0].Params = map[string]any{"list": []any{1.0, 2.0}, "none": []any{}}
	})
	if _, err := read(f.Experiment); err == nil || err.Error() != errAbsent.Error() {
		t.Errorf("before it is there: %v", err)
	}
	if err := f.write(); err != nil {
		t.Fatal(err)
	}
	back, err := read(f.Experiment)
	if err != nil {
		t.Fatal(err)
	}
	if err := compare(f, back); err != nil || !reflect.DeepEqual(f.Trials[0].Params, back.Trials[0].Params) {
		t.Errorf("wrote %+v\nread  %+v, %v", f, back, err)
	}
	if err := os.WriteFile(filepath.Join(testdata, "demo-a.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read(f.Experiment); err == nil {
		t.Error("a torn file was read")
	}
}

// Times differ from run to run and are not kept; of real data only digests are.
func TestWhatIsKept(t *testing.T) {
	e := &experiment.Experiment{Metrics: []experiment.Metric{{Name: "y"}, {Name: "time_*", Timing: true}}}
	r := &record.Record{Seed: 3, Key: "k", Params: map[string]any{"x": 1.0},
		Metrics: map[string]float64{"y": 1, "time_s": 2},
		Series:  map[string]map[string]record.SeriesColumn{"rows": {"x": {170.5}}}}
	for _, c := range []struct {
		name           string
		realData       bool
		series, digest int
	}{{"made data", false, 1, 0}, {"real data", true, 0, 1}} {
		t.Run(c.name, func(t *testing.T) {
			k, err := keep(e, "x=1", r, c.realData)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(k.Metrics, map[string]float64{"y": 1}) || len(k.Series) != c.series ||
				len(k.SeriesSHA256) != c.digest {
				t.Errorf("%+v", k)
			}
		})
	}
}
