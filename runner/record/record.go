// Package record defines the trial record: the JSON object that `run trial`
// prints and that a sweep stores, one file per trial.
//
// A record is sealed: its last member, digest, is the SHA-256 of the text before
// it, and its key can be recomputed from the other members.
// Records of early versions have neither digest nor result version. They are
// unsealed, and valid only with a plan, which has the version.
package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"privkern/runner/experiment"
	"privkern/runner/text"
)

// Schema is the version of the record's shape.
const Schema = 1

// Status is the outcome of a trial.
type Status string

// A trial is ok, failed (Error is the reason) or skipped (Error names the missing
// requirement, such as a data set).
const (
	OK      Status = "ok"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Record is the outcome of one trial. Its JSON is public, and only added to. Metrics
// and series are empty unless Status is OK.
type Record struct {
	Schema     int            `json:"schema"`
	Key        string         `json:"key"` // of the identity; see [Key]
	Experiment string         `json:"experiment"`
	Params     map[string]any `json:"params"` // as JSON holds them: numbers, texts, lists; "inf"
	Seed       int64          `json:"seed"`
	Backend    string         `json:"backend"` // "cpu" or "cuda"
	DType      string         `json:"dtype"`   // "float64" or "float32"
	Status     Status         `json:"status"`
	// ResultVersion is the version of the experiment's results, part of the key; 0
	// in an unsealed record.
	ResultVersion int                                `json:"result_version,omitempty"`
	Metrics       Metrics                            `json:"metrics"`
	Series        map[string]map[string]SeriesColumn `json:"series"`
	Privacy       *experiment.Privacy                `json:"privacy"`
	Warnings      []string                           `json:"warnings"`
	Error         *string                            `json:"error"`
	Timing        Timing                             `json:"timing"`
	Provenance    Provenance                         `json:"provenance"`
	// Profile holds the counts of the engine, where they were requested: a JSON object of
	// the engine's.
	Profile json.RawMessage `json:"profile,omitempty"`
	// Release describes a release; nil for every other record.
	Release *ReleaseStatement `json:"release,omitempty"`
	// Export describes an export; nil for every other record.
	Export *ExportStatement `json:"export,omitempty"`

	// Log is text for the trial's log: the complete reason, such as a panic with its stack,
	// where Error has a sentence of it.
	Log string `json:"-"`
}

// ReleaseFormat is the version of [ReleaseStatement].
const ReleaseFormat = "release/1"

// ReleaseStatement describes a release to those who get it. Nothing in it depends on
// private data.
type ReleaseStatement struct {
	Format string `json:"format"` // ReleaseFormat
	// Noise lists the draws in order, equal ones in succession once ([GroupNoise]).
	Noise []experiment.Noise `json:"noise"`
	// Tuning is the origin of the hyper-parameters.
	Tuning experiment.Tuning `json:"tuning"`
	// Budget is BudgetBooked or BudgetUnbooked.
	Budget string `json:"budget"`
	// Settings are the published choices of settings, by name; nil for other releases.
	Settings map[string]float64 `json:"settings,omitempty"`
}

// ExportFormat is the version of [ExportStatement].
const ExportFormat = "export/1"

// ExportStatement describes an export, which has no guarantee, to those who get it.
type ExportStatement struct {
	Format string `json:"format"` // ExportFormat
	// Noise lists the draws of the release layer in order, equal ones in succession once; it may be empty.
	Noise []experiment.Noise `json:"noise"`
}

// GroupNoise has equal draws in succession once, with their number: a method of many steps draws the same noise in
// each.
func GroupNoise(draws []experiment.Noise) []experiment.Noise {
	out := make([]experiment.Noise, 0, len(draws))
	for _, n := range draws {
		if last := len(out) - 1; last >= 0 {
			one := out[last]
			one.Times = 0
			if one == n {
				out[last].Times = max(1, out[last].Times) + 1
				continue
			}
		}
		out = append(out, n)
	}
	return out
}

// The states of the budget of a release.
const (
	BudgetBooked   = "booked"     // in the operator's ledger, before noise was drawn
	BudgetUnbooked = "not booked" // --no-budget: no ledger adds up this and other releases
)

// Timing is the cost of the trial.
type Timing struct {
	WallS        float64 `json:"wall_s"`
	CPUS         float64 `json:"cpu_s"`
	PeakRSSBytes int64   `json:"peak_rss_bytes"`
	// SharedS is the duration of shared work done earlier in the sweep, which the other
	// members exclude.
	SharedS float64 `json:"shared_s,omitempty"`
}

// Provenance is the origin of the record: program, machine, libraries and data.
type Provenance struct {
	Version  string            `json:"version"`
	Revision string            `json:"revision"`
	Go       string            `json:"go"`
	CPU      string            `json:"cpu"`
	GPU      string            `json:"gpu"`
	BLAS     string            `json:"blas"`
	Datasets map[string]string `json:"datasets"` // name to SHA-256
}

// Metrics are the numbers that a trial reports, by name.
type Metrics map[string]float64

// UnmarshalJSON refuses null, which encoding/json would read as 0.
func (m *Metrics) UnmarshalJSON(b []byte) error {
	var in map[string]*float64
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if in == nil { // null, of a record without metrics
		*m = nil
		return nil
	}
	if *m == nil {
		*m = make(Metrics, len(in))
	}
	for name, v := range in {
		if v == nil {
			return fmt.Errorf("the metric %s is null", name)
		}
		(*m)[name] = *v
	}
	return nil
}

// SeriesValues returns the series as experiments have them, on the same memory.
func (r *Record) SeriesValues() map[string]experiment.Series {
	out := make(map[string]experiment.Series, len(r.Series))
	for name, columns := range r.Series {
		out[name] = make(experiment.Series, len(columns))
		for column, values := range columns {
			out[name][column] = values
		}
	}
	return out
}

// SeriesColumn is a column of a series. NaN, which JSON lacks, is written as null.
type SeriesColumn []float64

// MarshalJSON writes NaN as null.
func (c SeriesColumn) MarshalJSON() ([]byte, error) {
	out := make([]*float64, len(c))
	for i := range c {
		if !math.IsNaN(c[i]) {
			out[i] = &c[i]
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads null as NaN.
func (c *SeriesColumn) UnmarshalJSON(b []byte) error {
	var in []*float64
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*c = make(SeriesColumn, len(in))
	for i, p := range in {
		if p == nil {
			(*c)[i] = math.NaN()
		} else {
			(*c)[i] = *p
		}
	}
	return nil
}

// PlainParams returns parameters in the form of a record that was read from JSON.
func PlainParams(p experiment.Params) (map[string]any, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	err = json.Unmarshal(raw, &out)
	return out, err
}

// Encode writes a record as one line of JSON, sealed where it has a result
// version. <, > and & are not escaped, because messages often have them and the line is not
// part of a web page.
func Encode(r *Record) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(r)
	text := b.Bytes()
	if err == nil && r.Sealed() {
		text, err = AppendDigest(text, digestMember)
	}
	if err != nil {
		return nil, fmt.Errorf("the record of trial %.12s cannot be written as JSON: %w", r.Key, err)
	}
	return text, nil
}

// Fail makes r the record of a failed trial, and returns it. Error becomes the reason as a
// [text.Sentence]; where that is shorter, Log becomes the whole reason.
func (r *Record) Fail(reason string) *Record {
	r.end(Failed, reason)
	r.Metrics, r.Series = map[string]float64{}, map[string]map[string]SeriesColumn{}
	return r
}

// Skip makes r the record of a skipped trial, and returns it.
func (r *Record) Skip(reason string) *Record {
	r.end(Skipped, reason)
	return r
}

func (r *Record) end(status Status, reason string) {
	sentence := text.Sentence(reason)
	r.Status, r.Error = status, &sentence
	if sentence != reason {
		r.Log = reason
	}
}
