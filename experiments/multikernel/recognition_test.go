package multikernel

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/internal/fault"
	"privkern/runner/experiment"
)

// recogniseTrial is a trial with the given parameters of an experiment, and
// what it reports of its progress.
func recogniseTrial(t *testing.T, x *experiment.Experiment, workers int, told *[]string, given map[string]any) *experiment.Trial {
	t.Helper()
	p, err := x.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	return &experiment.Trial{
		Params: p, Backend: "cpu", DType: "float64", Workers: workers,
		Progress: func(done, total int, what string) { *told = append(*told, fmt.Sprintf("%d/%d %s", done, total, what)) },
		Stream: func(purpose string) *rand.Rand {
			h := fnv.New64a()
			_, _ = h.Write([]byte(purpose))
			return rand.New(rand.NewPCG(h.Sum64(), 1))
		},
	}
}

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
	for _, test := range []struct {
		name  string
		given map[string]any
		check func(m map[string]float64) bool
	}{
		{"SNR", map[string]any{}, func(m map[string]float64) bool { return m["snr_rbf_1"] > 0 && m["rank"] <= 20 && m["c"] == 100 }},
		{"one kernel", map[string]any{"method": "single:rbf:0.01"}, func(m map[string]float64) bool { return m["weight_rbf"] == 1 && m["rank"] == 5 }},
		{"ratio, other kernels", map[string]any{"method": "upr", "experiment": 2, "standardise": true}, func(m map[string]float64) bool { return m["upr_linear"] > 0 && m["weight_sigmoid"] > 0 }},
		{"standardised, random split", map[string]any{"standardise": true, "split": "random"}, func(map[string]float64) bool { return true }},
		{"C cross-validated", map[string]any{"c": "cv"}, func(m map[string]float64) bool { return slices.Contains(penalties, m["c"]) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var told []string
			trial := recogniseTrial(t, har(), 2, &told, test.given)
			r, err := recognise(context.Background(), trial, all, d, harKernels)
			if err != nil {
				t.Fatal(err)
			}
			m := r.Metrics
			if m["utility_percent"] < 95 || m["train_samples"] != 4*6*9 || m["test_samples"] != 4*6*3 || !test.check(m) {
				t.Errorf("metrics %v", m)
			}
			if want := max(m["adversary_svm_percent"], m["adversary_knn_percent"], m["adversary_forest_percent"]); m["adversary_percent"] != want {
				t.Errorf("the strongest adversary names %g %%, not %g %%", want, m["adversary_percent"])
			}
			if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "1 of 10 features are constant") }) {
				t.Errorf("warnings %q", r.Warnings)
			}
			if r.Privacy == nil || r.Privacy.Guarantee != "" || !strings.HasPrefix(r.Privacy.Statement(),
				"no guarantee: the kernels") {
				t.Errorf("privacy %+v: nothing is guaranteed", r.Privacy)
			}
			last := fmt.Sprintf("%d/%[1]d adversary: random forest", len(told))
			if told[len(told)-1] != last {
				t.Errorf("progress %q, should end with %q", told, last)
			}
			for name, v := range m {
				if !slices.ContainsFunc(recognitionMetrics, func(d experiment.Metric) bool {
					family, ok := strings.CutSuffix(d.Name, "*")
					return name == d.Name || ok && strings.HasPrefix(name, family)
				}) {
					t.Errorf("the metric %s is not documented", name)
				}
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s is %g", name, v)
				}
			}
		})
	}
}

