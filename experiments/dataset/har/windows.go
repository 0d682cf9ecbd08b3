package har

import (
	"context"
	"fmt"
	"slices"

	"privkern/experiments/dataset/readers"

	"gonum.org/v1/gonum/mat"
)

// Extract reads all recordings from the folder of the set "hapt" and returns the
// windows of HAR's six activities with their features before they are scaled, in the
// order of recordings and of time. The first window of a segment starts with it, the
// others half a window after the one before; none reaches beyond its segment. Progress,
// unless it is nil, gets how many recordings are done.
func Extract(ctx context.Context, folder string, progress func(done, total int)) (*readers.Windows, error) {
	segments, err := readers.LoadHAPTSegments(folder)
	if err != nil {
		return nil, err
	}
	out := &readers.Windows{Activities: readers.HARActivityNames()}
	var rows []*mat.Dense
	for done := 0; len(segments) > 0; done++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(done, readers.HAPTRecordings)
		}
		n := slices.IndexFunc(segments, func(s readers.Segment) bool { return s.Recording != segments[0].Recording })
		if n < 0 {
			n = len(segments)
		}
		features, err := extract(folder, segments[:n], out)
		if err != nil {
			return nil, err
		}
		rows, segments = append(rows, features), segments[n:]
	}
	if out.Len() == 0 {
		return nil, fmt.Errorf("%s: the recordings have no windows of these activities", folder)
	}
	out.Inputs = mat.NewDense(out.Len(), readers.HARFeatures, nil)
	at := 0
	for _, x := range rows {
		n, _ := x.Dims()
		for i := range n {
			out.Inputs.SetRow(at, x.RawRowView(i))
			at++
		}
	}
	return out, nil
}

// extract appends the windows of the segments of one recording to all but the inputs
// of out, and returns their features.
func extract(folder string, segments []readers.Segment, out *readers.Windows) (*mat.Dense, error) {
	recording, subject := segments[0].Recording, segments[0].Subject
	r, err := readers.LoadHAPTRecording(folder, recording, subject)
	if err != nil {
		return nil, err
	}
	first := out.Len()
	for _, s := range segments {
		if s.Subject != subject || s.End > len(r.Acceleration[0]) {
			return nil, fmt.Errorf("%s: a label of recording %d is of subject %d and ends at sample %d; the recording is of "+
				"subject %d and has %d samples", folder, recording, s.Subject, s.End, subject, len(r.Acceleration[0]))
		}
		if s.Activity >= readers.HARActivities {
			continue
		}
		for start := s.Start; start+Samples <= s.End; start += Step {
			out.Activity, out.Subject = append(out.Activity, s.Activity), append(out.Subject, subject)
			out.Recording, out.Start = append(out.Recording, recording), append(out.Start, start)
		}
	}
	return Features(r, out.Start[first:]), nil
}

// published are the numbers of windows that UCI HAR has of each activity of its first
// 20 subjects.
var published = [readers.HARReconstructedSubjects][readers.HARActivities]int{
	{95, 53, 49, 47, 53, 50}, {59, 48, 47, 46, 54, 48}, {58, 59, 49, 52, 61, 62}, {60, 52, 45, 50, 56, 54},
	{56, 47, 47, 44, 56, 52}, {57, 51, 48, 55, 57, 57}, {57, 51, 47, 48, 53, 52}, {48, 41, 38, 46, 54, 54},
	{52, 49, 42, 50, 45, 50}, {53, 47, 38, 54, 44, 58}, {59, 54, 46, 53, 47, 57}, {50, 52, 46, 51, 61, 60},
	{57, 55, 47, 49, 57, 62}, {59, 54, 45, 54, 60, 51}, {54, 48, 42, 59, 53, 72}, {51, 51, 47, 69, 78, 70},
	{61, 48, 46, 64, 78, 71}, {56, 58, 55, 57, 73, 65}, {52, 40, 39, 73, 73, 83}, {51, 51, 45, 66, 73, 68},
}

// FirstSubjects returns the rows of the windows of "har-reconstructed": those of
// subjects 1 to 20, as many as UCI HAR has of them. The recordings yield more; the last
// ones in time are left out of groups that have more than were published, from the last
// activity of the last subject on, until the number is right.
func FirstSubjects(w *readers.Windows) ([]int, error) {
	var groups [readers.HARReconstructedSubjects][readers.HARActivities][]int
	total := 0
	for i, subject := range w.Subject {
		if subject <= len(groups) {
			g := &groups[subject-1][w.Activity[i]]
			*g = append(*g, i)
			total++
		}
	}
	if total < readers.HARReconstructed {
		return nil, fmt.Errorf("%d windows of the first %d subjects; there must be %d at least", total, len(groups),
			readers.HARReconstructed)
	}
	excess := total - readers.HARReconstructed
	var rows []int
	for s, subject := range slices.Backward(groups[:]) {
		for a, group := range slices.Backward(subject[:]) {
			drop := max(0, min(len(group)-published[s][a], excess))
			excess -= drop
			rows = append(rows, group[:len(group)-drop]...)
		}
	}
	if excess > 0 {
		return nil, fmt.Errorf("%d windows more than can be left out of the groups with more than were published", excess)
	}
	slices.Sort(rows)
	return rows, nil
}
