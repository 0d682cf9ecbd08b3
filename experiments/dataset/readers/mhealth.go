package readers

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"gonum.org/v1/gonum/mat"
)

// Sizes of MHEALTH.
const (
	MHEALTHSubjects   = 10
	MHEALTHActivities = 12
	MHEALTHChannels   = 23
	// MHEALTH6Windows is the number of windows of the set "mhealth-6ch", of
	// MHEALTH6Channels channels and MHEALTH6Samples samples (2 s).
	MHEALTH6Windows  = 6768
	MHEALTH6Channels = 6
	MHEALTH6Samples  = 100
)

var mhealthActivities = []string{
	"standing still", "sitting", "lying down", "walking", "climbing stairs", "waist bends", "frontal elevation of arms",
	"knees bending", "cycling", "jogging", "running", "jumping",
}

// MHEALTHLog is the file of a subject.
func MHEALTHLog(subject int) string { return fmt.Sprintf("mHealth_subject%d.log", subject) }

// LoadMHEALTH reads the recordings from the folder of the set "mhealth" and cuts
// them into windows of that many samples (50 a second), each step samples after
// the one before it. A window is of one activity: the first one starts where
// the activity does, and samples without an activity are left out. Its input
// are its samples, one after the other, each of 23 channels; with one sample a
// window is a line of a log. The activity is the number in the log less 1.
// Errors name the file and the line.
func LoadMHEALTH(folder string, samples, step int) (*Windows, error) {
	if samples < 1 || step < 1 {
		return nil, fmt.Errorf("MHEALTH: windows of %d samples every %d; both must be positive", samples, step)
	}
	w := &Windows{Activities: mhealthActivities}
	var inputs []float64
	for subject := 1; subject <= MHEALTHSubjects; subject++ {
		var log mhealthRecording
		path := filepath.Join(folder, MHEALTHLog(subject))
		if err := readPlainOrCompressed(path, func(r io.Reader) (err error) {
			log, err = parseMHEALTH(r)
			return err
		}); err != nil {
			return nil, err
		}
		starts := log.windows(samples, step)
		for _, start := range starts {
			inputs = append(inputs, log.values[start*MHEALTHChannels:(start+samples)*MHEALTHChannels]...)
			w.Activity = append(w.Activity, log.activity[start]-1)
			w.Subject = append(w.Subject, subject)
			w.Recording = append(w.Recording, subject)
		}
		w.Start = append(w.Start, starts...)
	}
	if w.Len() == 0 {
		return nil, fmt.Errorf("%s: no activity lasts %d samples", folder, samples)
	}
	w.Inputs = mat.NewDense(w.Len(), samples*MHEALTHChannels, inputs)
	return w, nil
}

// mhealthRecording is the content of a log of T samples.
type mhealthRecording struct {
	values   []float64 // T×23
	activity []int     // T; 0 for none, then 1 to 12
}

// parseMHEALTH reads lines of 23 numbers and an activity.
func parseMHEALTH(r io.Reader) (log mhealthRecording, err error) {
	var row [MHEALTHChannels + 1]float64
	err = forLines(r, func(text string) error {
		if err := numbers(text, row[:]); err != nil {
			return err
		}
		activity := int(row[MHEALTHChannels])
		if float64(activity) != row[MHEALTHChannels] || activity < 0 || activity > MHEALTHActivities {
			return fmt.Errorf("the activity is %g, expected an integer from 0 (none) to %d", row[MHEALTHChannels],
				MHEALTHActivities)
		}
		log.values = append(log.values, row[:MHEALTHChannels]...)
		log.activity = append(log.activity, activity)
		return nil
	})
	if err == nil && len(log.activity) == 0 {
		err = errors.New("the file is empty, expected lines of 23 numbers and an activity")
	}
	return log, err
}

// windows returns the first samples of the windows. No window crosses a change of
// activity.
func (log *mhealthRecording) windows(samples, step int) (starts []int) {
	for first := 0; first < len(log.activity); {
		end := first + 1
		for end < len(log.activity) && log.activity[end] == log.activity[first] {
			end++
		}
		for start := first; log.activity[first] > 0 && start+samples <= end; start += step {
			starts = append(starts, start)
		}
		first = end
	}
	return starts
}

// LoadMHEALTH6 reads the windows from the folder of the set "mhealth-6ch": its
// inputs are 100 samples, one after the other, each of 6 channels (chest
// acceleration, then right-lower-arm rate of turn), standardised for each subject
// and channel. A window starts 50 samples after the one
// before it, or where the next activity does.
func LoadMHEALTH6(folder string) (*Windows, error) {
	w, err := loadMHEALTH6(folder)
	if err != nil {
		return nil, err
	}
	if w.Len() != MHEALTH6Windows {
		return nil, fmt.Errorf("%s: %d windows; the set has %d", folder, w.Len(), MHEALTH6Windows)
	}
	return w, nil
}

// loadMHEALTH6 reads the windows of any number; spans holds the start of each in its recording.
func loadMHEALTH6(folder string) (*Windows, error) {
	w := &Windows{Activities: mhealthActivities}
	var inputs []float64
	for i := range MHEALTHSubjects {
		err := readPlainOrCompressed(filepath.Join(folder, fmt.Sprintf("subject%02d.npz", i+1)), func(r io.Reader) error {
			z, err := readNPZ(r)
			if err != nil {
				return err
			}
			x, err := z.floats("X", 3)
			if err != nil {
				return err
			}
			n := x.shape[0]
			if x.shape[1] != MHEALTH6Samples || x.shape[2] != MHEALTH6Channels {
				return fmt.Errorf("the array %q: the shape is %v, expected windows, %d samples and %d channels", "X", x.shape,
					MHEALTH6Samples, MHEALTH6Channels)
			}
			activity, err := z.integers("y12", n, 0, MHEALTHActivities-1)
			if err != nil {
				return err
			}
			spans, err := z.array("spans", 2)
			if err != nil {
				return err
			}
			if spans.shape[0] != n || spans.shape[1] != 2 {
				return fmt.Errorf("the array %q: the shape is %v, expected the start and the end of %d windows", "spans",
					spans.shape, n)
			}
			for row := range n {
				start := int(spans.values[2*row])
				if end := int(spans.values[2*row+1]); start < 0 || end != start+MHEALTH6Samples {
					return fmt.Errorf("the array %q: row %d is %d to %d, expected %d samples", "spans", row, start, end,
						MHEALTH6Samples)
				}
				w.Start = append(w.Start, start)
				w.Subject, w.Recording = append(w.Subject, i+1), append(w.Recording, i+1)
			}
			inputs = append(inputs, x.values...)
			w.Activity = append(w.Activity, activity...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	w.Inputs = mat.NewDense(w.Len(), MHEALTH6Samples*MHEALTH6Channels, inputs)
	return w, nil
}
