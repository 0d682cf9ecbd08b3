package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Limits of MLflow, in characters, and the numbers that its file store has for
// the states of a run and for a source of type LOCAL.
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

// maxCurve is the longest curve that is written as the steps of a metric; the
// record, an artifact of the run, has longer ones.
const maxCurve = 10_000

// Artifact is a file of a sweep, such as a table.
type Artifact struct {
	Path  string // relative, with slashes
	Paper string // whose runs get it; empty for all
	Data  []byte
}

// Sweep is a source with the artifacts of its parent runs.
type Sweep struct {
	*Source
	Artifacts []Artifact
}

// MLflow writes the trials that have a record into an MLflow file store in dir,
// which may have experiments and runs of others.
//
// An experiment of ours is one of MLflow's, of the same name. A trial is a run
// under a parent run for the sweep, which has the artifacts. The names of the
// runs follow from the keys, so that exporting again replaces them; tags that
// were added to them since stay. A run ended when its record was written and
// began its wall time earlier.
func MLflow(ctx context.Context, dir string, sweeps []*Sweep, opts Options) (Counts, error) {
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

// newFolder makes the folder, or says that it was there.
func newFolder(dir string) (made bool, err error) {
	if err := os.Mkdir(dir, 0o777); err == nil || errors.Is(err, os.ErrExist) {
		return err == nil, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return false, cannotWrite(dir, err)
	}
	return true, nil
}

// checkFileStore refuses a folder that has something else than an MLflow file
// store in it.
func checkFileStore(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s cannot be used as a folder: %w", dir, err)
	}
	empty := true
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) || e.Name() == ".trash" {
			continue
		}
		empty = false
		if _, err := readExperiment(filepath.Join(dir, e.Name())); err == nil {
			return nil
		}
	}
	if empty {
		return nil
	}
	return fmt.Errorf("%s is neither empty nor an MLflow file store; name another folder", dir)
}

// mlflowExperiment is what is read of an experiment's meta.yaml.
type mlflowExperiment struct {
	ID   string `yaml:"experiment_id"`
	Name string `yaml:"name"`
}

func readExperiment(dir string) (mlflowExperiment, error) {
	var e mlflowExperiment
	raw, err := os.ReadFile(filepath.Join(dir, "meta.yaml"))
	if err != nil {
		return e, err
	}
	if err := yaml.Unmarshal(raw, &e); err != nil {
		return e, err
	}
	if e.ID != filepath.Base(dir) {
		return e, errors.New("no experiment of MLflow")
	}
	return e, nil
}

// fileStore is an MLflow file store that is being written.
type fileStore struct {
	dir         string
	temp        string // folder in dir for what is not whole yet
	opts        Options
	experiments map[string]string // name to MLflow's id
	parents     map[parentID]*parent
}

type parentID struct {
	source     *Source
	experiment string
}

// parent gathers what a sweep's run of an experiment says of its trials.
type parent struct {
	id         string
	counts     map[string]int // status to trials
	start, end time.Time
	revision   string
}

func (m *fileStore) export(ctx context.Context, sweeps []*Sweep) (counts Counts, err error) {
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
	var sources []*Source
	for _, s := range sweeps {
		sources = append(sources, s.Source)
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
			if p := m.parents[parentID{s.Source, name}]; p != nil && !p.end.IsZero() { // some trial has run
				if err := m.writeParent(s, name, p); err != nil {
					return counts, err
				}
			}
		}
	}
	return counts, nil
}

// removeLeftovers removes what a killed export left.
func (m *fileStore) removeLeftovers() error {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), tempPrefix) && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(m.dir, e.Name())) // another export may have done it
		}
	}
	return nil
}

// readExperiments finds the experiments that are there, so that one of the same
// name gets the runs.
func (m *fileStore) readExperiments() error {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if x, err := readExperiment(filepath.Join(m.dir, e.Name())); err == nil {
			m.experiments[x.Name] = x.ID
		}
	}
	return nil
}

