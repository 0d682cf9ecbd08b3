package readers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
)

// mhealthLine is a line of a log whose channels count up from first.
func mhealthLine(first float64, activity int) string {
	var b strings.Builder
	for c := range MHEALTHChannels {
		fmt.Fprintf(&b, "%g\t", first+float64(c))
	}
	fmt.Fprintf(&b, "%d\n", activity)
	return b.String()
}

// writeMHEALTH writes the first subject's log as given, and others of one line.
func writeMHEALTH(t *testing.T, first string, packed bool) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for subject := 1; subject <= MHEALTHSubjects; subject++ {
		text := []byte(mhealthLine(0, 12))
		if subject == 1 {
			text = []byte(first)
		}
		if packed {
			filetest.WriteFile(t, filetest.Gzipped(t, text), folder, MHEALTHLog(subject)+".gz")
		} else {
			filetest.WriteFile(t, text, folder, MHEALTHLog(subject))
		}
	}
	return folder
}

func TestLoadMHEALTH(t *testing.T) {
	// Activities 0 0 3 3 3 3 3 4 4 0 4 4 4, sample i from 100·i on.
	var log strings.Builder
	for i, activity := range []int{0, 0, 3, 3, 3, 3, 3, 4, 4, 0, 4, 4, 4} {
		log.WriteString(mhealthLine(100*float64(i), activity))
	}
	for _, c := range []struct {
		samples, step    int
		starts, activity []int // of subject 1
		others           int
	}{
		{2, 2, []int{2, 4, 7, 10}, []int{2, 2, 3, 3}, 0},
		{2, 1, []int{2, 3, 4, 5, 7, 10, 11}, []int{2, 2, 2, 2, 3, 3, 3}, 0},
		{3, 2, []int{2, 4, 10}, []int{2, 2, 3}, 0},
		{1, 3, []int{2, 5, 7, 10}, []int{2, 2, 3, 3}, 9},
	} {
		t.Run(fmt.Sprintf("%d samples every %d", c.samples, c.step), func(t *testing.T) {
			for _, packed := range []bool{false, true} {
				w, err := LoadMHEALTH(writeMHEALTH(t, log.String(), packed), c.samples, c.step)
				if err != nil {
					t.Fatal(err)
				}
				n := len(c.starts)
				if w.Len() != n+c.others || !slices.Equal(w.Start[:n], c.starts) || !slices.Equal(w.Activity[:n], c.activity) {
					t.Errorf("%d samples every %d: starts %v, activities %v; want %v, %v", c.samples, c.step, w.Start, w.Activity,
						c.starts, c.activity)
					continue
				}
				if w.Subject[0] != 1 || c.others > 0 && (w.Subject[n] != 2 || w.Activity[n] != 11) {
					t.Errorf("subjects %v, activities %v", w.Subject, w.Activity)
				}
				_, d := w.Inputs.Dims()
				if d != c.samples*MHEALTHChannels || w.Inputs.At(0, 1) != 201 ||
					w.Inputs.At(1, d-1) != float64(100*(c.starts[1]+c.samples-1)+22) {
					t.Errorf("windows of %d numbers: %v", d, w.Inputs.RawRowView(1))
				}
			}
		})
	}
}

func TestLoadMHEALTHErrors(t *testing.T) {
	line := mhealthLine(0, 1)
	for _, c := range []struct{ log, want string }{
		{"", "mHealth_subject1.log: the file is empty"},
		{line + "1\t2\n", "mHealth_subject1.log: line 2: 2 numbers, expected 24"},
		{line + "x" + line, `line 2: number 1 is "x0", expected a finite number`},
		{strings.Replace(line, "\t1\n", "\t13\n", 1), "line 1: the activity is 13, expected an integer from 0 (none) to 12"},
		{strings.Replace(line, "\t1\n", "\t0.5\n", 1), "line 1: the activity is 0.5"},
		{strings.Replace(line, "0\t", "inf\t", 1), `line 1: number 1 is "inf"`},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, err := LoadMHEALTH(writeMHEALTH(t, c.log, false), 1, 1)
			filetest.MustFail(t, err, c.want)
		})
	}
	_, err := LoadMHEALTH(writeMHEALTH(t, line, false), 2, 1)
	filetest.MustFail(t, err, "no activity lasts 2 samples")
	_, err = LoadMHEALTH(t.TempDir(), 1, 1)
	filetest.MustFail(t, err, "mHealth_subject1.log")
	_, err = LoadMHEALTH(t.TempDir(), 0, 1)
	filetest.MustFail(t, err, "windows of 0 samples every 1")
}

