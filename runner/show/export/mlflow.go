package export

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Limits of MLflow, in characters, and the numbers of its file store for the states of a run
// and for a source of type LOCAL.
const (
	maxParam   = 6000
	maxTag     = 8000
	maxName    = 250 // of parameters, metrics, tags and runs
	finished   = 3
	failed     = 4
	killed     = 5
	localRun   = 4
	tempPrefix = ".privkern-export-"
)

// Artifact is a file of a sweep, such as a table.
type Artifact struct {
	Path  string // relative, with slashes
	Paper string // whose runs get it; empty for all
	Data  []byte
}

// RunGroup is a source with the artifacts of its parent runs.
type RunGroup struct {
	*Folder
	Artifacts []Artifact
}

// MLflow writes the trials that have a record to an MLflow file store in dir, which may
// have other experiments and runs.
//
// An experiment becomes an experiment of MLflow with the same name. A trial becomes a run
// under a parent run for the sweep, which has the artifacts. The IDs of the runs derive
// from the keys, so that another export replaces them, but keeps tags that were added. The
// end of a run is the time of its record, and its start lies the wall time earlier.
func MLflow(ctx context.Context, dir string, sweeps []*RunGroup, opts Options) (Counts, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Counts{}, err
	}
	if err := checkFileStore(dir); err != nil {
		return Counts{}, err
	}
	made, err := newFolder(dir)
	if err != nil {
		return Counts{}, err
	}
	m := &fileStore{dir: dir, opts: opts, experiments: map[string]string{}, parents: map[parentID]*parent{}}
	counts, err := m.export(ctx, sweeps)
	if err != nil && made {
		_ = os.Remove(dir) // where nothing was written
	}
	return counts, err
}

type parentID struct {
	source     *Folder
	experiment string
}

// parent is the run of a sweep, with counts of its trials.
type parent struct {
	id         string
	counts     map[string]int // status to trials
	start, end time.Time
	revision   string
}

func (m *fileStore) export(ctx context.Context, sweeps []*RunGroup) (counts Counts, err error) {
	if err := m.removeLeftovers(); err != nil {
		return counts, err
	}
	if err := m.readExperiments(); err != nil {
		return counts, err
	}
	if m.temp, err = os.MkdirTemp(m.dir, tempPrefix); err != nil {
		return counts, cannotWrite(m.dir, err)
	}
	defer func() { _ = os.RemoveAll(m.temp) }()
	var sources []*Folder
	for _, s := range sweeps {
		sources = append(sources, s.Folder)
		m.runs += len(s.Plan.Trials)
	}
	r := newReader(ctx, sources, m.opts, 1)
	err = r.each(func(t *trial) error {
		if t.rec == nil {
			counts.NotRun++
			m.parent(t).counts[notRun]++
			return nil
		}
		counts.Trials++
		return m.writeTrial(t)
	})
	if err != nil {
		return counts, err
	}
	if counts.Trials == 0 {
		return counts, errors.New("no trial has a result yet: there is no run to export")
	}
	for _, s := range sweeps {
		for _, name := range slices.Sorted(maps.Keys(s.Plan.Versions)) {
			if p := m.parents[parentID{s.Folder, name}]; p != nil && !p.end.IsZero() { // some trial has run
				if err := m.writeParent(s, name, p); err != nil {
					return counts, err
				}
			}
		}
	}
	return counts, nil
}

// experiment returns the id of an experiment, and makes a missing one.
func (m *fileStore) experiment(name string) (string, error) {
	if id := m.experiments[name]; id != "" {
		return id, nil
	}
	e, err := m.opts.Experiments.Lookup(name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(name))
	id := strconv.FormatUint(1e17+binary.BigEndian.Uint64(sum[:])%9e17, 10) // 18 digits, as MLflow's own
	switch _, err := os.Stat(filepath.Join(m.dir, id)); {
	case err == nil:
		if _, err := readExperiment(filepath.Join(m.dir, id)); err != nil {
			return "", fmt.Errorf("%s is there and is no experiment of MLflow (%w); remove it, or name another folder",
				filepath.Join(m.dir, id), err)
		}
		m.experiments[name] = id // renamed since
		return id, nil
	case !errors.Is(err, os.ErrNotExist):
		return "", err
	}
	now := time.Now().UnixMilli()
	files := files{}
	files.yaml("meta.yaml", []any{
		"artifact_location", fileURI(m.dir, id), "creation_time", now, "experiment_id", id,
		"last_update_time", now, "lifecycle_stage", "active", "name", name,
	})
	files.text("tags/mlflow.note.content", shorten(e.Summary+"\n\n"+e.Source, maxTag))
	if err := m.write(files, id); err != nil {
		return "", err
	}
	m.experiments[name] = id
	return id, nil
}

// parent returns the parent of a trial's run.
func (m *fileStore) parent(t *trial) *parent {
	id := parentID{t.source, t.Experiment}
	p := m.parents[id]
	if p == nil {
		sum := sha256.Sum256([]byte("sweep\n" + t.source.Plan.Digest + "\n" + t.Experiment))
		p = &parent{id: hex.EncodeToString(sum[:16]), counts: map[string]int{}}
		m.parents[id] = p
	}
	return p
}

