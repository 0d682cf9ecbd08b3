// Package plan freezes the trials of a sweep. A plan lists every trial
// with its key, so that runners on many machines agree on what there is to do
// and how to share it out.
//
// A plan is made in three steps. A [Draft] is the request of sweep files, changes from the
// command line and names of tables. [New] looks up the digests of the data
// sets and computes the keys. The store writes the plan to plan.json, once. The
// settings of a plan do not depend on the machine: the same command gives the same
// keys where the data are and where they are not, on one shard or on many.
package plan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"privkern/runner/command"
	"privkern/runner/experiment"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/text"
)

// Schema is the version of the shape of plan.json.
const Schema = 1

// DigestMember is the last member of plan.json: the digest of the text before it
// (see record.CheckDigest). Plans of early versions lack it.
const DigestMember = "file_digest"

// Plan is a frozen list of trials.
type Plan struct {
	Schema int `json:"schema"`
	Options
	// Datasets maps the data sets that the trials read to the SHA-256 of their
	// content, whether they are there or not: a plan, and with it every
	// key, is the same on a machine that has the data and on one that has not.
	Datasets map[string]string `json:"datasets"`
	// Versions are the result versions of the experiments.
	Versions map[string]int `json:"result_versions"`
	// Digest identifies the list of settings.
	Digest string  `json:"digest"`
	Trials []Trial `json:"trials"`
	// Sealed reports that the plan was read from a file with a digest.
	Sealed bool `json:"-"`
}

// Options apply to all trials of a plan.
type Options struct {
	Title     string      `json:"title"`     // of the sweeps, joined by semicolons
	Sources   []SweepFile `json:"sources"`   // the sweep files, each before those that it includes
	Overrides []string    `json:"overrides"` // name=value from the command line
	Tables    []string    `json:"tables"`    // to be printed at the end
	Backend   string      `json:"backend"`
	DType     string      `json:"dtype"` // element type of the trials
	// Metrics are those that tables and plots show, names or families such as confusion_*; none
	// for the results of the experiments ([experiment.Metric]). Plans of early versions lack them.
	Metrics []string `json:"metrics,omitempty"`
	// BLASClass is the BLAS class (see record.Provenance.Class) of the machine
	// that makes the plan. A trial's record has the class that computed it: other machines
	// may run parts of the plan. Plans of early versions lack it.
	BLASClass string `json:"blas_class,omitempty"`
	RNG       string `json:"-"` // see experiment.Identity
	// Commands are the programs of the user's that trials run; nil for none.
	Commands *command.Frozen `json:"commands,omitempty"`
	// Facts are those of the data that the results of comparisons and attacks are judged by, for each of them in their
	// order: whoever plans one has read them. Plans of early versions lack them.
	Facts []json.RawMessage `json:"facts,omitempty"`
	// Search is the search that the trials are the rounds of; nil for none.
	Search *Search `json:"search,omitempty"`
}

// SweepFile is a sweep file that went into the plan.
type SweepFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Trial is one trial of a plan. In plan.json it has a key, an experiment, parameters
// and a seed; the rest of its identity is that of the plan.
type Trial struct {
	Key string
	experiment.Identity
}

// Describe names a trial for people by the settings that are not defaults, and its seed unless
// that is 0.
func (t Trial) Describe(experiments *experiment.Registry) string {
	s := t.Experiment
	if e, err := experiments.Lookup(t.Experiment); err == nil {
		if d := e.Describe(t.Params); d != "" {
			s += " " + text.Printable(d)
		}
	}
	if t.Seed != 0 {
		s += fmt.Sprintf(" --seed %d", t.Seed)
	}
	return s
}

// trialMember is a trial as plan.json has it.
type trialMember struct {
	Key        string          `json:"key"`
	Experiment string          `json:"experiment"`
	Seed       int64           `json:"seed"`
	Params     json.RawMessage `json:"params"`
}

