package table

import (
	"image"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/readers"
)

// setForm is the form of a registered data set as a table. Names and rows are known without its files.
type setForm struct {
	columns []string // nil: those of pictures, p1, p2, ... and their label
	rows    int
	// load reads the columns from the folder of the set; width and height are those of pictures.
	load func(folder string, width, height int) ([]setColumn, error)
}

// setColumn has a value for each row: numbers, of which NaN is missing, or words.
type setColumn struct {
	numbers []float64
	words   []string
}

// setForms are those that there are, by the name behind set:, without a size.
var setForms = map[string]setForm{
	"kung":              {[]string{"height", "weight", "age"}, readers.KungFemales, loadKung},
	"hmeq":              {append([]string{"BAD"}, hmeqInputs...), readers.HMEQRows, loadHMEQ},
	"har":               {windowColumns(), readers.HARWindows, windowsOf(readers.LoadHAR)},
	"har-reconstructed": {windowColumns(), readers.HARReconstructed, windowsOf(readers.LoadHARReconstructed)},
	"mnist": {rows: readers.MNISTTrain, load: digits(func(m *readers.MNIST) *readers.Images {
		return &m.Train
	})},
	"mnist/test": {rows: readers.MNISTTest, load: digits(func(m *readers.MNIST) *readers.Images { return &m.Test })},
	"stress": {[]string{"subject", "mean", "deviation", "successive", "shortest", "longest", labelColumn}, stressWindows,
		loadStress},
}

// hmeqInputs are the columns of numbers among the attributes of the loans.
var hmeqInputs = []string{"LOAN", "MORTDUE", "VALUE", "YOJ", "DEROG", "DELINQ", "CLAGE", "NINQ", "CLNO", "DEBTINC"}

func loadKung(folder string, _, _ int) ([]setColumn, error) {
	k, err := readers.LoadKung(folder)
	if err != nil {
		return nil, err
	}
	return []setColumn{{numbers: k.Height}, {numbers: k.Weight}, {numbers: k.Age}}, nil
}

func loadHMEQ(folder string, _, _ int) ([]setColumn, error) {
	h, err := readers.LoadHMEQ(folder)
	if err != nil {
		return nil, err
	}
	out := []setColumn{{numbers: h.Bad}}
	for _, name := range hmeqInputs {
		out = append(out, setColumn{numbers: h.Columns[name]})
	}
	return out, nil
}

// windowColumns are those of windows of a smartphone: the person, the activity and the features in the order of
// features.txt.
func windowColumns() []string {
	out := []string{"subject", "activity"}
	for j := range readers.HARFeatures {
		out = append(out, "x"+strconv.Itoa(j+1))
	}
	return out
}

func windowsOf(read func(folder string) (*readers.Windows, error)) func(string, int, int) ([]setColumn, error) {
	return func(folder string, _, _ int) ([]setColumn, error) {
		w, err := read(folder)
		if err != nil {
			return nil, err
		}
		subject, activity := setColumn{}, setColumn{}
		for i := range w.Len() {
			subject.numbers = append(subject.numbers, float64(w.Subject[i]))
			activity.words = append(activity.words, w.Activities[w.Activity[i]])
		}
		out := []setColumn{subject, activity}
		for j := range readers.HARFeatures {
			out = append(out, setColumn{numbers: mat.Col(nil, j, w.Inputs)})
		}
		return out, nil
	}
}

// digits reads pictures of MNIST, of a size in pixels: grey from 0 (background) to 1.
func digits(part func(*readers.MNIST) *readers.Images) func(string, int, int) ([]setColumn, error) {
	return func(folder string, width, height int) ([]setColumn, error) {
		m, err := readers.LoadMNIST(folder)
		if err != nil {
			return nil, err
		}
		images := part(m)
		out := make([]setColumn, width*height+1)
		for i := range images.Len() {
			grey := &image.Gray{Pix: images.Image(i), Stride: images.Cols, Rect: image.Rect(0, 0, images.Cols, images.Rows)}
			for j, v := range resize(grey, width, height) {
				out[j].numbers = append(out[j].numbers, v)
			}
			out[width*height].words = append(out[width*height].words, strconv.Itoa(int(images.Labels[i])))
		}
		return out, nil
	}
}

