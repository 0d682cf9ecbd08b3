package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"privkern/experiments/audit"
	"privkern/experiments/dataset"
	"privkern/graphs/engine"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// withReleases lets the audit see all that the releases of a subject publish.
func (a *app) withReleases(ctx context.Context, s audit.Subject) audit.Subject {
	for i := range s.Pairs {
		if r := s.Pairs[i].Release; r != nil {
			s.Pairs[i].Whole = func(second bool, _ *rand.ChaCha8) (audit.Whole, error) {
				return a.wholeRelease(ctx, r, second)
			}
		}
	}
	return s
}

// publicDigests are the digests of a record that name settings and the program.
var publicDigests = regexp.MustCompile(`"(key|revision)":\s*"[0-9a-f]+(-dirty)?"`)

// attempts bounds how often a release is made: one may fail by its noise.
const attempts = 5

// wholeRelease makes a release that an audit asks for, from a file that is written
// for it, and returns what is published: the file, the one beside it, the record on
// standard output and the warnings.
func (a *app) wholeRelease(ctx context.Context, r *audit.Request, second bool) (w audit.Whole, err error) {
	e, err := a.Experiments.Lookup(r.Experiment)
	if err != nil {
		return w, err
	}
	folder, err := os.MkdirTemp("", "privkern-audit-")
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	// The places of the two files differ as much as the files do.
	data, content := filepath.Join(folder, "one"), r.Contents[0]
	if second {
		data, content = filepath.Join(folder, "another", "of-a-longer-name"), r.Contents[1]
	}
	file := filepath.Join(data, r.File)
	if err := os.MkdirAll(data, 0o700); err != nil {
		return w, err
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		return w, err
	}
	given := map[string]any{}
	maps.Copy(given, r.Given)
	set, place := r.Set, data
	if set == "" {
		set, place = dataset.FileName(file), file
		given["dataset"] = set
	}
	params, err := e.Resolve(given)
	if err != nil {
		return w, err
	}
	digest := sha256.Sum256([]byte(content))
	job := trial.Job{
		Key: strings.Repeat("0", 64),
		Identity: experiment.Identity{
			Experiment: e.Name, Params: params, Backend: trial.AuditedBackend,
			DType: trial.AuditedDType, Datasets: map[string]string{set: hex.EncodeToString(digest[:])},
		},
		Workers: runtime.GOMAXPROCS(0), Folders: map[string]string{set: place}, Secure: true, Host: host(""),
	}
	w.Private = []string{file, data, "of-a-longer-name", hex.EncodeToString(digest[:])}
	book := func(s experiment.Spending) error {
		w.Private = append(w.Private, s.Data)
		return nil
	}
	options := trial.ReleaseOptions{Book: book, Unbooked: true, Tuning: experiment.TuningUnaccounted, Open: engine.Opener}
	var rec *record.Record
	var out *experiment.Release
	for range attempts {
		if rec, out, err = trial.Release(ctx, e, job, options, nil); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return w, err
	}
	path := filepath.Join(folder, cmp.Or(r.Name, "release"))
	if err := store.WriteRelease(disk.System, path, rec, out); err != nil {
		return w, err
	}
	released, err := os.ReadFile(path)
	if err != nil {
		return w, err
	}
	described, err := os.ReadFile(path + store.DescriptionSuffix)
	if err != nil {
		return w, err
	}
	printed, err := record.Encode(rec)
	w.Parts = []audit.Part{
		{Name: "FILE", Bytes: released, Noisy: r.Table},
		{Name: "FILE" + store.DescriptionSuffix, Bytes: described, Noisy: r.Described, Digest: publicDigests},
		{Name: "record", Bytes: printed, Noisy: r.Record, Digest: publicDigests},
		{Name: "warnings", Bytes: []byte(strings.Join(rec.Warnings, "\n"))},
	}
	return w, err
}
