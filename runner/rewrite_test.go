package runner_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"privkern/runner"
	"privkern/runner/execute/progress"
	"privkern/runner/execute/schedule"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// stopwatch is an experiment that measures time.
var stopwatch = experiment.Of(experiment.Declaration[*number, stopwatchMetrics]{
	Name: "demo/stopwatch", Version: 1,
	Run: func(context.Context, *experiment.Trial, *number) (*experiment.Outcome[stopwatchMetrics], error) {
		return &experiment.Outcome[stopwatchMetrics]{}, nil
	},
})()

type stopwatchMetrics struct {
	Seconds float64 `name:"seconds" unit:"s" timing:"yes" doc:"a time"`
}

// lengthy runs trials in this process, for 25 seconds each.
type lengthy struct{}

func (lengthy) Run(ctx context.Context, job trial.Job, _ time.Duration,
	progress trial.ProgressFunc) (*record.Record, error) {
	time.Sleep(25 * time.Second)
	e := map[string]*experiment.Experiment{double.Name: double.Experiment, stopwatch.Name: stopwatch.Experiment}
	return trial.Execute(ctx, e[job.Experiment], job, nil, progress)
}

func (lengthy) Close() {}

// idle runs no trial, for 25 seconds.
type idle struct{}

func (idle) Execute(context.Context, *store.Store, *plan.Plan) (schedule.Summary, error) {
	time.Sleep(25 * time.Second)
	return schedule.Summary{}, nil
}

// slowDisk takes a while to find a report.
type slowDisk struct {
	disk.Disk
	delay time.Duration
}

func (d slowDisk) Stat(path string) (fs.FileInfo, error) {
	if strings.HasSuffix(path, "report.html") {
		time.Sleep(d.delay)
	}
	return d.Disk.Stat(path)
}

