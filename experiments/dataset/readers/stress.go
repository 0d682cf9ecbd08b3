package readers

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

// StressSubject is one participant of Stress-Predict.
type StressSubject struct {
	Subject int // from 1
	Beats   []Beat
}

// Beat is a heart beat with the interval that it ends.
type Beat struct {
	Time     float64 // Unix time, s
	Interval float64 // since the beat before it (R-R interval), s
	Label    int8    // StressRest, StressTask or StressUnlabelled
	// Follows reports whether Interval starts at the previous beat of the list. It is false where
	// the wristband lost beats in between.
	Follows bool
}

// Labels of a [Beat].
const (
	StressUnlabelled int8 = -1
	StressRest       int8 = 0
	StressTask       int8 = 1
)

const (
	// StressSubjects is the number of participants of Stress-Predict.
	StressSubjects = 35

	// StressLabels is the file of the labels of all participants.
	StressLabels = "stress_predict/Processed_data/Improved_All_Combined_hr_rsp_binary.csv"
	labelsHeader = "Participant,HR,respr,Time(sec),Label"

	// followTolerance, in s, is half the resolution of the recordings, 1/64 s.
	// In all of them a beat's time less its interval either is the time of the
	// beat before to the printed digit, or is later by more than 1.5 s.
	followTolerance = 1. / 128
)

// StressIntervalsPath is the file of a participant's beats.
func StressIntervalsPath(subject int) string {
	return fmt.Sprintf("stress_predict/Raw_data/S%02d/IBI.csv", subject)
}

// LoadStress reads the participants from the folder of the set "stress". The
// label of a beat is that of the second in which it falls (its Unix time
// rounded down); a second without a row leaves it unlabelled, as all of
// participant 1 are.
func LoadStress(folder string) ([]StressSubject, error) {
	var labels map[labelledSecond]int8
	path := filepath.Join(folder, filepath.FromSlash(StressLabels))
	read := func(r io.Reader) (err error) { labels, err = parseStressLabels(r); return err }
	if err := readPlainOrCompressed(path, read); err != nil {
		return nil, err
	}
	subjects := make([]StressSubject, StressSubjects)
	for i := range subjects {
		s := &subjects[i]
		s.Subject = i + 1
		path := filepath.Join(folder, filepath.FromSlash(StressIntervalsPath(s.Subject)))
		if err := readFile(path, func(r io.Reader) (err error) { s.Beats, err = parseIntervals(r); return err }); err != nil {
			return nil, err
		}
		for j := range s.Beats {
			b := &s.Beats[j]
			label, ok := labels[labelledSecond{s.Subject, int64(math.Floor(b.Time))}]
			if !ok {
				label = StressUnlabelled
			}
			b.Label = label
		}
	}
	return subjects, nil
}

// gunzipped reads a compressed file.
func gunzipped(read func(io.Reader) error) func(io.Reader) error {
	return func(r io.Reader) error {
		z, err := gzip.NewReader(r)
		if err != nil {
			return err
		}
		return read(z)
	}
}

// A labelledSecond is the second that a label belongs to.
type labelledSecond struct {
	subject int
	time    int64 // Unix time, s
}

// parseStressLabels reads a header and lines "participant,heart rate,breathing
// rate,Unix time,label".
func parseStressLabels(r io.Reader) (map[labelledSecond]int8, error) {
	labels := map[labelledSecond]int8{}
	header := false
	err := forLines(r, func(text string) error {
		if !header {
			header = true
			if text != labelsHeader {
				return fmt.Errorf("the header is %q, expected %q", text, labelsHeader)
			}
			return nil
		}
		fields := strings.Split(text, ",")
		if len(fields) != 5 {
			return fmt.Errorf("%d fields in %q, expected 5 (%s)", len(fields), text, labelsHeader)
		}
		subject, err := strconv.Atoi(fields[0])
		if err != nil || subject < 1 || subject > StressSubjects {
			return fmt.Errorf("the participant is %q, expected 1 to %d", fields[0], StressSubjects)
		}
		second, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil {
			return fmt.Errorf("the time is %q, expected a Unix time in whole seconds", fields[3])
		}
		label, ok := map[string]int8{"0": StressRest, "1": StressTask}[fields[4]]
		if !ok {
			return fmt.Errorf("the label is %q, expected 0 (rest) or 1 (stress task)", fields[4])
		}
		key := labelledSecond{subject, second}
		if _, twice := labels[key]; twice {
			return fmt.Errorf("participant %d has a second label at the time %d", subject, second)
		}
		labels[key] = label
		return nil
	})
	if err == nil && len(labels) == 0 {
		err = fmt.Errorf("no labels, expected the header %q and rows", labelsHeader)
	}
	return labels, err
}

// parseIntervals reads the start of a session ("Unix time, IBI") and lines
// "seconds since the start,interval in seconds"; the beats are unlabelled.
func parseIntervals(r io.Reader) (beats []Beat, err error) {
	start := math.NaN()
	err = forLines(r, func(text string) error {
		a, b, found := strings.Cut(text, ",")
		if math.IsNaN(start) {
			start, err = strconv.ParseFloat(a, 64)
			if !found || err != nil || strings.TrimSpace(b) != "IBI" || !(start > 0) || math.IsInf(start, 0) {
				return fmt.Errorf("%q, expected the Unix time of the start, a comma and IBI", text)
			}
			return nil
		}
		since, err := strconv.ParseFloat(a, 64)
		if !found || err != nil || !(since >= 0) || math.IsInf(since, 0) {
			return fmt.Errorf("%q, expected the seconds since the start, a comma and an interval", text)
		}
		interval, err := strconv.ParseFloat(b, 64)
		if err != nil || !(interval > 0) || math.IsInf(interval, 0) {
			return fmt.Errorf("the interval is %q, expected a positive number of seconds", b)
		}
		beat := Beat{Time: start + since, Interval: interval, Label: StressUnlabelled}
		if math.IsInf(beat.Time, 0) {
			return fmt.Errorf("%q is too long after the start, %g", text, start)
		}
		if n := len(beats); n > 0 {
			before := beats[n-1].Time
			if beat.Time <= before {
				return fmt.Errorf("the time %s is not after that of the beat before", a)
			}
			beat.Follows = math.Abs(beat.Time-interval-before) < followTolerance
		}
		beats = append(beats, beat)
		return nil
	})
	if err == nil && len(beats) == 0 {
		err = errors.New("no beats, expected the start of the session and a line for every beat")
	}
	return beats, err
}