// MarshalJSON writes the trial as plan.json has it.
func (t Trial) MarshalJSON() ([]byte, error) {
	params, err := record.CanonicalParams(t.Params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(trialMember{t.Key, t.Experiment, t.Seed, params})
}

// DatasetFinder locates data sets. Find returns the folder of a data set, or the path
// of one that is a single file, and the SHA-256 of its content. The digest is
// known even with an error; a data set that the user has yet to supply has
// another text instead. The error tells how to get a missing data set, or names the defect
// of one that is there.
type DatasetFinder interface {
	Find(name string) (folder, digest string, err error)
}

// MissingDataset is the error of a data set that is not there. Any other error
// of a DatasetFinder is that of a data set that cannot be used.
type MissingDataset interface {
	error
	Advice() string // how to get it
}

// WithoutData completes the record of a trial whose data cannot be used:
// skipped where they are missing, failed where they differ from their digest.
func WithoutData(rec *record.Record, err error) *record.Record {
	rec.Provenance.Datasets = map[string]string{} // none was used
	if _, ok := errors.AsType[MissingDataset](err); ok {
		return rec.Skip(err.Error())
	}
	return rec.Fail(err.Error())
}

// Dataset is the result of a search for a data set.
type Dataset struct {
	Folder string
	Digest string
	Err    error // why it cannot be used; nil where it can
}

// New freezes the settings, without repetitions, in their order. It returns an
// error where a file of the user's is not there or lacks a column that a trial
// reads: without its content there is no key.
func New(settings []sweep.Assignment, data *Datasets, opts Options) (*Plan, error) {
	return freeze(context.Background(), settings, data, opts)
}

// freeze is [New] until ctx ends: hundreds of thousands of settings take tens of seconds.
func freeze(ctx context.Context, settings []sweep.Assignment, data *Datasets, opts Options) (*Plan, error) {
	p := &Plan{Schema: Schema, Options: opts, Datasets: map[string]string{}, Versions: map[string]int{}}
	trials := make([]Trial, len(settings))
	ids := identities{plan: p, digests: map[string]map[string]string{}}
	checked := map[string]bool{}
	data.runIn(opts.Commands)
	for i, s := range settings {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := checkTables(s, data, checked); err != nil {
			return nil, err
		}
		p.Versions[s.Experiment.Name] = s.Experiment.Version
		used := s.Experiment.Reads(s.Params)
		for _, name := range used {
			d := data.Get(name)
			if s.Experiment.External && d.Err != nil {
				return nil, d.Err
			}
			p.Datasets[name] = d.Digest
		}
		trials[i].Identity = ids.of(s.Experiment.Name, s.Params, s.Seed, used)
		trials[i].RNG = opts.RNG
	}
	keyErr := forEachChunk(len(trials), func(i int) (err error) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		trials[i].Key, err = record.Key(trials[i].Identity)
		return err
	})
	if keyErr != nil {
		return nil, keyErr
	}
	seen := make(map[string]bool, len(trials))
	digest := newSettingsDigest(opts.Backend, opts.DType)
	for _, t := range trials {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if seen[t.Key] {
			continue
		}
		seen[t.Key] = true
		p.Trials = append(p.Trials, t)
		if err := digest.add(t.Identity); err != nil {
			return nil, err
		}
	}
	p.Digest = digest.sum()
	return p, nil
}

// Single returns the one trial of a setting with the folders of its data sets; missing joins the
// errors of data sets that cannot be used.
func Single(setting sweep.Assignment, data *Datasets, opts Options,
) (t Trial, folders map[string]string, missing, err error) {
	p, err := New([]sweep.Assignment{setting}, data, opts)
	if err != nil {
		return Trial{}, nil, nil, err
	}
	folders = map[string]string{}
	for _, name := range p.DatasetNames() {
		d := data.Get(name)
		folders[name] = d.Folder
		missing = errors.Join(missing, d.Err)
	}
	return p.Trials[0], folders, missing, nil
}

// checkTables refuses a setting that reads columns which a file of the user's lacks. Each
// file is asked for the same columns once.
func checkTables(s sweep.Assignment, data *Datasets, checked map[string]bool) error {
	if s.Experiment.Tables == nil {
		return nil
	}
	for _, t := range s.Experiment.Tables(s.Params) {
		id := strings.Join(append([]string{t.Dataset}, t.Columns...), "\x00")
		if checked[id] {
			continue
		}
		checked[id] = true
		d := data.Get(t.Dataset)
		if d.Err != nil {
			return d.Err
		}
		if err := t.Check(d.Folder); err != nil {
			return err
		}
	}
	return nil
}

