package slurm

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"privkern/runner/execute/schedule"
	"privkern/runner/plan"
)

// everyThird says that every third trial, from the first, is timed.
func everyThird(t plan.Trial) bool { return demonstration.Settings(t.Params).X%3 == 0 }

// Untimed trials have the first parts, timed ones the last; the parts are those
// that `run work --only KIND --shard i/n` runs.
func TestDivide(t *testing.T) {
	always := func(plan.Trial) bool { return true }
	for name, c := range map[string]struct {
		trials, size int
		timed        func(plan.Trial) bool
		share        bool
		parts        int
		timedParts   int
		of           []int // of the first trials
	}{
		"none":                     {0, 0, nil, false, 0, 0, nil},
		"one a task":               {24, 0, nil, false, 24, 0, []int{0, 1, 2, 3}},
		"at most a thousand tasks": {1001, 0, nil, false, 501, 0, []int{0, 1, 2, 3}},
		"five a task":              {24, 5, nil, false, 5, 0, []int{0, 1, 2, 3, 4, 0, 1}},
		"all in one":               {24, 100, nil, false, 1, 0, []int{0, 0}},
		"some are timed":           {10, 2, everyThird, false, 5, 2, []int{3, 0, 1, 4, 2, 0, 3, 1, 2, 4}},
		"all are timed":            {4, 2, always, false, 2, 2, []int{0, 1, 0, 1}},
		"timings are shared":       {10, 2, everyThird, true, 5, 0, []int{0, 1, 2, 3, 4, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newCluster(t, c.trials).plan
			e := &Executor{TrialsPerTask: c.size, Timed: c.timed, ShareTimings: c.share}
			d := e.divide(p)
			if d.parts != c.parts || d.timed != c.timedParts || !slices.Equal(d.of[:len(c.of)], c.of) {
				t.Errorf("%+v", d)
			}
			// A later command divides a round as it was begun.
			again, err := (&Executor{Timed: c.timed}).divided(p, &journal{Parts: d.parts, TimedParts: d.timed})
			if err != nil || !slices.Equal(again.of, d.of) {
				t.Errorf("later: %+v, %v", again, err)
			}
		})
	}
	p := newCluster(t, 3).plan
	if _, err := (&Executor{Timed: everyThird}).divided(p, &journal{Parts: 2, TimedParts: 2}); err == nil {
		t.Error("a round without parts for untimed trials is accepted")
	}
}

// Timed trials are an array job of their own that has its nodes to itself, also
// where a task of it is lost; others are not.
func TestTimedTrialsAreExclusive(t *testing.T) {
	c := newCluster(t, 10)
	c.timed = everyThird
	c.outcome = func(part, try int) outcome {
		if part == 5 && try == 1 {
			return outcome{state: "NODE_FAIL"}
		}
		return good
	}
	e := c.executor()
	e.TrialsPerTask, e.Options = 2, []Option{{"partition", "p"}, {"oversubscribe", ""}}
	sum, err := c.execute(context.Background(), e)
	if err != nil || sum != (schedule.Summary{Total: 10, OK: 10}) {
		t.Fatalf("%+v, %v, %q", sum, err, c.observer.lines)
	}
	log := c.log("sbatch")
	if len(log) != 3 {
		t.Fatalf("submitted %q", log)
	}
	for i, want := range []struct {
		array     string
		exclusive bool
	}{{"--array=0-2 ", false}, {"--array=0-1 ", true}, {"--array=0-0 ", true}} {
		t.Run(want.array, func(t *testing.T) {
			line := log[i] + " "
			if !strings.Contains(line, want.array) || strings.Contains(line, "--exclusive ") != want.exclusive ||
				strings.Contains(line, "--oversubscribe ") == want.exclusive || !strings.Contains(line, "--partition=p ") {
				t.Errorf("submission %d is %q", i, line)
			}
		})
	}
	if j := c.journal(); j.Parts != 5 || j.TimedParts != 2 || !slices.Equal(j.Submissions[2].Parts, []int{5}) {
		t.Errorf("%+v", j)
	}
	if c.observer.said("submitted 2 tasks of timed trials, each alone on its node, as job 102") != 1 {
		t.Errorf("said %q", c.observer.lines)
	}
}

// A later command that shares timings attaches to a round that does not.
func TestShareTimingsOfALaterCommand(t *testing.T) {
	c := newCluster(t, 4)
	c.timed = everyThird
	ctx, cancel := context.WithCancel(t.Context())
	c.outcome = func(int, int) outcome { cancel(); return outcome{state: "live"} }
	if _, err := c.execute(ctx, c.executor()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	clear(c.over) // the tasks go on, and end well
	c.outcome = func(int, int) outcome { return good }
	e := c.executor()
	e.ShareTimings = true
	sum, err := c.execute(t.Context(), e)
	if err != nil || sum.OK != 4 || c.observer.said("--share-timings is for a new run") != 1 ||
		c.journal().TimedParts != 2 {
		t.Errorf("%+v, %v, said %q", sum, err, c.observer.lines)
	}
}
