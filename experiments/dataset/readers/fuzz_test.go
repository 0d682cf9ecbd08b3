package readers

import (
	"archive/zip"
	"bytes"
	"math"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
)

// finite fails where a reader lets something pass that is no number.
func finite(t *testing.T, values ...float64) {
	t.Helper()
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("value %d is %g", i, v)
		}
	}
}

// mustNameLine wants an error that names the line, unless it is about the whole
// file.
func mustNameLine(t *testing.T, err error) {
	t.Helper()
	for _, whole := range []string{"the file is empty", "no rows", "no beats", "no labels"} {
		if strings.HasPrefix(err.Error(), whole) {
			return
		}
	}
	if !strings.HasPrefix(err.Error(), "line ") {
		t.Errorf("the error does not name the line: %v", err)
	}
}

// Each reader of lines returns what it documents, or an error with the line.
func FuzzKung(f *testing.F) {
	f.Add([]byte(kungHeader + "\n151.765;47.8256065;63;1\n139.7;36.4858065;63;0\n"))
	f.Add([]byte(kungHeader + "\r\n1;2;3;2\r\n"))
	f.Add([]byte(kungHeader + "\n1e999;NaN;-1;0\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		filetest.Bounded(t, file, 64, func() {
			k, rows, err := parseKung(bytes.NewReader(file))
			if err != nil {
				mustNameLine(t, err)
				return
			}
			if n := len(k.Age); n > rows || len(k.Height) != n || len(k.Weight) != n || rows != len(dataLines(file)) {
				t.Errorf("%d of %d rows in %d lines", n, rows, len(dataLines(file)))
			}
			finite(t, append(append(k.Age, k.Height...), k.Weight...)...)
		})
	})
}

// dataLines are the lines after the header.
func dataLines(file []byte) []string {
	lines := strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")
	return lines[1:]
}

func FuzzHMEQ(f *testing.F) {
	f.Add([]byte(hmeqHeader + "\n1,1100,25860,39025,HomeImp,Other,10.5,0,0,94.36666667,1,9,\n0,,,,,,,,,,,,\n"))
	f.Add([]byte(hmeqHeader + "\n2,,,,,,,,,,,,\n"))
	f.Add([]byte(hmeqHeader + "\n1,Inf,,,,,,,,,,,\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		filetest.Bounded(t, file, 64, func() {
			h, err := parseHMEQ(bytes.NewReader(file))
			if err != nil {
				mustNameLine(t, err)
				return
			}
			if len(h.Bad) == 0 || len(h.Bad) != len(dataLines(file)) {
				t.Errorf("%d rows of %d lines", len(h.Bad), len(dataLines(file)))
			}
			for name, column := range h.Columns {
				if len(column) != len(h.Bad) {
					t.Errorf("%s has %d of %d rows", name, len(column), len(h.Bad))
				}
				for _, v := range column {
					if math.IsInf(v, 0) {
						t.Errorf("%s holds %g", name, v)
					}
				}
			}
		})
	})
}

func FuzzStress(f *testing.F) {
	f.Add([]byte(labelsHeader+"\n1,80,12.5,1000,0\n35,80,12.5,1001,1\n"),
		[]byte("1000.000000, IBI\n0.500000,0.500000\n1.250000,0.750000\r\n"))
	f.Add([]byte(labelsHeader+"\n1,80,12.5,1000,0\n1,80,12.5,1000,0\n"), []byte("1e308, IBI\n1e308,1\n"))
	f.Add([]byte(labelsHeader), []byte("0, IBI\n1,1\n"))
	f.Fuzz(func(t *testing.T, labels, intervals []byte) {
		filetest.Bounded(t, append(bytes.Clone(labels), intervals...), 64, func() {
			if seconds, err := parseStressLabels(bytes.NewReader(labels)); err != nil {
				mustNameLine(t, err)
			} else if len(seconds) == 0 || len(seconds) != len(dataLines(labels)) {
				t.Errorf("%d labels in %d lines", len(seconds), len(dataLines(labels)))
			}
			beats, err := parseIntervals(bytes.NewReader(intervals))
			if err != nil {
				mustNameLine(t, err)
				return
			}
			for i, b := range beats {
				finite(t, b.Time, b.Interval)
				if i > 0 && b.Time <= beats[i-1].Time {
					t.Errorf("beat %d is at %g, not after %g", i, b.Time, beats[i-1].Time)
				}
			}
		})
	})
}

func FuzzMHEALTH(f *testing.F) {
	f.Add([]byte(mhealthLine(0.5, 0)+mhealthLine(-1, 12)), 1, 1)
	f.Add([]byte(mhealthLine(1e300, 13)), 2, 1)
	f.Add([]byte(strings.Repeat(mhealthLine(1, 3), 5)), 2, 3)
	f.Fuzz(func(t *testing.T, file []byte, samples, step int) {
		filetest.Bounded(t, file, 64, func() {
			log, err := parseMHEALTH(bytes.NewReader(file))
			if err != nil {
				mustNameLine(t, err)
				return
			}
			n := len(log.activity)
			if n == 0 || len(log.values) != n*MHEALTHChannels {
				t.Errorf("%d samples with %d values", n, len(log.values))
			}
			finite(t, log.values...)
			if samples < 1 || step < 1 || samples > n || step > n { // the caller sees to the first two
				return
			}
			for _, start := range log.windows(samples, step) {
				for i := start; i < start+samples; i++ {
					if log.activity[i] != log.activity[start] || log.activity[i] == 0 {
						t.Errorf("the window from %d is not of one activity", start)
					}
				}
			}
		})
	})
}

