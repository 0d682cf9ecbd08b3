package report

import (
	"encoding/json"
	"html/template"
	"iter"
	"slices"
	"strconv"
)

// Parts of the page that grow with a sweep are bounded, so that it can be opened: it has 3 MB at
// most, and somewhat more only if drawings take most of it.
const (
	// maxDrawings bounds the drawings in the page together, in bytes; others are linked.
	maxDrawings = 2_350_000
	// room is the limit of drawings and data of trials together, in bytes; the data may always
	// take leastData.
	room      = 2_000_000
	leastData = 100_000
	// maxMembers bounds the trials in the panels of all values together. The limit for one
	// value is between fewMembers and manyMembers.
	maxMembers  = 20_000
	fewMembers  = 10
	manyMembers = 300
)

// The data block of the page: single trials, as the script shows them.
type (
	block struct {
		Experiments []blockExperiment `json:"experiments"`
		Texts       []string          `json:"texts"`
		Privacy     []blockPrivacy    `json:"privacy"`
		Machines    []string          `json:"machines"`
		Sources     []blockSource     `json:"sources"`
		Trials      []json.RawMessage `json:"trials"` // each a blockTrial
		// Cells maps the identifier of a value to the trials that it is made of.
		Cells map[string][]int `json:"cells"`
		// More maps it to how many further trials there are, where there are any.
		More map[string]int `json:"more"`
		// Listed is how many of the trials stand in the table of trials.
		Listed int `json:"listed"`
	}
	blockExperiment struct {
		Name     string       `json:"name"`
		Params   []blockParam `json:"params"`
		Metrics  []string     `json:"metrics"`
		Withheld int          `json:"withheld"` // metrics that are in the records only
	}
	blockParam struct {
		Name    string   `json:"name"`
		Unit    string   `json:"unit"`
		Doc     string   `json:"doc"`
		Values  []string `json:"values"`
		Default int      `json:"default"` // position in Values; -1: none of them
		// Every is the position that all trials have; -1: none has a value. Where it is
		// absent each trial has its own.
		Every *int `json:"every,omitempty"`
	}
	blockPrivacy struct {
		Statement string   `json:"statement"`
		Unit      string   `json:"unit"`
		Mechanism string   `json:"mechanism"`
		RNG       string   `json:"rng"`
		Notes     []string `json:"notes"`
	}
	blockSource struct {
		Machine  int    `json:"machine"`
		Datasets string `json:"datasets"`
	}
	// blockTrial is an array: experiment, key, seed, status, positions of the values of
	// parameters without Every (-1: none), metrics, reason, warnings, privacy, source,
	// wall time in s, processor time in s, memory in bytes. Members' names would
	// make the page several times as long.
	blockTrial [13]any
)

// encode returns the data of the first trials, as many as fit into a number of bytes with their
// texts, privacy and values of parameters.
func (t *TrialTally) encode(bytes int) (*block, error) {
	b := &block{Texts: []string{}, Listed: min(len(t.details), maxListed), Trials: []json.RawMessage{},
		Experiments: []blockExperiment{}, Privacy: []blockPrivacy{}, Machines: []string{}, Sources: []blockSource{},
		Cells: map[string][]int{}, More: map[string]int{}}
	coders := make(map[*settings]*coder)
	for i, s := range t.experiments {
		coders[s] = t.coder(i, s)
	}
	for _, m := range t.Machines() {
		b.Machines = append(b.Machines, m.text())
	}
	for t.shown = range t.details {
		d := &t.details[t.shown]
		raw, err := json.Marshal(coders[d.settings].trial(d))
		if err != nil {
			return nil, err
		}
		size, err := b.add(t, d)
		if err != nil {
			return nil, err
		}
		if bytes -= len(raw) + size + coders[d.settings].add(d); bytes < 0 {
			break
		}
		b.Trials = append(b.Trials, raw)
	}
	t.shown = len(b.Trials)
	for _, s := range t.experiments {
		b.Experiments = append(b.Experiments, coders[s].finish())
	}
	return b, nil
}

// add adds the texts, privacy and sources of a trial that are new, and estimates their bytes.
func (b *block) add(t *TrialTally, d *detail) (size int, err error) {
	for _, at := range append([]int{d.reason}, d.warnings...) {
		for ; len(b.Texts) <= at; size += len(b.Texts[len(b.Texts)-1]) {
			b.Texts = append(b.Texts, t.texts.texts[len(b.Texts)])
		}
	}
	for len(b.Privacy) <= d.privacy {
		p := t.privacy[len(b.Privacy)]
		b.Privacy = append(b.Privacy, blockPrivacy{p.Statement(), p.Unit, p.Mechanism, p.RNG, list(p.Notes)})
		raw, err := json.Marshal(b.Privacy[len(b.Privacy)-1])
		if err != nil {
			return 0, err
		}
		size += len(raw)
	}
	for len(b.Sources) <= d.source {
		s := t.sources[len(b.Sources)]
		b.Sources = append(b.Sources, blockSource{s.machine, s.datasets})
		size += len(s.datasets)
	}
	return size, nil
}

