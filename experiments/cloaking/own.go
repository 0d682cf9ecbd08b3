package cloaking

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"privkern/experiments/dataset"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// maxRows bounds the rows of a user's file: memory grows with their square.
const maxRows = 10_000

// none is the word for a number that is not given.
const none = "none"

// kungInputs are the inputs that the census offers.
var kungInputs = choice("inputs", inputsAge, "", inputsAge, inputsAgeWeight)

// withOwnData makes predictionParams those of an experiment that predicts the
// heights of the census or a column of a file of the user's.
func withOwnData(params []experiment.Param) []experiment.Param {
	bound := func(name, end string) experiment.Param {
		return experiment.Param{Name: name, Kind: experiment.Number, Default: none, Words: []string{none}, Doc: end + " end of the public range of the output, to which it is clipped (csv only, where it must be given); its length is the sensitivity. It must not be read off the data"}
	}
	params = experiment.When(documentOwn(params), []string{"sensitivity_cm", "normalisation"}, isNotOwnFile)
	own := []experiment.Param{
		{Name: "dataset", Kind: experiment.Text, Default: dataKung, Doc: "kung, heights of the census, or csv:PATH, your own file: comma-separated values with a header. With csv, lengths are in the unit of your inputs"},
		{Name: "inputs", Kind: experiment.Text, Default: inputsAge, Doc: "what is predicted from: age or age+weight; with csv the names of columns, joined by + or commas. All inputs share one lengthscale: bring your columns to one scale"},
		{Name: "output", Kind: experiment.Text, Default: "", Doc: "the column that is predicted and protected (csv only, where it must be given)"},
		bound("low", "lower"), bound("high", "upper"),
	}
	own = experiment.When(own, []string{"output", "low", "high"}, isOwnFile)
	return append(own, slices.DeleteFunc(params, func(p experiment.Param) bool { return p.Name == "inputs" })...)
}

// documentOwn adds to the parameters of a budget what is different for a user's
// file.
func documentOwn(params []experiment.Param) []experiment.Param {
	params = slices.Clone(params)
	for i := range params {
		switch params[i].Name {
		case "delta":
			params[i].Doc += "; csv: it must be given, far below 1/n for n rows"
		case "calibration":
			params[i].Doc += "; csv: analytic by default"
		}
	}
	return params
}

// completeOwn completes the settings of a trial on a user's file.
func completeOwn(p experiment.Params, given func(name string) bool) error {
	if !ownFile(p) {
		return nil
	}
	return release.CompleteOwn(p, given)
}

// ownFile says whether the trial's data are a file of the user's.
func ownFile(p experiment.Params) bool {
	_, own := dataset.FilePath(p.Text("dataset"))
	return own
}

