package kahm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dataset"
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
	for s := 1; s <= dataset.StressSubjects; s++ {
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

func TestStress(t *testing.T) {
	folders := writeRecordings(t)
	base := map[string]any{"history": 4, "n": 3, "layers": 2}
	r := mustRunOn(t, stress(), folders, base)
	m := r.Metrics
	if m["subjects"] != 3 || m["artefacts"] != 3 || m["overlap_fraction"] != 0 {
		t.Errorf("metrics %v", m)
	}
	if m["accuracy"] != 1 || m["balanced_accuracy"] != 1 || m["auc"] != 1 {
		t.Errorf("accuracy %g, balanced %g, AUC %g, want 1: the heart is faster under stress", m["accuracy"], m["balanced_accuracy"], m["auc"])
	}
	if all := m["test_rest"] + m["test_stress"]; m["accuracy_majority"] != max(m["test_rest"], m["test_stress"])/all && m["accuracy_majority"] != min(m["test_rest"], m["test_stress"])/all {
		t.Errorf("accuracy_majority %g of %g and %g", m["accuracy_majority"], m["test_rest"], m["test_stress"])
	}
	if r.Privacy != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "from the first half of each recording") {
		t.Errorf("privacy %+v, warnings %v without noise and overlap", r.Privacy, r.Warnings)
	}
	if r := mustRunOn(t, stress(), folders, map[string]any{"history": 4, "n": 3, "layers": 2, "score": false}); len(r.Warnings) > 0 {
		t.Errorf("warnings %v without scores", r.Warnings)
	}

	leaky := mustRunOn(t, stress(), folders, map[string]any{"history": 4, "n": 3, "layers": 2, "variant": variantPublished, "data": dataNoisy, "epsilon": 32})
	if leaky.Metrics["overlap_fraction"] < .5 || !strings.Contains(strings.Join(leaky.Warnings, "; "), "share intervals with training vectors") {
		t.Errorf("overlap %g, warnings %v", leaky.Metrics["overlap_fraction"], leaky.Warnings)
	}
	if p := leaky.Privacy; p == nil || !strings.Contains(p.Unit, "stand-in") || !strings.Contains(strings.Join(p.Notes,
		"; "), "up to 5 rows of the data matrix, one entry in each: by basic composition a changed interval has (5ε, "+
		"5δ)") || p.Guarantee != "" || !strings.Contains(strings.Join(p.Notes, "; "), "no guarantee: which intervals "+
		"are artefacts") {
		t.Errorf("privacy %+v", p)
	}
	fabricated := mustRunOn(t, stress(), folders, map[string]any{"history": 4, "n": 3, "layers": 2, "data": dataFabricated, "epsilon": 32}).Metrics
	if fabricated["accuracy"] < fabricated["accuracy_majority"]+.1 || fabricated["smoothing_steps_max"] != 2 {
		t.Errorf("fabricated data: accuracy %g, that of the more frequent class %g, %g smoothing steps", fabricated["accuracy"], fabricated["accuracy_majority"], fabricated["smoothing_steps_max"])
	}
}

func TestStressBadInput(t *testing.T) {
	folders := writeRecordings(t)
	for _, c := range []struct {
		name  string
		given map[string]any
		want  string
	}{
		{"history beyond every run", map[string]any{"history": 60}, "history = 60 leaves 0 vectors at rest and 0 under stress for training, and 0 and 0 for testing; each must be at least one: use a shorter history, such as 30"},
		{"history beyond a run", map[string]any{"history": 25}, "use a shorter history"},
		{"n beyond the columns", map[string]any{"history": 9, "n": 11}, "n = 11: a vector has only history + 1 = 10 intervals"},
		{"no history", map[string]any{"history": 0}, "history"},
		{"layers", map[string]any{"n": 3}, "layers = 5"},
		{"scheme", map[string]any{"split_scheme": "half"}, "split_scheme"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := runOn(stress(), folders, 1, c.given)
			refused(t, err, c.want)
		})
	}
}

// Under the blocked scheme no interval is on both sides. Every interval of this
// recording is another, so that values tell them apart.
func TestSplitVectors(t *testing.T) {
	var beats []dataset.Beat
	for i := range 60 {
		beats = append(beats, dataset.Beat{Interval: .8 + float64(i)/1000, Label: int8(i / 10 % 2), Follows: i != 33})
	}
	for _, c := range []struct {
		scheme, variant string
		blocked         bool
	}{
		{splitAuto, variantCorrected, true},
		{splitAuto, variantPublished, false},
		{splitRandom, variantCorrected, false},
		{splitBlocked, variantPublished, true},
	} {
		p, err := stress().Resolve(map[string]any{"history": 4, "split_scheme": c.scheme, "variant": c.variant})
		if err != nil {
			t.Fatal(err)
		}
		v := splitVectors(&experiment.Trial{Params: p, Stream: func(string) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }},
			[]dataset.StressSubject{{Subject: 1, Beats: beats}, {Subject: 2}})
		// Runs of 10 beats give 6 vectors each; the gap in beat 33 leaves 3 of
		// beats 33 to 39 and none of beats 30 to 32.
		const vectors = 5*6 + 3
		if n := len(v.train.labels); n != (vectors+1)/2 || v.subjects != 1 {
			t.Errorf("%+v: %d of %d vectors for training, %d subjects", c, n, vectors, v.subjects)
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
			t.Errorf("%+v: %d test vectors share intervals, reported are %d", c, shared, v.overlapping)
		}
		if !c.blocked && len(v.train.labels)+len(v.test.labels) != vectors {
			t.Errorf("%+v: %d and %d vectors", c, len(v.train.labels), len(v.test.labels))
		}
	}
}

func TestStressRealData(t *testing.T) {
	folder := folderOf(t, dataStress)
	subjects, err := dataset.LoadStress(folder)
	if err != nil {
		t.Fatal(err)
	}
	p, err := stress().Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := splitVectors(&experiment.Trial{Params: p, Stream: func(string) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }}, subjects)
	got := fmt.Sprint(v.subjects, v.artefacts, v.train.counts(), v.test.counts(), v.overlapping)
	if want := "29 223 [3986 2154] [4124 1531] 0"; got != want {
		t.Errorf("subjects, artefacts, training and test vectors by class, overlapping: %s, want %s", got, want)
	}
	_, err = runOn(stress(), map[string]string{dataStress: folder}, 1, map[string]any{"history": 500})
	refused(t, err, "history = 500 leaves")
}
