package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"privkern/runner/execute/schedule"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

var demonstration = experiment.Of(experiment.Declaration[*demoSettings, demoMetrics]{
	Name: "demo/a", Version: 1,
	Run: func(context.Context, *experiment.Trial, *demoSettings) (*experiment.Outcome[demoMetrics], error) {
		return nil, errors.New("the tests of this package run no trial")
	},
})()

type demoSettings struct {
	X int `name:"x" default:"0" doc:"any number"`
}

type demoMetrics struct {
	Y float64 `name:"y" doc:"any number"`
}

var demo = demonstration.Experiment

type noData struct{}

func (noData) Find(string) (string, string, error) { return "", "", errors.New("none") }

// outcome is how a task of the cluster below goes.
type outcome struct {
	state   string        // in which it ends; "gone" takes it out of the queue, "live" leaves it running
	reason  string        // with it
	results record.Status // of its trials; "" for none
}

var good = outcome{state: "COMPLETED", results: record.OK}

// cluster is a Slurm of shell scripts: sbatch puts tasks into a folder that squeue
// prints, and outcome decides how they go.
type cluster struct {
	t        *testing.T
	folder   string
	dir      string // the output folder
	plan     *plan.Plan
	observer *notes
	outcome  func(part, try int) outcome
	timed    func(plan.Trial) bool
	tries    map[int]int     // of each part
	over     map[string]bool // jobs that have gone as outcome returned
}

const sbatchScript = `#!/bin/sh
if [ "$1" = --test-only ]; then
  echo "$@" >> FOLDER/test-only.log
  [ ! -e FOLDER/sbatch.fail ] || { cat FOLDER/sbatch.fail >&2; exit 1; }
  exit 0
fi
echo "$@" >> FOLDER/sbatch.log
env | grep ^SBATCH_ >> FOLDER/environment.log
if [ -e FOLDER/sbatch.full ] && [ "$(ls FOLDER/queue)" ]; then
  echo 'sbatch: error: AssocMaxSubmitJobLimit' >&2
  exit 1
fi
if [ -e FOLDER/sbatch.fail ]; then cat FOLDER/sbatch.fail >&2; exit 1; fi
id=$((100 + $(wc -l < FOLDER/sbatch.log)))
for a in "$@"; do case $a in
  --array=*) list=${a#--array=}; list=${list%\%*};;
  --job-name=*) name=${a#--job-name=};;
esac; done
for range in $(echo $list | tr , ' '); do
  for i in $(seq ${range%-*} ${range#*-}); do echo "$id|$i|$name|PENDING|$(id -u)|Priority"; done
done > FOLDER/new
mv FOLDER/new FOLDER/queue/$id
echo "$id;cluster"
`

