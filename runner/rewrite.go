package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show"
	"privkern/runner/show/report"
	"privkern/runner/store"
)

// Rewriting keeps OUT/report.html up to date while a plan runs.
type Rewriting struct {
	Version string              // of the program
	Running func() []plan.Trial // the trials that run at present
	Notice  func(text string)   // why there will be no more of it
}

const (
	firstPage = time.Second      // from the start of a run to the first page
	nextPage  = 10 * time.Second // from one page to the next, at least
	// pageShare is the share of the time that goes into pages after the first, as a divisor.
	pageShare = 30
)

// rewrite begins to rewrite the report from time to time, until stop is called. The page
// that is being made then is given up.
func (c *Catalogue) rewrite(ctx context.Context, s *store.Store, req SweepRun) (stop func()) {
	if req.Rewriting == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := c.rewriteUntil(ctx, s, req); err != nil && ctx.Err() == nil {
			req.Rewriting.Notice(fmt.Sprintf("the report is not rewritten while the sweep runs: %v", err))
		}
	}()
	return func() { cancel(); <-done }
}

// rewriteUntil rewrites the report until the context ends.
func (c *Catalogue) rewriteUntil(ctx context.Context, s *store.Store, req SweepRun) error {
	pause := firstPage
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		start := time.Now()
		if err := c.rewriteOnce(ctx, s, req, max(pause, nextPage)); err != nil {
			return err
		}
		pause = max(nextPage, pageShare*time.Since(start))
	}
}

// rewriteOnce writes the report as of now, which reloads itself after the pause. It leaves
// the page of another runner, which rewrites it too, and writes none where no trial runs or
// one that measures time does.
func (c *Catalogue) rewriteOnce(ctx context.Context, s *store.Store, req SweepRun, pause time.Duration) error {
	trials := req.Rewriting.Running()
	if len(trials) == 0 || slices.ContainsFunc(trials, c.timed) {
		return nil
	}
	info, err := c.Disk.Stat(show.ReportPath(s.Dir()))
	if err == nil {
		if age := time.Since(info.ModTime()); age >= 0 && age < pause {
			return nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	disturbs := func() error { // because a trial that measures time may have begun meanwhile
		if slices.ContainsFunc(req.Rewriting.Running(), c.timed) {
			return errTimed
		}
		return ctx.Err()
	}
	r, err := show.Evaluate(c.Book, s, req.Plan, func(key string) (*record.Record, bool, error) {
		if err := disturbs(); err != nil {
			return nil, false, err
		}
		return s.Get(key)
	})
	if err == nil {
		err = disturbs()
	}
	if errors.Is(err, errTimed) {
		return nil
	}
	if err != nil {
		return err
	}
	return r.WritePage(req.Rewriting.Version, &report.Progress{Running: c.names(trials), Reload: pause})
}

// errTimed ends the making of a page.
var errTimed = errors.New("a trial measures time")

// timed reports whether a trial measures time, which the making of a page would change.
func (c *Catalogue) timed(t plan.Trial) bool {
	e, err := c.Experiments.Lookup(t.Experiment)
	return err == nil && e.Timed()
}

// names are those of the trials, in alphabetical order.
func (c *Catalogue) names(trials []plan.Trial) []string {
	names := make([]string, len(trials))
	for i, t := range trials {
		names[i] = t.Describe(c.Experiments)
	}
	slices.Sort(names)
	return names
}

// SettleReport writes the report of an output folder once more where it is one of a running
// sweep and no runner is at work. It is for those who make no report at the end.
func (c *Catalogue) SettleReport(dir, version string) error {
	page, err := c.Disk.Open(show.ReportPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	reloads, err := report.Reloads(page)
	if err := errors.Join(err, page.Close()); err != nil || !reloads {
		return err
	}
	r, err := c.Results(dir)
	if err != nil {
		return err
	}
	if busy, err := r.Store.Busy(); err != nil || busy {
		return err // the others write it
	}
	return r.WritePage(version, nil)
}
