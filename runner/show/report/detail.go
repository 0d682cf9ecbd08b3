package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/record"
	"privkern/runner/text"
)

// Limits of the page. Beyond them it refers to the records, so that it can still be opened.
const (
	// maxListed trials are in the page's table of trials, which needs no script.
	maxListed = 300
	// maxDetails trials are candidates for the page's data, from which the script fills panels
	// with their settings, metrics and provenance: about 200 bytes per trial; see room.
	maxDetails = 20_000
	// maxMetrics of an experiment are in the page's data.
	maxMetrics = 60
	// maxLinks trials of a value are linked one by one.
	maxLinks = 30
)

// detail is one trial that has a record. Numbers are positions in the lists of
// the tally and of the experiment's settings.
type detail struct {
	settings *settings
	params   map[string]int
	metrics  map[int]float64
	key      string
	seed     int64
	status   record.Status
	reason   int // in texts; -1: none
	warnings []int
	privacy  int // -1: none
	source   int
	timing   record.Timing
}

// source is the machine and the data of a trial.
type source struct {
	machine  int
	datasets string
}

func (t *TrialTally) addDetail(s *settings, params map[string]int, r *record.Record, privacy, machine int) {
	if len(t.details) == maxDetails {
		return
	}
	d := detail{settings: s, params: params, metrics: make(map[int]float64, len(r.Metrics)), key: r.Key,
		seed: r.Seed, status: r.Status,
		reason: -1, privacy: privacy, timing: r.Timing}
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		if i := s.metrics.add(name); i < maxMetrics {
			d.metrics[i] = r.Metrics[name]
		}
	}
	if r.Error != nil && *r.Error != "" {
		d.reason = t.texts.add(*r.Error)
	}
	for _, w := range r.Warnings {
		d.warnings = append(d.warnings, t.texts.add(w))
	}
	var data []string
	for _, name := range slices.Sorted(maps.Keys(r.Provenance.Datasets)) {
		data = append(data, fmt.Sprintf("%s (SHA-256 %.12s)", name, r.Provenance.Datasets[name]))
	}
	from := source{machine, strings.Join(data, ", ")}
	if d.source = t.origins.add(fmt.Sprint(from)); d.source == len(t.sources) {
		t.sources = append(t.sources, from)
	}
	t.byKey[r.Key] = len(t.details)
	t.details = append(t.details, d)
}

// Finished returns the number of trials with a record.
func (t *TrialTally) Finished() int { return t.Total() - t.notRun }

// listed reports whether the page's table of trials has the trial.
func (t *TrialTally) listed(key string) bool {
	i, ok := t.byKey[key]
	return ok && i < maxListed
}

// link returns the target of links to a trial: its line in the table of trials, or its record.
func (t *TrialTally) link(key string) string {
	if t.listed(key) {
		return "#" + trialAnchor(key)
	}
	return recordPath(key)
}

// seedText returns the seed of a trial, or the beginning of its key where it is unknown.
func (t *TrialTally) seedText(key string) string {
	if i, ok := t.byKey[key]; ok {
		return fmt.Sprint(t.details[i].seed)
	}
	return fmt.Sprintf("%.12s", key)
}

func trialAnchor(key string) string { return anchor("trial", fmt.Sprintf("%.16s", key)) }

// recordPath returns the file of a record, relative to the page.
func recordPath(key string) string { return "trials/" + key + ".json" }

// TrialLine is a line of the table of trials.
type TrialLine struct {
	Anchor, Record, Key string
	Experiment          string
	Settings            string // without defaults
	Seed                int64
	Status              record.Status
	Seconds             float64
	Machine             int // number of the machine, from 1
	Mechanism           string
	Remarks             []string // the reason of a failure, and warnings
}

// Lines returns the trials that the page lists, in the order of the plan.
func (t *TrialTally) Lines() []TrialLine {
	var out []TrialLine
	for _, d := range t.details[:min(len(t.details), maxListed)] {
		l := TrialLine{
			Anchor: trialAnchor(d.key), Record: recordPath(d.key), Key: fmt.Sprintf("%.12s", d.key), Experiment: d.settings.name,
			Settings: d.text(), Seed: d.seed, Status: d.status, Seconds: d.timing.WallS,
			Machine: t.sources[d.source].machine + 1,
		}
		if d.privacy >= 0 {
			l.Mechanism = t.privacy[d.privacy].Statement()
		}
		if d.reason >= 0 {
			l.Remarks = append(l.Remarks, t.texts.texts[d.reason])
		}
		for _, w := range d.warnings {
			l.Remarks = append(l.Remarks, t.texts.texts[w])
		}
		out = append(out, l)
	}
	return out
}

// Omitted returns the number of finished trials that are not listed.
func (t *TrialTally) Omitted() int { return max(t.Finished()-maxListed, 0) }

// Withheld returns the number of finished trials that are neither listed nor in the data.
func (t *TrialTally) Withheld() int { return max(t.Finished()-max(t.shown, maxListed), 0) }

// text returns the settings that are not defaults.
func (d *detail) text() string {
	var words []string
	for _, name := range d.settings.names() {
		i, ok := d.params[name]
		if !ok {
			continue
		}
		value := d.settings.values[name].texts[i]
		if def, ok := d.settings.defaults[name]; !ok || def != value {
			words = append(words, text.Quote(name+"="+value))
		}
	}
	return strings.Join(words, " ")
}

// round rounds to milliseconds.
func round(seconds float64) json.RawMessage {
	return json.RawMessage(strconv.FormatFloat(seconds, 'f', 3, 64))
}

// list returns an empty list, which JSON writes as [], for nil.
func list[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}

// text returns the machine in a line.
func (m *MachineGroup) text() string {
	parts := []string{"privkern " + cmp.Or(m.Version, "of unknown version")}
	for _, p := range []struct{ label, value string }{{"revision ", m.Revision}, {"", m.Go}, {"", m.CPU},
		{"", m.GPU}, {"", m.BLAS}} {
		if p.value != "" {
			parts = append(parts, p.label+p.value)
		}
	}
	return strings.Join(append(parts, m.Backend+" "+m.DType), "; ")
}