// watched runs a sweep file with reports that are rewritten, calls look meanwhile, and returns
// how long it took; an executor of nil is one on this machine. The time is that of a bubble,
// which passes while all wait.
func watched(t *testing.T, on disk.Disk, dir, file string, by runner.Executor,
	look func(page func() string)) (c *runner.Catalogue, took time.Duration) {
	t.Helper()
	c = runner.NewCatalogue([]experiment.Paper{{Name: "demo",
		Experiments: []*experiment.Experiment{double.Experiment, stopwatch.Experiment}}})
	c.Disk = on
	synctest.Test(t, func(t *testing.T) {
		w, err := plan.ReadSweeps(c.Book, write(t, file), nil, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		data := plan.NewDatasets(noData{})
		p, err := plan.New(w.Settings, data, plan.Options{Title: w.Title, Backend: "cpu", DType: "float64"})
		if err != nil {
			t.Fatal(err)
		}
		reporter := progress.New(progress.Options{Out: io.Discard, Quiet: true}, c.Experiments, nil)
		if by == nil {
			by = &schedule.Local{Experiments: c.Experiments, Data: data, Options: schedule.Options{
				NewRunner: func() schedule.Runner { return lengthy{} }, Observer: reporter}}
		}
		start, done := time.Now(), make(chan error)
		go func() {
			_, err := c.Run(context.Background(), runner.SweepRun{Dir: dir, Plan: p, Executor: by,
				Rewriting: &runner.Rewriting{Version: "test", Running: reporter.Running,
					Notice: func(text string) { t.Error(text) }}})
			done <- err
		}()
		look(func() string {
			synctest.Wait()
			raw, err := os.ReadFile(show.ReportPath(dir))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			return string(raw)
		})
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		took = time.Since(start)
	})
	return c, took
}

const fourTrials = "title: Four\nexperiment: demo/double\nsweep: {x: [2, 3, 4, 5]}\n"

// has fails unless a page has all texts.
func has(t *testing.T, page string, texts ...string) {
	t.Helper()
	head, _, _ := strings.Cut(page, "<nav")
	head = head[:strings.Index(head+"<style", "<style")] + head[strings.Index(head+"<body", "<body"):]
	for _, text := range texts {
		if !strings.Contains(head, text) {
			t.Errorf("the page has no %q: %s", text, head)
		}
	}
}

// While trials run, the report states when it was written, how far the sweep was and which
// trials ran, and reloads itself; the page of another runner is left for as long. Once all
// is done, it is a report like any other.
func TestReportIsRewrittenWhileASweepRuns(t *testing.T) {
	const reload = `<meta http-equiv="refresh" content="10">`
	dir := t.TempDir()
	c, _ := watched(t, disk.System, dir, fourTrials, nil, func(page func() string) {
		if page() != "" {
			t.Error("there is a report before a trial runs")
		}
		time.Sleep(5 * time.Second)
		has(t, page(), reload, "00:00:01 UTC", "<strong>0 of 4 trials</strong> done; running: <code>demo/double x=2</code>.")
		time.Sleep(30 * time.Second) // 35 s
		has(t, page(), reload, "00:00:31 UTC", "<strong>1 of 4 trials</strong> done; running: <code>demo/double x=3</code>.")
		if err := os.WriteFile(show.ReportPath(dir), []byte("of another runner"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(show.ReportPath(dir), time.Time{}, time.Now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second) // 45 s
		if page() != "of another runner" {
			t.Error("the page of another runner was replaced after six seconds")
		}
		time.Sleep(10 * time.Second) // 55 s
		has(t, page(), reload, "00:00:51 UTC", "<strong>2 of 4 trials</strong> done")
	})
	raw, err := os.ReadFile(show.ReportPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	has(t, string(raw), reload, "00:01:31 UTC", "<strong>3 of 4 trials</strong> done")
	unlock := hold(t, dir)
	settled := func() string {
		t.Helper()
		if err := c.SettleReport(dir, "test"); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(show.ReportPath(dir))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	has(t, settled(), reload) // another runner is at work
	unlock()
	page := settled()
	if strings.Contains(page, `http-equiv="refresh"`) || strings.Contains(page, "while the sweep ran") ||
		!strings.Contains(page, "4 ok") {
		t.Errorf("the page at the end: %.3000s", page)
	}
}

// hold takes the lock of a trial as another runner.
func hold(t *testing.T, dir string) func() {
	t.Helper()
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	unlock, ok, err := s.Lock("of another plan")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return func() {
		unlock()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Where a page takes long, the next one is as much later, and the browser waits for it.
func TestPagesTakeAThirtiethOfTheTime(t *testing.T) {
	watched(t, slowDisk{disk.System, 2 * time.Second}, t.TempDir(), fourTrials, nil, func(page func() string) {
		time.Sleep(60 * time.Second)
		has(t, page(), `content="10"`, "00:00:03 UTC", "<strong>0 of 4 trials</strong> done")
		time.Sleep(10 * time.Second)
		has(t, page(), `content="60"`, "00:01:05 UTC", "<strong>2 of 4 trials</strong> done")
	})
}

// A trial that measures time is not disturbed, and where no trial runs nothing is new.
func TestNoReportIsWritten(t *testing.T) {
	for _, c := range []struct {
		name, file string
		by         runner.Executor
	}{
		{"while a trial measures time", "experiment: demo/stopwatch\nsweep: {x: [2, 3]}\n", nil},
		{"while no trial runs", fourTrials, idle{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			watched(t, disk.System, t.TempDir(), c.file, c.by, func(page func() string) {
				time.Sleep(24 * time.Second)
				if page() != "" {
					t.Error("there is a report")
				}
			})
		})
	}
}

// A run ends once the page that is being made has been given up.
func TestPageOfARunThatEnds(t *testing.T) {
	dir := t.TempDir()
	_, took := watched(t, slowDisk{disk.System, 30 * time.Second}, dir, "experiment: demo/double\n", nil,
		func(func() string) {})
	if took != 31*time.Second {
		t.Errorf("the run took %v, want the trial's 25 s and 6 s for the page that began after 1 s", took)
	}
	if _, err := os.Stat(show.ReportPath(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a page was made after the end: %v", err)
	}
}