// A search that stops at its cap fails the trial, whichever machine it is of.
func TestMachinesShortOfTheirOptimum(t *testing.T) {
	for _, c := range []struct {
		name  string
		cap   int
		given map[string]any
		want  string
	}{
		{"C cross-validated", 3, map[string]any{"c": "cv"}, "utility_percent: cross-validation, C = 100: support vector machine, classes"},
		{"activities", 3, map[string]any{"c": 100}, "utility_percent: support vector machine, classes"},
		{"people", 45, map[string]any{"c": 100}, "privacy_percent: support vector machine, classes"},
		{"adversary", 60, map[string]any{"c": 1}, "adversary: cross-validation, C = "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told []string
			trial := recogniseTrial(t, har(), 1, &told, c.given)
			ctx := fault.With(context.Background(), fault.Plan{Cap: c.cap})
			_, err := recognise(ctx, trial, movements(4), division{test: 3}, harKernels)
			steps := fmt.Sprintf("stopped after %d iterations", c.cap)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(err.Error(), steps) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}

// The failure of the machine behind privacy_percent says nothing of others: with
// a small C it answers with few people where an adversary names nearly all.
func TestAdversaryIsStronger(t *testing.T) {
	var told []string
	trial := recogniseTrial(t, har(), 1, &told, map[string]any{"c": .01})
	r, err := recognise(context.Background(), trial, movements(4), division{test: 3}, harKernels)
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Metrics; m["privacy_percent"] > 50 || m["adversary_percent"] < 80 {
		t.Errorf("privacy %g %%, adversary %g %%", m["privacy_percent"], m["adversary_percent"])
	}
}

func TestRecogniseDoesNotDependOnWorkers(t *testing.T) {
	var results []map[string]float64
	for _, workers := range []int{1, 3} {
		var told []string
		r, err := recognise(context.Background(), recogniseTrial(t, har(), workers, &told, nil), movements(3), division{test: 3}, harKernels)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r.Metrics)
	}
	if !maps.Equal(results[0], results[1]) {
		t.Errorf("1 worker: %v, 3 workers: %v", results[0], results[1])
	}
}

func TestRecogniseRefuses(t *testing.T) {
	for _, test := range []struct {
		name    string
		samples func() Samples
		given   map[string]any
		d       division
		want    string
	}{
		{"nothing", func() Samples { return Samples{} }, nil, division{test: 3}, "no samples of these activities"},
		{"an activity of one person is missing", func() Samples {
			s := movements(3)
			rows := make([]int, 0, len(s.Utility))
			for i, u := range s.Utility {
				if u != 4 || s.Privacy[i] != 1 {
					rows = append(rows, i)
				}
			}
			return s.take(rows)
		}, nil, division{test: 3}, "person 1 has no samples at activity 4"},
		{"too few samples", func() Samples { return movements(3) }, nil, division{test: 12}, "13 are required"},
		{"one person", func() Samples { return movements(1) }, nil, division{test: 3}, "privacy"},
		{"a sigmoid without its ridge", func() Samples { return movements(3) }, map[string]any{"experiment": 2, "method": "single:sigmoid", "rho": 1e-9}, division{test: 3}, "positive semidefinite kernel"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var told []string
			_, err := recognise(context.Background(), recogniseTrial(t, har(), 1, &told, test.given), test.samples(), test.d, harKernels)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	for _, test := range []struct {
		x     *experiment.Experiment
		given map[string]any
		want  string
	}{
		{har(), map[string]any{"components": 6}, "6 activities have 5 directions"},
		{har(), map[string]any{"dataset": "har-recon"}, "har-reconstructed"},
		{har(), map[string]any{"method": "single:laplace", "experiment": 2}, "valid: linear, rbf:0.001, laplacian:0.001"},
		{har(), map[string]any{"c": 0}, "c"},
		{mhealth(), map[string]any{"activities": "1,2,3"}, "3 activities have 2 directions"},
		{mhealth(), map[string]any{"activities": "1,2,2.5,4,5,6"}, "2.5 is not a whole number"},
		{mhealth(), map[string]any{"activities": "1,2,2,4,5,6"}, "2 is given twice"},
		{mhealth(), map[string]any{"activities": "1,2,3,4,5,13"}, "13"},
		{mhealth(), map[string]any{"activities": "1", "components": 1}, "at least two"},
	} {
		if _, err := test.x.Resolve(test.given); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %v: error %v, want one with %q", test.x.Name, test.given, err, test.want)
		}
	}
}

func TestReadings(t *testing.T) {
	// Windows of 4 readings of 2 channels: the second overlaps the first, the
	// third comes after a gap, the fourth is of another person.
	w := &dataset.Windows{Inputs: mat.NewDense(4, 8, nil), Activity: []int{0, 0, 1, 2}, Subject: []int{1, 1, 1, 2}, Recording: []int{1, 1, 1, 2}, Start: []int{0, 2, 9, 3}}
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
	for person := 1; person <= dataset.MHEALTHSubjects; person++ {
		var log strings.Builder
		for activity := 1; activity <= 6; activity++ {
			for i := range 13 {
				for j := range dataset.MHEALTHChannels {
					fmt.Fprintf(&log, "%.4f\t", 3*math.Sin(float64(activity*activity*(j+3)))+.8*math.Cos(float64(3*person+j))+.3*rng.NormFloat64())
				}
				fmt.Fprintln(&log, activity*min(i, 1))
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("mHealth_subject%d.log", person)), []byte(log.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestMHEALTHSamples(t *testing.T) {
	folder := writeMHEALTH(t)
	s, err := mhealthSamples(dataMHEALTH, folder, []int{0, 2, 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.complete(); err != nil {
		t.Error(err)
	}
	if n, columns := s.X.Dims(); n != 10*3*12 || columns != dataset.MHEALTHChannels || !slices.Equal(distinct(s.Utility), []int{0, 2, 4}) || len(distinct(s.Privacy)) != 10 {
		t.Errorf("%d samples of %d columns, activities %v of people %v", n, columns, distinct(s.Utility), distinct(s.Privacy))
	}
	// Activities that are not there, and too few samples, are not passed over.
	if _, err := mhealthSamples(dataMHEALTH, folder, []int{7, 8}); err == nil || !strings.Contains(err.Error(), "no samples of these activities") {
		t.Errorf("activities that are not there: %v", err)
	}
	var told []string
	trial := recogniseTrial(t, mhealth(), 1, &told, nil)
	trial.Dataset = func(name string) string {
		if name != dataMHEALTH {
			t.Errorf("asked for the data set %s", name)
		}
		return folder
	}
	if _, err := mhealth().Run(context.Background(), trial); err == nil || !strings.Contains(err.Error(), "person 1 has 12 samples at activity 0: 95 are required") {
		t.Errorf("too few samples: %v", err)
	}
}

// Files that are no data set are refused by their name.
func TestHARRefusesFiles(t *testing.T) {
	for _, name := range []string{dataHAR, dataHARReconstructed} {
		var told []string
		trial := recogniseTrial(t, har(), 1, &told, map[string]any{"dataset": name})
		folder := t.TempDir()
		trial.Dataset = func(string) string { return folder }
		if _, err := har().Run(context.Background(), trial); err == nil || !strings.Contains(err.Error(), folder) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
