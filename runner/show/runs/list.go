// Package runs looks at output folders as runs: it lists them, shows one, and compares several.
//
// A run is an output folder. Everything here is read from its files, and nothing is written.
package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show/summary"
	"privkern/runner/show/tables"
	"privkern/runner/store"
	"privkern/runner/store/disk"
	"privkern/runner/text"
)

// State is how far a run is.
type State string

// The states of a run.
const (
	Complete   State = "complete"   // all trials have a result
	Recorded   State = "recorded"   // all trials have a record; whether all are results was not counted
	Stopped    State = "stopped"    // trials are left, and nobody runs them
	Running    State = "running"    // a runner holds a lock
	Incomplete State = "incomplete" // all trials have a record, and some of them failed or were skipped
	Foreign    State = "foreign"    // a folder without a plan
	Unreadable State = "unreadable" // a plan that cannot be read, or not by this program
)

// Run is an output folder as a list has it. Its JSON is public.
type Run struct {
	Folder      string   `json:"folder"`
	Title       string   `json:"title"`
	Experiments []string `json:"experiments"`
	Planned     int      `json:"planned"`
	Recorded    int      `json:"recorded"` // trials of the plan that have a record: a file, where failures are not counted
	// Failed and Skipped are nil where they were not counted: of more than maxRead trials, without a current table.
	Failed  *int   `json:"failed"`
	Skipped *int   `json:"skipped"`
	State   State  `json:"state"`
	Problem string `json:"problem,omitempty"` // of a foreign or an unreadable folder
	// Last is when the last record was written; nil for none.
	Last *time.Time        `json:"last_record"`
	Best *Best             `json:"best"`
	Tags map[string]string `json:"tags,omitempty"`
}

// Best is the best mean of a metric over the seeds of a setting.
type Best struct {
	Experiment string  `json:"experiment"`
	Metric     string  `json:"metric"`
	Mean       float64 `json:"mean"`
}

// maxRead is the number of records that a list reads for one run: more take longer than a list may.
const maxRead = 2000

// Rivals tells which settings of a run answer one question, so that the best is that of them all; nil for a run of
// which every experiment answers its own. params are the settings as JSON.
type Rivals func(*plan.Head) (among func(experiment, params string) bool)

// List returns the runs in the folders below one, or the run in it, the latest first; with tags, those that have them
// all.
func List(d disk.Disk, folder string, experiments *experiment.Registry, rivals Rivals, tags map[string]string) (
	[]Run, error) {
	paths, err := folders(d, folder)
	if err != nil {
		return nil, err
	}
	out := []Run{}
	for _, path := range paths {
		r := look(d, path, experiments, rivals)
		if hasTags(r.Tags, tags) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b Run) int { return cmp.Compare(b.last().Unix(), a.last().Unix()) })
	return out, nil
}

// folders returns the folders that may be runs, in the order of their names.
func folders(d disk.Disk, folder string) ([]string, error) {
	if _, err := d.Stat(filepath.Join(folder, store.PlanFile)); err == nil {
		return []string{folder}, nil
	}
	info, err := d.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no folder %q: %w", folder, fs.ErrNotExist)
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("%s is a file, not a folder of runs", folder)
	}
	names, err := d.Names(folder)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var out []string
	for _, name := range names {
		path := filepath.Join(folder, name)
		if info, err := d.Stat(path); err == nil && info.IsDir() && !strings.HasPrefix(name, ".") {
			out = append(out, path)
		}
	}
	return out, nil
}

func hasTags(have, want map[string]string) bool {
	for name, value := range want {
		if v, ok := have[name]; !ok || v != value {
			return false
		}
	}
	return true
}

func (r *Run) last() time.Time {
	if r.Last == nil {
		return time.Time{}
	}
	return *r.Last
}

// look returns a folder as the list has it. A folder that cannot be read has a problem, which is no error of the list.
func look(d disk.Disk, path string, experiments *experiment.Registry, rivals Rivals) Run {
	r := Run{Folder: path, Experiments: []string{}}
	s, h, err := store.OpenHead(d, path)
	if err != nil {
		r.State, r.Problem = Unreadable, err.Error()
		if _, err := d.Stat(filepath.Join(path, store.PlanFile)); errors.Is(err, fs.ErrNotExist) {
			r.State, r.Problem = Foreign, "it has no "+store.PlanFile
		}
		return r
	}
	r.Title, r.Experiments, r.Planned = h.Title, h.Experiments(), len(h.Trials)
	keys, err := s.Keys()
	if err == nil {
		r.Tags, err = store.Tags(d, path)
	}
	if err != nil {
		r.State, r.Problem = Unreadable, err.Error()
		return r
	}
	for _, t := range h.Trials {
		if keys[t.Key] {
			r.Recorded++
		}
	}
	if r.Recorded > 0 {
		r.Last = lastChange(d, path)
	}
	if err := r.count(d, h, experiments, rivals(h)); err != nil {
		r.State, r.Problem = Unreadable, err.Error()
		return r
	}
	r.State = r.state(s)
	return r
}