// experiment returns the id of an experiment, which it makes if need be.
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
			return "", fmt.Errorf("%s is there and is no experiment of MLflow (%w); remove it, or name another folder", filepath.Join(m.dir, id), err)
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
	if err := m.place(files, id); err != nil {
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
	case record.Skipped: // there is no state for what never began
		state = killed
	}
	m.meta(files, id, run, name, state, start, end)
	for _, q := range [][2]string{{"seed", strconv.FormatInt(rec.Seed, 10)}, {"backend", rec.Backend}, {"dtype", rec.DType}} {
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
		"privkern.version":        rec.Provenance.Version, "privkern.cpu": rec.Provenance.CPU, "privkern.gpu": rec.Provenance.GPU,
		"privkern.blas": rec.Provenance.BLAS, "privkern.output_folder": t.in.Dir(),
		"mlflow.note.content": note(rec),
	})
	raw, err := record.Encode(rec)
	if err != nil {
		return err
	}
	files["artifacts/record.json"] = raw
	return m.place(files, id, run)
}

// add takes a trial's run into account.
func (p *parent) add(rec *record.Record, start, end time.Time) {
	p.counts[string(rec.Status)]++
	if p.start.IsZero() || start.Before(p.start) {
		p.start = start
	}
	if end.After(p.end) {
		p.end, p.revision = end, rec.Provenance.Revision
	}
}

// note says what a person should know of a record.
func note(rec *record.Record) string {
	var parts []string
	if rec.Error != nil {
		parts = append(parts, string(rec.Status)+": "+*rec.Error)
	}
	for _, w := range rec.Warnings {
		parts = append(parts, "Warning: "+w)
	}
	if p := rec.Privacy; p != nil {
		parts = append(parts, fmt.Sprintf("Privacy: %s for %s, by %s; rng: %s", p.Guarantee, p.Unit, p.Mechanism, p.RNG))
		parts = append(parts, p.Notes...)
	}
	return strings.Join(parts, "\n\n")
}

// writeParent writes the run of a sweep that the trials' runs are under.
func (m *fileStore) writeParent(s *Sweep, name string, p *parent) error {
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
	return m.place(files, id, p.id)
}

func (m *fileStore) meta(f files, experimentID, run, name string, state int, start, end time.Time) {
	f.yaml("meta.yaml", []any{
		"artifact_uri", fileURI(m.dir, experimentID, run, "artifacts"), "end_time", end.UnixMilli(), "entry_point_name", "",
		"experiment_id", experimentID, "lifecycle_stage", "active", "run_id", run, "run_name", shorten(oneLine(name), maxName),
		"run_uuid", run, "source_name", "", "source_type", localRun, "source_version", "", "start_time", start.UnixMilli(),
		"status", state, "tags", []string{}, "user_id", "privkern",
	})
}

