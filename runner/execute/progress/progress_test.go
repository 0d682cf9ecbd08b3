package progress_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"privkern/runner/execute/progress"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
)

var registry = experiment.NewRegistry(&experiment.Experiment{
	Untyped: experiment.Untyped{Name: "demo/a", Version: 1, Run: notRun},
	Params: []experiment.Param{{Name: "x", Kind: experiment.Integer, Default: 0},
		{Name: "y", Kind: experiment.Integer, Default: 0}},
})

func notRun(context.Context, *experiment.Trial, experiment.Params) (*experiment.Result, error) {
	return nil, nil
}

// play reports a short run: one trial from before, one good, one failed, two
// skipped for one reason.
func play(r *progress.Reporter) {
	at := func(x int) plan.Trial {
		return plan.Trial{
			Key:      "k",
			Identity: experiment.Identity{Experiment: "demo/a", Params: experiment.Params{"x": x, "y": 0}, Seed: int64(x)},
		}
	}
	reason, missing := "singular", "no data"
	r.Planned(5, 1)
	r.FailedBefore(at(7), "out of memory")
	r.Aside(store.Aside{File: "trials/k.json", Moved: "aside/k.json.1", Reason: "torn"})
	for x, rec := range []*record.Record{
		{Status: record.OK},
		{Status: record.Failed, Error: &reason},
		{Status: record.Skipped, Error: &missing},
		{Status: record.Skipped, Error: &missing},
	} {
		r.Started(at(x))
		r.Inner(at(x), 1, 2, "folds")
		r.Finished(at(x), rec)
	}
	r.Close()
}

func TestLines(t *testing.T) {
	var out, log strings.Builder
	play(progress.New(progress.Options{Out: &out, Interval: time.Nanosecond}, registry, &log))
	for _, want := range []string{
		"5 trials, 1 with a result already\n",
		"put aside trials/k.json (torn); it is now aside/k.json.1\n",
		"failed before demo/a x=7 --seed 7: out of memory\n",
		"1 trial failed before; --retry failed runs them again\n",
		"failed demo/a x=1 --seed 1: singular\n",
		"skipped demo/a: no data\n",
		"skipped 2 trials for the same reason: no data\n",
		"5 of 5 trials after 0s\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
	if strings.ContainsAny(out.String(), "\x1b\r") {
		t.Error("escape sequences where there is no terminal")
	}
	for line := range strings.Lines(log.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("the log has a line that is not JSON: %s", line)
		}
	}
	if n := strings.Count(log.String(), `"event":"finished"`); n != 4 {
		t.Errorf("%d finished trials in the log", n)
	}
}

// A trial that the machine keeps from a result is named when it is run again, and at
// the end where it has none; the log has a line for programs.
func TestMachineTrouble(t *testing.T) {
	killed := &trial.Trouble{Machine: true, Reason: "the worker was killed", Advice: "use --jobs 1"}
	full := &trial.Trouble{Machine: true, Reason: "no files"}
	x := plan.Trial{
		Key:      "k",
		Identity: experiment.Identity{Experiment: "demo/a", Params: experiment.Params{"x": 1, "y": 0}},
	}
	for _, c := range []struct {
		name           string
		quiet          bool
		format         progress.Format
		again, givenUp string // messages at once, and at the end
	}{
		{"lines", false, progress.Text, "no result yet of demo/a x=1: the worker was killed; run 2 of 3 begins in 2s\n",
			"no result of demo/a x=1: the worker was killed (tried 3 times); use --jobs 1\nno result of demo/a x=1: no files " +
				"(tried once)\n2 trials without a result; the same command runs them again\n"},
		{"quiet", true, progress.Text, "",
			"no result of demo/a x=1: the worker was killed (tried 3 times); use --jobs 1\nno result of demo/a x=1: no files " +
				"(tried once)\n2 trials without a result; the same command runs them again\n"},
		{"for programs", false, progress.JSON, `"event":"again","key":"k","experiment":"demo/a","error":"the worker was ` +
			`killed","done":1,"total":3}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, log strings.Builder
			r := progress.New(progress.Options{Out: &out, Quiet: c.quiet, Format: c.format}, registry, &log)
			r.Again(x, killed, 1, 3, 2*time.Second)
			if !strings.Contains(out.String(), c.again) || c.quiet && out.String() != "" {
				t.Errorf("%s\nwant %s", out.String(), c.again)
			}
			r.GivenUp(x, killed, 3)
			r.GivenUp(x, full, 1)
			r.Close()
			r.Close() // the messages come once
			if !strings.HasSuffix(out.String(), c.givenUp) || strings.Count(out.String(), "2 trials without") > 1 {
				t.Errorf("%s\nwant %s", out.String(), c.givenUp)
			}
			const event = `"event":"given_up","key":"k","experiment":"demo/a","error":"the worker was killed","message":"use ` +
				`--jobs 1","done":3}`
			if strings.Count(log.String(), event) != 1 || strings.Count(log.String(), `"event":"again"`) != 1 {
				t.Errorf("the log:\n%s", log.String())
			}
		})
	}
}

