package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/show/report"
	"privkern/runner/show/tables"
	"privkern/runner/store"
	"privkern/runner/store/disk"
	"privkern/runner/text"
)

// page is a text in sections of names and values.
type page struct {
	strings.Builder
	width int
}

// section writes a heading with lines, each with a command below it or none, and nothing where there are none.
func (p *page) section(title string, lines [][2]string, below ...string) {
	if len(lines) == 0 {
		return
	}
	words := strings.TrimLeft(title, " ")
	p.WriteString("\n" + tables.Hang(title[:len(title)-len(words)], words, p.width))
	name := 0
	for _, l := range lines {
		name = max(name, utf8.RuneCountInString(l[0]))
	}
	for i, l := range lines {
		p.line("  "+text.Printable(l[0])+strings.Repeat(" ", name-utf8.RuneCountInString(l[0]))+"  ", l[1])
		if len(below) > 0 {
			p.WriteString(below[i] + "\n")
		}
	}
}

// line writes a value behind a label, in as many lines as it takes, or below the label where these would be narrow.
func (p *page) line(label, value string) {
	value = text.Printable(strings.ReplaceAll(value, "\n", " "))
	if strings.TrimSpace(value) == "" {
		p.WriteString(strings.TrimRight(label, " ") + "\n")
		return
	}
	const narrow = 12
	room, name := p.width-utf8.RuneCountInString(label), strings.TrimSpace(label)
	if name != "" && room < min(narrow, utf8.RuneCountInString(value)) {
		p.WriteString(tables.Hang("  ", name, p.width))
		label = "    "
	}
	p.WriteString(tables.Hang(label, value, p.width))
}

// Page describes the record for people, in lines of a width.
func (f *Found) Page(experiments *experiment.Registry, width int) string {
	r := f.Record
	p := &page{width: width}
	p.line("", fmt.Sprintf("%s, seed %d: %s", r.Experiment, r.Seed, r.Status))
	if r.Error != nil {
		p.line("  ", *r.Error)
	}
	p.section("Trial", [][2]string{{"key", f.Key}, {"folder", f.Folder}, {"result version", fmt.Sprint(r.ResultVersion)}})
	p.section("Settings that are not defaults", changed(r, experiments))
	p.section("Metrics", metricLines(r, experiments))
	p.section("Series", seriesLines(r))
	p.section("Warnings", numbered(r.Warnings))
	p.section("Privacy", privacyLines(r.Privacy))
	timing := [][2]string{{"wall", seconds(r.Timing.WallS)}, {"processor", seconds(r.Timing.CPUS)},
		{"memory", fmt.Sprintf("%.0f MiB at most", float64(r.Timing.PeakRSSBytes)/(1<<20))}}
	if r.Timing.SharedS > 0 {
		timing = append(timing,
			[2]string{"shared", seconds(r.Timing.SharedS) + " of work that trials share, not counted above"})
	}
	p.section("Timing", timing)
	p.section("Provenance", provenanceLines(r))
	return p.String()
}

func seconds(s float64) string { return fmt.Sprintf("%.3g s", s) }

func metricLines(r *record.Record, experiments *experiment.Registry) [][2]string {
	var out [][2]string
	seen := map[string]bool{}
	if e, err := experiments.Lookup(r.Experiment); err == nil {
		for _, m := range e.Metrics {
			for _, name := range sorted(r.Metrics) {
				if m.Covers(name) && !seen[name] {
					seen[name] = true
					out = append(out, [2]string{name, strings.TrimSpace(experiment.FormatNumber(r.Metrics[name]) + " " + m.Unit)})
				}
			}
		}
	}
	for _, name := range sorted(r.Metrics) {
		if !seen[name] {
			out = append(out, [2]string{name, experiment.FormatNumber(r.Metrics[name])})
		}
	}
	return out
}

func seriesLines(r *record.Record) [][2]string {
	var out [][2]string
	for _, name := range sorted(r.Series) {
		columns := sorted(r.Series[name])
		n := 0
		if len(columns) > 0 {
			n = len(r.Series[name][columns[0]])
		}
		out = append(out, [2]string{name, text.Count(n, "row") + " of " + strings.Join(columns, ", ")})
	}
	return out
}

func numbered(texts []string) [][2]string {
	var out [][2]string
	for i, s := range texts {
		out = append(out, [2]string{fmt.Sprint(i + 1), s})
	}
	return out
}

func privacyLines(p *experiment.Privacy) [][2]string {
	switch {
	case p == nil:
		return nil
	case !p.Stated():
		return [][2]string{{"statement", p.Statement()}}
	}
	out := [][2]string{{"statement", p.Statement()}, {"unit", p.Unit}, {"mechanism", p.Mechanism}, {"noise", p.RNG}}
	for _, n := range p.Notes {
		out = append(out, [2]string{"note", n})
	}
	return out
}

func provenanceLines(r *record.Record) [][2]string {
	v := r.Provenance
	out := [][2]string{{"program", strings.TrimSpace(v.Version + " " + v.Revision)}, {"go", v.Go}, {"processor", v.CPU},
		{"GPU", v.GPU}, {"BLAS", v.BLAS}, {"backend", r.Backend + ", " + r.DType}}
	for _, name := range sorted(v.Datasets) {
		out = append(out, [2]string{"data", fmt.Sprintf("%s (SHA-256 %.12s)", name, v.Datasets[name])})
	}
	kept := out[:0]
	for _, l := range out {
		if l[1] != "" {
			kept = append(kept, l)
		}
	}
	return kept
}

