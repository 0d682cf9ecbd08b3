package runner_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"privkern/runner"
	"privkern/runner/execute/merge"
	"privkern/runner/execute/schedule"
	"privkern/runner/plan"
	settings "privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk/disktest"
	"privkern/tests/tier"
)

// Random commands work on the same output folders at the same time, on a disk that
// loses power, fills up and fails, while some of them are killed. Reported results are
// still there, no trial runs twice, nothing torn is read, and in the end the same
// commands finish.
//
// A sequence is a list of rounds, and a round a few commands with one mishap or none.
// Every operation on the disk is a point at which another command may go on. Where a
// sequence fails, rounds are left out as long as it still fails, and the rest is
// printed.
func TestPowerCuts(t *testing.T) {
	tier.Sequential(t)
	wanted, rng := tier.Random(t, 500, 20_000)
	// Goroutines of one command share its work by the number of cores.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	c, plans := catalogue(t), nested(t, 3, 5, 6)
	total := mishaps{}
	for total.count() < wanted {
		rounds := make([]uint64, 8)
		for i := range rounds {
			rounds[i] = rng.Uint64()
		}
		w := play(t, c, plans, rounds)
		if w.problem == "" {
			total.add(w.mishaps)
			continue
		}
		for i := 0; i < len(rounds); { // the same problem with fewer rounds
			fewer := slices.Delete(slices.Clone(rounds), i, i+1)
			if again := play(t, c, plans, fewer); again.problem != "" {
				rounds, w, i = fewer, again, 0
			} else {
				i++
			}
		}
		t.Fatalf("%s\nwhat happened:\n%s", w.problem, strings.Join(w.transcript, "\n"))
	}
	t.Logf("%+v", total)
	if total.PowerCuts == 0 || total.Kills == 0 || total.FullDisks == 0 || total.Failures == 0 {
		t.Errorf("%+v: some mishap did not happen", total)
	}
}

// mishaps counts mishaps by kind.
type mishaps struct{ PowerCuts, Kills, FullDisks, Failures, Commands int }

func (m mishaps) count() int { return m.PowerCuts + m.Kills + m.FullDisks + m.Failures }

func (m *mishaps) add(n mishaps) {
	m.PowerCuts += n.PowerCuts
	m.Kills += n.Kills
	m.FullDisks += n.FullDisks
	m.Failures += n.Failures
	m.Commands += n.Commands
}

// nested returns plans of the given numbers of trials, each with those of the plan
// before it.
func nested(t *testing.T, sizes ...int) (plans []*plan.Plan) {
	t.Helper()
	for _, n := range sizes {
		var wanted []settings.Assignment
		for x := range n {
			params, err := double.Resolve(map[string]any{"x": float64(x)})
			if err != nil {
				t.Fatal(err)
			}
			wanted = append(wanted, settings.Assignment{Experiment: double.Experiment, Params: params})
		}
		p, err := plan.New(wanted, nil, plan.Options{Title: fmt.Sprint(n), Backend: "cpu", DType: "float64"})
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, p)
	}
	return plans
}

// play plays a sequence of rounds on an empty disk and lets all commands end.
func play(t *testing.T, c *runner.Catalogue, plans []*plan.Plan, rounds []uint64) (w *world) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w = newWorld(c, plans)
		for _, seed := range rounds {
			w.round(rand.New(rand.NewPCG(seed, 1)))
		}
		w.finish()
	})
	return w
}

// world is a disk with output folders and their known state.
type world struct {
	mishaps
	catalogue *runner.Catalogue
	plans     []*plan.Plan
	disk      *disktest.Disk
	rng       *rand.Rand // of the round
	cutAt     int        // operations of the round before the power goes; 0: it stays
	cutAfter  int        // operations after a kill; 0: it stays
	folders   map[string]*folder
	names     []string // of the folders

	mu         sync.Mutex // guards the following fields, and the known state of folders
	problem    string     // the first
	saying     sync.Mutex
	transcript []string
	records    int // made so far
	commands   []*command
	repeats    bool // some command of the round runs results again
	blocked    []*blockedProcess
}

// folder is the known state of an output folder.
type folder struct {
	name  string
	plan  int             // the one that is wanted now
	plans map[string]bool // digests that plan.json may have
	// planned is true where there is a plan.
	planned bool
	trials  map[string]*recordState
	// kept are contents that must be in the folder somewhere: files that were put
	// aside, and plans that were replaced.
	kept []string
	// withdrawn are contents that are in their place again where the power went before
	// their move was durable, and may be replaced there.
	withdrawn []string
}

