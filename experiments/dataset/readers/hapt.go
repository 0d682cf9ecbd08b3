package readers

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
)

// HAPTRecordings is the number of recordings of UCI HAPT, and HAPTActivities that of
// its labels: HAR's six activities, then six transitions between them.
const (
	HAPTRecordings = 61
	HAPTActivities = 12
)

// Recording is a recording of a smartphone at a person's waist at 50 Hz: acceleration in g and rate
// of turn in rad/s, with equally many samples of each axis.
type Recording struct{ Acceleration, Rotation [3][]float64 }

// Segment is a part of a recording that has a label.
type Segment struct {
	Recording  int // from 1
	Subject    int // from 1
	Activity   int // from 0: that of HAR where it is below [HARActivities]
	Start, End int // the first sample and that after the last, from 0
}

// LoadHAPTSegments reads the labels from the folder of the set "hapt", in the order of
// the file, which is that of recordings and of time. Errors name the file and the line.
func LoadHAPTSegments(folder string) ([]Segment, error) {
	var out []Segment
	err := readPlainOrCompressed(filepath.Join(folder, "labels.txt"), func(r io.Reader) error {
		row := make([]float64, 5)
		return forLines(r, func(text string) error {
			if err := numbers(text, row); err != nil {
				return err
			}
			var v [5]int
			for i, limit := range []int{HAPTRecordings, HARSubjects, HAPTActivities, 1 << 30, 1 << 30} {
				v[i] = int(row[i])
				if row[i] != math.Trunc(row[i]) || v[i] < 1 || v[i] > limit {
					return fmt.Errorf("number %d is %g, expected an integer from 1 to %d", i+1, row[i], limit)
				}
			}
			if v[3] > v[4] {
				return fmt.Errorf("the segment starts at %d and ends at %d, before it", v[3], v[4])
			}
			out = append(out, Segment{Recording: v[0], Subject: v[1], Activity: v[2] - 1, Start: v[3] - 1, End: v[4]})
			return nil
		})
	})
	return out, err
}

// LoadHAPTRecording reads a recording of a subject, both from 1, from the folder of the
// set "hapt". Errors name the file and the line.
func LoadHAPTRecording(folder string, recording, subject int) (*Recording, error) {
	r := new(Recording)
	path := func(kind string) string {
		return filepath.Join(folder, fmt.Sprintf("%s_exp%02d_user%02d.txt", kind, recording, subject))
	}
	read := func(kind string, to *[3][]float64) error {
		return readPlainOrCompressed(path(kind), func(in io.Reader) error {
			var row [3]float64
			return forLines(in, func(text string) error {
				if err := numbers(text, row[:]); err != nil {
					return err
				}
				for i, v := range row {
					to[i] = append(to[i], v)
				}
				return nil
			})
		})
	}
	if err := read("acc", &r.Acceleration); err != nil {
		return nil, err
	}
	if err := read("gyro", &r.Rotation); err != nil {
		return nil, err
	}
	if a, b := len(r.Acceleration[0]), len(r.Rotation[0]); a != b || a == 0 {
		return nil, fmt.Errorf("%s has %d lines, but %s has %d; they must be as many, and at least one", path("acc"), a,
			path("gyro"), b)
	}
	return r, nil
}
