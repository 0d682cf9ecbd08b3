package schedule_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"privkern/runner/execute/schedule"
	"privkern/runner/plan"
	"privkern/runner/record"
)

// TestOtherKernels runs a plan of six trials: a machine of one BLAS class has run the
// first, and another goes on.
func TestOtherKernels(t *testing.T) {
	gonum := record.Provenance{Go: "go1.26 linux/amd64", BLAS: "gonum (pure Go)"}
	open := record.Provenance{Go: "go1.26 linux/amd64", BLAS: "OpenBLAS 0.3.21 (SKYLAKEX, libopenblas.so.0)"}
	const bits = ": " + record.LastBits
	for _, c := range []struct {
		name  string
		plan  string // the class that the plan was made on
		first int    // trials that were run before, on OpenBLAS
		here  record.Provenance
		retry schedule.Retry
		want  string // of the notice; empty for none
	}{
		{"the same", "openblas-0.3.21-skylakex", 2, open, "", ""},
		{"another machine, nothing there", "openblas-0.3.21-skylakex", 0, gonum, "",
			"this machine computes with gonum-amd64 kernels, but the plan was made on openblas-0.3.21-skylakex" + bits},
		{"another machine goes on", "openblas-0.3.21-skylakex", 2, gonum, "",
			"this machine computes with gonum-amd64 kernels, but the plan was made on openblas-0.3.21-skylakex, and " +
				"2 results are of openblas-0.3.21-skylakex" + bits + "; --retry all repeats what is there"},
		{"an early plan", "", 1, gonum, "", "this machine computes with gonum-amd64 kernels, but 1 result is of " +
			"openblas-0.3.21-skylakex" + bits + "; --retry all repeats what is there"},
		{"an early plan on the same kernels", "", 2, open, "", ""},
		{"back on the plan's machine", "gonum-amd64", 2, gonum, "", "this machine computes with gonum-amd64 kernels, but " +
			"2 results are of openblas-0.3.21-skylakex" + bits + "; --retry all repeats what is there"},
		{"everything again", "gonum-amd64", 2, gonum, schedule.RetryAll, ""},
		{"nothing left to run", "openblas-0.3.21-skylakex", 6, gonum, "", ""},
		{"unknown kernels", "openblas-0.3.21-skylakex", 2, record.Provenance{}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, dir := makePlan(t, 6), t.TempDir()
			p.BLASClass = "openblas-0.3.21-skylakex"
			runs := &sync.Map{}
			opts := options(1, runs, 0)
			var notices []string
			opts.Notice = func(text string) { notices = append(notices, text) }
			opts.Host = open
			if c.first > 0 {
				part := *p
				part.Trials = p.Trials[:c.first]
				if _, err := run(context.Background(), t, dir, &part, plan.Shard{}, opts); err != nil || notices != nil {
					t.Fatal(notices, err)
				}
			}
			p.BLASClass, opts.Host, opts.Retry = c.plan, c.here, c.retry
			sum, err := run(context.Background(), t, dir, p, plan.Shard{}, opts)
			if err != nil || sum.OK != 6 {
				t.Fatalf("%+v, %v; other kernels are no reason to stop", sum, err)
			}
			if got := strings.Join(notices, "\n"); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Records that failed are no results of a class.
func TestOtherKernelsOfFailures(t *testing.T) {
	p := makePlan(t, 1, map[string]any{"x": 13})
	dir, opts := t.TempDir(), options(1, &sync.Map{}, 0)
	opts.Host = record.Provenance{BLAS: "gonum (pure Go)", Go: "go1.26 linux/amd64"}
	part := *p
	part.Trials = p.Trials[:1]
	if sum, err := run(context.Background(), t, dir, &part, plan.Shard{}, opts); err != nil || sum.Failed != 1 {
		t.Fatal(fmt.Sprintf("%+v", sum), err)
	}
	opts.Host.BLAS = "OpenBLAS 0.3.21 (ZEN, libopenblas.so.0)"
	opts.Notice = func(text string) { t.Errorf("of a failure: %s", text) }
	if _, err := run(context.Background(), t, dir, p, plan.Shard{}, opts); err != nil {
		t.Fatal(err)
	}
}