// The windows of Stress-Predict: intervals in each, and their number.
const (
	stressIntervals = 16
	stressWindows   = 1806
)

// loadStress reads windows of consecutive R-R intervals that have no interval in common ([readers.RRWindows]), each
// with mean, standard deviation, root mean square of successive differences (RMSSD), least and largest of them, in s,
// and whether the person had a task.
func loadStress(folder string, _, _ int) ([]setColumn, error) {
	subjects, err := readers.LoadStress(folder)
	if err != nil {
		return nil, err
	}
	out := make([]setColumn, 7)
	for _, s := range subjects {
		windows, labels := readers.RRWindows(s, stressIntervals)
		for i, label := range labels {
			x := windows[i]
			squares := 0.0
			for j := range x[1:] {
				squares += (x[j+1] - x[j]) * (x[j+1] - x[j])
			}
			mean, variance := stat.PopMeanVariance(x, nil)
			for j, v := range []float64{float64(s.Subject), mean, math.Sqrt(variance),
				math.Sqrt(squares / float64(len(x)-1)), slices.Min(x), slices.Max(x)} {
				out[j].numbers = append(out[j].numbers, v)
			}
			word := "rest"
			if label == readers.StressTask {
				word = "task"
			}
			out[6].words = append(out[6].words, word)
		}
	}
	return out, nil
}

// setReader reads a registered data set row by row. Its files are read where the first row is.
type setReader struct {
	form          setForm
	folder, shown string
	width, height int
	names         []string
	all           []setColumn // nil until the first row is read
	wanted        []int
	texts         []bool
	row           int // from 0
}

// openSet opens a set whose files are in a folder, which need not be there for names and rows alone.
func openSet(name, folder string) (reader, error) {
	bare, size, sized := strings.Cut(shown(name), "@")
	form, ok := setForms[bare]
	if !ok {
		return nil, errorf(shown(name), "this set has no form as a table; those that have one are %s",
			strings.Join(slices.Sorted(maps.Keys(setForms)), ", "))
	}
	r := &setReader{form: form, folder: folder, shown: shown(name), names: form.columns, row: -1}
	switch {
	case form.columns == nil:
		var err error
		if r.width, r.height, err = dataset.SizeOfPictures(name); err != nil {
			return nil, err
		}
		for j := range r.width * r.height {
			r.names = append(r.names, "p"+strconv.Itoa(j+1))
		}
		r.names = append(r.names, labelColumn)
	case sized:
		return nil, errorf(shown(name), "@%s: only pictures have a size", size)
	}
	return r, nil
}

func (r *setReader) header() ([]string, func(int) place) {
	return r.names, func(int) place { return place{} }
}

func (r *setReader) want(columns []int, texts []bool) error {
	r.wanted, r.texts = columns, texts
	return nil
}

func (r *setReader) next() (err error) {
	if r.all == nil {
		if r.all, err = r.form.load(r.folder, r.width, r.height); err != nil {
			return err
		}
		for j, c := range r.all {
			if n := len(c.numbers) + len(c.words); n != r.form.rows {
				return errorf(r.shown, "column %q has %d rows; the set has %d", r.names[j], n, r.form.rows)
			}
		}
	}
	if r.row++; r.row >= r.form.rows {
		return io.EOF
	}
	return nil
}

func (r *setReader) cell(i int) cell {
	c := r.all[r.wanted[i]]
	if c.words != nil {
		return cell{kind: word, text: c.words[r.row]}
	}
	v := c.numbers[r.row]
	if math.IsNaN(v) {
		return cell{kind: missing}
	}
	out := cell{kind: number, value: v}
	if r.texts[i] {
		out = out.asText()
	}
	return out
}

func (r *setReader) place(int) place { return place{row: r.row + 1} }

func (r *setReader) estimate() (int, error) { return r.form.rows, nil }

func (r *setReader) close() {}