// For any three files of a part of UCI HAR there is a window for each line of all of them, or an
// error with file and line.
func FuzzHAR(f *testing.F) {
	f.Add([]byte(harFiles["X_train.txt"]), []byte(harFiles["y_train.txt"]), []byte(harFiles["subject_train.txt"]))
	f.Add([]byte(harLine("1")), []byte("7\n"), []byte("1\n"))
	f.Add([]byte(harLine("NaN")), []byte("1\n"), []byte("31\n"))
	f.Fuzz(func(t *testing.T, x, y, subject []byte) {
		folder := t.TempDir()
		for name, text := range harFiles {
			filetest.WriteFile(t, []byte(text), folder, name)
		}
		for name, text := range map[string][]byte{"X_train.txt": x, "y_train.txt": y, "subject_train.txt": subject} {
			filetest.WriteFile(t, text, folder, name)
		}
		filetest.Bounded(t, x, 64, func() {
			w, err := loadHAR(folder)
			if err != nil {
				if !strings.Contains(err.Error(), "_train.txt") || !strings.Contains(err.Error(), "line") {
					t.Errorf("the error does not name the place: %v", err)
				}
				return
			}
			n, d := w.Inputs.Dims()
			if n != w.Len() || n != len(w.Subject) || d != HARFeatures {
				t.Errorf("%d×%d features, %d activities, %d subjects", n, d, w.Len(), len(w.Subject))
			}
			for i := range n {
				finite(t, w.Inputs.RawRowView(i)...)
				if w.Activity[i] < 0 || w.Activity[i] >= HARActivities || w.Subject[i] < 1 || w.Subject[i] > HARSubjects {
					t.Errorf("window %d has activity %d of subject %d", i, w.Activity[i], w.Subject[i])
				}
			}
		})
	})
}

// The lists of the Freiburg groceries.
func FuzzFreiburgLists(f *testing.F) {
	f.Add([]byte("BEANS 0\nCAKE 1\n"), []byte("BEANS/1.png 0\nCAKE/1.png 1\nBEANS/1.png 0\n"))
	f.Add([]byte("BEANS 1\n"), []byte("a 0\na 1\n"))
	f.Add([]byte("A 0\nA 1\n"), []byte(" 0\n"))
	f.Fuzz(func(t *testing.T, classes, split []byte) {
		filetest.Bounded(t, append(bytes.Clone(classes), split...), 64, func() {
			names, err := readClasses(bytes.NewReader(classes))
			if err != nil {
				mustNameLine(t, err)
				return
			}
			images, labels, err := readSplit(bytes.NewReader(split), len(names))
			if err != nil {
				mustNameLine(t, err)
				return
			}
			seen := map[string]bool{}
			for i, image := range images {
				if seen[image] || image == "" || labels[i] < 0 || labels[i] >= len(names) {
					t.Errorf("image %q of class %d", image, labels[i])
				}
				seen[image] = true
			}
			if len(images) == 0 || len(labels) != len(images) {
				t.Errorf("%d images, %d labels", len(images), len(labels))
			}
		})
	})
}

// An array of an archive has as many numbers as its shape implies.
func FuzzNPZ(f *testing.F) {
	arrays := map[string][]byte{"X.npy": npyFile("<f4", false, "(2, 3)", []float32{1, 2, 3, 4, 5, 6}),
		"y.npy": npyFile("<i8", false, "(2,)", []int64{0, 5})}
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, content := range arrays {
			w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
			if err == nil {
				_, err = w.Write(content)
			}
			if err != nil {
				f.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, file []byte) {
		filetest.Bounded(t, file, 64, func() {
			z, err := readNPZ(bytes.NewReader(file))
			if err != nil {
				return
			}
			if a, err := z.floats("X", 2); err == nil {
				if a.shape[0]*a.shape[1] != len(a.values) {
					t.Errorf("%v has %d numbers", a.shape, len(a.values))
				}
				finite(t, a.values...)
			} else if !strings.Contains(err.Error(), `array "X"`) {
				t.Errorf("the error does not name the array: %v", err)
			}
			if y, err := z.integers("y", 2, 0, 5); err == nil && (len(y) != 2 || min(y[0], y[1]) < 0 || max(y[0], y[1]) > 5) {
				t.Errorf("%v", y)
			}
		})
	})
}

// The reader of NumPy headers alone, which needs no array after them.
func FuzzNPYHeader(f *testing.F) {
	f.Add("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }")
	f.Add("{'descr': '<f8', 'fortran_order': True, 'shape': (-1,), }")
	f.Add("{'descr': [('a', '<f4')], 'shape': (99999999999999999999, 2)}")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) >= 1<<16 {
			return
		}
		file := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8))
		file = append(file, text...)
		filetest.Bounded(t, file, 64, func() {
			h, length, err := npyHeader(bytes.NewReader(file))
			if err == nil && (length != int64(len(file)) || h.Descr.Type == "" && len(h.Descr.Shape) > 0) {
				t.Errorf("%d of %d bytes, %+v", length, len(file), h)
			}
		})
	})
}
