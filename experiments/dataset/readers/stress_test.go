package readers

import (
	"fmt"
	"math"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
)

// writeStress writes 35 sessions: participant 1 as given, the others of a
// single beat.
func writeStress(t *testing.T, labels, intervals string, packed bool) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if packed {
		filetest.WriteFile(t, filetest.Gzipped(t, []byte(labels)), folder, StressLabels+".gz")
	} else {
		filetest.WriteFile(t, []byte(labels), folder, StressLabels)
	}
	for subject := range StressSubjects {
		text := "1000.000000, IBI\n1.000000,0.500000\n"
		if subject == 0 {
			text = intervals
		}
		filetest.WriteFile(t, []byte(text), folder, StressIntervalsPath(subject+1))
	}
	return folder
}

func TestLoadStress(t *testing.T) {
	const labels = labelsHeader + "\n1,80,12.5,1000,0\n1,80,12.5,1001,1\n2,80,12.5,1001,1\n"
	const intervals = "1000.000000, IBI\n0.500000,0.500000\n1.250000,0.750000\r\n4.000000,0.812500\n4.796875,0.796875\n"
	want := []Beat{
		{Time: 1000.5, Interval: 0.5, Label: 0},
		{Time: 1001.25, Interval: 0.75, Label: 1, Follows: true},
		{Time: 1004, Interval: 0.8125, Label: -1}, // 1.9375 s of lost beats before it
		{Time: 1004.796875, Interval: 0.796875, Label: -1, Follows: true},
	}
	for _, packed := range []bool{false, true} {
		subjects, err := LoadStress(writeStress(t, labels, intervals, packed))
		if err != nil || len(subjects) != StressSubjects {
			t.Fatalf("%d subjects, %v", len(subjects), err)
		}
		if s := subjects[0]; s.Subject != 1 || fmt.Sprint(s.Beats) != fmt.Sprint(want) {
			t.Errorf("participant 1 is %+v, want %+v", s, want)
		}
		if b := subjects[1].Beats[0]; b.Label != StressTask {
			t.Errorf("participant 2: %+v, want their own label", b)
		}
		if b := subjects[34].Beats[0]; b.Label != StressUnlabelled {
			t.Errorf("participant 35: %+v, want no label", b)
		}
	}
}

func TestLoadStressErrors(t *testing.T) {
	const labels = labelsHeader + "\n1,80,12.5,1000,0\n"
	const intervals = "1000.000000, IBI\n0.500000,0.500000\n"
	for _, c := range []struct{ name, labels, intervals, want string }{
		{"no labels", labelsHeader + "\n", intervals, "binary.csv: no labels"},
		{"empty label file", "", intervals, "binary.csv: no labels"},
		{"other header", "Participant,Label\n", intervals, `line 1: the header is "Participant,Label"`},
		{"missing field", labels + "1,80,1001,0\n", intervals, "line 3: 4 fields"},
		{"participant", labels + "36,80,12.5,1001,0\n", intervals, `line 3: the participant is "36", expected 1 to 35`},
		{"time", labels + "1,80,12.5,1001.5,0\n", intervals, `line 3: the time is "1001.5"`},
		{"label", labels + "1,80,12.5,1001,2\n", intervals, `line 3: the label is "2"`},
		{"second label", labels + "1,80,12.5,1000,1\n", intervals,
			"line 3: participant 1 has a second label at the time 1000"},

		{"empty", labels, "", "no beats"},
		{"no beats", labels, "1000.000000, IBI\n", "S01/IBI.csv: no beats"},
		{"start without the word", labels, "1000.000000\n0.5,0.5\n", "S01/IBI.csv: line 1"},
		{"another recording", labels, "1000.000000, HR\n0.5,0.5\n", "line 1"},
		{"start", labels, "nan, IBI\n0.5,0.5\n", "line 1"},
		{"one column", labels, intervals + "1.5\n", `line 3: "1.5"`},
		{"negative time", labels, "1000.000000, IBI\n-0.5,0.5\n", "line 2"},
		{"infinite time", labels, "1000.000000, IBI\ninf,0.5\n", "line 2"},
		{"order", labels, intervals + "0.500000,0.5\n", "line 3: the time 0.500000 is not after"},
		{"interval 0", labels, intervals + "1.5,0\n", `line 3: the interval is "0"`},
		{"interval NaN", labels, intervals + "1.5,NaN\n", `line 3: the interval is "NaN"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := LoadStress(writeStress(t, c.labels, c.intervals, false))
			filetest.MustFail(t, err, c.want)
		})
	}
	_, err := LoadStress(t.TempDir())
	filetest.MustFail(t, err, "binary.csv: no such file")
}

func TestLoadStressRealData(t *testing.T) {
	subjects, err := LoadStress(realData(t, "stress", "."))
	if err != nil {
		t.Fatal(err)
	}
	count := map[int8]int{}
	for _, s := range subjects {
		for _, b := range s.Beats {
			count[b.Label]++
		}
	}
	if count[StressRest] != 33897 || count[StressTask] != 16613 || count[StressUnlabelled] != 1260 {
		t.Errorf("labels of the beats: %v", count)
	}
	if n := len(subjects[33].Beats); n != 3938 {
		t.Errorf("participant 34 has %d beats, want 3938", n)
	}
	// Nothing lies between beats that follow each other and those that do not.
	replaced := 0
	for _, s := range subjects {
		for i, b := range s.Beats[1:] {
			lost := b.Time - b.Interval - s.Beats[i].Time
			if b.Follows && math.Abs(lost) > 1e-5 || !b.Follows && lost < 1.5 {
				t.Errorf("participant %d: %g s between two beats, follows: %t", s.Subject, lost, b.Follows)
			}
		}
		_, n := RejectImpulses(s, ImpulseWindow, ImpulseThreshold)
		replaced += n
	}
	if replaced != 223 {
		t.Errorf("%d of 51770 intervals were replaced, want 223", replaced)
	}
	// Vectors for a history, by label, and the participants that have some.
	for _, c := range []struct{ history, rest, task, subjects, both int }{
		{20, 12483, 5609, 33, 28},
		{30, 9081, 4201, 30, 24},
		{60, 4395, 2277, 22, 14},
		{100, 1961, 1258, 17, 8},
		{216, 229, 263, 6, 1},
	} {
		t.Run(fmt.Sprint("history ", c.history), func(t *testing.T) {
			rest, task, n, both := 0, 0, 0, 0
			for _, s := range subjects {
				_, labels := RRVectors(s, c.history)
				stressed := 0
				for _, label := range labels {
					stressed += label
				}
				rest, task = rest+len(labels)-stressed, task+stressed
				if len(labels) > 0 {
					n++
				}
				if stressed > 0 && stressed < len(labels) {
					both++
				}
			}
			if rest != c.rest || task != c.task || n != c.subjects || both != c.both {
				t.Errorf("history %d: %d and %d vectors of %d participants, %d with both; want %+v", c.history, rest, task, n,
					both, c)
			}
		})
	}
}
