package trial_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// countingEngine counts that it was asked to count.
type countingEngine struct {
	counting bool
	fails    error
}

func (e *countingEngine) Close() error   { return nil }
func (e *countingEngine) StartCounting() { e.counting = true }
func (e *countingEngine) MarshalProfile() ([]byte, error) {
	return []byte(`{"programs":[]}`), e.fails
}

// A trial has a profile where its job asks for one, also a trial that fails, and its result
// stands where the profile cannot be written.
func TestProfile(t *testing.T) {
	failed := errors.New("singular")
	file := filepath.Join(t.TempDir(), "profiles", "k.pprof")
	for _, c := range []struct {
		name, file     string
		secure, panics bool
		counts, result error
		profile        string
		warnings       []string
	}{
		{name: "none"},
		{name: "one", file: file, profile: `{"programs":[]}`},
		{name: "of a failure", file: file, result: failed, profile: `{"programs":[]}`},
		{name: "full disk", file: "/dev/full", profile: `{"programs":[]}`, warnings: []string{trial.NoCPUProfile}},
		{name: "no folder", file: "/dev/null/k.pprof", profile: `{"programs":[]}`, warnings: []string{trial.NoCPUProfile}},
		{name: "after a panic", file: file, panics: true, result: failed, profile: `{"programs":[]}`},
		{name: "once more", file: file, profile: `{"programs":[]}`},
		{name: "secure noise", file: file, secure: true},
		{name: "no counts", file: file, counts: errors.New("overflow"), warnings: []string{"overflow"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			engine := &countingEngine{fails: c.counts}
			run := func(context.Context, *experiment.Trial) (*experiment.Result, error) {
				if engine.counting != (c.file != "" && !c.secure) {
					t.Errorf("counting: %v", engine.counting)
				}
				if c.panics {
					panic(c.result)
				}
				return &experiment.Result{Metrics: map[string]float64{"y": 1}}, c.result
			}
			job := trial.Job{Identity: experiment.Identity{Experiment: "demo/a"}, Profile: c.file, Secure: c.secure}
			r, err := trial.Execute(t.Context(), demo(run), job,
				func(string, string, int) (io.Closer, error) { return engine, nil }, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := record.OK; (r.Status == want) != (c.result == nil) {
				t.Errorf("status %s", r.Status)
			}
			if string(r.Profile) != c.profile {
				t.Errorf("profile %s, want %s", r.Profile, c.profile)
			}
			if len(r.Warnings) != len(c.warnings) {
				t.Fatalf("warnings %q", r.Warnings)
			}
			for i, w := range c.warnings {
				if !strings.Contains(r.Warnings[i], w) {
					t.Errorf("warning %q, want %q", r.Warnings[i], w)
				}
			}
			if c.file != file || c.secure {
				return
			}
			if info, err := os.Stat(file); err != nil || info.Size() == 0 {
				t.Errorf("the profile of the processor: %v, %v", info, err)
			}
		})
	}
}