func TestQuietShowsOnlyWhatWentWrong(t *testing.T) {
	var out strings.Builder
	play(progress.New(progress.Options{Out: &out, Quiet: true, Interval: time.Nanosecond}, registry, nil))
	if strings.Contains(out.String(), "5 trials") || strings.Contains(out.String(), "5 of 5") {
		t.Errorf("progress:\n%s", out.String())
	}
	if !strings.Contains(out.String(), "failed demo/a") || !strings.Contains(out.String(), "put aside") {
		t.Errorf("what went wrong is missing:\n%s", out.String())
	}
}

func TestJSONMessages(t *testing.T) {
	var out strings.Builder
	play(progress.New(progress.Options{Out: &out, Format: progress.JSON}, registry, nil))
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
	if !strings.Contains(out.String(), `"status":"failed","error":"singular"`) {
		t.Errorf("%s", out.String())
	}
}

// With --quiet, a program that reads the messages learns of failures, too.
func TestQuietJSONMessages(t *testing.T) {
	var out strings.Builder
	play(progress.New(progress.Options{Out: &out, Format: progress.JSON, Quiet: true}, registry, nil))
	var events []string
	for line := range strings.Lines(out.String()) {
		var e struct{ Event, Status string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, strings.TrimSpace(e.Event+" "+e.Status))
	}
	if got, want := strings.Join(events, ", "), "failed_before, aside, finished failed"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A clock is set by the test.
type clock struct{ now time.Time }

func (c *clock) after(d time.Duration) { c.now = c.now.Add(d) }

// workload is a plan of n trials of one setting; past has the durations of the first
// ones, in seconds.
func workload(n, jobs int, past ...float64) plan.Workload {
	w := plan.Workload{Plan: &plan.Plan{}, Jobs: jobs}
	for i := range n {
		w.Plan.Trials = append(w.Plan.Trials, plan.Trial{
			Key:      strconv.Itoa(i),
			Identity: experiment.Identity{Experiment: "demo/a", Seed: int64(i), Params: experiment.Params{"x": 0, "y": 0}},
		})
		if i < len(past) {
			w.Past = append(w.Past, plan.Past{Index: i, Seconds: past[i]})
		} else {
			w.Pending = append(w.Pending, i)
		}
	}
	return w
}

// Lines have the elapsed time and the time that is left. Trials that another runner
// finishes count; one line in a minute is enough where nothing happens.
func TestElapsedAndLeft(t *testing.T) {
	var out strings.Builder
	c := &clock{time.Unix(1_700_000_000, 0)}
	r := progress.New(progress.Options{Out: &out, Now: func() time.Time { return c.now }}, registry, nil)
	w := workload(10, 1)
	trials := w.Plan.Trials
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"planned", func() { r.Planned(10, 0) }, "10 trials\n"},
		{"started", func() { r.Ahead(w); r.Started(trials[0]) }, ""},
		{"soon", func() { c.after(4 * time.Second); r.Inner(trials[0], 0, 60, "folds") }, ""},
		{"estimating", func() { c.after(2 * time.Second); r.Inner(trials[0], 0, 60, "folds") },
			"0 of 10 trials after 6s, estimating; demo/a folds 0/60\n"},
		{"nothing new", func() { c.after(50 * time.Second); r.Inner(trials[0], 0, 60, "folds") }, ""},
		{"nothing new for long", func() { c.after(10 * time.Second); r.Inner(trials[0], 0, 60, "folds") },
			"0 of 10 trials after 1m6s, estimating; demo/a folds 0/60\n"},
		{"by the inner progress", func() { c.after(58 * time.Second); r.Inner(trials[0], 20, 60, "folds") },
			"0 of 10 trials after 2m4s, about 59m left; demo/a folds 20/60\n"},
		{"by a trial that has ended", func() { c.after(296 * time.Second); r.Finished(trials[0], took(420)) },
			"1 of 10 trials after 7m0s, about 1h05m left\n"},
		{"elsewhere", func() { c.after(10 * time.Second); r.Elsewhere(trials[1]) },
			"2 of 10 trials after 7m10s, about 56m left\n"},
		{"two run", func() {
			r.Started(trials[2])
			r.Started(trials[3])
			c.after(70 * time.Second)
			r.Inner(trials[2], 1, 2, "x")
		},
			"2 of 10 trials after 8m20s, about 27m left\n"},
	} {
		t.Run(step.name, func(t *testing.T) {
			out.Reset()
			step.do()
			if out.String() != step.want {
				t.Errorf("got  %q\nwant %q", out.String(), step.want)
			}
		})
	}
	r.Close()
}