// settingsDigest makes the digest that identifies a list of settings.
type settingsDigest struct{ hash.Hash }

func newSettingsDigest(backend, dtype string) settingsDigest {
	d := settingsDigest{sha256.New()}
	fmt.Fprintf(d, "%s\n%s\n", backend, dtype)
	return d
}

func (d settingsDigest) add(t experiment.Identity) error {
	canonical, err := record.CanonicalParams(t.Params)
	if err != nil {
		return err
	}
	fmt.Fprintf(d, "%s %d %d ", t.Experiment, t.ResultVersion, t.Seed)
	d.Write(canonical)
	d.Write([]byte{'\n'})
	return nil
}

func (d settingsDigest) sum() string { return hex.EncodeToString(d.Sum(nil)) }

// identities makes the identities of a plan's trials. Trials that read the same data
// sets share the map of their digests: a plan of 100,000 trials has a few of these.
type identities struct {
	plan    *Plan
	digests map[string]map[string]string // by the names of the data sets
}

// of returns the identity of a trial that reads these data sets.
func (m identities) of(name string, params experiment.Params, seed int64, datasets []string) experiment.Identity {
	together := strings.Join(datasets, "\x00")
	digests, ok := m.digests[together]
	if !ok {
		digests = m.plan.digestsOf(datasets)
		m.digests[together] = digests
	}
	return experiment.Identity{
		Experiment: name, ResultVersion: m.plan.Versions[name], Params: params, Seed: seed,
		Backend: m.plan.Backend, DType: m.plan.DType, Datasets: digests,
	}
}

// digestsOf returns those of the plan's data sets.
func (p *Plan) digestsOf(datasets []string) map[string]string {
	out := make(map[string]string, len(datasets))
	for _, name := range datasets {
		out[name] = p.Datasets[name]
	}
	return out
}