// sixChannels is n windows that overlap by a half, all of activity 3.
func sixChannels(n int) map[string][]byte {
	x := make([]float32, n*MHEALTH6Samples*MHEALTH6Channels)
	for i := range x {
		x[i] = float32(i % MHEALTH6Channels)
	}
	var spans []int32
	for i := range n {
		spans = append(spans, int32(50*i), int32(50*i+MHEALTH6Samples))
	}
	return map[string][]byte{
		"X":     npyFile("<f4", false, fmt.Sprintf("(%d, 100, 6)", n), x),
		"y12":   npyFile("<i8", false, fmt.Sprintf("(%d,)", n), slices.Repeat([]int64{3}, n)),
		"spans": npyFile("<i4", false, fmt.Sprintf("(%d, 2)", n), spans),
	}
}

func TestLoadMHEALTH6(t *testing.T) {
	load := func(first map[string][]byte) (*Windows, error) {
		folder := t.TempDir()
		for i := range MHEALTHSubjects {
			content := npzFile(t, sixChannels(2))
			if i == 0 {
				content = npzFile(t, first)
			}
			filetest.WriteFile(t, filetest.Gzipped(t, content), folder, fmt.Sprintf("subject%02d.npz.gz", i+1))
		}
		return loadMHEALTH6(folder)
	}
	w, err := load(sixChannels(4))
	if err != nil {
		t.Fatal(err)
	}
	if w.Len() != 22 || w.Activity[21] != 3 || w.Subject[21] != 10 ||
		!slices.Equal(w.Start[:6], []int{0, 50, 100, 150, 0, 50}) {
		t.Errorf("%d windows, starts %v, subjects %v", w.Len(), w.Start, w.Subject)
	}
	few := w.Rows([]int{0, 2, 4})
	if few.Len() != 3 || few.Start[1] != 100 || few.Inputs.At(2, 5) != w.Inputs.At(4, 5) {
		t.Errorf("%+v", few)
	}
	if w.Rows(nil).Len() != 0 {
		t.Error("no rows are not empty")
	}
	for _, c := range []struct {
		array   string
		content []byte
		want    string
	}{
		{"X", npyFile("<f4", false, "(1, 3, 2)", make([]float32, 6)),
			"subject01.npz.gz: the array \"X\": the shape is [1 3 2]"},
		{"y12", npyFile("<i8", false, "(4,)", []int64{0, 1, 2, 12}), "element 3 is 12"},
		{"spans", npyFile("<i4", false, "(4, 1)", []int32{0, 1, 2, 3}), "expected the start and the end of 4 windows"},
		{"spans", npyFile("<i4", false, "(4, 2)", []int32{0, 100, 50, 151, 0, 0, 0, 0}),
			"row 1 is 50 to 151, expected 100 samples"},
	} {
		t.Run(c.array+": "+c.want, func(t *testing.T) {
			arrays := sixChannels(4)
			arrays[c.array] = c.content
			_, err := load(arrays)
			filetest.MustFail(t, err, c.want)
		})
	}
}

func TestLoadMHEALTH6RealData(t *testing.T) {
	w, err := LoadMHEALTH6(realData(t, "mhealth/partial", "."))
	if err != nil {
		t.Fatal(err)
	}
	count := make([]int, MHEALTHActivities)
	for _, a := range w.Activity {
		count[a]++
	}
	if !slices.Equal(count, []int{608, 606, 602, 605, 601, 562, 581, 578, 608, 609, 609, 199}) {
		t.Errorf("windows of the activities: %v", count)
	}
}