// lastChange is when the folder of records changed last: each record is renamed into it.
func lastChange(d disk.Disk, path string) *time.Time {
	info, err := d.Stat(filepath.Join(path, store.TrialsDir))
	if err != nil {
		return nil
	}
	at := info.ModTime().UTC().Truncate(time.Second)
	return &at
}

func (r *Run) state(s *store.Store) State {
	if busy, err := s.Busy(); err == nil && busy {
		return Running
	}
	switch {
	case r.Recorded < r.Planned:
		return Stopped
	case r.Failed == nil:
		return Recorded
	case *r.Failed+*r.Skipped > 0:
		return Incomplete
	}
	return Complete
}

// count fills in the counts of failures and the best mean, and leaves records that cannot be used out: from the table
// of all metrics, where it is no older than the records, or from the records of a run that is not large.
func (r *Run) count(d disk.Disk, h *plan.Head, experiments *experiment.Registry,
	among func(experiment, params string) bool) error {
	lines, err := currentTable(d, r.Folder)
	if err != nil {
		return err
	}
	if lines == nil && len(h.Trials) > maxRead {
		return nil
	}
	if lines == nil {
		if lines, err = fromRecords(d, r.Folder, experiments); err != nil {
			return err
		}
	}
	failed, skipped, notRun := 0, 0, 0
	counted := map[[2]string]bool{}
	for _, l := range lines {
		if id := [2]string{l.experiment, l.params}; !counted[id] {
			counted[id] = true
			failed, skipped, notRun = failed+l.failed, skipped+l.skipped, notRun+l.notRun
		}
	}
	r.Recorded, r.Failed, r.Skipped = r.Planned-notRun, &failed, &skipped
	r.Best = best(lines, r.Experiments, experiments, among)
	return nil
}

// best returns the best mean of the first experiment that has a result with a better direction; with rivals, of them
// all by the first's result, but for those without a result for some seeds: those left are other trials.
func best(lines []line, names []string, experiments *experiment.Registry,
	among func(experiment, params string) bool) (b *Best) {
	for _, name := range names {
		e, err := experiments.Lookup(name)
		if err != nil {
			continue
		}
		m := headlineOf(e)
		if m == nil || b != nil && b.Metric != m.Name {
			continue
		}
		for _, l := range lines {
			missing := l.failed + l.skipped + l.notRun
			if l.experiment != name || l.metric != m.Name || among != nil && (missing > 0 || !among(name, l.params)) {
				continue
			}
			if b == nil || m.Best == experiment.HighIsBest && l.mean > b.Mean ||
				m.Best == experiment.LowIsBest && l.mean < b.Mean {
				b = &Best{name, m.Name, l.mean}
			}
		}
		if b != nil && among == nil {
			return b
		}
	}
	return b
}

// headlineOf returns the metric by which a run is judged: the first result that has a better direction; nil for none.
func headlineOf(e *experiment.Experiment) *experiment.Metric {
	for i := range e.Metrics {
		if m := &e.Metrics[i]; m.Result && m.Best != "" {
			return m
		}
	}
	return nil
}

// Grid lays out the list for people.
func Grid(all []Run) *tables.Grid {
	g := &tables.Grid{Columns: []tables.Column{{Title: "folder", Label: true}, {Title: "title", Label: true},
		{Title: "experiments", Label: true}, {Title: "trials", Right: true}, {Title: "state"}, {Title: "last record"},
		{Title: "best"}}}
	for _, r := range all {
		title := text.Printable(r.Title)
		for _, name := range sorted(r.Tags) {
			title = strings.TrimSpace(fmt.Sprintf("%s [%s=%s]", title, text.Printable(name), text.Printable(r.Tags[name])))
		}
		if r.Problem != "" {
			title = strings.TrimSpace(title + " (" + text.Printable(r.Problem) + ")")
		}
		trials, last, top := fmt.Sprintf("%d/%d", r.Recorded, r.Planned), "-", "-"
		if r.Planned == 0 {
			trials = "-"
		}
		if r.Last != nil {
			last = r.Last.Local().Format("2006-01-02 15:04")
		}
		if r.Best != nil {
			top = r.Best.Metric + " " + summary.SeedMean{Mean: r.Best.Mean}.String()
		}
		var fields []tables.Field
		for _, s := range []string{text.Printable(filepath.Base(r.Folder)), title, r.experimentsText(), trials,
			r.stateText(), last, top} {
			fields = append(fields, tables.Field{Text: s})
		}
		g.Lines = append(g.Lines, tables.Line{Fields: fields})
	}
	return g
}

// experimentsText names the first few experiments.
func (r *Run) experimentsText() string {
	const most = 3
	if n := len(r.Experiments); n > most {
		return fmt.Sprintf("%s and %d more", r.Experiments[0], n-1)
	}
	return strings.Join(r.Experiments, ", ")
}

// stateText is the state with the numbers of trials without a result.
func (r *Run) stateText() string {
	var parts []string
	for _, p := range []struct {
		n    *int
		what record.Status
	}{{r.Failed, record.Failed}, {r.Skipped, record.Skipped}} {
		if p.n != nil && *p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", *p.n, p.what))
		}
	}
	if r.State != Incomplete {
		parts = append([]string{string(r.State)}, parts...)
	}
	return strings.Join(parts, ", ")
}
