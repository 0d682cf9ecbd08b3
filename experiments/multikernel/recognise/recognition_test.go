package recognise

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/readers"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/multikernel/kernellist"
	"privkern/runner/experiment"
)

// steps records the progress that a trial reports.
type steps []string

func (s *steps) trial(tb testing.TB, workers int) *experiment.Trial {
	return trialtest.New(tb, trialtest.Options{Seed: 1, Workers: workers, Progress: func(done, total int, what string) {
		*s = append(*s, fmt.Sprintf("%d/%d %s", done, total, what))
	}})
}

// recogniseHAR runs a trial of multikernel/har on samples that are given.
func recogniseHAR(ctx context.Context, t *testing.T, workers int, reported *steps, all Samples, d division,
	change func(*HARSettings)) (*experiment.Outcome[RecognitionMetrics], error) {
	t.Helper()
	s := har().With(change)
	if _, err := har().Resolved(s); err != nil {
		t.Fatal(err)
	}
	return recognise(ctx, reported.trial(t, workers), &s.Recognition, all, d, harKernels[s.Experiment-1])
}

// defaults changes no setting.
func defaults[S any](*S) {}

// movements are samples of people at six activities, 12 of each, that differ much
// by activity and less by person, each person in the same manner at all
// activities. Column 3 is constant.
func movements(people int) Samples {
	const columns, activities = 10, 6
	s := groups(people, activities, func(int, int) int { return 12 })
	rng := rand.New(rand.NewPCG(5, 5))
	means := func(kinds int, size float64) *mat.Dense {
		m := mat.NewDense(kinds, columns, nil)
		m.Apply(func(int, int, float64) float64 { return size * rng.NormFloat64() }, m)
		return m
	}
	activity, person := means(activities, 10), means(people, 3)
	s.X = mat.NewDense(len(s.Utility), columns, nil)
	for i, u := range s.Utility {
		row := s.X.RawRowView(i)
		for j := range row {
			row[j] = activity.At(u, j) + person.At(s.Privacy[i], j) + rng.NormFloat64()
		}
		row[3] = 1
	}
	return s
}

func TestRecognise(t *testing.T) {
	all, d := movements(4), division{test: 3}
	last, err := recogniseHAR(t.Context(), t, 2, new(steps), all, d, func(s *HARSettings) { s.Standardise = true })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*HARSettings)
		holds  func(m RecognitionMetrics) bool
	}{
		{"SNR", defaults[HARSettings],
			func(m RecognitionMetrics) bool {
				return m.SNR["rbf_1"] > 0 && m.UPR == nil && m.Rank <= 20 && m.C == 100
			}},
		{"one kernel", func(s *HARSettings) { s.Method = "single:rbf:0.01" },
			func(m RecognitionMetrics) bool { return m.Weight["rbf"] == 1 && m.Rank == 5 }},
		{"ratio, other kernels", func(s *HARSettings) { s.Method, s.Experiment, s.Standardise = "upr", 2, true },
			func(m RecognitionMetrics) bool { return m.UPR["linear"] > 0 && m.SNR == nil && m.Weight["sigmoid"] > 0 }},
		{"standardised, random split", func(s *HARSettings) { s.Standardise, s.Split = true, SplitRandom },
			func(m RecognitionMetrics) bool { return !reflect.DeepEqual(m.SNR, last.Metrics.SNR) }},
		{"C cross-validated", func(s *HARSettings) { s.C = trialtest.WordOr[float64](CrossValidated) },
			func(m RecognitionMetrics) bool { return slices.Contains(penalties, m.C) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var reported steps
			out, err := recogniseHAR(t.Context(), t, 2, &reported, all, d, c.change)
			if err != nil {
				t.Fatal(err)
			}
			m := out.Metrics
			if m.Utility < 95 || m.TrainSamples != 4*6*9 || m.TestSamples != 4*6*3 || !c.holds(m) {
				t.Errorf("metrics %+v", m)
			}
			if want := max(m.AdversarySVM, m.AdversaryNeighbours, m.AdversaryForest); m.Adversary != want {
				t.Errorf("the strongest adversary names %g %%, not %g %%", want, m.Adversary)
			}
			constant := func(w string) bool { return strings.Contains(w, "1 of 10 features are constant") }
			if !slices.ContainsFunc(out.Warnings, constant) {
				t.Errorf("warnings %q", out.Warnings)
			}
			if p := out.Privacy; p == nil || p.Guarantee != "" || !strings.HasPrefix(p.Statement(),
				"no guarantee: the kernels") {
				t.Errorf("privacy %+v: nothing is guaranteed", p)
			}
			last := fmt.Sprintf("%d/%[1]d adversary: random forest", len(reported))
			if reported[len(reported)-1] != last {
				t.Errorf("progress %q, should end with %q", reported, last)
			}
		})
	}
}

