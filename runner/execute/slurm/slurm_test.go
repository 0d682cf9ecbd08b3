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

var demonstration = experiment.Of(experiment.Declaration[demoSettings, demoMetrics]{
	Name: "demo/a", Version: 1,
	Run: func(context.Context, *experiment.Trial, *demoSettings) (*experiment.Outcome[demoMetrics], error) {
		return nil, errors.New("the tests of this package run no trial")
	},
})

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

// cluster is a Slurm of shell scripts: sbatch puts tasks into a folder that
// squeue prints, and run lets them go as outcome says.
type cluster struct {
	t        *testing.T
	folder   string
	dir      string // the output folder
	plan     *plan.Plan
	observer *notes
	outcome  func(part, try int) outcome
	timed    func(plan.Trial) bool
	tries    map[int]int     // of each part
	over     map[string]bool // names of jobs that have gone as outcome said
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
[ ! -e FOLDER/sameid ] || id=101
for a in "$@"; do case $a in
  --array=*) last=${a#--array=0-}; last=${last%\%*};;
  --job-name=*) name=${a#--job-name=};;
esac; done
i=0
while [ $i -le $last ]; do echo "$id|$i|$name|PENDING|Priority"; i=$((i+1)); done > FOLDER/new
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
		"squeue": "#!/bin/sh\nif [ -e FOLDER/squeue.fail ]; then cat FOLDER/squeue.fail >&2; exit 1; fi\ncat " +
			"FOLDER/queue/* 2>/dev/null || true\n",
		"scancel": `#!/bin/sh
echo "$@" >> FOLDER/scancel.log
for j in "$@"; do [ ! -e FOLDER/queue/${j%_*} ] || sed -i 's/PENDING\|RUNNING/CANCELLED/' FOLDER/queue/${j%_*}; done
`,
		"scontrol": "#!/bin/sh\necho 'MaxArraySize            = 20'\n",
		"sacct": "#!/bin/sh\n[ -e FOLDER/sacct ] || { echo 'Slurm accounting storage is disabled' >&2; exit 1; }\ncat " +
			"FOLDER/sacct\n",
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
	s, err := store.Create(c.dir)
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
	j, err := readJournal(c.dir)
	if err != nil || j == nil {
		return
	}
	for _, s := range j.Submissions {
		path := filepath.Join(c.folder, "queue", s.Job)
		raw, err := os.ReadFile(path)
		if err != nil || s.Job == "" || c.over[s.Name] || !strings.Contains(string(raw), "|"+s.Name+"|") {
			continue
		}
		c.over[s.Name] = true
		if strings.Contains(string(raw), "CANCELLED") {
			continue
		}
		var lines []string
		for i, part := range s.Parts {
			c.tries[part]++
			o := c.outcome(part, c.tries[part])
			switch o.state {
			case "gone":
			case "live":
				lines = append(lines, fmt.Sprintf("%s|%d|%s|RUNNING|None", s.Job, i, s.Name))
			default:
				lines = append(lines, fmt.Sprintf("%s|%d|%s|%s|%s", s.Job, i, s.Name, o.state, o.reason))
			}
			log := fmt.Sprintf("the log of part %d, try %d\n", part, c.tries[part])
			if err := os.WriteFile(logPath(c.dir, s.Number, i), []byte(log), 0o600); err != nil {
				c.t.Error(err)
			}
			if o.results == "" {
				continue
			}
			for n, of := range c.division(j).of {
				if of == part-1 {
					c.put(n, o.results)
				}
			}
		}
		if err := disk.WriteFile(disk.System, path, []byte(strings.Join(append(lines, ""), "\n"))); err != nil {
			c.t.Error(err)
		}
	}
}

