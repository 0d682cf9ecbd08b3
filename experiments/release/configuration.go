package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"privkern/experiments/model"
	"privkern/runner/experiment"
)

// ConfigurationFormat is the version of a released [Configuration].
const ConfigurationFormat = "choice/1"

// maxConfiguration bounds the files that are read, far above any choice.
const maxConfiguration = 1 << 20

// Configuration is a released choice of hyper-parameters, as it is written.
type Configuration struct {
	Format     string             `json:"choice"` // ConfigurationFormat
	About      string             `json:"about"`
	Experiment string             `json:"experiment"`
	Settings   map[string]float64 `json:"settings"` // names and values
	// Score is nil: it would depend on the data beside the choice.
	Score   *float64            `json:"score,omitempty"`
	Privacy *experiment.Privacy `json:"privacy"`
}

// ReadConfiguration reads the file of a choice, and from the description beside it
// (FILE.json) whether its budget is booked.
func ReadConfiguration(path string) (*Configuration, error) {
	out := new(Configuration)
	if err := readJSON(path, out, true); err != nil {
		return nil, err
	}
	if out.Format != ConfigurationFormat {
		return nil, fmt.Errorf("%s: it is no released choice, which has \"choice\": %q (run trial cloaking/selection "+
			"--release writes one)", path, ConfigurationFormat)
	}
	if len(out.Settings) == 0 {
		return nil, fmt.Errorf("%s: settings: there are none", path)
	}
	var description struct {
		Release struct {
			Budget string `json:"budget"`
		} `json:"release"`
	}
	if err := readJSON(path+".json", &description, false); err != nil {
		return nil, fmt.Errorf("%w; the description beside a choice says whether its budget is booked", err)
	}
	if description.Release.Budget != "booked" {
		return nil, fmt.Errorf("%s.json: the budget of this choice is not booked, so that nothing accounts for the "+
			"hyper-parameters; use --tuning unaccounted", path)
	}
	return out, nil
}

// Matches refuses settings that are not the chosen ones.
func (c *Configuration) Matches(p experiment.Params) error {
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		switch value := p[name].(type) {
		case float64, []float64: // one for each input was not chosen
			if value != c.Settings[name] {
				return fmt.Errorf("%s = %s, but %s was chosen; give the chosen settings", name, experiment.FormatValue(value),
					experiment.FormatNumber(c.Settings[name]))
			}
		default:
			return fmt.Errorf("the choice names %s, which this experiment does not have as a number", name)
		}
	}
	return nil
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