// recordState is the known state of the record of a trial.
type recordState struct {
	must  bool                     // there is a record in any case
	may   map[string]record.Status // possible contents; of a damaged one the status is ""
	ever  map[string]record.Status // all earlier possible contents
	busy  *command                 // who is running the trial
	merge int                      // merges that write to the folder at present
	best  int                      // rank of the best record of this round, which a worse one may not replace
}

func newWorld(c *runner.Catalogue, plans []*plan.Plan) *world {
	w := &world{catalogue: c, plans: plans, disk: disktest.New(), folders: map[string]*folder{},
		names: []string{"/runs/a", "/runs/b", "/new/merged"}}
	for _, name := range w.names {
		f := &folder{name: name, plans: map[string]bool{}, trials: map[string]*recordState{}}
		for _, x := range plans[len(plans)-1].Trials {
			f.trials[x.Key] = &recordState{may: map[string]record.Status{}, ever: map[string]record.Status{}}
		}
		w.folders[name] = f
	}
	return w
}

func (w *world) say(format string, args ...any) {
	w.saying.Lock()
	defer w.saying.Unlock()
	w.transcript = append(w.transcript, fmt.Sprintf(format, args...))
}

func (w *world) wrong(format string, args ...any) {
	w.say("PROBLEM: "+format, args...)
	if w.problem == "" {
		w.problem = fmt.Sprintf(format, args...)
	}
}

// command is a command that runs.
type command struct {
	process *disktest.Process
	what    string
	alone   bool // in its round
	ended   chan struct{}
	err     error // once it has ended
}

// blockedProcess is a command that waits before an operation on the disk.
type blockedProcess struct {
	process         *disktest.Process
	operation, path string
	resume          chan struct{}
}

// round starts some commands and one mishap, and waits until they have ended.
func (w *world) round(rng *rand.Rand) {
	if w.problem != "" {
		return
	}
	w.rng = rng
	w.say("--- round")
	if rng.IntN(3) == 0 {
		w.damage()
	}
	w.disk.Before = w.park
	w.commands, w.repeats = nil, false
	for _, f := range w.folders {
		for _, k := range f.trials {
			k.best = 0
		}
	}
	n := 1 + rng.IntN(3)
	for i := range n {
		w.start(fmt.Sprint(i+1), n == 1)
	}
	full, victim := false, w.commands[rng.IntN(n)]
	w.cutAt, w.cutAfter = 0, 0
	// Commands take from ten operations to some hundreds.
	moment := 1 + rng.IntN([]int{15, 60, 250}[rng.IntN(3)])
	switch rng.IntN(8) {
	case 0, 1:
		w.cutAt = moment
	case 2:
		victim.process.KillAt(moment)
	case 3:
		w.disk.SetFree(rng.IntN(6000))
		full = true
	case 4:
		victim.process.FailAt(moment)
	case 5, 6: // others see the files of a killed command, which are not durable
		victim.process.KillAtSync(1 + rng.IntN(9))
		w.cutAfter = moment
	}
	cutNow := w.schedule()
	w.judge(full, cutNow)
	w.disk.SetFree(disktest.Unlimited)
	if slices.ContainsFunc(w.commands, func(c *command) bool { return errors.Is(c.err, syscall.ENOSPC) }) {
		w.FullDisks++
	}
	if cutNow {
		w.PowerCuts++
		w.say("power cut")
		w.disk = w.disk.PowerCut(rng)
	}
	w.check(cutNow)
}

