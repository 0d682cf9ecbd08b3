package golden

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// made returns the file of a fictitious experiment.
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

// TestDecisions compares results with a file: the error of the comparison, and
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
			"metrics.large is 1.0000000000000001e+06, was 1e+06 (relative difference 1.2e-16)", false},
		{"the last bit of a small one", metrics(1e6, up(1e-14)), raise, false},
		{"the sign of nothing", func(f *file) {
			f.Trials[0].Series["curve"]["x"] = record.SeriesColumn{math.Copysign(0, -1), 2}
		}, "series.curve.x[0] is -0, was 0", false},
		{"the last bit in a series", func(f *file) { f.Trials[0].Series["curve"]["y"][0] = up(.1) },
			"series.curve.y[0] is 0.10000000000000002, was 0.1 (relative difference 1.4e-16)", false},
		{"a gap filled", func(f *file) { f.Trials[0].Series["curve"]["y"][1] = 0 },
			"series.curve.y[1] is 0, was NaN", false},
		{"a longer series", func(f *file) { f.Trials[0].Series["curve"]["x"] = record.SeriesColumn{1, 2, 3} },
			"series.curve.x has 3 values, had 2", false},
		{"a new column", func(f *file) { f.Trials[0].Series["curve"]["z"] = record.SeriesColumn{1, 2} },
			"series.curve.z is new", false},
		{"series of real data", func(f *file) { f.Trials[0].SeriesSHA256["data"] = "4567" },
			"series.data has another digest", false},
		{"a new metric", func(f *file) {
			f.Trials[0].Metrics = map[string]float64{"large": 1e6, "small": 1e-14, "new": 1}
		}, "metrics.new is new", false},
		{"a metric less", func(f *file) { f.Trials[0].Metrics = map[string]float64{"large": 1e6} },
			"metrics.small is gone", false},
		{"another default", func(f *file) {
			f.Trials[0].Key, f.Trials[0].Params = "l", map[string]any{"x": 2.0, "y": "inf"}
		}, "key differs, of other parameters: x is 2, was 1", false},
		{"a new parameter", func(f *file) {
			f.Trials[0].Key, f.Trials[0].Params = "l", map[string]any{"x": 1.0, "y": "inf", "z": 2.0}
		}, "key differs, of other parameters: z is new", false},
		{"a version raised", func(f *file) { f.ResultVersion = 3; metrics(1, 1e-14)(f) },
			"metrics.large is 1, was 1e+06 (relative difference 1)", true},
		{"a version raised for nothing", func(f *file) { f.ResultVersion, f.Trials[0].Key = 3, "l" },
			"nothing but the version changed", true},
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
		}, "series.curve.y[0] is NaN, was 0.1", false},
		{"another class, a metric less", func(f *file) {
			f.Class, f.Tolerance = "gonum-arm64", otherClass
			f.Trials[0].Metrics = map[string]float64{"large": 1e6}
		}, "metrics.small is gone", false},
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

// TestMessages checks the whole text of failures: first each quantity that changed, beyond
// rounding and largest first, then those whose last bits changed alone, then a
// version with a reason; the command that writes files anew last, and only for a
// version that was raised.
func TestMessages(t *testing.T) {
	change := func(f *file) {
		metrics(1e6*(1+1e-5), -1e-14)(f)
		f.Trials[0].Series["curve"]["x"] = record.SeriesColumn{math.Nextafter(0, -1), 3}
		f.Trials[0].Series["curve"]["y"][0] = .1 * (1 + 4e-16)
		f.Trials[0].SeriesSHA256["data"] = "4567"
		f.Trials[0].Series["curve"]["z"] = record.SeriesColumn{1, 2}
	}
	const changes = `4 of the quantities differ beyond rounding (1e-12), the largest first:
  "x=1", seed 1: series.curve.z is new
  "x=1", seed 1: metrics.small is -1e-14, was 1e-14 (relative difference 2)
  "x=1", seed 1: series.curve.x[0] is -5e-324, was 0 (relative difference 1), the largest of 2 of 2 entries
  "x=1", seed 1: metrics.large is 1.00001e+06, was 1e+06 (relative difference 1e-05)
1 of the quantities differ by an unknown amount, because of real data only digests are kept:
  "x=1", seed 1: series.data has another digest
1 of the quantities differ in the last bits only, the largest first:
  "x=1", seed 1: series.curve.y[0] is 0.10000000000000003, was 0.1 (relative difference 2.8e-16)
`
	for _, c := range []struct {
		name   string
		change func(*file)
		want   string
	}{
		{"of the same version", change, "the result of demo/a changed without raising its version, 2:\n" + changes +
			"If that is not meant, it is a mistake: stored results of the old code would pass for new ones. " +
			"If it is, raise Version, and give the reason in CHANGELOG.md."},
		{"of a raised version", func(f *file) { f.ResultVersion = 3; change(f) },
			"the file of demo/a is of result version 2, the code of version 3:\n" + changes +
				"Give the reason in CHANGELOG.md, then write the file anew: `go generate ./experiments`."},
		{"in the last bits", metrics(1e6, 1e-14*(1+2e-15)),
			`the result of demo/a changed without raising its version, 2:
1 of the quantities differ in the last bits only, the largest first:
  "x=1", seed 1: metrics.small is 1.000000000000002e-14, was 1e-14 (relative difference 2.1e-15)
If that is not meant, it is a mistake: stored results of the old code would pass for new ones. ` +
				"If it is, raise Version, and give the reason in CHANGELOG.md."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := compare(made(nil), made(c.change)); err == nil || err.Error() != c.want {
				t.Errorf("got\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}

// Many changes are counted, and the largest are listed.
func TestMessageOfManyChanges(t *testing.T) {
	many := func(by float64) func(*file) {
		return func(f *file) {
			f.Trials[0].Metrics = map[string]float64{}
			for i := range 20 {
				f.Trials[0].Metrics[fmt.Sprint("m", i)] = 1 + float64(i)*by
			}
		}
	}
	text := compare(made(many(0)), made(many(.25))).Error()
	for _, want := range []string{"19 of the", "m19 is 5.75, was 1", "m8 is 3, was 1", "\n  ... and 7 more\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "m7 is") || strings.Index(text, "m19 is") > strings.Index(text, "m8 is") {
		t.Errorf("the largest are not the first:\n%s", text)
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