// forEachChunk runs f for 0..n-1 on all cores.
func forEachChunk(n int, f func(i int) error) error {
	workers := min(runtime.GOMAXPROCS(0), n)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w * n / workers; i < (w+1)*n/workers; i++ {
				if err := f(i); err != nil {
					errs[w] = err
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Parse reads plan.json, resolving the parameters against the experiments. A plan
// whose digest does not hold is refused, and so is one without a digest whose keys
// are not those of its settings: of such a one title and tables are all that may
// have changed unseen.
func Parse(b []byte, experiments *experiment.Registry) (*Plan, error) {
	sealed, err := record.CheckDigest(b, DigestMember)
	return parse(b, experiments, sealed, !sealed, err)
}

// Verify reads plan.json as [Parse] does, and holds every key against its settings
// whether there is a digest or not.
func Verify(b []byte, experiments *experiment.Registry) (*Plan, error) {
	sealed, err := record.CheckDigest(b, DigestMember)
	return parse(b, experiments, sealed, true, err)
}

// planFile is a plan whose parameters are yet to be decoded, one trial after
// another: the maps of 100,000 trials would be in memory twice.
type planFile struct {
	Plan
	Trials []trialMember `json:"trials"`
}

func parse(b []byte, experiments *experiment.Registry, sealed, keys bool, broken error) (*Plan, error) {
	var file planFile
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("not a plan: %w", err)
	}
	if !sealed {
		// An unknown name may be a damaged known one.
		strict := json.NewDecoder(bytes.NewReader(b))
		strict.DisallowUnknownFields()
		if err := strict.Decode(new(planFile)); err != nil {
			return nil, fmt.Errorf("not a plan: %w", err)
		}
	}
	p := file.Plan
	p.Sealed = sealed
	if p.Schema != Schema {
		return nil, fmt.Errorf("the plan has schema %d; this version reads %d", p.Schema, Schema)
	}
	if broken != nil {
		return nil, fmt.Errorf("the plan cannot be trusted: %w", broken)
	}
	if file.Trials != nil {
		p.Trials = make([]Trial, 0, len(file.Trials))
	}
	p.Commands.Define(experiments)
	ids := identities{plan: &p, digests: map[string]map[string]string{}}
	digest := newSettingsDigest(p.Backend, p.DType)
	for i := range file.Trials {
		t := &file.Trials[i]
		e, err := experiments.Lookup(t.Experiment)
		if err != nil {
			return nil, err
		}
		var given map[string]any
		if t.Params != nil {
			if err := json.Unmarshal(t.Params, &given); err != nil {
				return nil, fmt.Errorf("trial %d of the plan: the parameters: %w", i, err)
			}
			t.Params = nil
		}
		params, err := e.Resolve(given)
		if err != nil {
			return nil, fmt.Errorf("trial %d of the plan: %w", i, err)
		}
		// A key is the name of a file, too.
		if raw, err := hex.DecodeString(t.Key); err != nil || len(raw) != sha256.Size || strings.ToLower(t.Key) != t.Key {
			return nil, fmt.Errorf("trial %d of the plan: the key %q is not a SHA-256", i, t.Key)
		}
		if keys {
			// The parameters as the file has them: the experiment may have got more since.
			as := ids.of(t.Experiment, given, t.Seed, e.Reads(params))
			if !record.HasKey(as, t.Key) {
				if len(p.Versions) == 0 {
					return nil, errors.New("the plan has no result versions, as those of the first versions of this program: " +
						"of which results its keys stand for, nothing is known")
				}
				return nil, fmt.Errorf("trial %d of the plan has the key %.12s, which is not that of its settings: "+
					"the plan was changed by hand, or damaged", i, t.Key)
			}
			if err := digest.add(as); err != nil {
				return nil, err
			}
		}
		p.Trials = append(p.Trials, Trial{t.Key, ids.of(e.Name, params, t.Seed, e.Reads(params))})
	}
	if keys && digest.sum() != p.Digest {
		return nil, errors.New("the plan's digest is not that of its settings: the plan was changed by hand, or damaged")
	}
	return &p, nil
}

// Expect reports whether key is that of a record's content. The plan completes the
// result version of an unsealed record, and the digests of data that could not be used.
func (p *Plan) Expect(r *record.Record, key string, experiments *experiment.Registry) bool {
	id := r.Identity()
	if !r.Sealed() {
		id.ResultVersion = p.Versions[r.Experiment]
	}
	if record.HasKey(id, key) {
		return true
	}
	e, err := experiments.Lookup(r.Experiment)
	if err != nil || r.Status == record.OK || len(id.Datasets) > 0 {
		return false
	}
	params, err := e.Resolve(r.Params)
	if err != nil {
		return false
	}
	id.Datasets = p.digestsOf(e.Reads(params))
	return record.HasKey(id, key)
}

// Check returns an error where this program or the data here differ from those of the
// plan: a key stands for settings, one version of the results and certain data. Missing
// data are no mistake: their trials are skipped.
func (p *Plan) Check(experiments *experiment.Registry, data *Datasets) error {
	for _, name := range slices.Sorted(maps.Keys(p.Versions)) {
		e, err := experiments.Lookup(name)
		if err != nil {
			return err
		}
		if e.Version != p.Versions[name] {
			return fmt.Errorf("this program computes results of version %d of %s, the plan has version %d; use the program "+
				"that made the plan, or make it anew with `run sweep FILE --replan`", e.Version, name, p.Versions[name])
		}
	}
	data.runIn(p.Commands)
	for _, name := range p.DatasetNames() {
		d := data.Get(name)
		if strings.HasPrefix(name, command.FilePrefix) && d.Err != nil {
			return d.Err
		}
		if d.Err == nil && d.Digest != p.Datasets[name] {
			return fmt.Errorf("the data set %q is not what the plan was made for (SHA-256 %.12s, in the plan %.12s); make the "+
				"plan anew with `run sweep FILE --replan`", name, d.Digest, p.Datasets[name])
		}
	}
	return forEachChunk(len(p.Trials), func(i int) error {
		t := p.Trials[i]
		want, err := record.Key(t.Identity)
		if err == nil && want != t.Key {
			err = fmt.Errorf("trial %d of the plan has the key %.12s, its settings have %.12s: the plan was changed by hand, "+
				"or by another version of this program; make it anew with `run sweep FILE --replan`", i, t.Key, want)
		}
		return err
	})
}

// Shard is a part of a plan: trials Index, Index+Count, Index+2·Count, ...
type Shard struct {
	Index, Count int // Index counts from 0
}

// ParseShard reads "i/n" with i from 1 to n.
func ParseShard(s string) (Shard, error) {
	a, b, ok := strings.Cut(s, "/")
	i, errI := strconv.Atoi(a)
	n, errN := strconv.Atoi(b)
	if !ok || errI != nil || errN != nil || n < 1 || i < 1 || i > n {
		return Shard{}, fmt.Errorf("%q is not a shard; write i/n with i from 1 to n, such as 1/4", s)
	}
	return Shard{Index: i - 1, Count: n}, nil
}

// Indices returns the shard's positions in a plan of n trials.
func (s Shard) Indices(n int) []int {
	if s.Count == 0 {
		s.Count = 1
	}
	var out []int
	for i := s.Index; i < n; i += s.Count {
		out = append(out, i)
		if s.Count >= n-i { // the sum might overflow
			break
		}
	}
	return out
}

// Of returns the shard's share of positions.
func (s Shard) Of(positions []int) []int {
	indices := s.Indices(len(positions))
	for i, at := range indices {
		indices[i] = positions[at]
	}
	return indices
}

// Datasets finds data sets once and remembers the answer. It is safe for
// concurrent use.
type Datasets struct {
	finder DatasetFinder
	mu     sync.Mutex
	known  map[string]Dataset
	folder string // of the programs of the plan
}

// NewDatasets returns a memory over finder.
func NewDatasets(finder DatasetFinder) *Datasets {
	return &Datasets{finder: finder, known: map[string]Dataset{}}
}

// runIn makes the folder of programs known, in which their files are looked for.
func (d *Datasets) runIn(programs *command.Frozen) {
	if programs == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.folder = programs.Folder
}

// Get returns the answer of the finder for a data set.
func (d *Datasets) Get(name string) Dataset {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.known[name]; ok {
		return s
	}
	var s Dataset
	if strings.HasPrefix(name, command.FilePrefix) {
		s.Folder, s.Digest, s.Err = command.Find(d.folder, name)
	} else {
		s.Folder, s.Digest, s.Err = d.finder.Find(name)
	}
	d.known[name] = s
	return s
}

// Difference describes how the settings of two plans differ.
func Difference(old, next *Plan) string {
	keys := func(p *Plan) map[string]bool {
		m := make(map[string]bool, len(p.Trials))
		for _, t := range p.Trials {
			c, _ := record.CanonicalParams(t.Params)
			m[fmt.Sprintf("%s %d %s", t.Experiment, t.Seed, c)] = true
		}
		return m
	}
	a, b := keys(old), keys(next)
	common := 0
	for k := range b {
		if a[k] {
			common++
		}
	}
	parts := []string{fmt.Sprintf("same trials: %d, new: %d, gone: %d", common, len(b)-common, len(a)-common)}
	for _, name := range slices.Sorted(maps.Keys(next.Datasets)) {
		if was, now := old.Datasets[name], next.Datasets[name]; was != "" && was != now {
			parts = append(parts, fmt.Sprintf("the data set %q has changed (SHA-256 %.12s, now %.12s)", name, was, now))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next.Versions)) {
		if was, now := old.Versions[name], next.Versions[name]; was != 0 && was != now {
			parts = append(parts, fmt.Sprintf("this program computes results of version %d of %s, the plan has version %d", now,
				name, was))
		}
	}
	if old.Backend != next.Backend || old.DType != next.DType {
		parts = append(parts, fmt.Sprintf("%s/%s became %s/%s", old.Backend, old.DType, next.Backend, next.DType))
	}
	return strings.Join(parts, "; ")
}

// DatasetNames returns the names of the data sets in order.
func (p *Plan) DatasetNames() []string { return slices.Sorted(maps.Keys(p.Datasets)) }