// ownInputs are the names of the input columns of a user's file.
func ownInputs(p experiment.Params) []string {
	names := strings.Split(strings.ReplaceAll(p.Text("inputs"), ",", "+"), "+")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// ownTables are the columns that are read of a user's files: all of the data's,
// and where a release predicts those of the inputs.
func ownTables(p experiment.Params) []experiment.Table {
	inputs := ownInputs(p)
	columns := map[string][]string{p.Text("predict"): inputs}
	columns[p.Text("dataset")] = append(slices.Clone(inputs), p.Text("output")) // which has the inputs, too
	return dataset.TablesOf(columns)
}

// checkOwnData refuses combinations of the parameters of withOwnData.
func checkOwnData(p experiment.Params) error {
	name := p.Text("dataset")
	if !ownFile(p) {
		if name != dataKung {
			return fmt.Errorf("dataset = %q: it is %s or csv:PATH, a file of your own%s", name, dataKung, fileHint(name, dataKung))
		}
		for _, only := range []string{"output", "low", "high"} {
			if v := p[only]; v != "" && v != none {
				return fmt.Errorf("%s = %s: it is for dataset=csv:PATH; of the census heights are predicted, with public_low_cm and sensitivity_cm", only, experiment.FormatValue(v))
			}
		}
		_, err := kungInputs.Convert(p.Text("inputs"))
		return err
	}
	if err := checkOwnFile(p, "the public range of %s, such as low=0 high=100; its length decides the noise, and it must not be read off the data"); err != nil {
		return err
	}
	if low, high := p.Float("low"), p.Float("high"); math.IsInf(high-low, 0) {
		return fmt.Errorf("low = %s and high = %s are no range", experiment.FormatNumber(low), experiment.FormatNumber(high))
	}
	return nil
}

// checkOwnFile refuses what a user's file cannot be asked for. What low and high
// are says what they mean for the output, whose name it takes.
func checkOwnFile(p experiment.Params, lowHigh string) error {
	path, _ := dataset.FilePath(p.Text("dataset"))
	inputs, output := ownInputs(p), p.Text("output")
	switch {
	case path == "":
		return errors.New("dataset = csv: names no file; write csv:PATH")
	case slices.Contains(inputs, ""):
		return fmt.Errorf("inputs = %q: write the names of one or more columns, joined by + or commas", p.Text("inputs"))
	case output == "":
		return fmt.Errorf("output is not given: name the column of %s that is predicted and protected", path)
	case slices.Contains(inputs, output):
		return fmt.Errorf("output = %s: it is one of the inputs, too; inputs are taken as public", output)
	case p.Text("low") == none || p.Text("high") == none:
		return fmt.Errorf("low and high are not given: they are "+lowHigh, output)
	}
	for i, in := range inputs {
		if slices.Contains(inputs[:i], in) {
			return fmt.Errorf("inputs = %q: %q is named twice", p.Text("inputs"), in)
		}
	}
	if low, high := p.Float("low"), p.Float("high"); !(low < high) {
		return fmt.Errorf("low = %s and high = %s: low must be below high", experiment.FormatNumber(low), experiment.FormatNumber(high))
	}
	return nil
}

// fileHint helps who has written a file's name alone, or misspelt the valid
// name.
func fileHint(name, valid string) string {
	if strings.ContainsAny(name, "./\\") {
		return fmt.Sprintf("; did you mean \"%s\"?", dataset.FileName(name))
	}
	if near := experiment.Nearest(name, []string{valid}); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// loadOwn reads a user's file. Its outputs are clipped to the public range, and
// the prior mean is the middle of it.
func loadOwn(t *experiment.Trial) (*problem, error) {
	p := t.Params
	name := p.Text("dataset")
	table, err := dataset.LoadTable(t.Dataset(name), ownInputs(p), p.Text("output"))
	if err != nil {
		return nil, dataset.AsWritten(err, name)
	}
	if n := len(table.Output); n > maxRows {
		path, _ := dataset.FilePath(name)
		return nil, fmt.Errorf("%s: %d rows; at most %d are taken, since the memory grows with their square: take a part of them", path, n, maxRows)
	}
	own := &problem{
		inputs: table.Inputs, dropped: table.Dropped, warnings: inputWarnings(table),
		columns: map[string][]float64{},
		names: naming{
			inputs: table.InputNames, outputs: fmt.Sprintf("values of %q", table.OutputName),
			public: fmt.Sprintf("inputs (%s)", strings.Join(table.InputNames, ", ")),
			tuning: "; the guarantee does not cover choosing them by looking at the outputs",
			output: "output", clipped: clippedOutputs.Name,
		},
	}
	for j, column := range table.InputNames {
		values := make([]float64, len(table.Output))
		for i := range values {
			values[i] = table.Inputs.At(i, j)
		}
		if j == 0 {
			own.columns["x"] = values
		} else {
			own.columns["input_"+column] = values
		}
	}
	own.clip(table.Output, p.Float("low"), p.Float("high")-p.Float("low"))
	own.high = p.Float("high") // free of rounding
	return own, nil
}

// widestRatio is how much wider than another an input may be before one
// lengthscale for both is suspect.
const widestRatio = 10

// inputWarnings says what is suspect about a user's inputs.
func inputWarnings(t *dataset.Table) []string {
	var out []string
	for _, name := range t.Constant {
		out = append(out, fmt.Sprintf("computed but suspect: the input %q has the same value in all rows, so that no prediction depends on it", name))
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
		out = append(out, fmt.Sprintf("computed but suspect: the input %q extends over %.3g and %q over %.3g, but all inputs share one lengthscale; bring the columns to one scale",
			t.InputNames[wide], width[wide], t.InputNames[narrow], width[narrow]))
	}
	return out
}

// droppedWarnings says how many rows have no part in the problem.
func (c *problem) droppedWarnings() []string {
	if c.dropped == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d rows have no value in an input or the output and were left out", c.dropped, c.dropped+len(c.output))}
}