// Overview is a run as a page has it. Its JSON is public.
type Overview struct {
	Run
	Sources   []string          `json:"sources"` // the sweep files, with the beginnings of their digests
	Overrides []string          `json:"overrides"`
	Settings  []Setting         `json:"settings"` // that vary
	Counts    map[string]int    `json:"counts"`   // of trials by status
	Problems  []ProblemOfTrials `json:"problems"`
	Files     []string          `json:"files"` // tables and report
}

// Setting is a setting that varies within a run.
type Setting struct {
	Experiment string `json:"experiment"`
	Name       string `json:"name"`
	Values     string `json:"values"`
}

// ProblemOfTrials is a failure, a reason for skipping, or a warning of some trials.
type ProblemOfTrials struct {
	Kind       string `json:"kind"` // failed, skipped or warning
	Experiment string `json:"experiment"`
	Text       string `json:"text"`
	Trials     int    `json:"trials"`
	Example    string `json:"example"` // a command that runs one of them

	arguments []string // of it
}

// Look reads all records of a run.
func Look(d disk.Disk, dir string, experiments *experiment.Registry, rivals Rivals) (*Overview, error) {
	s, p, err := store.OpenPlan(d, dir, experiments)
	if err != nil {
		return nil, err
	}
	o := &Overview{Run: look(d, dir, experiments, rivals), Overrides: p.Overrides, Counts: map[string]int{}}
	tally := report.NewTrialTally(experiments)
	for _, t := range p.Trials {
		rec, _, err := s.Get(t.Key)
		if err != nil {
			return nil, err
		}
		tally.Add(t.Experiment, t.Params, t.Seed, rec)
	}
	for _, f := range p.Sources {
		o.Sources = append(o.Sources, fmt.Sprintf("%s (SHA-256 %.12s)", f.Path, f.SHA256))
	}
	for _, e := range tally.Settings() {
		for _, v := range e.Params {
			if v.Swept {
				o.Settings = append(o.Settings, Setting{e.Experiment, v.Name, v.Values})
			}
		}
		o.Settings = append(o.Settings, Setting{e.Experiment, "seeds", e.Seeds})
	}
	for _, c := range tally.Counts() {
		o.Counts[c.Status] = c.Count
	}
	for _, ps := range tally.Problems() {
		for _, i := range ps.Listed {
			o.Problems = append(o.Problems, ProblemOfTrials{i.Kind, i.Experiment, i.Text, i.Count, i.Command(),
				i.Example})
		}
	}
	o.Files, err = shown(d, dir)
	return o, err
}

// shown returns the files of tables, and the report.
func shown(d disk.Disk, dir string) ([]string, error) {
	var out []string
	if _, err := d.Stat(filepath.Join(dir, "report.html")); err == nil {
		out = append(out, filepath.Join(dir, "report.html"))
	}
	names, err := d.Names(filepath.Join(dir, "tables"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(names) > 0 {
		out = append(out, filepath.Join(dir, "tables"))
	}
	return out, nil
}

// Page describes the run for people, in lines of a width.
func (o *Overview) Page(width int) string {
	p := &page{width: width}
	title := o.Title
	if title == "" {
		title = "no title"
	}
	p.line("", title)
	lines := [][2]string{{"folder", o.Folder}, {"state", o.stateText()},
		{"experiments", strings.Join(o.Experiments, ", ")}}
	for _, name := range sorted(o.Tags) {
		lines = append(lines, [2]string{"tag", name + "=" + o.Tags[name]})
	}
	for _, s := range o.Sources {
		lines = append(lines, [2]string{"source", s})
	}
	if len(o.Overrides) > 0 {
		lines = append(lines, [2]string{"changed by", strings.Join(o.Overrides, " ")})
	}
	if o.Last != nil {
		lines = append(lines, [2]string{"last record", o.Last.Local().Format("2006-01-02 15:04:05")})
	}
	if o.Best != nil {
		lines = append(lines, [2]string{"best", fmt.Sprintf("%s %s (%s)", o.Best.Metric, experiment.FormatNumber(o.Best.Mean),
			o.Best.Experiment)})
	}
	p.section("Run", lines)
	var counts [][2]string
	for _, status := range sorted(o.Counts) {
		counts = append(counts, [2]string{status, fmt.Sprint(o.Counts[status])})
	}
	p.section("Trials", counts)
	var settings [][2]string
	for _, s := range o.Settings {
		name := s.Name
		if len(o.Experiments) > 1 {
			name = s.Experiment + " " + name
		}
		settings = append(settings, [2]string{name, s.Values})
	}
	p.section("Settings that vary, and seeds", settings)
	for _, kind := range [][2]string{{"failed", "Failures"}, {"skipped", "Skipped"}, {"warning", "Warnings"}} {
		var lines [][2]string
		var commands []string
		for _, q := range o.Problems {
			if q.Kind == kind[0] {
				lines = append(lines, [2]string{text.Times(q.Trials), q.Text + ", such as"})
				commands = append(commands, text.PrintableLines(text.Command(q.arguments, width)))
			}
		}
		p.section(kind[1], lines, commands...)
	}
	var files [][2]string
	for _, f := range o.Files {
		files = append(files, [2]string{"", f})
	}
	p.section("Tables and report", files)
	return p.String()
}
