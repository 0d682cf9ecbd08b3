package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"privkern/experiments/dataset/table"
	"privkern/experiments/model"
	"privkern/runner/experiment"
)

// ConfigurationFormat is the version of a released [Configuration].
const ConfigurationFormat = "choice/1"

// maxConfiguration bounds the files that are read, far above any choice.
const maxConfiguration = 1 << 20

// Configuration is a released choice of hyper-parameters, as it is written.
type Configuration struct {
	Format     string              `json:"choice"` // ConfigurationFormat
	About      string              `json:"about"`
	Experiment string              `json:"experiment"`
	Settings   map[string]float64  `json:"settings"` // names and values
	Privacy    *experiment.Privacy `json:"privacy"`

	path    string
	chooses *experiment.Experiment // that the settings are for
	params  map[string]any         // all settings with which it was chosen, of its description
}

// described holds the parts of the description of a choice that are read.
type described struct {
	Experiment string              `json:"experiment"`
	Params     map[string]any      `json:"params"`
	Privacy    *experiment.Privacy `json:"privacy"`
	Release    struct {
		Budget   string             `json:"budget"`
		Settings map[string]float64 `json:"settings"` // nil in descriptions of early versions
	} `json:"release"`
}

// ReadConfiguration reads the file of a choice by one of the experiments that choose
// ([experiment.Registry.Choices]). Its description (FILE.json) shows whether its
// budget is booked and whether the file is as it was released.
func ReadConfiguration(path string, experiments *experiment.Registry) (*Configuration, error) {
	choices := experiments.Choices()
	out := &Configuration{path: path}
	// The kind first, because the content of another file does not matter.
	var kind struct {
		Format any `json:"choice"`
	}
	choosers := strings.Join(slices.Sorted(maps.Keys(choices)), " or ")
	if err := readJSON(path, &kind, false); err != nil {
		return nil, err
	}
	if kind.Format != ConfigurationFormat {
		return nil, fmt.Errorf("%s: it is no released choice, which has \"choice\": %q (run trial %s --release writes one)",
			path, ConfigurationFormat, choosers)
	}
	if err := readJSON(path, out, true); err != nil {
		return nil, err
	}
	switch {
	case choices[out.Experiment] == "":
		return nil, fmt.Errorf("%s: experiment: it is %q; choices are by %s", path, out.Experiment, choosers)
	case len(out.Settings) == 0:
		return nil, fmt.Errorf("%s: settings: there are none", path)
	}
	by, err := experiments.Lookup(out.Experiment)
	if err == nil {
		out.chooses, err = experiments.Lookup(choices[out.Experiment])
	}
	if err != nil {
		return nil, err
	}
	var d described
	if err := readJSON(path+".json", &d, false); err != nil {
		return nil, fmt.Errorf("%w; the description beside a choice says whether its budget is booked", err)
	}
	if d.Release.Budget != "booked" {
		return nil, fmt.Errorf("%s.json: the budget of this choice is not booked, so that nothing accounts for the "+
			"hyper-parameters; use --tuning unaccounted", path)
	}
	out.params = by.Whole(d.Params)
	return out, out.unchanged(&d)
}

// unchanged refuses a file that is not as its description has it.
func (c *Configuration) unchanged(d *described) error {
	if d.Experiment != "" && d.Experiment != c.Experiment {
		return fmt.Errorf("%s: it is a choice by %s, and %[1]s.json describes a release of %[3]s: the two do not belong "+
			"together", c.path, c.Experiment, d.Experiment)
	}
	const changed = "the file was changed after its release; give the one that was released"
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		was, known := d.Release.Settings[name]
		if d.Release.Settings != nil && (!known || was != c.Settings[name]) {
			return fmt.Errorf("%s: settings.%s: it is %s, and not what %[1]s.json has: %[4]s", c.path, name,
				experiment.FormatNumber(c.Settings[name]), changed)
		}
	}
	switch {
	case d.Release.Settings != nil && len(d.Release.Settings) != len(c.Settings):
		return fmt.Errorf("%s: settings: there are %d, and %d in %[1]s.json: %[4]s", c.path, len(c.Settings),
			len(d.Release.Settings), changed)
	case d.Privacy != nil && !reflect.DeepEqual(c.Privacy, d.Privacy):
		return fmt.Errorf("%s: privacy: it is not what %[1]s.json has: %[2]s", c.path, changed)
	}
	return nil
}