// coder writes the trials of an experiment.
type coder struct {
	number     int
	settings   *settings
	experiment blockExperiment
}

func (t *TrialTally) coder(number int, s *settings) *coder {
	shown := min(len(s.metrics.texts), maxMetrics)
	c := &coder{number, s, blockExperiment{Name: s.name, Metrics: list(s.metrics.texts[:shown]),
		Withheld: len(s.metrics.texts) - shown, Params: []blockParam{}}}
	for _, name := range s.names() {
		p := blockParam{Name: name, Values: []string{}, Default: -1, Every: t.every(s, name)}
		p.Unit, p.Doc = s.doc(name)
		c.experiment.Params = append(c.experiment.Params, p)
	}
	return c
}

// every returns the position of the value that all trials of an experiment have, nil for none.
func (t *TrialTally) every(s *settings, name string) *int {
	var first *int
	for i := range t.details {
		if t.details[i].settings != s {
			continue
		}
		at := t.details[i].position(name)
		if first == nil {
			first = &at
		}
		if *first != at {
			return nil
		}
	}
	return first
}

// position returns the position of a parameter's value; -1 for none.
func (d *detail) position(name string) int {
	if at, ok := d.params[name]; ok {
		return at
	}
	return -1
}

// add adds the values of a trial that are new, and returns their bytes.
func (c *coder) add(d *detail) (size int) {
	for i := range c.experiment.Params {
		p := &c.experiment.Params[i]
		all := c.settings.values[p.Name].texts
		for at := d.position(p.Name); len(p.Values) <= at; size += len(p.Values[len(p.Values)-1]) {
			p.Values = append(p.Values, all[len(p.Values)])
		}
	}
	return size
}

// finish returns the experiment with the values of its trials.
func (c *coder) finish() blockExperiment {
	for i := range c.experiment.Params {
		p := &c.experiment.Params[i]
		if def, ok := c.settings.defaults[p.Name]; ok {
			p.Default = slices.Index(p.Values, def)
		}
	}
	return c.experiment
}

func (c *coder) trial(d *detail) blockTrial {
	params := []int{}
	for i := range c.experiment.Params {
		if p := &c.experiment.Params[i]; p.Every == nil {
			params = append(params, d.position(p.Name))
		}
	}
	metrics := make([]json.RawMessage, min(len(c.settings.metrics.texts), maxMetrics))
	for k := range metrics {
		metrics[k] = json.RawMessage("null")
		if v, ok := d.metrics[k]; ok {
			metrics[k] = strconv.AppendFloat(nil, v, 'g', 7, 64)
		}
	}
	return blockTrial{c.number, d.key, d.seed, d.status, params, metrics, d.reason, list(d.warnings), d.privacy,
		d.source, round(d.timing.WallS), round(d.timing.CPUS), d.timing.PeakRSSBytes}
}

// numbers returns the positions of the trials that the data has.
func (t *TrialTally) numbers(keys []string) []int {
	out := make([]int, 0, min(len(keys), t.shown))
	for _, key := range keys {
		if i, ok := t.byKey[key]; ok && i < t.shown {
			out = append(out, i)
		}
	}
	return out
}

// link adds a value with its trials.
func (b *block) link(id string, known []int, all int) {
	b.Cells[id] = known
	if all > len(known) {
		b.More[id] = all - len(known)
	}
}

// pieces returns the block as JSON for a page, in which <, > and & are escaped. Values with many
// trials keep the first ones, where the total exceeds maxMembers.
func (b *block) pieces() (iter.Seq[template.JS], error) {
	most := min(max(maxMembers/max(len(b.Cells), 1), fewMembers), manyMembers)
	for id, members := range b.Cells {
		if len(members) > most {
			b.Cells[id] = members[:most]
			b.More[id] += len(members) - most
		}
	}
	raw, err := json.Marshal(b)
	return func(yield func(template.JS) bool) {
		for piece := range slices.Chunk(raw, 64<<10) {
			if !yield(template.JS(piece)) { //nolint:gosec // JSON with <, > and & escaped
				return
			}
		}
	}, err
}