// The paper wants fewer components than features; where there are not, the record warns.
func TestRecogniseWarnsOfNoCompression(t *testing.T) {
	const warning = "nothing is compressed: "
	for _, c := range []struct {
		name   string
		change func(*HARSettings)
		want   string
	}{
		{"four kernels", defaults[HARSettings], "the kernels have 20 components together and the samples 10 features"},
		{"other weights", func(s *HARSettings) { s.Method, s.Components = "uniform", 3 },
			"the kernels have 12 components together and the samples 10 features"},
		{"fewer", func(s *HARSettings) { s.Components = 2 }, ""},
		{"one kernel", func(s *HARSettings) { s.Method = "single:rbf:0.01" }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := recogniseHAR(t.Context(), t, 1, new(steps), movements(4), division{test: 3}, c.change)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(out.Warnings, func(w string) bool { return strings.HasPrefix(w, warning) })
			if c.want == "" && i >= 0 || c.want != "" && (i < 0 || !strings.HasPrefix(out.Warnings[i], warning+c.want)) {
				t.Errorf("warnings %q, want %q", out.Warnings, c.want)
			}
		})
	}
}

func TestNotCompressed(t *testing.T) {
	for _, c := range []struct {
		weights  []float64
		features int
		warns    bool
	}{
		{[]float64{.5, .5, .7}, 6, true},  // mhealth-6ch
		{[]float64{.5, .5, .7}, 15, true}, // as many
		{[]float64{.5, .5, .7}, 16, false},
		{[]float64{0, 1, 0}, 6, false}, // weights that select one kernel
	} {
		if w := NotCompressed(5, c.weights, c.features); (w != "") != c.warns {
			t.Errorf("weights %v, %d features: %q", c.weights, c.features, w)
		}
	}
}