// division is how the plan is divided for a round.
func (c *cluster) division(j *journal) *division {
	c.t.Helper()
	d, err := (&Executor{Timed: c.timed}).divided(c.plan, j)
	if err != nil {
		c.t.Fatal(err)
	}
	return d
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

func (c *cluster) journal() *journal {
	c.t.Helper()
	j, err := readJournal(c.dir)
	if err != nil || j == nil {
		c.t.Fatalf("%v, %v", j, err)
	}
	return j
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
func (n *notes) Again(plan.Trial, *trial.Trouble, int, int, time.Duration) {
}
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

// said returns the notices that have the text in them.
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

func TestExecute(t *testing.T) {
	c := newCluster(t, 10)
	e := c.executor()
	e.TrialsPerTask, e.Chunk, e.MaxRunning, e.Options = 2, 3, 2, []Option{{"partition", "p"}}
	sum, err := c.execute(context.Background(), e)
	if err != nil || sum != (schedule.Summary{Total: 10, OK: 10}) {
		t.Fatalf("%+v, %v, %q", sum, err, c.observer.lines)
	}
	log := c.log("sbatch")
	if len(log) != 2 || !strings.Contains(log[0], "--array=0-2%2 ") || !strings.Contains(log[1], "--array=0-1%2 ") ||
		!strings.Contains(log[1], "--dependency=afterany:101") || strings.Contains(log[0], "dependency") ||
		!strings.Contains(log[0], "--partition=p") {
		t.Errorf("submitted %q", log)
	}
	if j := c.journal(); j.Open || j.Parts != 5 || len(j.Submissions) != 2 ||
		!slices.Equal(j.Submissions[1].Parts, []int{4, 5}) || j.Submissions[1].Job != "102" {
		t.Errorf("%+v", j)
	}
	if c.observer.finished[record.OK] != 10 || !slices.Equal(c.observer.planned, []int{10, 0}) ||
		!slices.Equal(c.observer.ahead, []int{10, 0}) {
		t.Errorf("%+v", c.observer)
	}
	// Again: nothing is submitted.
	sum, err = c.execute(context.Background(), e)
	if err != nil || sum != (schedule.Summary{Total: 10, OK: 10, Cached: 10}) || len(c.log("sbatch")) != 2 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// What is announced are the trials without a record, with the times of the others.
func TestWorkload(t *testing.T) {
	p := &plan.Plan{Trials: []plan.Trial{{Key: "a"}, {Key: "b"}, {Key: "c"}, {Key: "d"}}}
	w := workload(p, map[string]float64{"b": 2.5, "d": 0})
	if w.Plan != p || w.Jobs != 0 || !slices.Equal(w.Pending, []int{0, 2}) ||
		!slices.Equal(w.Past, []plan.Past{{Index: 1, Seconds: 2.5}, {Index: 3}}) {
		t.Errorf("%+v", w)
	}
}

// A task that ends in whatever way before its trials have results is submitted
// again; one whose trials have results is not, whatever Slurm says of it.
func TestLostTasks(t *testing.T) {
	for _, c := range []struct {
		first outcome
		said  string
	}{
		{outcome{state: "FAILED", reason: "NonZeroExitCode"}, "1 task lost (FAILED), submitted again: part 2 of 3"},
		{outcome{state: "CANCELLED"}, "1 task lost (CANCELLED)"},
		{outcome{state: "TIMEOUT", reason: "TimeLimit"}, "1 task lost (TIMEOUT)"},
		{outcome{state: "NODE_FAIL"}, "1 task lost (NODE_FAIL)"},
		{outcome{state: "OUT_OF_MEMORY"}, "1 task lost (OUT_OF_MEMORY)"},
		{outcome{state: "PREEMPTED"}, "1 task lost (PREEMPTED)"},
		{outcome{state: "BOOT_FAIL"}, "1 task lost (BOOT_FAIL)"},
		{outcome{state: "DEADLINE"}, "1 task lost (DEADLINE)"},
		{outcome{state: "COMPLETED"}, "1 task lost (COMPLETED)"},
		{outcome{state: "gone"}, "1 task lost (GONE)"},
		{outcome{state: "PENDING", reason: "launch_failed_requeued_held"}, "1 task lost (LAUNCH_FAILED)"},
		{outcome{state: "FAILED", results: record.OK}, ""},
		{outcome{state: "NODE_FAIL", results: record.OK}, ""},
		{outcome{state: "gone", results: record.OK}, ""},
	} {
		t.Run(c.first.state+string(c.first.results), func(t *testing.T) {
			k := newCluster(t, 3)
			k.outcome = func(part, try int) outcome {
				if part == 2 && try == 1 {
					return c.first
				}
				return good
			}
			sum, err := k.execute(context.Background(), k.executor())
			if err != nil || sum != (schedule.Summary{Total: 3, OK: 3}) {
				t.Fatalf("%+v, %v, %q", sum, err, k.observer.lines)
			}
			want := 1
			if c.said != "" {
				want = 2
			}
			if n := len(k.log("sbatch")); n != want {
				t.Errorf("submitted %d times, not %d: %q", n, want, k.observer.lines)
			}
			if c.said != "" && k.observer.said(c.said) != 1 {
				t.Errorf("said %q, not %q", k.observer.lines, c.said)
			}
		})
	}
}

// What the queue has forgotten, the accounting may know.
func TestAccounting(t *testing.T) {
	c := newCluster(t, 1)
	ready := make(chan struct{})
	c.outcome = func(_, try int) outcome {
		<-ready
		if try == 1 {
			return outcome{state: "gone"}
		}
		return good
	}
	go func() {
		eventually(t, "a submission", func() bool { return c.observer.said("submitted") == 1 })
		c.write("sacct", "101_0|"+c.journal().Submissions[0].Name+"|OUT_OF_MEMORY\n")
		close(ready)
	}()
	if _, err := c.execute(context.Background(), c.executor()); err != nil ||
		c.observer.said("lost (OUT_OF_MEMORY)") != 1 {
		t.Errorf("%v, %q", err, c.observer.lines)
	}
}

// Where somebody else has run all trials, tasks that wait are not needed.
func TestNotNeeded(t *testing.T) {
	c := newCluster(t, 2)
	c.outcome = func(int, int) outcome { return outcome{state: "PENDING", reason: "Priority"} }
	go func() {
		eventually(t, "tasks wait", func() bool {
			c.observer.mu.Lock()
			defer c.observer.mu.Unlock()
			return slices.Contains(c.observer.queues, "0 running, 2 waiting (Priority)")
		})
		c.put(0, record.OK)
		c.put(1, record.OK)
	}()
	if sum, err := c.execute(context.Background(), c.executor()); err != nil || sum.OK != 2 ||
		!slices.Equal(c.log("scancel"), []string{"--state=PENDING 101"}) {
		t.Errorf("%+v, %v, %q", sum, err, c.log("scancel"))
	}
}

// A controller that lost its state knows no task any more, and gives the same id
// again: the names of the jobs distinguish the tasks.
func TestReusedID(t *testing.T) {
	c := newCluster(t, 3)
	c.write("sameid", "")
	c.outcome = func(part, try int) outcome {
		switch {
		case part == 1:
			return good
		case try == 1:
			return outcome{state: "gone"}
		}
		return outcome{state: "live"}
	}
	go func() {
		eventually(t, "both tasks run", func() bool {
			c.observer.mu.Lock()
			defer c.observer.mu.Unlock()
			return slices.Contains(c.observer.queues, "2 running")
		})
		c.put(1, record.OK)
		c.put(2, record.OK)
	}()
	sum, err := c.execute(context.Background(), c.executor())
	if err != nil || sum.OK != 3 || len(c.log("sbatch")) != 2 || c.observer.said("2 tasks lost (GONE)") != 1 {
		t.Errorf("%+v, %v, %q", sum, err, c.observer.lines)
	}
	for _, text := range c.observer.queues {
		if strings.HasPrefix(text, "3 ") || strings.HasPrefix(text, "4 ") {
			t.Errorf("tasks are counted twice: %q", text)
		}
	}
}

// A task that is lost again and again is given up, and reported; the others'
// results stand. The next command tries anew.
func TestGivenUp(t *testing.T) {
	c := newCluster(t, 4)
	c.outcome = func(part, try int) outcome {
		if part == 3 && try <= 3 {
			return outcome{state: "TIMEOUT"}
		}
		return good
	}
	sum, err := c.execute(context.Background(), c.executor())
	if err != nil || sum != (schedule.Summary{Total: 4, OK: 3, NotRun: 1}) {
		t.Fatalf("%+v, %v", sum, err)
	}
	if n := len(c.log("sbatch")); n != 3 {
		t.Errorf("submitted %d times", n)
	}
	if c.observer.said("1 trial of part 3 of 4 without a result: its task was lost 3 times, last as 103_0 (TIMEOUT); ") !=
		1 ||
		c.observer.said("the log of part 3, try 3") != 1 {
		t.Errorf("%q", c.observer.lines)
	}
	if c.journal().Open {
		t.Error("the round is open")
	}
	e := c.executor()
	e.Requeue = 0
	c.outcome = func(int, int) outcome { return good }
	if sum, err := c.execute(context.Background(), e); err != nil ||
		sum != (schedule.Summary{Total: 4, OK: 4, Cached: 3}) {
		t.Errorf("%+v, %v", sum, err)
	}
}

// How a task was lost again and again says what to do.
func TestAdvice(t *testing.T) {
	for _, c := range []struct{ state, want string }{
		{"OUT_OF_MEMORY", "last as 101_0 (OUT_OF_MEMORY); give a task more memory (--slurm mem=16G), or use a smaller " +
			"setting; the end of "},
		{"TIMEOUT", "last as 101_0 (TIMEOUT); give a task more time (--slurm time=4:00:00), or fewer trials " +
			"(--trials-per-task); the end of "},
		{"PREEMPTED", "last as 101_0 (PREEMPTED); use a partition or a quality of service whose jobs are not preempted"},
		{"NODE_FAIL", "last as 101_0 (NODE_FAIL); the end of "},
	} {
		t.Run(c.state, func(t *testing.T) {
			cl := newCluster(t, 1)
			cl.outcome = func(int, int) outcome { return outcome{state: c.state} }
			e := cl.executor()
			e.Requeue = 0
			sum, err := cl.execute(context.Background(), e)
			if err != nil || sum.NotRun != 1 || cl.observer.said(c.want) != 1 {
				t.Errorf("%+v, %v, %q", sum, err, cl.observer.lines)
			}
		})
	}
}

// The first task that is lost too often stops the jobs where that is asked for.
func TestFailFastOfLostTasks(t *testing.T) {
	c := newCluster(t, 3)
	c.outcome = func(part, _ int) outcome {
		if part == 2 {
			return outcome{state: "NODE_FAIL"}
		}
		return outcome{state: "live"}
	}
	e := c.executor()
	e.FailFast, e.Requeue = true, 1
	sum, err := c.execute(context.Background(), e)
	if !errors.Is(err, schedule.ErrFailFast) || sum != (schedule.Summary{Total: 3, NotRun: 3}) ||
		c.observer.said("its task was lost twice") != 1 {
		t.Errorf("%+v, %v, %q", sum, err, c.observer.lines)
	}
	if got := c.log("scancel"); !slices.Equal(got, []string{"101"}) || c.journal().Open {
		t.Errorf("cancelled %q", got)
	}
}

// A trial that failed has a result: its task is not lost. --retry failed runs it
// again, once.
func TestFailedTrials(t *testing.T) {
	c := newCluster(t, 4)
	c.outcome = func(part, _ int) outcome {
		if part == 2 {
			return outcome{state: "FAILED", reason: "NonZeroExitCode", results: record.Failed}
		}
		return good
	}
	sum, err := c.execute(context.Background(), c.executor())
	if err != nil || sum != (schedule.Summary{Total: 4, OK: 3, Failed: 1}) || len(c.log("sbatch")) != 1 {
		t.Fatalf("%+v, %v, %q", sum, err, c.log("sbatch"))
	}
	if sum, err = c.execute(context.Background(), c.executor()); err != nil || sum.Cached != 4 || c.observer.before != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	e := c.executor()
	e.Retry = schedule.RetryFailed
	sum, err = c.execute(context.Background(), e)
	if err != nil || sum != (schedule.Summary{Total: 4, OK: 3, Failed: 1, Cached: 3}) || len(c.log("sbatch")) != 2 {
		t.Errorf("%+v, %v, %q", sum, err, c.log("sbatch"))
	}
	e.Retry = schedule.RetryAll
	sum, err = c.execute(context.Background(), e)
	if err != nil || sum != (schedule.Summary{Total: 4, OK: 3, Failed: 1}) || len(c.log("sbatch")) != 3 {
		t.Errorf("%+v, %v, %q", sum, err, c.log("sbatch"))
	}
}

// A record is not put aside for a job that is refused.
func TestRetryThatIsRefused(t *testing.T) {
	c := newCluster(t, 4)
	if _, err := c.execute(context.Background(), c.executor()); err != nil {
		t.Fatal(err)
	}
	e := c.executor()
	e.Retry, e.Options = schedule.RetryAll, []Option{{"partition", "x"}}
	c.write("sbatch.fail", "sbatch: error: invalid partition specified: x\n")
	if _, err := c.execute(context.Background(), e); err == nil || !strings.Contains(err.Error(), "invalid partition") {
		t.Error(err)
	}
	if got := c.log("test-only"); !slices.Equal(got, []string{"--test-only --partition=x --wrap=true"}) {
		t.Errorf("%q", got)
	}
	e.Chunk = 21
	if _, err := c.execute(context.Background(), e); err == nil || !strings.Contains(err.Error(), "--array-chunk is 21") {
		t.Error(err)
	}
	files, err := os.ReadDir(filepath.Join(c.dir, "trials"))
	if err != nil || len(files) != 4 || c.journal().Open {
		t.Errorf("%d records are left, %v", len(files), err)
	}
}

// The first failure stops the jobs where that is asked for.
func TestFailFast(t *testing.T) {
	c := newCluster(t, 4)
	c.outcome = func(part, _ int) outcome {
		if part == 2 {
			return outcome{state: "FAILED", results: record.Failed}
		}
		return outcome{state: "live"}
	}
	e := c.executor()
	e.FailFast = true
	sum, err := c.execute(context.Background(), e)
	if !errors.Is(err, schedule.ErrFailFast) || sum != (schedule.Summary{Total: 4, Failed: 1, NotRun: 3}) {
		t.Errorf("%+v, %v", sum, err)
	}
	if got := c.log("scancel"); !slices.Equal(got, []string{"101"}) {
		t.Errorf("cancelled %q", got)
	}
}

// Trials that were skipped are looked at again by every command, once, whatever the
// exit status of their task: one of which all trials were skipped ends with 1.
func TestSkipped(t *testing.T) {
	for _, state := range []string{"COMPLETED", "FAILED"} {
		t.Run(state, func(t *testing.T) {
			c := newCluster(t, 3)
			c.outcome = func(int, int) outcome { return outcome{state: state, results: record.Skipped} }
			for n := range 2 {
				sum, err := c.execute(context.Background(), c.executor())
				if err != nil || sum != (schedule.Summary{Total: 3, Skipped: 3}) || len(c.log("sbatch")) != n+1 {
					t.Fatalf("%+v, %v, %q", sum, err, c.observer.lines)
				}
				time.Sleep(20 * time.Millisecond) // the clock of a file system may tick slowly
			}
		})
	}
}

// A program that ends leaves the jobs; the next one attaches to them and submits
// nothing but what is lost.
func TestAttach(t *testing.T) {
	c := newCluster(t, 3)
	c.outcome = func(int, int) outcome { return outcome{state: "live"} }
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		eventually(t, "tasks run", func() bool {
			c.observer.mu.Lock()
			defer c.observer.mu.Unlock()
			return slices.Contains(c.observer.queues, "3 running")
		})
		stop()
	}()
	sum, err := c.execute(ctx, c.executor())
	if !errors.Is(err, context.Canceled) || sum.NotRun != 3 ||
		c.observer.said("job 101 goes on; the same command attaches again, `scancel 101` cancels") != 1 {
		t.Fatalf("%+v, %v, %q", sum, err, c.observer.lines)
	}
	if !c.journal().Open || c.log("scancel") != nil {
		t.Error("the jobs were not left alone")
	}
	// In the meantime one trial ends well, and a task ends badly.
	c.put(0, record.OK)
	name := c.journal().Submissions[0].Name
	c.write("queue/101", strings.ReplaceAll(
		"101|0|NAME|COMPLETED|None\n101|1|NAME|TIMEOUT|TimeLimit\n101|2|NAME|RUNNING|None\n", "NAME", name))
	c.outcome = func(part, _ int) outcome {
		if part == 2 {
			c.put(2, record.OK) // the third task ends, too
			return good
		}
		return outcome{state: "live"}
	}
	e := c.executor()
	e.Retry = schedule.RetryAll // which does not touch what is under way
	sum, err = c.execute(context.Background(), e)
	if err != nil || sum != (schedule.Summary{Total: 3, OK: 3, Cached: 1}) || len(c.log("sbatch")) != 2 ||
		c.observer.said("attached to job 101, begun ") != 1 {
		t.Errorf("%+v, %v, %q, %q", sum, err, c.observer.lines, c.log("sbatch"))
	}
}

// Ctrl-C may also cancel.
func TestCancel(t *testing.T) {
	c := newCluster(t, 3)
	c.outcome = func(int, int) outcome { return outcome{state: "live"} }
	ctx, stop := context.WithCancel(context.Background())
	e := c.executor()
	asked := 0
	e.Cancel = func(jobs int) bool { asked = jobs; return true }
	go func() {
		eventually(t, "a submission", func() bool { return c.observer.said("submitted 3 tasks as job 101") == 1 })
		stop()
	}()
	_, err := c.execute(ctx, e)
	if !errors.Is(err, context.Canceled) || asked != 1 || c.observer.said("cancelled job 101") != 1 || c.journal().Open {
		t.Errorf("%v, asked about %d, %q", err, asked, c.observer.lines)
	}
	if got := c.log("scancel"); !slices.Equal(got, []string{"101"}) {
		t.Errorf("cancelled %q", got)
	}
}

// A program that died between sbatch and its answer has left a job without an
// id; it is found by its name. What was never submitted is submitted now.
func TestAdopt(t *testing.T) {
	for _, there := range []bool{true, false} {
		c := newCluster(t, 2)
		s := c.store()
		j := &journal{}
		if err := os.Mkdir(filepath.Join(c.dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := j.begin(c.dir, digest(c.plan), &division{parts: 2}); err != nil {
			t.Fatal(err)
		}
		sub := j.next([]int{1, 2})
		j.Submissions = []submission{sub}
		if err := j.write(c.dir); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		if there {
			c.write("queue/55", "55|0|"+sub.Name+"|PENDING|Priority\n55|1|"+sub.Name+"|PENDING|Priority\n")
		}
		sum, err := c.execute(context.Background(), c.executor())
		want := []string{"55"}
		if !there {
			want = []string{"101"}
		}
		if err != nil || sum.OK != 2 || !slices.Equal(c.journal().jobs(), want) {
			t.Errorf("%v: %+v, %v, %v", there, sum, err, c.journal().jobs())
		}
	}
}

// A controller that does not answer for a while costs nothing.
func TestQueueCannotBeRead(t *testing.T) {
	c := newCluster(t, 2)
	c.outcome = func(int, int) outcome { return outcome{state: "live"} }
	go func() {
		eventually(t, "a submission", func() bool { return c.observer.said("submitted") == 1 })
		c.write("squeue.fail", "Unable to contact slurm controller\n")
		eventually(t, "word of it", func() bool {
			return c.observer.said("the queue cannot be read (squeue: Unable to contact") == 1
		})
		_ = os.Remove(filepath.Join(c.folder, "squeue.fail"))
		eventually(t, "word of it", func() bool { return c.observer.said("the queue can be read again") == 1 })
		c.put(0, record.OK)
		c.put(1, record.OK)
	}()
	sum, err := c.execute(context.Background(), c.executor())
	if err != nil || sum.OK != 2 || len(c.log("sbatch")) != 1 {
		t.Errorf("%+v, %v, %q", sum, err, c.observer.lines)
	}
}

// Where a user may have no more jobs, the rest is submitted when some have
// ended.
func TestNoRoomForMore(t *testing.T) {
	c := newCluster(t, 6)
	c.write("sbatch.full", "")
	c.outcome = func(int, int) outcome { return outcome{state: "live"} }
	go func() {
		eventually(t, "word of it", func() bool { return c.observer.said("4 parts cannot be submitted now") == 1 })
		_ = os.Remove(filepath.Join(c.folder, "sbatch.full"))
		c.put(0, record.OK)
		c.put(1, record.OK)
		_ = os.Remove(filepath.Join(c.folder, "queue", "101")) // the job has ended
		eventually(t, "more submissions", func() bool { return c.observer.said("submitted 2 tasks") == 3 })
		for i := 2; i < 6; i++ {
			c.put(i, record.OK)
		}
	}()
	e := c.executor()
	e.Chunk = 2
	if sum, err := c.execute(context.Background(), e); err != nil || sum.OK != 6 {
		t.Errorf("%+v, %v, %q", sum, err, c.observer.lines)
	}
}

// What a user has set for sbatch applies, but for what the executor reserves.
func TestOptionsInTheEnvironment(t *testing.T) {
	c := newCluster(t, 1)
	for _, name := range []string{"SBATCH_ACCOUNT", "SBATCH_EXPORT", "SBATCH_ERROR", "SBATCH_WAIT", "SBATCH_OPEN_MODE"} {
		t.Setenv(name, "x")
	}
	if _, err := c.execute(context.Background(), c.executor()); err != nil {
		t.Fatal(err)
	}
	if got := c.log("environment"); !slices.Equal(got, []string{"SBATCH_ACCOUNT=x"}) {
		t.Errorf("%q", got)
	}
	t.Setenv("SBATCH_CLUSTERS", "other")
	if _, err := newCluster(t, 1).execute(context.Background(), c.executor()); err == nil ||
		!strings.Contains(err.Error(), "SBATCH_CLUSTERS is set") {
		t.Error(err)
	}
}

// Two programs on one folder: one submits, both end with all results.
func TestTwoExecutors(t *testing.T) {
	c := newCluster(t, 6)
	var wg sync.WaitGroup
	stop := c.start()
	defer stop()
	for range 2 {
		wg.Go(func() {
			s := c.store()
			defer func() { _ = s.Close() }()
			e := c.executor()
			e.Observer = &notes{}
			if sum, err := e.Execute(context.Background(), s, c.plan); err != nil || sum.OK != 6 {
				t.Errorf("%+v, %v", sum, err)
			}
		})
	}
	wg.Wait()
	if n := len(c.log("sbatch")); n != 1 {
		t.Errorf("submitted %d times", n)
	}
}

func TestRefusals(t *testing.T) {
	t.Run("no commands", func(t *testing.T) {
		c := newCluster(t, 1)
		t.Setenv("PATH", c.folder)
		if _, err := c.execute(context.Background(), c.executor()); err == nil ||
			!strings.Contains(err.Error(), "sbatch is not in PATH") {
			t.Error(err)
		}
	})
	t.Run("sbatch refuses", func(t *testing.T) {
		c := newCluster(t, 1)
		c.write("sbatch.fail", "sbatch: error: invalid partition specified: x\n")
		if _, err := c.execute(context.Background(), c.executor()); err == nil ||
			!strings.Contains(err.Error(), "sbatch: error: invalid partition specified: x (exit status 1)") {
			t.Error(err)
		}
		if j := c.journal(); len(j.Submissions) != 0 {
			t.Errorf("%+v", j)
		}
	})
	t.Run("no controller", func(t *testing.T) {
		c := newCluster(t, 1)
		c.write("squeue.fail", "no controller\n")
		if _, err := c.execute(context.Background(), c.executor()); err == nil ||
			!strings.Contains(err.Error(), "squeue: no controller") {
			t.Error(err)
		}
	})
	t.Run("array too large", func(t *testing.T) {
		c := newCluster(t, 1)
		e := c.executor()
		e.Chunk = 21
		if _, err := c.execute(context.Background(), e); err == nil ||
			!strings.Contains(err.Error(), "--array-chunk is 21; this site allows array jobs of at most 20 tasks") {
			t.Error(err)
		}
	})
	t.Run("jobs of another plan", func(t *testing.T) {
		c := newCluster(t, 2)
		c.outcome = func(int, int) outcome { return outcome{state: "live"} }
		ctx, stop := context.WithCancel(context.Background())
		go func() {
			eventually(t, "a submission", func() bool { return c.observer.said("submitted") == 1 })
			stop()
		}()
		if _, err := c.execute(ctx, c.executor()); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		c.plan.Trials = c.plan.Trials[:1] // as after --replan
		if _, err := c.execute(context.Background(), c.executor()); err == nil ||
			!strings.Contains(err.Error(), "are still there; wait for their end, or cancel them: scancel 101") {
			t.Error(err)
		}
	})
	for _, row := range []struct{ name, text, want string }{
		{"torn", "{", "jobs.json cannot be read"},
		{"of another schema", `{"schema": 9}`, "jobs.json has schema 9; this version reads 1"},
		{"more parts than there are", `{"schema": 1, "round": 1, "open": true, "parts": 1, ` +
			`"submissions": [{"round": 1, "parts": "1-2"}]}`, "parts beyond the 1 that there are"},
		{"falling parts", `{"schema": 1, "round": 1, "submissions": [{"round": 1, "parts": "2-1"}]}`,
			`"2-1" is no list of parts`},
		{"no parts", `{"schema": 1, "open": true}`, "the plan is in 0 parts"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newCluster(t, 1)
			if err := os.MkdirAll(filepath.Join(c.dir, folder), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(c.dir, folder, journalFile), []byte(row.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := c.execute(context.Background(), c.executor()); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s: %v", row.text, err)
			}
		})
	}
}
