// Package trialtest makes trials for the tests of experiments.
package trialtest

import (
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"privkern/experiments/dataset"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Options of a trial in a test; the zero value is a trial of one worker
// in float64.
type Options struct {
	Seed     uint64 // of the streams, each by its purpose
	DType    string
	Workers  int
	Secure   bool
	Folder   string                   // of the data sets
	File     string                   // that any csv:PATH is; empty: the file at PATH
	Dataset  func(name string) string // nil: by Folder and File
	Progress func(done, total int, what string)
	Keeper   experiment.Keeper
	Exports  experiment.Exports
}

// dataset is where a data set lies.
func (o Options) dataset(name string) string {
	path, own := dataset.FilePath(name)
	switch {
	case !own:
		return o.Folder
	case o.File != "":
		return o.File
	}
	return path
}

// New returns a trial on the CPU without experiment and settings, with an engine that
// is closed at the end of the test.
func New(tb testing.TB, o Options) *experiment.Trial {
	tb.Helper()
	if o.DType == "" {
		o.DType = "float64"
	}
	if o.Dataset == nil {
		o.Dataset = o.dataset
	}
	if o.Progress == nil {
		o.Progress = func(int, int, string) {}
	}
	workers := max(1, o.Workers)
	opened, err := engine.Opener("cpu", o.DType, workers)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := opened.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &experiment.Trial{
		Identity: experiment.Identity{Backend: "cpu", DType: o.DType, Seed: int64(o.Seed)}, Engine: opened, Workers: workers,
		Secure: o.Secure, Keeper: o.Keeper, Exports: o.Exports, Dataset: o.Dataset, Progress: o.Progress,
		Stream: func(purpose string) *rand.Rand {
			h := fnv.New64a()
			_, _ = h.Write([]byte(purpose))
			return rand.New(rand.NewPCG(h.Sum64(), o.Seed))
		},
	}
}