// Matches refuses a release of an experiment with settings that the choice was not made for:
// of another experiment, of other columns, or with other settings than the chosen ones.
func (c *Configuration) Matches(e *experiment.Experiment, p experiment.Params) error {
	if e.Name != c.chooses.Name {
		return fmt.Errorf("%s: it is a choice by %s, for releases of %s, and this one is of %s", c.path, c.Experiment,
			c.chooses.Name, e.Name)
	}
	p = e.Whole(p)
	if was, is := isFileIn(c.params), isFileIn(p); was != is {
		return fmt.Errorf("%s: it was chosen on %s, and this release is of %s: scales and units are others", c.path,
			whose[was], whose[is])
	}
	if was, is := inputsIn(c.params), inputsIn(p); was != is {
		return fmt.Errorf("%s: it was chosen for inputs=%s, and these are %s: what suits some columns does not suit others",
			c.path, was, is)
	}
	was, of := outputIn(c.params)
	if is, _ := outputIn(p); of && table.NameOf(was) != table.NameOf(is) {
		return fmt.Errorf("%s: it was chosen for output=%s, and this is %s: what suits one column does not suit another",
			c.path, was, is)
	}
	if err := c.sameModel(p); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		chosen := experiment.FormatNumber(c.Settings[name])
		value, ok := p[name]
		switch {
		case !ok:
			return fmt.Errorf("%s: it names %s, a setting that %s does not have", c.path, name, c.chooses.Name)
		case value != c.Settings[name]:
			return fmt.Errorf("%s = %s, but %s was chosen; give the chosen settings", name, experiment.FormatValue(value),
				chosen)
		}
	}
	return nil
}

// ofModel are names of settings of a choice and of a release that make the model whose settings were chosen.
var ofModel = [][2]string{{"features", "features"}, {"inducing", "inducing"}, {"inducing_centres", "inducing_centres"},
	{"input_low", "input_low"}, {"input_high", "input_high"}, {"kernel_variance", "kernel_variance"},
	{"output_low", "low"}, {"output_high", "high"}}

// sameModel refuses a release of another model than the one that the choice was made for.
func (c *Configuration) sameModel(p experiment.Params) error {
	var add, has []string
	for _, names := range ofModel {
		was, of := modelSetting(c.params, names[0])
		is, ok := modelSetting(p, names[1])
		if _, chosen := c.Settings[names[0]]; of && ok && !chosen && was != is {
			add, has = append(add, names[1]+"="+was), append(has, names[1]+"="+is)
		}
	}
	if add == nil {
		return nil
	}
	return fmt.Errorf("%s: it was chosen for a model with %s, and this one has %s: give %[2]s", c.path,
		strings.Join(add, " "), strings.Join(has, " "))
}

// modelSetting is one of [ofModel] as a text, inducing inputs of a file as that file's kind, PATH for its path; ok is
// false for a setting that is not there, and one without a part in the model.
func modelSetting(p map[string]any, name string) (text string, ok bool) {
	value, ok := p[name]
	inducing, _ := p["inducing"].(string)
	if file, _ := p["inducing_file"].(string); file != "" && file != "none" {
		inducing = file
	}
	kind, _, _ := strings.Cut(inducing, ":")
	switch file := table.Is(kind + ":"); {
	case file && name == "inducing":
		return kind + ":PATH", true
	case file && strings.HasPrefix(name, "input_"):
		return "", false
	case !ok:
		return "", false
	}
	text = experiment.FormatValue(value)
	return text, name != "inducing" || !strings.ContainsAny(text, ", ") // no list, for which dpgp/regression has a file
}

// whose names the origin of data by whether they are a user's.
var whose = map[bool]string{true: "data of your own", false: "data of a paper"}

// isFileIn is whether settings name data of a user's own, of which a description has the kind
// without the path.
func isFileIn(p map[string]any) bool {
	name, _ := p["dataset"].(string)
	kind, _, _ := strings.Cut(name, ":")
	return table.Is(kind + ":")
}

// inputsIn are the columns that settings name as inputs, in an order that does not depend
// on that of the names; of * it is that.
func inputsIn(p map[string]any) string {
	text, _ := p["inputs"].(string)
	names := table.Spec{Inputs: text}.Names()
	if len(names) == 0 {
		return strings.TrimSpace(text)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = table.QuoteName(name)
	}
	return strings.Join(names, "+")
}

// outputIn is the column that settings name as the output.
func outputIn(p map[string]any) (column string, ok bool) {
	column, ok = p["output"].(string)
	return column, ok
}

func readJSON(path string, into any, strict bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxConfiguration+1))
	if err := f.Close(); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	if len(text) > maxConfiguration {
		return fmt.Errorf("%s: it has more than %d MiB, which no choice has", path, maxConfiguration>>20)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if strict {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(into); err != nil {
		return model.Explain(path, text, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: something follows its JSON object", path)
	}
	return nil
}
