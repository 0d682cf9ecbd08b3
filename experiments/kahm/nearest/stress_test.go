package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dataset/readers"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// writeRecordings writes 35 recordings in the formats of the data set. The first
// three have 200 intervals in a row: beat i of subject s lasts
// 0.8 + 0.05 sin(0.3i + s) s at rest, and 0.6 + 0.02 sin(1.1i + s) s under
// stress, which is every second run of 25 beats; the interval of beat 60 is an
// artefact of 1.7 s. The others have a single beat.
func writeRecordings(t *testing.T) (folders map[string]string) {
	t.Helper()
	folder := t.TempDir()
	var labels strings.Builder
	labels.WriteString("Participant,HR,respr,Time(sec),Label\n")
	for s := 1; s <= readers.StressSubjects; s++ {
		var beats strings.Builder
		beats.WriteString("1000.000000, IBI\n")
		now, labelled := 0.0, 0
		beatCount := 1
		if s <= 3 {
			beatCount = 200
		}
		for i := range beatCount {
			label := i / 25 % 2
			x := .8 + .05*math.Sin(.3*float64(i)+float64(s))
			if label == 1 {
				x = .6 + .02*math.Sin(1.1*float64(i)+float64(s))
			}
			if i == 60 {
				x = 1.7
			}
			now += x
			fmt.Fprintf(&beats, "%.6f,%.6f\n", now, x)
			for second := 1000 + labelled; second <= 1000+int(now); second++ {
				fmt.Fprintf(&labels, "%d,80,12,%d,%d\n", s, second, label)
				labelled++
			}
		}
		put(t, []byte(beats.String()), folder, fmt.Sprintf("stress_predict/Raw_data/S%02d/IBI.csv", s))
	}
	put(t, []byte(labels.String()), folder, "stress_predict/Processed_data/Improved_All_Combined_hr_rsp_binary.csv")
	return map[string]string{dataStress: folder}
}

// stressOf runs a trial with a history of 4, 3 directions and 2 layers, and a change.
func stressOf(t *testing.T, folders map[string]string, change func(*StressSettings),
) *experiment.Outcome[StressMetrics] {
	t.Helper()
	s := Stress().With(func(s *StressSettings) { s.History, s.N, s.Layers = 4, 3, 2; change(s) })
	out, err := Stress().Compute(t.Context(), trialOn(t, folders, 1), s)
	if err != nil {
		t.Fatal(err)
	}
	finiteMetrics(t, out.Metrics)
	return out
}

func TestStress(t *testing.T) {
	folders := writeRecordings(t)
	out := stressOf(t, folders, func(*StressSettings) {})
	m := out.Metrics
	if m.Subjects != 3 || m.Artefacts != 3 || m.OverlapFraction != 0 {
		t.Errorf("metrics %v", experiment.MetricValues(m))
	}
	if m.Accuracy != 1 || m.BalancedAccuracy != 1 || m.AUC != 1 {
		t.Errorf("accuracy %g, balanced %g, AUC %g, want 1: the heart is faster under stress",
			m.Accuracy, m.BalancedAccuracy, m.AUC)
	}
	majority := m.TestRest
	if m.TrainStress > m.TrainRest {
		majority = m.TestStress
	}
	if all := m.TestRest + m.TestStress; m.AccuracyMajority != majority/all {
		t.Errorf("accuracy_majority %g, want %g of %g", m.AccuracyMajority, majority, all)
	}
	if out.Privacy != nil || len(out.Warnings) != 1 ||
		!strings.Contains(out.Warnings[0], "from the first half of each recording") {
		t.Errorf("privacy %+v, warnings %v without noise and overlap", out.Privacy, out.Warnings)
	}
	if out := stressOf(t, folders, func(s *StressSettings) { s.Score.Score = false }); len(out.Warnings) > 0 {
		t.Errorf("warnings %v without scores", out.Warnings)
	}
}

func TestStressWithNoise(t *testing.T) {
	folders := writeRecordings(t)
	leaky := stressOf(t, folders, func(s *StressSettings) {
		s.Variant, s.Data, s.Epsilon = wide.AsPublished, wide.Noisy, 32
	})
	if leaky.Metrics.OverlapFraction < .5 ||
		!strings.Contains(strings.Join(leaky.Warnings, "; "), "share intervals with training vectors") {
		t.Errorf("overlap %g, warnings %v", leaky.Metrics.OverlapFraction, leaky.Warnings)
	}
	p := leaky.Privacy
	if p == nil || !strings.Contains(p.Unit, "stand-in") || p.Guarantee != "" {
		t.Fatalf("privacy %+v", p)
	}
	for _, want := range []string{
		"up to 5 rows of the data matrix, one entry in each: by basic composition a changed interval has (5ε, 5δ)",
		"no guarantee: which intervals are artefacts",
	} {
		if notes := strings.Join(p.Notes, "; "); !strings.Contains(notes, want) {
			t.Errorf("notes %s; want %s", notes, want)
		}
	}
	m := stressOf(t, folders, func(s *StressSettings) { s.Data, s.Epsilon = wide.Fabricated, 32 }).Metrics
	if m.Accuracy < m.AccuracyMajority+.1 || *m.SmoothingStepsMax != 2 {
		t.Errorf("fabricated data: accuracy %g, that of the more frequent class %g, %g smoothing steps",
			m.Accuracy, m.AccuracyMajority, *m.SmoothingStepsMax)
	}
}