func fileURI(parts ...string) string {
	path := filepath.ToSlash(filepath.Join(parts...))
	if !strings.HasPrefix(path, "/") { // C:/...
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// place writes files into a folder of the store: into a run's in place of one
// that is there, of which the tags that others added stay; into an experiment's
// only where there is none.
func (m *fileStore) place(f files, folder ...string) error {
	var folders []string
	if len(folder) == 2 { // of an experiment and a run
		folders = runFolders
	}
	target := filepath.Join(append([]string{m.dir}, folder...)...)
	next, err := os.MkdirTemp(m.temp, "new-")
	if err != nil {
		return cannotWrite(target, err)
	}
	if err := f.write(next, folders...); err != nil {
		return cannotWrite(target, err)
	}
	if err := os.Chmod(next, 0o755); err != nil {
		return cannotWrite(target, err)
	}
	if err := keepTags(target, next); err != nil {
		return fmt.Errorf("the tags of %s cannot be kept: %w", target, err)
	}
	if len(folders) == 0 { // an experiment, under which there may be runs
		if err := os.Rename(next, target); err != nil {
			if _, other := readExperiment(target); other != nil {
				return cannotWrite(target, err)
			}
			return os.RemoveAll(next) // another export has just made it
		}
		return nil
	}
	old := next + ".old"
	if err := os.Rename(target, old); err != nil && !errors.Is(err, os.ErrNotExist) {
		return cannotWrite(target, err)
	}
	if err := os.Rename(next, target); err != nil {
		_ = os.Rename(old, target)
		return cannotWrite(target, err)
	}
	return os.RemoveAll(old)
}

// keepTags copies the tags of an earlier export that the next one does not set.
func keepTags(from, to string) error {
	old, err := os.ReadDir(filepath.Join(from, "tags"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range old {
		path := filepath.Join(to, "tags", e.Name())
		if _, err := os.Stat(path); err == nil || !e.Type().IsRegular() || strings.HasPrefix(e.Name(), "privkern.") {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(from, "tags", e.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// files are those of a run or experiment: relative path, with slashes, to
// content.
type files map[string][]byte

// runFolders are in every run, empty or not: without one, MLflow takes the
// folder for no run.
var runFolders = []string{"artifacts", "metrics", "params", "tags"}

func (f files) write(dir string, folders ...string) error {
	made := map[string]bool{}
	for _, name := range folders {
		made[filepath.Join(dir, name)] = true
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			return err
		}
	}
	for path, data := range f {
		full := filepath.Join(dir, filepath.FromSlash(path))
		if d := filepath.Dir(full); !made[d] {
			if err := os.MkdirAll(d, 0o777); err != nil {
				return err
			}
			made[d] = true
		}
		if err := os.WriteFile(full, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (f files) text(path, value string) { f[path] = []byte(value) }

// yaml writes names and values in turns. JSON, in which each value is written,
// is YAML too, and keeps digits that are a text apart from a number.
func (f files) yaml(path string, pairs []any) {
	var b bytes.Buffer
	for i := 0; i < len(pairs); i += 2 {
		raw, err := json.Marshal(pairs[i+1])
		if err != nil {
			raw = []byte("null") // texts and whole numbers always have a JSON form
		}
		fmt.Fprintf(&b, "%s: %s\n", pairs[i], raw)
	}
	f[path] = b.Bytes()
}

// tags writes those that are not empty, and the ones that every run has.
func (f files) tags(name, revision string, more map[string]string) {
	maps.Copy(more, map[string]string{
		"mlflow.runName": shorten(oneLine(name), maxName), "mlflow.source.name": "privkern", "mlflow.source.type": "LOCAL",
		"mlflow.source.git.commit": revision, "mlflow.user": "privkern",
	})
	for tag, value := range more {
		if value != "" {
			f.text("tags/"+tag, shorten(value, maxTag))
		}
	}
}

func (f files) metric(name string, at int64, value float64) {
	f["metrics/"+mlflowName(name)] = metricLine(nil, at, value, 0)
}

func metricLine(b []byte, at int64, value float64, step int64) []byte {
	b = strconv.AppendInt(b, at, 10)
	b = append(b, ' ')
	b = strconv.AppendFloat(b, value, 'g', -1, 64)
	b = append(b, ' ')
	b = strconv.AppendInt(b, step, 10)
	return append(b, '\n')
}

// curves writes a series whose x increases as steps of one metric a column. A
// step is x where that is whole, else the position, and x a metric of its own.
func (f files) curves(name string, at int64, series map[string]record.Column) {
	x := series["x"]
	if len(x) == 0 || len(x) > maxCurve || !increasing(x) {
		return
	}
	step := func(i int) int64 { return int64(x[i]) }
	whole := !slices.ContainsFunc(x, func(v float64) bool { return v != math.Trunc(v) || v < 0 || v > 1<<53 })
	if !whole {
		step = func(i int) int64 { return int64(i) }
	}
	for column, values := range series {
		if column == "x" && whole || len(values) != len(x) {
			continue
		}
		var b []byte
		for i, v := range values {
			if !math.IsNaN(v) { // a gap
				b = metricLine(b, at, v, step(i))
			}
		}
		if len(b) > 0 {
			f["metrics/"+mlflowName(name+"/"+column)] = b
		}
	}
}

func increasing(x []float64) bool {
	for i, v := range x {
		if math.IsNaN(v) || i > 0 && v <= x[i-1] {
			return false
		}
	}
	return true
}

// mlflowName makes a name of the characters that MLflow allows. It is the path of
// a file, too, and must not lead elsewhere: a record may have come from anywhere.
func mlflowName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("_-. :/", r) {
			return r
		}
		return '_'
	}, s)
	parts := strings.Split(s, "/")
	for i, p := range parts {
		if p == "" || p == "." || p == ".." {
			parts[i] = strings.Repeat("_", max(len(p), 1))
		}
	}
	return strings.ReplaceAll(shorten(strings.Join(parts, "/"), maxName), "…", "_")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// shorten cuts a text to a number of characters; an ellipsis shows that it did.
func shorten(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}
