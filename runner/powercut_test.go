package runner_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"privkern/runner"
	"privkern/runner/execute/merge"
	"privkern/runner/execute/schedule"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	settings "privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk/disktest"
)

// Variables of the test of power cuts: how many kills, power cuts, full disks and
// failed operations there are to be, and the seed that draws them.
const (
	powerCutsVar    = "PRIVKERN_POWER_CUTS"
	powerCutSeedVar = "PRIVKERN_POWER_CUT_SEED"
)

// Random commands work on the same output folders at the same time, on a disk that
// loses power, fills up and fails, while some of them are killed. What was reported
// is still there, no trial runs twice, nothing torn is read, and in the end the
// same commands finish.
//
// A sequence is a list of rounds, and a round a few commands with one mishap or
// none. Every operation on the disk is a point at which another command may go on.
// Where a sequence fails, rounds are left out as long as it still fails, and what
// is left is printed.
func TestPowerCuts(t *testing.T) {
	wanted, seed := 500, uint64(time.Now().UnixNano())
	for name, set := range map[string]func(string) error{
		powerCutsVar: func(s string) (err error) { wanted, err = strconv.Atoi(s); return err },
		powerCutSeedVar: func(s string) (err error) {
			seed, err = strconv.ParseUint(s, 10, 64)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if text := os.Getenv(name); text != "" {
				if err := set(text); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		})
	}
	// Goroutines of one command share its work by the number of cores.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	c, plans := catalogue(t), nested(t, 3, 5, 6)
	rng := rand.New(rand.NewPCG(seed, 0))
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
		t.Fatalf("%s\n%s=%d draws the same; what happened:\n%s", w.problem, powerCutSeedVar, seed,
			strings.Join(w.transcript, "\n"))
	}
	t.Logf("%+v", total)
	if total.PowerCuts == 0 || total.Kills == 0 || total.FullDisks == 0 || total.Failures == 0 {
		t.Errorf("%+v: some mishap did not happen", total)
	}
}

// mishaps counts what went wrong.
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

// world is a disk with output folders and what is known of them.
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

	mu         sync.Mutex // guards what follows, and what is known of folders
	problem    string     // the first
	saying     sync.Mutex
	transcript []string
	records    int // made so far
	commands   []*command
	repeats    bool // some command of the round runs results again
	blocked    []*blockedProcess
}

// folder is what is known of an output folder.
type folder struct {
	name  string
	plan  int             // the one that is wanted now
	plans map[string]bool // digests that plan.json may have
	// planned says that a plan is there.
	planned bool
	trials  map[string]*recordState
	// kept are contents that must be in the folder somewhere: those that were put
	// aside, and plans that were replaced.
	kept []string
	// withdrawn are those that are in their place again where the power went
	// before their move was durable, and may be replaced there.
	withdrawn []string
}