// writeTrial writes the run of a trial.
func (m *fileStore) writeTrial(t *trial) error {
	id, err := m.experiment(t.Experiment)
	if err != nil {
		return err
	}
	e, err := m.opts.Experiments.Lookup(t.Experiment)
	if err != nil {
		return err
	}
	end, err := t.finished()
	if err != nil {
		return err
	}
	rec := t.rec
	start := end.Add(-time.Duration(rec.Timing.WallS * float64(time.Second)))
	p := m.parent(t)
	p.add(rec, start, end)

	files := files{}
	run := t.Key[:32]
	name := strings.TrimSpace(fmt.Sprintf("%s seed=%d", e.Describe(t.Params), t.Seed))
	state := finished
	switch rec.Status {
	case record.Failed:
		state = failed
	case record.Skipped: // MLflow has no state for runs that never began
		state = killed
	}
	m.meta(files, id, run, name, state, start, end)
	for _, q := range [][2]string{{"seed", strconv.FormatInt(rec.Seed, 10)},
		{"backend", rec.Backend}, {"dtype", rec.DType}} {
		files.text("params/"+q[0], q[1])
	}
	for name, v := range t.Params { // an experiment's own parameter of such a name wins
		files.text("params/"+mlflowName(name), shorten(experiment.FormatValue(v), maxParam))
	}
	at := end.UnixMilli()
	for name, v := range rec.Metrics {
		files.metric(name, at, v)
	}
	files.metric("timing/wall_s", at, rec.Timing.WallS)
	files.metric("timing/cpu_s", at, rec.Timing.CPUS)
	files.metric("timing/peak_rss_bytes", at, float64(rec.Timing.PeakRSSBytes))
	for _, name := range slices.Sorted(maps.Keys(rec.Series)) {
		files.curves("series/"+name, at, rec.Series[name])
	}
	files.tags(name, rec.Provenance.Revision, map[string]string{
		"mlflow.parentRunId": p.id,
		"privkern.key":       rec.Key, "privkern.status": string(rec.Status),
		"privkern.result_version": strconv.Itoa(t.source.Plan.Versions[t.Experiment]),
		"privkern.version":        rec.Provenance.Version, "privkern.cpu": rec.Provenance.CPU,
		"privkern.gpu":  rec.Provenance.GPU,
		"privkern.blas": rec.Provenance.BLAS, "privkern.blas_class": rec.Provenance.Class(),
		"privkern.output_folder": t.in.Dir(),
		"mlflow.note.content":    note(rec),
	})
	raw, err := record.Encode(rec)
	if err != nil {
		return err
	}
	files["artifacts/record.json"] = raw
	m.foresee(files)
	return m.write(files, id, run)
}

// add adds a trial's run.
func (p *parent) add(rec *record.Record, start, end time.Time) {
	p.counts[string(rec.Status)]++
	if p.start.IsZero() || start.Before(p.start) {
		p.start = start
	}
	if end.After(p.end) {
		p.end, p.revision = end, rec.Provenance.Revision
	}
}

// note returns the reason, warnings and privacy of a record for MLflow's description.
func note(rec *record.Record) string {
	var parts []string
	if rec.Error != nil {
		parts = append(parts, string(rec.Status)+": "+*rec.Error)
	}
	for _, w := range rec.Warnings {
		parts = append(parts, "Warning: "+w)
	}
	if p := rec.Privacy; p.Stated() {
		parts = append(parts, fmt.Sprintf("Mechanism: %s; unit: %s; %s; "+
			"rng: %s", p.Statement(), p.Unit, p.Mechanism, p.RNG))
		parts = append(parts, p.Notes...)
	}
	return strings.Join(parts, "\n\n")
}

// writeParent writes the parent run of a sweep.
func (m *fileStore) writeParent(s *RunGroup, name string, p *parent) error {
	id, err := m.experiment(name)
	if err != nil {
		return err
	}
	state := finished
	if p.counts[string(record.Failed)] > 0 {
		state = failed
	}
	title := s.Plan.Title
	if title == "" {
		title = filepath.Base(s.Store.Dir())
	}
	title = "sweep: " + title
	files := files{}
	m.meta(files, id, p.id, title, state, p.start, p.end)
	for _, status := range []string{string(record.OK), string(record.Failed), string(record.Skipped), notRun} {
		files.metric("trials/"+status, p.end.UnixMilli(), float64(p.counts[status]))
	}
	var from []string
	for _, f := range s.Plan.Sources {
		from = append(from, fmt.Sprintf("%s (SHA-256 %.12s)", f.Path, f.SHA256))
	}
	files.tags(title, p.revision, map[string]string{
		"privkern.plan_digest": s.Plan.Digest, "privkern.output_folder": s.Store.Dir(),
		"privkern.sweep_files": strings.Join(from, "; "), "privkern.overrides": strings.Join(s.Plan.Overrides, " "),
		"privkern.version": m.opts.Version,
	})
	paper, _, _ := strings.Cut(name, "/")
	for _, a := range s.Artifacts {
		if a.Paper == "" || a.Paper == paper {
			files["artifacts/"+a.Path] = a.Data
		}
	}
	return m.write(files, id, p.id)
}

func (m *fileStore) meta(f files, experimentID, run, name string, state int, start, end time.Time) {
	f.yaml("meta.yaml", []any{
		"artifact_uri", fileURI(m.dir, experimentID, run, "artifacts"), "end_time", end.UnixMilli(), "entry_point_name", "",
		"experiment_id", experimentID, "lifecycle_stage", "active", "run_id", run, "run_name",
		shorten(oneLine(name), maxName),
		"run_uuid", run, "source_name", "", "source_type", localRun, "source_version", "", "start_time", start.UnixMilli(),
		"status", state, "tags", []string{}, "user_id", "privkern",
	})
}
