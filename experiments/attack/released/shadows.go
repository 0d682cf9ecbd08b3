package released

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"privkern/experiments/attack"
	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Means are those of the program by which an attack is carried out.
type Means struct {
	// PathOf finds the data of a name.
	PathOf   func(name string) (string, error)
	Registry *experiment.Registry
	// Trials runs trials of an experiment on the data at a path, one for each of a number of seeds from 0, and returns
	// their series, nil for one that failed.
	Trials func(ctx context.Context, e *experiment.Experiment, p experiment.Params, path string, seeds int) (
		[]map[string]experiment.Series, error)
}

// shadowed are the settings that make a trial a shadow model, of which a method may lack some.
var shadowed = map[string]any{"splits": "common", "repeats": "1", "holdout": "0.5", "membership": "true"}

// settings are those of the trials that are shadow models of the file: its description has those with which it was
// made.
func (f *File) settings(registry *experiment.Registry, dataset string) (e *experiment.Experiment,
	p experiment.Params, output string, err error) {
	at := f.Files[0].Path + ".json"
	d, err := readDescription(at)
	if err != nil {
		return nil, nil, "", err
	}
	e, err = registry.Lookup(d.Experiment)
	if err == nil {
		_, err = e.Param("membership")
	}
	if err != nil {
		return nil, nil, "", fmt.Errorf("shadows: %s: trials of %s do not record what a fit tells of its rows", at,
			d.Experiment)
	}
	given := map[string]any{}
	reading := experiment.SettingValues(table.Reading{})
	for name, value := range d.Params.all {
		if _, own := reading[name]; !own {
			given[name] = value
		}
	}
	for name, value := range shadowed {
		if _, err := e.Param(name); err == nil { // one that judges a single split has no repeats
			given[name] = value
		}
	}
	given["dataset"] = dataset
	if p, err = e.Resolve(given); err != nil {
		return nil, nil, "", fmt.Errorf("shadows: %s: %w", at, err)
	}
	if experiment.SettingsIn[method.Person](e.Whole(p)).Given() {
		return nil, nil, "", errors.New("shadows: the file is of persons; shadow models are of rows")
	}
	return e, p, table.NameOf(d.Params.Output), nil
}

// lira adds the attacks that compare with shadow models: trials of the method of the file, on halves of members and
// others together, but for those that fail.
func (f *File) lira(ctx context.Context, d *data, number int, means *Means, part []int, out *Results) (err error) {
	folder, err := os.MkdirTemp("", "attack")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "rows.csv")
	e, p, output, err := f.settings(means.Registry, "csv:"+path)
	if err != nil {
		return err
	}
	if err := d.write(path, output); err != nil {
		return err
	}
	trials, err := means.Trials(ctx, e, p, path, number)
	if err != nil {
		return err
	}
	var shadows []*attack.Model
	for _, series := range trials {
		if series == nil {
			continue
		}
		m, err := attack.ReadModel(series)
		if err != nil {
			return err
		}
		shadows = append(shadows, m)
	}
	target, err := f.target(ctx, d, e.Whole(p))
	if err != nil {
		return err
	}
	attacks, scores, err := attack.Against(shadows, target)
	if err != nil {
		return err
	}
	for i, name := range attacks {
		out.Attacks = append(out.Attacks, judge(name, scores[i], d.member, part, false))
	}
	out.Notes = append(out.Notes, fmt.Sprintf("LiRA compares with %d fits of the file's settings to random halves of "+
		"members and others together", len(shadows)))
	return nil
}

// target is the file as shadow models are, by the settings of these: confidences in numbers are in units of half the
// public range.
func (f *File) target(ctx context.Context, d *data, p experiment.Params) (*attack.Model, error) {
	prediction, err := f.predict(ctx, d.X)
	if err != nil {
		return nil, err
	}
	own := *d.Rows
	if own.Labels == nil {
		own.Centre, own.Scale = experiment.SettingsIn[method.OutputRange](p).Unit()
		for i, v := range prediction.Mean {
			prediction.Mean[i] = own.Scaled(v)
		}
	}
	m := &attack.Model{Member: d.member}
	m.Confidence, m.Statistic = own.Confidences(prediction, d.units)
	return m, nil
}

// write writes all rows, with outputs in a column of that name, to a file that is read with the defaults.
func (d *data) write(path, output string) error {
	var text strings.Builder
	w := csv.NewWriter(&text)
	var header []string
	for _, in := range d.Asked {
		header = append(header, in.Name)
	}
	rows := [][]string{append(header, output)}
	for i := range d.Len() {
		var row []string
		x := d.X.RawRowView(i)
		column := 0
		for _, in := range d.Asked {
			if in.Levels == 0 {
				row = append(row, strconv.FormatFloat(x[column], 'g', -1, 64))
			} else {
				level := slices.Index(x[column:column+in.Levels], 1)
				row = append(row, d.Inputs[column+level][len(in.Name)+1:])
			}
			column += max(1, in.Levels)
		}
		if d.Labels != nil {
			row = append(row, d.Classes[d.Labels[i]])
		} else {
			row = append(row, strconv.FormatFloat(d.Values[i], 'g', -1, 64))
		}
		rows = append(rows, row)
	}
	if err := w.WriteAll(rows); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text.String()), 0o600)
}