func took(seconds float64) *record.Record {
	return &record.Record{Status: record.OK, Timing: record.Timing{WallS: seconds}}
}

// The first line names backend and device.
func TestFirstLine(t *testing.T) {
	for _, c := range []struct {
		backend, device string
		total, finished int
		want            string
	}{
		{"", "", 5, 0, "5 trials\n"},
		{"cpu", "", 1, 0, "1 trial on cpu\n"},
		{"cpu", "", 5, 2, "5 trials on cpu, 2 with a result already\n"},
		{"cpu", "", 5, 5, "5 trials on cpu, all with a result\n"},
		{"cuda", "NVIDIA H100, driver 550", 5, 0, "5 trials on cuda; NVIDIA H100, driver 550\n"},
		{"cuda", "NVIDIA H100, driver 550", 5, 2,
			"5 trials on cuda, 2 with a result already; NVIDIA H100, driver 550\n"},
		{"cuda", "NVIDIA H100, driver 550", 5, 5, "5 trials on cuda, all with a result\n"},
		{"cuda", "", 5, 0, "5 trials on cuda\n"}, // a cluster's
	} {
		t.Run(c.want, func(t *testing.T) {
			var out, log strings.Builder
			r := progress.New(progress.Options{Out: &out, Backend: c.backend, Device: c.device}, registry, &log)
			r.Planned(c.total, c.finished)
			r.Close()
			if out.String() != c.want {
				t.Errorf("got  %q\nwant %q", out.String(), c.want)
			}
			var planned struct{ Event, Backend, Device string }
			if err := json.Unmarshal([]byte(log.String()), &planned); err != nil {
				t.Fatal(err)
			}
			if planned.Event != "planned" || planned.Backend != c.backend || planned.Device != c.device {
				t.Errorf("the log has %s", log.String())
			}
		})
	}
}

// On a terminal the times stand behind the bar, within the width of the terminal.
func TestTerminal(t *testing.T) {
	var out strings.Builder
	c := &clock{time.Unix(1_700_000_000, 0)}
	r := progress.New(progress.Options{
		Out: &out, Terminal: true, Format: progress.Text, Now: func() time.Time { return c.now },
		Width: func() int { return 70 },
	}, registry, nil)
	w := workload(4, 1, 30)
	r.Planned(4, 1)
	r.Ahead(w)
	c.after(8 * time.Second)
	r.Started(w.Plan.Trials[1])
	time.Sleep(100 * time.Millisecond) // the bar is drawn at most every 65 ms
	c.after(4 * time.Second)
	r.Inner(w.Plan.Trials[1], 1, 2, "a phase with a long name")
	if want := "(1/4) 12s, about 1m30s left; demo/…"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in %q", want, out.String())
	}
	r.Close()
}

