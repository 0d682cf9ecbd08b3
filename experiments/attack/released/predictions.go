package released

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/experiments/model"
	"privkern/runner/experiment"
)

// predictions are those of a release at public points, which predicts elsewhere as at the nearest of them.
type predictions struct {
	model.Payload
	envelope model.Envelope
	held     model.Held
}

// description is the part of a release's description that an attack needs.
type description struct {
	Experiment string              `json:"experiment"`
	Params     described           `json:"params"`
	Privacy    *experiment.Privacy `json:"privacy"`
}

// described are settings of a release: those by name that predictions need, and all.
type described struct {
	Output string `json:"output"`
	Low    any    `json:"low"` // a number, or a word
	High   any    `json:"high"`

	all map[string]any
}

// UnmarshalJSON implements [json.Unmarshaler].
func (d *described) UnmarshalJSON(raw []byte) error {
	type named described
	if err := json.Unmarshal(raw, (*named)(d)); err != nil {
		return err
	}
	return json.Unmarshal(raw, &d.all)
}

// The columns of predictions behind the inputs, of cloaking/regression and of cloaking/classification.
const columnPrediction, columnProbability = "prediction", "probability"

// ReadPredictions reads a released table of predictions at points, which is described by the file of its name with
// .json behind it, as a model.
func ReadPredictions(path string) (*model.Model, error) {
	inputs, predicted, err := header(path)
	if err != nil {
		return nil, err
	}
	d, err := readDescription(path + ".json")
	if err != nil {
		return nil, err
	}
	reading, err := experiment.ReadSettings[table.Reading](nil)
	if err != nil {
		return nil, err
	}
	x, err := table.ReadPoints(table.Named(path), path, *reading, append(slices.Clone(inputs), predicted))
	if err != nil {
		return nil, err
	}
	p := &predictions{envelope: model.Envelope{Inputs: inputs, Output: table.NameOf(d.Params.Output),
		Privacy: d.Privacy}}
	if predicted == columnProbability {
		if p.envelope.Classes = table.LevelsOf(d.Params.Output); len(p.envelope.Classes) != 2 {
			p.envelope.Classes = []string{"0", "1"}
		}
	}
	low, _ := d.Params.Low.(float64)
	high, _ := d.Params.High.(float64)
	p.envelope.Middle = low + (high-low)/2
	last := len(inputs)
	for _, row := range model.Rows(x) {
		p.held.Points, p.held.Outputs = append(p.held.Points, row[:last]), append(p.held.Outputs, row[last])
	}
	p.held.Scale = scales(p.held.Points)
	return &model.Model{Format: d.Experiment + "/predictions", Files: []model.File{{Path: path, Payload: p}}}, nil
}

// readDescription reads the description of a release.
func readDescription(path string) (*description, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not there: it describes the release, and was written with it", path)
	}
	if err != nil {
		return nil, err
	}
	d := new(description)
	if err = json.Unmarshal(raw, d); err == nil && (d.Experiment == "" || d.Privacy == nil) {
		err = errors.New("it is no description of a release")
	}
	if err != nil {
		return nil, &model.Error{Path: path, Err: err}
	}
	return d, nil
}

// header returns the inputs of a table of predictions, and the column of these.
func header(path string) (inputs []string, predicted string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	names, err := csv.NewReader(f).Read()
	for _, column := range []string{columnPrediction, columnProbability} {
		if at := slices.Index(names, column); err == nil && at > 0 {
			return names[:at], column, nil
		}
	}
	return nil, "", &model.Error{Path: path, Err: fmt.Errorf("it has no columns of inputs before a column %q or %q: "+
		"tables that are attacked are releases of cloaking/regression and cloaking/classification", columnPrediction,
		columnProbability)}
}

// scales are the inverse ranges of columns; 0 for one with a single value.
func scales(points [][]float64) []float64 {
	out := make([]float64, len(points[0]))
	for j := range out {
		low, high := points[0][j], points[0][j]
		for _, p := range points {
			low, high = min(low, p[j]), max(high, p[j])
		}
		if high > low {
			out[j] = 1 / (high - low)
		}
	}
	return out
}

// Envelope implements [model.Payload].
func (p *predictions) Envelope() model.Envelope { return p.envelope }

// Predict implements [model.Payload].
func (p *predictions) Predict(ctx context.Context, q *model.Query) (*model.Prediction, error) {
	at, _, err := nearest(ctx, p.held, q.X)
	if err != nil {
		return nil, err
	}
	out := &model.Prediction{Columns: model.RegressionColumns[:1]}
	for _, v := range learn.Select(p.held.Outputs, at) {
		row := []float64{v}
		if p.envelope.Classes != nil {
			row = []float64{1 - v, v}
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}