// recordState is what is known of the record of a trial.
type recordState struct {
	must  bool                     // a record is there, whatever happens
	may   map[string]record.Status // what it may be; of a damaged one the status is ""
	ever  map[string]record.Status // what it may have been
	busy  *command                 // who is running the trial
	merge int                      // merges that write to the folder at present
	best  int                      // rank of what was finished in this round, and may not be replaced by worse
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
	case 5, 6: // others see what a killed command has left, and it is not durable
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

// next takes one of those that are parked.
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

// judge holds the ends of commands against what happened to them.
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

// sweepRun is a command that runs a sweep.
type sweepRun struct {
	world  *world
	folder *folder
	plan   *plan.Plan
	replan bool
	retry  schedule.Retry
	shard  plan.Shard
	jobs   int

	command *command
}

func (r sweepRun) run(c *command) error {
	r.command = c
	w := r.world
	w.mu.Lock()
	r.folder.plans[r.plan.Digest] = true
	w.mu.Unlock()
	sum, err := w.on(c).Run(context.Background(),
		runner.SweepRun{Dir: r.folder.name, Plan: r.plan, Replan: r.replan, Executor: r})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || c.process.Killed() {
		return err
	}
	if sum.NotRun != 0 {
		w.wrong("%s ended well and left %d trials", c.what, sum.NotRun)
	}
	for _, i := range r.shard.Indices(len(r.plan.Trials)) { // reported as there
		r.folder.trials[r.plan.Trials[i].Key].must = true
	}
	return nil
}

// Execute runs the trials here. The plan is frozen by now.
func (r sweepRun) Execute(ctx context.Context, s *store.Store, p *plan.Plan) (schedule.Summary, error) {
	w, f := r.world, r.folder
	w.mu.Lock()
	if !r.command.process.Killed() {
		f.planned = true
		if !slices.ContainsFunc(w.commands, func(c *command) bool { return c != r.command && !c.over() }) {
			f.plans = map[string]bool{p.Digest: true}
		}
		if raw := string(w.disk.Look(path.Join(f.name, "plan.json"))); raw != "" && !slices.Contains(f.kept, raw) {
			f.kept = append(f.kept, raw)
		}
	}
	w.mu.Unlock()
	local := &schedule.Local{Shard: r.shard, Experiments: w.catalogue.Experiments, Options: schedule.Options{
		Jobs: r.jobs, Retry: r.retry, NewRunner: func() schedule.Runner { return r }, Observer: observer{r},
	}}
	return local.Execute(ctx, s, p)
}

func (sweepRun) Close() {}

// Run runs one trial. What it gives depends on the trial alone, but for what it
// cost, and that some fail.
func (r sweepRun) Run(_ context.Context, job trial.Job, _ time.Duration, _ trial.ProgressFunc) (*record.Record, error) {
	w, k := r.world, r.folder.trials[job.Key]
	w.mu.Lock()
	if k.must && r.retry == schedule.RetryNone {
		w.wrong("%s: trial %.8s runs a second time", r.command.what, job.Key)
	}
	if k.busy != nil && k.busy != r.command && !k.busy.process.Killed() {
		w.wrong("%s: trial %.8s is being run by %s", r.command.what, job.Key, k.busy.what)
	}
	k.busy = r.command
	w.records++
	rec, err := trial.NewRecord(job)
	if err == nil {
		rec.Timing.WallS = float64(w.records) // so that no two records are equal
		rec.Status = record.OK
		rec.Metrics = experiment.MetricValues(doubleMetrics{Y: 2 * double.Settings(job.Params).X})
		if w.records%5 == 0 {
			rec.Fail("bad luck")
		}
		k.allow(text(rec), rec.Status)
	}
	w.say("  %s runs %.8s as %d, %s", r.command.process.Name(), job.Key, w.records, rec.Status)
	w.mu.Unlock()
	time.Sleep(50 * time.Microsecond) // some operations of others
	w.mu.Lock()
	k.busy = nil
	w.mu.Unlock()
	return rec, err
}

// text is the file of a record.
func text(r *record.Record) string {
	raw, err := record.Encode(r)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func (k *recordState) allow(text string, status record.Status) {
	k.may[text], k.ever[text] = status, status
}

// observer learns what is durable.
type observer struct{ run sweepRun }

func (o observer) Finished(t plan.Trial, r *record.Record) {
	w, k := o.run.world, o.run.folder.trials[t.Key]
	w.mu.Lock()
	defer w.mu.Unlock()
	if o.run.command.process.Killed() {
		return
	}
	k.must = true
	if k.merge == 0 {
		k.may = map[string]record.Status{}
	}
	k.allow(text(r), r.Status)
	k.best = max(k.best, rank(r.Status))
	w.say("  %s finished %.8s", o.run.command.process.Name(), t.Key)
}

func (observer) Ahead(plan.Workload)                {}
func (observer) Planned(int, int)                   {}
func (observer) FailedBefore(plan.Trial, string)    {}
func (observer) Started(plan.Trial)                 {}
func (observer) Inner(plan.Trial, int, int, string) {}
func (observer) Elsewhere(plan.Trial)               {}
func (observer) Waiting(int)                        {}
func (observer) Aside(store.Aside)                  {}

func (observer) Again(plan.Trial, *trial.Trouble, int, int, time.Duration) {}

func (observer) GivenUp(plan.Trial, *trial.Trouble, int) {}

// merge unites the first two folders in the third.
func (w *world) merge(c *command) error {
	from, into := w.names[:2], w.folders[w.names[2]]
	must := map[string]bool{}
	best := map[string]int{} // rank, in the folders as they are
	adopt := func() {
		for _, name := range from {
			maps.Copy(into.plans, w.folders[name].plans)
			for key, k := range w.folders[name].trials {
				for text, status := range k.ever {
					into.trials[key].allow(text, status)
				}
			}
		}
	}
	w.mu.Lock()
	for _, name := range w.names {
		for key, k := range w.folders[name].trials {
			must[key] = must[key] || k.must
			if k.must {
				best[key] = max(best[key], rank(k.may[w.content(name, key)]))
			}
		}
	}
	adopt()
	for _, k := range into.trials {
		k.merge++
	}
	w.mu.Unlock()
	report, err := merge.FoldersOn(c.process, into.name, from, "", w.catalogue.Experiments)
	w.mu.Lock()
	defer w.mu.Unlock()
	adopt()
	for _, k := range into.trials {
		k.merge--
	}
	if err != nil || c.process.Killed() {
		return err
	}
	into.planned = true
	for _, p := range w.plans {
		if report.Total != len(p.Trials) {
			continue
		}
		for _, x := range p.Trials {
			if !must[x.Key] {
				continue
			}
			k := into.trials[x.Key]
			k.must = true
			if got := rank(k.may[w.content(into.name, x.Key)]); c.alone && got < best[x.Key] {
				w.wrong("merge: the record of %.8s has rank %d, one of another folder %d", x.Key, got, best[x.Key])
			}
		}
	}
	return nil
}

// rank orders records by what they are worth.
func rank(s record.Status) int { return slices.Index([]record.Status{"", record.Failed, record.OK}, s) }

// content is what the file of a trial holds.
func (w *world) content(folder, key string) string {
	return string(w.disk.Look(recordPath(folder, key)))
}

func recordPath(folder, key string) string { return path.Join(folder, "trials", key+".json") }

// withdraw puts a record aside.
func (w *world) withdraw(c *command, f *folder, key string) error {
	s, err := store.CreateOn(c.process, f.name)
	if err != nil {
		return err
	}
	k, before := f.trials[key], w.content(f.name, key)
	k.must = false
	err = errors.Join(s.Withdraw(key), s.Close())
	if k.may[before] != "" && w.content(f.name, key) == "" {
		f.withdrawn = append(f.withdrawn, before)
	}
	return err
}

// damage changes a record that is there: flips a bit, or takes away what records of
// early versions lack.
func (w *world) damage() {
	f := w.folders[w.names[w.rng.IntN(len(w.names))]]
	for _, key := range slices.Sorted(maps.Keys(f.trials)) {
		k := f.trials[key]
		now := w.content(f.name, key)
		status := k.may[now]
		if !k.must || status == "" || w.rng.IntN(2) == 0 {
			continue
		}
		r, err := record.Parse([]byte(now))
		if err != nil || !r.Sealed() { // what is changed of an unsealed one, nobody can know
			continue
		}
		if w.rng.IntN(2) == 0 {
			raw := []byte(now)
			raw[w.rng.IntN(len(raw))] ^= 1 << w.rng.IntN(8)
			w.say("damage %s %.8s", f.name, key)
			k.must, k.may = false, map[string]record.Status{}
			k.may[string(raw)] = ""
			f.kept = append(f.kept, string(raw))
			w.plant(recordPath(f.name, key), raw)
			return
		}
		if !f.planned {
			return
		}
		r.ResultVersion = 0
		old := text(r)
		sealed, err := record.Seal([]byte(old), double.Version)
		if err != nil {
			w.wrong("%v", err)
		}
		w.say("unseal %s %.8s", f.name, key)
		k.may = map[string]record.Status{}
		k.allow(old, status)
		k.allow(string(sealed), status)
		w.plant(recordPath(f.name, key), []byte(old))
		return
	}
}

func (w *world) plant(name string, data []byte) {
	if err := w.disk.Plant(name, data); err != nil {
		w.wrong("%v", err)
	}
}

// check holds the disk against what is known. After a power cut what is there is
// durable, and all that is known.
func (w *world) check(cut bool) {
	for _, name := range w.names {
		f := w.folders[name]
		w.checkPlan(f, cut)
		for _, key := range slices.Sorted(maps.Keys(f.trials)) {
			w.checkRecord(f, key, cut)
		}
		w.checkKept(f, cut)
	}
}

func (w *world) checkPlan(f *folder, cut bool) {
	raw := w.disk.Look(path.Join(f.name, "plan.json"))
	if raw == nil {
		if f.planned {
			w.wrong("%s has lost its plan", f.name)
		}
		return
	}
	p, err := plan.Verify(raw, w.catalogue.Experiments)
	if err != nil {
		w.wrong("the plan of %s: %v", f.name, err)
		return
	}
	if !f.plans[p.Digest] {
		w.wrong("%s has the plan of %d trials, which it had before", f.name, len(p.Trials))
	}
	if cut {
		f.planned, f.plans = true, map[string]bool{p.Digest: true}
	}
}

func (w *world) checkRecord(f *folder, key string, cut bool) {
	k := f.trials[key]
	now := w.content(f.name, key)
	status, allowed := k.may[now]
	switch {
	case now == "" && w.disk.Look(recordPath(f.name, key)) == nil:
		if k.must {
			w.wrong("%s has lost the record of %.8s", f.name, key)
		}
	case !cut && k.best > rank(status) && !w.repeats:
		w.wrong("%s: %.8s was finished with rank %d, and has a record of rank %d", f.name, key, k.best, rank(status))
	case !allowed:
		w.wrong("%s has a record of %.8s that was not written, or that a later one had replaced:\n%q", f.name, key, now)
	}
	if sealed, err := record.CheckDigest([]byte(now), "digest"); status != "" && (err != nil || !sealed) &&
		strings.Contains(now, `"result_version"`) {
		w.wrong("%s: the digest of %.8s: %v", f.name, key, err)
	}
	if cut {
		k.must, k.may = status != "", map[string]record.Status{}
		if now != "" {
			k.may[now] = status
		}
		if r, err := record.Parse([]byte(now)); err == nil && !r.Sealed() {
			if text, err := record.Seal([]byte(now), double.Version); err == nil {
				k.may[string(text)] = status
			}
		}
	}
}

// checkKept looks for what was put aside.
func (w *world) checkKept(f *folder, cut bool) {
	there := map[string]bool{string(w.disk.Look(path.Join(f.name, "plan.json"))): true}
	for _, below := range []string{"aside", "trials"} {
		for _, name := range w.disk.List(path.Join(f.name, below)) {
			there[string(w.disk.Look(path.Join(f.name, below, name)))] = true
		}
	}
	if cut {
		f.withdrawn = slices.DeleteFunc(f.withdrawn, func(content string) bool {
			return slices.ContainsFunc(slices.Collect(maps.Keys(f.trials)), func(key string) bool {
				return w.content(f.name, key) == content
			})
		})
	}
	for _, content := range slices.Concat(f.kept, f.withdrawn) {
		if !there[content] {
			w.wrong("%s has lost what was put aside:\n%q", f.name, content)
		}
	}
}

// finish lets every command end well, cuts the power and looks at what is left.
func (w *world) finish() {
	if w.problem != "" {
		return
	}
	w.say("--- the end")
	w.repeats = true
	w.disk.Before = nil
	for _, name := range w.names {
		f := w.folders[name]
		c := &command{process: w.disk.Process("end"), what: "the last sweep of " + name, ended: make(chan struct{})}
		f.plan = len(w.plans) - 1
		r := sweepRun{world: w, folder: f, plan: w.plans[f.plan], replan: true, jobs: 1}
		if err := r.run(c); err != nil {
			w.wrong("%s: %v", c.what, err)
		}
		close(c.ended)
		if _, err := w.on(c).Check(name, true, ""); err != nil {
			w.wrong("check --repair %s: %v", name, err)
		} else if k, err := w.on(c).Check(name, false, ""); err != nil || len(k.Problems)+k.Unsealed > 0 ||
			k.Records != len(r.plan.Trials) {
			w.wrong("check %s: %+v, %v", name, k, err)
		}
	}
	w.disk = w.disk.PowerCut(rand.New(rand.NewPCG(uint64(w.records), 2)))
	w.check(true)
}