// start starts a random command.
func (w *world) start(name string, alone bool) {
	rng := w.rng
	p := w.disk.Process(name)
	f := w.folders[w.names[rng.IntN(len(w.names))]]
	var run func(c *command) error
	var what string
	switch n := rng.IntN(10); {
	case n < 5:
		if rng.IntN(4) == 0 {
			f.plan = min(f.plan+1, len(w.plans)-1)
		}
		r := sweepRun{world: w, folder: f, plan: w.plans[f.plan], replan: f.plan > 0 && rng.IntN(3) > 0,
			jobs: 1 + rng.IntN(2), retry: []schedule.Retry{"", "", "", "failed", "all"}[rng.IntN(5)]}
		w.repeats = w.repeats || r.retry == schedule.RetryAll
		if rng.IntN(3) == 0 {
			r.shard = plan.Shard{Index: rng.IntN(2), Count: 2}
		}
		what = fmt.Sprintf("sweep %s, plan of %d, replan %v, retry %q, shard %v, jobs %d", f.name, len(r.plan.Trials),
			r.replan, r.retry, r.shard, r.jobs)
		run = r.run
	case n < 7:
		what = "merge"
		run = w.merge
	case n < 9 || !alone:
		what = "check --repair " + f.name
		run = func(c *command) error {
			_, err := w.on(c).Check(f.name, true, "")
			return err
		}
	default:
		x := w.plans[0].Trials[rng.IntN(len(w.plans[0].Trials))]
		what = fmt.Sprintf("withdraw %.8s from %s", x.Key, f.name)
		run = func(c *command) error { return w.withdraw(c, f, x.Key) }
	}
	c := &command{process: p, what: what, alone: alone, ended: make(chan struct{})}
	w.commands = append(w.commands, c)
	w.Commands++
	w.say("%s: %s", name, what)
	go func() {
		c.err = run(c)
		w.mu.Lock()
		w.say("%s: ended: %v", name, c.err)
		w.mu.Unlock()
		close(c.ended)
	}()
}

// on returns the catalogue as a command sees it.
func (w *world) on(c *command) *runner.Catalogue {
	seen := *w.catalogue
	seen.Disk = c.process
	return &seen
}

// park lets a command wait for its turn.
func (w *world) park(p *disktest.Process, operation, path string) {
	turn := &blockedProcess{p, operation, path, make(chan struct{})}
	w.mu.Lock()
	w.blocked = append(w.blocked, turn)
	w.mu.Unlock()
	<-turn.resume
}

// schedule lets commands go on, one operation at a time, until all have ended. The
// power is cut after a number of operations of all, or a number of operations after
// a command was killed.
func (w *world) schedule() (cutNow bool) {
	// How often the same command goes on: it takes some in a row to get from one
	// step of an operation to the next, and others in between to disturb it.
	loyal := []float64{0, 0.5, 0.9, 0.97}[w.rng.IntN(4)]
	last := w.commands[0].process
	killed := 0 // operations since
	for done := 0; ; {
		synctest.Wait()
		if !slices.ContainsFunc(w.commands, func(c *command) bool { return !c.over() }) {
			return cutNow || w.cutAfter > 0 && killed > 0
		}
		if w.nobodyParked() {
			time.Sleep(time.Millisecond) // somebody waits for the clock
			continue
		}
		if slices.ContainsFunc(w.commands, func(c *command) bool { return c.process.Killed() }) {
			killed++
		}
		if done++; !cutNow && (done == w.cutAt || w.cutAfter > 0 && killed == w.cutAfter) {
			cutNow = true
			for _, c := range w.commands {
				c.process.Kill()
			}
		}
		next := w.next(last, loyal)
		last = next.process
		if !last.Killed() {
			w.say("  %s %s %s", last.Name(), next.operation, next.path)
		}
		time.Sleep(time.Microsecond) // names of files that are put aside have the time
		close(next.resume)
	}
}

func (w *world) nobodyParked() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.blocked) == 0
}

// next takes one of the parked processes.
func (w *world) next(last *disktest.Process, loyal float64) *blockedProcess {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortFunc(w.blocked, func(a, b *blockedProcess) int {
		return strings.Compare(a.process.Name()+a.operation+a.path, b.process.Name()+b.operation+b.path)
	})
	i := w.rng.IntN(len(w.blocked))
	if w.rng.Float64() < loyal {
		if same := slices.IndexFunc(w.blocked, func(p *blockedProcess) bool { return p.process == last }); same >= 0 {
			i = same
		}
	}
	next := w.blocked[i]
	w.blocked = slices.Delete(w.blocked, i, i+1)
	return next
}

func (c *command) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// judge compares the ends of commands with the mishaps.
func (w *world) judge(full, cutNow bool) {
	for _, c := range w.commands {
		killed := c.process.Killed()
		if killed && !cutNow {
			w.Kills++
		}
		if c.process.Failed() {
			w.Failures++
		}
		var mismatch *store.PlanMismatchError
		var plans *merge.PlanError
		switch {
		case c.err == nil || killed || full || c.process.Failed():
		case errors.As(c.err, &mismatch) || errors.As(c.err, &plans) || errors.Is(c.err, merge.ErrBusy):
		case strings.Contains(c.err.Error(), "is not the output folder of a sweep"):
		case strings.Contains(c.err.Error(), "merge again"): // a record has been put aside meanwhile
		default:
			w.wrong("%s: %v", c.what, c.err)
		}
	}
}