// A single trial shows its elapsed time, with its inner progress where it has one.
func TestSingle(t *testing.T) {
	for _, mode := range []struct {
		name                    string
		opts                    progress.Options
		unknown, inner, closing string
	}{
		{"lines", progress.Options{}, "", "demo/a folds 2/10 after 30s, about 2m00s left\n", ""},
		{"terminal", progress.Options{Terminal: true}, "\r\x1b[Kdemo/a folds 1/10 after 20s",
			"\r\x1b[Kdemo/a folds 2/10 after 30s, about 2m00s left", "\r\x1b[K"},
		{"quiet", progress.Options{Terminal: true, Quiet: true}, "", "", ""},
		{"for programs", progress.Options{Format: progress.JSON}, "", "", ""},
	} {
		t.Run(mode.name, func(t *testing.T) {
			var out strings.Builder
			c := &clock{time.Unix(1_700_000_000, 0)}
			mode.opts.Out, mode.opts.Now = &out, func() time.Time { return c.now }
			s := progress.Watch(mode.opts, "demo/a")
			steps := []struct {
				do   func()
				want string
			}{
				{func() { s.Inner(0, 10, "folds") }, ""},
				{func() { c.after(20 * time.Second); s.Inner(0, 10, "folds") }, ""},
				{func() { c.after(10 * time.Second); s.Inner(2, 10, "folds") }, mode.inner},
				{s.Close, mode.closing},
				{func() { c.after(time.Minute); time.Sleep(10 * time.Millisecond) }, ""},
			}
			for i, step := range steps {
				out.Reset()
				step.do()
				if i != 1 && out.String() != step.want {
					t.Errorf("step %d: got %q, want %q", i, out.String(), step.want)
				}
			}
		})
	}
}

// Elapsed time is shown where a trial reports no progress.
func TestSingleWithoutInnerProgress(t *testing.T) {
	out := make(chan string, 100)
	c := time.Unix(1_700_000_000, 0)
	var calls atomic.Int64
	s := progress.Watch(progress.Options{Out: writes(out), Terminal: true, Now: func() time.Time {
		return c.Add(time.Duration(calls.Add(1)) * 17 * time.Second)
	}}, "demo/a")
	defer s.Close()
	first, second := <-out, <-out
	if first == second || !strings.HasPrefix(first, "\r\x1b[Kdemo/a after ") {
		t.Errorf("%q, then %q", first, second)
	}
}

// writes are the texts that are written.
type writes chan string

func (w writes) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// A folder full of earlier failures does not bury new messages.
func TestManyEarlierFailures(t *testing.T) {
	var out, log strings.Builder
	r := progress.New(progress.Options{Out: &out}, registry, &log)
	r.Planned(12, 12)
	for x := range 12 {
		r.FailedBefore(plan.Trial{
			Key:      "k",
			Identity: experiment.Identity{Experiment: "demo/a", Params: experiment.Params{"x": x + 1, "y": 0}},
		}, "singular")
	}
	r.Close()
	if n := strings.Count(out.String(), "failed before demo/a"); n != 10 ||
		!strings.Contains(out.String(), "12 trials failed before") {
		t.Errorf("%d of 12 are listed:\n%s", n, out.String())
	}
	if n := strings.Count(log.String(), "failed_before"); n != 12 {
		t.Errorf("%d of 12 are in the log", n)
	}
}

// A line of the log that was cut off does not take the next one with it.
func TestTornLogLineIsEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	for _, text := range []string{"{}\n{\"torn", "{}\n", ""} {
		f, err := progress.OpenLog(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "{}\n{\"torn\n{}\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// How things stand at a cluster goes with the progress; a problem is shown with
// --quiet, too.
func TestCluster(t *testing.T) {
	play := func(opts progress.Options) string {
		var out strings.Builder
		opts.Out = &out
		r := progress.New(opts, registry, nil)
		r.Planned(8, 2)
		r.Notice("submitted 6 tasks as job 12", false)
		r.Queue("2 tasks running, 4 waiting (Priority)")
		r.Queue("2 tasks running, 4 waiting (Priority)")
		r.Notice("1 task lost (TIMEOUT)", true)
		r.Waiting(3)
		return out.String()
	}
	const want = "8 trials, 2 with a result already\nsubmitted 6 tasks as job 12\n" +
		"2 of 8 trials after 0s; 2 tasks running, 4 waiting (Priority)\n2 of 8 trials after 0s; 2 tasks running, 4 waiting " +
		"(Priority)\n1 task lost (TIMEOUT)\nwaiting for 3 trials that other runners hold\n"
	if got := play(progress.Options{Interval: time.Nanosecond}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := play(progress.Options{Quiet: true}); got != "1 task lost (TIMEOUT)\n" {
		t.Errorf("with --quiet: %q", got)
	}
	// As JSON, a state is written once.
	if got := play(progress.Options{Format: progress.JSON}); strings.Count(got, `"event":"queue"`) != 1 ||
		!strings.Contains(got, `"event":"problem","message":"1 task lost (TIMEOUT)"`) {
		t.Errorf("%s", got)
	}
}