func TestStressBadInput(t *testing.T) {
	folders := writeRecordings(t)
	for _, c := range []struct {
		name   string
		change func(*StressSettings)
		want   string
	}{
		{"history beyond every run", func(s *StressSettings) { s.History = 60 },
			"history = 60 leaves 0 vectors at rest and 0 under stress for training, and 0 and 0 for testing; each must " +
				"be at least one: use a shorter history, such as 30"},
		{"history beyond a run", func(s *StressSettings) { s.History = 25 }, "use a shorter history"},
		{"n beyond the columns", func(s *StressSettings) { s.History, s.N = 9, 11 },
			"n = 11: a vector has only history + 1 = 10 intervals"},
		{"no history", func(s *StressSettings) { s.History = 0 }, "history"},
		{"layers", func(s *StressSettings) { s.N = 3 }, "layers = 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Stress().Compute(t.Context(), trialOn(t, folders, 1), Stress().With(c.change))
			trialtest.Refuses(t, err, c.want)
		})
	}
	_, err := Stress().Resolve(map[string]any{"split_scheme": "half"})
	trialtest.Refuses(t, err, "auto, random, blocked")
}

// splitStream returns the random stream of a split.
func splitStream() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// Under the blocked scheme no interval is on both sides. The intervals of the recording differ,
// so that values identify them.
func TestSplitVectors(t *testing.T) {
	var beats []readers.Beat
	for i := range 60 {
		beats = append(beats, readers.Beat{Interval: .8 + float64(i)/1000, Label: int8(i / 10 % 2), Follows: i != 33})
	}
	for _, c := range []struct {
		scheme  Scheme
		variant wide.Variant
		blocked bool
	}{
		{AutoSplit, wide.Corrected, true},
		{AutoSplit, wide.AsPublished, false},
		{RandomSplit, wide.Corrected, false},
		{BlockedSplit, wide.AsPublished, true},
	} {
		t.Run(experiment.NameOf(c.scheme)+" "+experiment.NameOf(c.variant), func(t *testing.T) {
			s := Stress().With(func(s *StressSettings) { s.History, s.Scheme, s.Variant = 4, c.scheme, c.variant })
			v := splitVectors(s, splitStream(), []readers.StressSubject{{Subject: 1, Beats: beats}, {Subject: 2}})
			// Runs of 10 beats give 6 vectors each; the gap in beat 33 leaves 3 of
			// beats 33 to 39 and none of beats 30 to 32.
			const vectors = 5*6 + 3
			if n := len(v.train.labels); n != (vectors+1)/2 || v.subjects != 1 {
				t.Errorf("%d of %d vectors for training, %d subjects", n, vectors, v.subjects)
			}
			trained := map[float64]bool{}
			for _, x := range v.train.data {
				trained[x] = true
			}
			shared := 0
			for i := range v.test.labels {
				if slices.ContainsFunc(v.test.data[5*i:5*i+5], func(x float64) bool { return trained[x] }) {
					shared++
				}
			}
			if shared != v.overlapping || c.blocked != (shared == 0) {
				t.Errorf("%d test vectors share intervals, reported are %d", shared, v.overlapping)
			}
			if !c.blocked && len(v.train.labels)+len(v.test.labels) != vectors {
				t.Errorf("%d and %d vectors", len(v.train.labels), len(v.test.labels))
			}
		})
	}
}

func TestStressRealData(t *testing.T) {
	folder := folderOf(t, dataStress)
	subjects, err := readers.LoadStress(folder)
	if err != nil {
		t.Fatal(err)
	}
	v := splitVectors(Stress().Defaults(), splitStream(), subjects)
	got := fmt.Sprint(v.subjects, v.artefacts, v.train.counts(), v.test.counts(), v.overlapping)
	if want := "29 223 [3986 2154] [4124 1531] 0"; got != want {
		t.Errorf("subjects, artefacts, training and test vectors by class, overlapping: %s, want %s", got, want)
	}
	long := Stress().With(func(s *StressSettings) { s.History = 500 })
	_, err = Stress().Compute(t.Context(), trialOn(t, map[string]string{dataStress: folder}, 1), long)
	trialtest.Refuses(t, err, "history = 500 leaves")
}
