package cloak

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"privkern/experiments/dataset"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// OwnData is which data a trial is on: those of the paper, by name, or a file of the
// user's, csv:PATH, with what has to be known of it. The settings of an experiment
// have these fields with its documentation, and are converted to it.
type OwnData struct {
	Dataset string
	Inputs  string // names of columns, joined by + or commas
	Output  string // name of the column that is predicted and protected
	// Low and High are public: the range of the output, or its two values.
	Low, High experiment.Or[None, float64]
}

// IsFile says whether the data are a file of the user's.
func (o *OwnData) IsFile() bool {
	_, own := dataset.FilePath(o.Dataset)
	return own
}

// Columns are the names of the input columns of a file.
func (o *OwnData) Columns() []string {
	names := strings.Split(strings.ReplaceAll(o.Inputs, ",", "+"), "+")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// Datasets are the data sets of a trial: its data, and predict, where a release
// predicts, if that is another file.
func (o *OwnData) Datasets(predict string) []string {
	names := []string{o.Dataset}
	if _, own := dataset.FilePath(predict); own && predict != o.Dataset {
		names = append(names, predict)
	}
	return names
}

// Tables are the columns that are read of files: all of the data's, and where a
// release predicts, at the file predict, those of the inputs.
func (o *OwnData) Tables(predict string) []experiment.InputTable {
	inputs := o.Columns()
	columns := map[string][]string{predict: inputs}
	columns[o.Dataset] = append(slices.Clone(inputs), o.Output) // which has the inputs, too
	return dataset.TablesOf(columns)
}

// Complete completes the budget of a trial on a file: δ must be given, and noise is
// calibrated exactly where nothing else is asked for.
func (o *OwnData) Complete(b *GaussianBudget, given func(field any) bool) error {
	if !o.IsFile() {
		return nil
	}
	if err := release.RequireDelta(&b.Budget, given); err != nil {
		return err
	}
	if !b.Noiseless() && !given(&b.Calibration) {
		b.Calibration = mechanism.Analytic
	}
	return nil
}

// CheckDataset refuses a name that is neither that of the paper's data nor a file.
func (o *OwnData) CheckDataset(name string) error {
	if o.IsFile() || o.Dataset == name {
		return nil
	}
	return fmt.Errorf("dataset = %q: it is %s or csv:PATH, a file of your own%s", o.Dataset, name,
		fileHint(o.Dataset, name))
}

// CheckNoFile refuses, of the paper's data, what is for a file. Instead says what
// such data have.
func (o *OwnData) CheckNoFile(instead string) error {
	given := func(name, value string) error {
		return fmt.Errorf("%s = %s: it is for dataset=csv:PATH; %s", name, value, instead)
	}
	switch {
	case o.Output != "":
		return given("output", o.Output)
	case !o.Low.Is(NotGiven):
		return given("low", o.Low.String())
	case !o.High.Is(NotGiven):
		return given("high", o.High.String())
	}
	return nil
}

// CheckFile refuses what a file cannot be asked for. LowHigh says what low and high
// mean for the output, whose name it takes.
func (o *OwnData) CheckFile(lowHigh string) error {
	path, _ := dataset.FilePath(o.Dataset)
	inputs := o.Columns()
	switch {
	case path == "":
		return errors.New("dataset = csv: names no file; write csv:PATH")
	case slices.Contains(inputs, ""):
		return fmt.Errorf("inputs = %q: write the names of one or more columns, joined by + or commas", o.Inputs)
	case o.Output == "":
		return fmt.Errorf("output is not given: name the column of %s that is predicted and protected", path)
	case slices.Contains(inputs, o.Output):
		return fmt.Errorf("output = %s: it is one of the inputs, too; inputs are taken as public", o.Output)
	case o.Low.Is(NotGiven) || o.High.Is(NotGiven):
		return fmt.Errorf("low and high are not given: they are "+lowHigh, o.Output)
	}
	for i, in := range inputs {
		if slices.Contains(inputs[:i], in) {
			return fmt.Errorf("inputs = %q: %q is named twice", o.Inputs, in)
		}
	}
	if !(o.Low.Number < o.High.Number) {
		return fmt.Errorf("low = %s and high = %s: low must be below high", o.Low, o.High)
	}
	return nil
}

// CheckNames refuses inputs that are named as a column of the release.
func (o *OwnData) CheckNames(columns ...string) error {
	for _, name := range o.Columns() {
		if slices.Contains(columns, name) {
			return fmt.Errorf("inputs = %s: a release has a column %q of its own; rename the input", o.Inputs, name)
		}
	}
	return nil
}

// fileHint helps who has written a file's name alone, or misspelt the valid name.
func fileHint(name, valid string) string {
	if strings.ContainsAny(name, "./\\") {
		return fmt.Sprintf("; did you mean \"%s\"?", dataset.FileName(name))
	}
	if near := experiment.Nearest(name, []string{valid}); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// widestRatio is how much wider than another an input may be before one
// lengthscale for both is suspect.
const widestRatio = 10

// InputWarnings says what is suspect about a user's inputs.
func InputWarnings(t *dataset.Table) []string {
	var out []string
	for _, name := range t.Constant {
		out = append(out, fmt.Sprintf("computed but suspect: the input %q has the same value in all rows, so that no "+
			"prediction depends on it", name))
	}
	narrow, wide := -1, -1
	width := make([]float64, len(t.InputNames))
	for j := range width {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range t.Output {
			low, high = min(low, t.Inputs.At(i, j)), max(high, t.Inputs.At(i, j))
		}
		if width[j] = high - low; width[j] == 0 {
			continue
		}
		if narrow < 0 || width[j] < width[narrow] {
			narrow = j
		}
		if wide < 0 || width[j] > width[wide] {
			wide = j
		}
	}
	if narrow != wide && width[wide] > widestRatio*width[narrow] {
		out = append(out, fmt.Sprintf("computed but suspect: the input %q extends over %.3g and %q over %.3g, but all "+
			"inputs share one lengthscale; bring the columns to one scale",
			t.InputNames[wide], width[wide], t.InputNames[narrow], width[narrow]))
	}
	return out
}