// A search of any machine that stops at its cap fails the trial.
func TestMachinesShortOfTheirOptimum(t *testing.T) {
	for _, c := range []struct {
		name        string
		cap         int
		c           experiment.Or[CrossValidation, float64]
		ofAdversary bool
		want        string
	}{
		{"C cross-validated", 3, trialtest.WordOr[float64](CrossValidated), false,
			"utility_percent: cross-validation, C = 100: support vector machine, classes"},
		{"activities", 3, experiment.NumberOr[CrossValidation](100.0), false,
			"utility_percent: support vector machine, classes"},
		{"people", 45, experiment.NumberOr[CrossValidation](100.0), false,
			"privacy_percent: support vector machine, classes"},
		{"adversary", 60, experiment.NumberOr[CrossValidation](1.0), true, "adversary: cross-validation, C = "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := har().With(func(s *HARSettings) { s.C = c.c })
			r, err := newRecognition(t.Context(), new(steps).trial(t, 1), &s.Recognition, movements(4), division{test: 3},
				harKernels[s.Experiment-1])
			if err != nil {
				t.Fatal(err)
			}
			r.searches = c.cap
			if c.ofAdversary {
				a := newAdversary(t.Context(), r.Trial, r.features, r.train, r.test, r.step)
				a.searches = c.cap
				_, err = a.disclose()
			} else {
				_, err = r.run()
			}
			stopped := fmt.Sprintf("stopped after %d iterations", c.cap)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(err.Error(), stopped) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}

// The failure of the machine behind privacy_percent is no evidence about others: with a small C it
// answers with few people where an adversary names nearly all.
func TestAdversaryIsStronger(t *testing.T) {
	out, err := recogniseHAR(t.Context(), t, 1, new(steps), movements(4), division{test: 3},
		func(s *HARSettings) { s.C = experiment.NumberOr[CrossValidation](.01) })
	if err != nil {
		t.Fatal(err)
	}
	if m := out.Metrics; m.Privacy > 50 || m.Adversary < 80 {
		t.Errorf("privacy %g %%, adversary %g %%", m.Privacy, m.Adversary)
	}
}

func TestRecogniseDoesNotDependOnWorkers(t *testing.T) {
	var results []RecognitionMetrics
	for _, workers := range []int{1, 3} {
		out, err := recogniseHAR(t.Context(), t, workers, new(steps), movements(3), division{test: 3}, defaults[HARSettings])
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, out.Metrics)
	}
	if !reflect.DeepEqual(results[0], results[1]) {
		t.Errorf("1 worker: %+v, 3 workers: %+v", results[0], results[1])
	}
}

func TestRecogniseRefuses(t *testing.T) {
	for _, test := range []struct {
		name    string
		samples func() Samples
		change  func(*HARSettings)
		d       division
		want    string
	}{
		{"nothing", func() Samples { return Samples{} }, defaults[HARSettings], division{test: 3},
			"no samples of these activities"},
		{"an activity of one person is missing", func() Samples {
			s := movements(3)
			rows := make([]int, 0, len(s.Utility))
			for i, u := range s.Utility {
				if u != 4 || s.Privacy[i] != 1 {
					rows = append(rows, i)
				}
			}
			return s.take(rows)
		}, defaults[HARSettings], division{test: 3}, "person 1 has no samples at activity 4"},
		{"too few samples", func() Samples { return movements(3) }, defaults[HARSettings], division{test: 12},
			"13 are required"},
		{"one person", func() Samples { return movements(1) }, defaults[HARSettings], division{test: 3}, "privacy"},
		{"a sigmoid without its ridge", func() Samples { return movements(3) },
			func(s *HARSettings) { s.Experiment, s.Method, s.Rho = 2, "single:sigmoid", 1e-9 },
			division{test: 3}, "positive semidefinite kernel"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := recogniseHAR(t.Context(), t, 1, new(steps), test.samples(), test.d, test.change)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// Invalid settings are refused before any data are read.
func TestSettingsAreRefused(t *testing.T) {
	for _, c := range []struct {
		x                    *experiment.Experiment
		setting, value, want string
	}{
		{har().Experiment, "components", "6", "6 activities have 5 directions"},
		{har().Experiment, "dataset", "har-recon", "har-reconstructed"},
		{har().Experiment, "method", "single:laplace", `unknown kernel of this experiment "laplace"`},
		{har().Experiment, "c", "0", "c"},
		{mhealth().Experiment, "activities", "1,2,3", "3 activities have 2 directions"},
		{mhealth().Experiment, "activities", "1,2,2.5,4,5,6", "2.5 is not a whole number"},
		{mhealth().Experiment, "activities", "1,2,2,4,5,6", "2 is given twice"},
		{mhealth().Experiment, "activities", "1,2,3,4,5,13", "13"},
		{mhealth().Experiment, "activities", "1", "at least two"},
	} {
		t.Run(c.x.Name+" "+c.setting+"="+c.value, func(t *testing.T) {
			if _, err := c.x.Resolve(map[string]any{c.setting: c.value}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	_, err := har().Resolved(har().With(func(s *HARSettings) { s.Method, s.Experiment = "single:laplace", 2 }))
	if want := "valid: linear, rbf:0.001, laplacian:0.001"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

func TestReadings(t *testing.T) {
	// Windows of 4 readings of 2 channels: the second overlaps the first, the
	// third comes after a gap, the fourth is of another person.
	w := &readers.Windows{Inputs: mat.NewDense(4, 8, nil), Activity: []int{0, 0, 1, 2}, Subject: []int{1, 1, 1, 2},
		Recording: []int{1, 1, 1, 2}, Start: []int{0, 2, 9, 3}}
	for i, start := range w.Start {
		for k := range 8 {
			w.Inputs.Set(i, k, float64(100*w.Subject[i]+10*(start+k/2)+k%2))
		}
	}
	r := readings(w, 2)
	if want := []int{0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 3, 4, 5, 6}; !slices.Equal(r.Start, want) {
		t.Fatalf("readings at %v, want %v", r.Start, want)
	}
	if want := []int{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}; !slices.Equal(r.Activity, want) {
		t.Errorf("activities %v, want %v", r.Activity, want)
	}
	for i, at := range r.Start {
		if v := float64(100*r.Subject[i] + 10*at); r.Inputs.At(i, 0) != v || r.Inputs.At(i, 1) != v+1 {
			t.Errorf("reading %d is %v", i, r.Inputs.RawRowView(i))
		}
	}
}

// writeMHEALTH writes the logs of ten people with 12 readings of each of the
// first six activities, and one reading without an activity between them.
func writeMHEALTH(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	rng := rand.New(rand.NewPCG(9, 9))
	for person := 1; person <= readers.MHEALTHSubjects; person++ {
		var log strings.Builder
		for activity := 1; activity <= 6; activity++ {
			for i := range 13 {
				for j := range readers.MHEALTHChannels {
					value := 3*math.Sin(float64(activity*activity*(j+3))) + .8*math.Cos(float64(3*person+j))
					fmt.Fprintf(&log, "%.4f\t", value+.3*rng.NormFloat64())
				}
				fmt.Fprintln(&log, activity*min(i, 1))
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("mHealth_subject%d.log", person)), []byte(log.String()),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestMHEALTHSamples(t *testing.T) {
	folder := writeMHEALTH(t)
	s, err := mhealthSamples(MHEALTH, folder, []int{0, 2, 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.complete(); err != nil {
		t.Error(err)
	}
	if n, columns := s.X.Dims(); n != 10*3*12 || columns != readers.MHEALTHChannels ||
		!slices.Equal(Distinct(s.Utility), []int{0, 2, 4}) || len(Distinct(s.Privacy)) != 10 {
		t.Errorf("%d samples of %d columns, activities %v of people %v", n, columns, Distinct(s.Utility), Distinct(s.Privacy))
	}
	// Activities that are not there, and too few samples, are not passed over.
	if _, err := mhealthSamples(MHEALTH, folder, []int{7, 8}); err == nil || !strings.Contains(err.Error(),
		"no samples of these activities") {
		t.Errorf("activities that are not there: %v", err)
	}
	trial := new(steps).trial(t, 1)
	trial.Dataset = func(name string) string {
		if name != "mhealth" {
			t.Errorf("asked for the data set %s", name)
		}
		return folder
	}
	want := "person 1 has 12 samples at activity 0: 95 are required"
	if _, err := mhealth().Compute(t.Context(), trial, mhealth().Defaults()); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("too few samples: %v", err)
	}
}

// Files that are no data set are refused by their name.
func TestHARRefusesFiles(t *testing.T) {
	for _, data := range []HARData{HAR, HARReconstructed} {
		t.Run(experiment.NameOf(data), func(t *testing.T) {
			trial, folder := new(steps).trial(t, 1), t.TempDir()
			trial.Dataset = func(string) string { return folder }
			s := har().With(func(s *HARSettings) { s.Dataset = data })
			if _, err := har().Compute(t.Context(), trial, s); err == nil || !strings.Contains(err.Error(), folder) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// The documentation names the kernels that the experiments have.
func TestKernelsAreDocumented(t *testing.T) {
	for _, c := range []struct {
		x     *experiment.Experiment
		lists []string
	}{{har().Experiment, harKernels}, {mhealth().Experiment, mhealthKernels}} {
		t.Run(c.x.Name, func(t *testing.T) {
			p, err := c.x.Param("experiment")
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("kernels: 1 for %s, 2 for %s", c.lists[0], c.lists[1]); p.Doc != want {
				t.Errorf("%q, want %q", p.Doc, want)
			}
		})
	}
	if p, err := reference().Param("kernels"); err != nil || !strings.HasSuffix(p.Doc, kernellist.Notation) {
		t.Errorf("%v, %v; want the notation %s", p, err, kernellist.Notation)
	}
}