func newCluster(t *testing.T, trials int) *cluster {
	t.Helper()
	var settings []sweep.Assignment
	for i := range trials {
		p, err := demo.Resolve(map[string]any{"x": i})
		if err != nil {
			t.Fatal(err)
		}
		settings = append(settings, sweep.Assignment{Experiment: demo, Params: p})
	}
	p, err := plan.New(settings, plan.NewDatasets(noData{}), plan.Options{Title: "demo", Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, folder: t.TempDir(), dir: filepath.Join(t.TempDir(), "out"), plan: p, observer: &notes{},
		outcome: func(int, int) outcome { return good }, tries: map[int]int{}, over: map[string]bool{}}
	bin := filepath.Join(c.folder, "bin")
	for _, d := range []string{bin, filepath.Join(c.folder, "queue")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"sbatch": sbatchScript,
		"squeue": `#!/bin/sh
if [ -e FOLDER/squeue.fail ]; then cat FOLDER/squeue.fail >&2; exit 1; fi
users=.*
for a in "$@"; do case $a in --user=*) users=$(echo ${a#--user=} | sed 's/,/\\|/g');; esac; done
cat FOLDER/queue/* 2>/dev/null | grep "^\([^|]*|\)\{4\}\($users\)|" || true
`,
		"scancel": `#!/bin/sh
echo "$@" >> FOLDER/scancel.log
for j in "$@"; do [ ! -e FOLDER/queue/${j%_*} ] || sed -i 's/PENDING\|RUNNING/CANCELLED/' FOLDER/queue/${j%_*}; done
`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(strings.ReplaceAll(text, "FOLDER", c.folder)),
			0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	return c
}

func (c *cluster) store() *store.Store {
	c.t.Helper()
	s, err := store.Create(disk.System, c.dir)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// executor returns one that looks often.
func (c *cluster) executor() *Executor {
	return &Executor{Program: "/bin/run", Timed: c.timed, Requeue: 2, Observer: c.observer, Poll: 10 * time.Millisecond,
		Settle: time.Millisecond}
}

// execute runs the plan with e while the cluster goes on.
func (c *cluster) execute(ctx context.Context, e *Executor) (schedule.Summary, error) {
	c.t.Helper()
	s := c.store()
	defer func() { _ = s.Close() }()
	stop := c.start()
	defer stop()
	return e.Execute(ctx, s, c.plan)
}

// start lets tasks run until stop is called.
func (c *cluster) start() (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				c.tick()
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// tick ends the tasks that are in the queue.
func (c *cluster) tick() {
	jobs, err := filepath.Glob(filepath.Join(c.folder, "queue", "*"))
	if err != nil {
		c.t.Error(err)
	}
	for _, path := range jobs {
		raw, err := os.ReadFile(path)
		if err != nil || c.over[path] {
			continue
		}
		c.over[path] = true
		if strings.Contains(string(raw), "CANCELLED") {
			continue
		}
		var lines []string
		for _, k := range parseQueue(string(raw)) {
			name, _ := parseName(k.name)
			part := name.base + k.index + 1
			c.tries[part]++
			o := c.outcome(part, c.tries[part])
			switch o.state {
			case "gone":
			case "live":
				lines = append(lines, fmt.Sprintf("%s|%d|%s|RUNNING|%s|None", k.job, k.index, k.name, k.user))
			default:
				lines = append(lines, fmt.Sprintf("%s|%d|%s|%s|%s|%s", k.job, k.index, k.name, o.state, k.user,
					o.reason))
			}
			log := fmt.Sprintf("the log of part %d, try %d\n", part, c.tries[part])
			if err := os.WriteFile(logPath(c.dir, k), []byte(log), 0o600); err != nil {
				c.t.Error(err)
			}
			parts, err := name.assign(c.plan, c.timed)
			if err != nil {
				c.t.Error(err)
			}
			for n, of := range parts {
				if of == part && o.results != "" {
					c.put(n, o.results)
				}
			}
		}
		if err := disk.WriteFile(disk.System, path, []byte(strings.Join(append(lines, ""), "\n"))); err != nil {
			c.t.Error(err)
		}
	}
}

// put stores a record of a trial.
func (c *cluster) put(n int, status record.Status) {
	c.t.Helper()
	t := c.plan.Trials[n]
	r, err := trial.NewRecord(trial.Job{Key: t.Key, Identity: t.Identity})
	if err != nil {
		c.t.Error(err)
		return
	}
	switch status {
	case record.Failed:
		r = r.Fail("it failed")
	case record.Skipped:
		r = r.Skip("no data")
	default:
		r.Status, r.Metrics = record.OK, map[string]float64{"y": 1}
	}
	raw, err := record.Encode(r)
	if err == nil {
		err = disk.WriteFile(disk.System, filepath.Join(c.dir, "trials", t.Key+".json"), raw)
	}
	if err != nil {
		c.t.Error(err)
	}
}

func (c *cluster) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.folder, name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// log returns the lines that a command of the cluster has logged.
func (c *cluster) log(command string) []string {
	c.t.Helper()
	raw, err := os.ReadFile(filepath.Join(c.folder, command+".log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Fatal(err)
	}
	if len(raw) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 3000 {
		if f() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not within 30 s: %s", what)
}

// notes is an observer that keeps what it receives.
type notes struct {
	mu       sync.Mutex
	planned  []int
	ahead    []int // how many trials are to be run, and have run, of each workload
	before   int
	finished map[record.Status]int
	lines    []string
	queues   []string
}

func (n *notes) do(f func()) { n.mu.Lock(); defer n.mu.Unlock(); f() }

func (n *notes) Ahead(w plan.Workload) {
	n.do(func() { n.ahead = append(n.ahead, len(w.Pending), len(w.Past)) })
}

func (n *notes) Planned(total, done int) {
	n.do(func() { n.planned = append(n.planned, total, done) })
}

func (n *notes) FailedBefore(plan.Trial, string)    { n.do(func() { n.before++ }) }
func (n *notes) Started(plan.Trial)                 {}
func (n *notes) Inner(plan.Trial, int, int, string) {}
func (n *notes) Elsewhere(plan.Trial)               {}
func (n *notes) Waiting(int)                        {}
func (n *notes) Aside(store.Aside)                  {}

func (n *notes) Again(plan.Trial, *trial.Trouble, int, int, time.Duration) {}

func (n *notes) GivenUp(plan.Trial, *trial.Trouble, int) {}
func (n *notes) Queue(text string)                       { n.do(func() { n.queues = append(n.queues, text) }) }
func (n *notes) Notice(text string, _ bool)              { n.do(func() { n.lines = append(n.lines, text) }) }

func (n *notes) Finished(_ plan.Trial, r *record.Record) {
	n.do(func() {
		if n.finished == nil {
			n.finished = map[record.Status]int{}
		}
		n.finished[r.Status]++
	})
}

// showed waits for a state of the queue.
func (n *notes) showed(t *testing.T, text string) {
	t.Helper()
	eventually(t, text, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return slices.Contains(n.queues, text)
	})
}

// says waits for a notice.
func (n *notes) says(t *testing.T, text string) {
	t.Helper()
	eventually(t, text, func() bool { return n.said(text) > 0 })
}

// said counts the notices with the text.
func (n *notes) said(text string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := 0
	for _, line := range n.lines {
		if strings.Contains(line, text) {
			found++
		}
	}
	return found
}
