package slurm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"privkern/runner/plan"
	"privkern/runner/plural"
	"privkern/runner/record"
	"privkern/runner/schedule"
	"privkern/runner/store"
)

// Two looks at the queue must agree that a task is gone.
const missesBeforeGone = 2

// How a task ended that Slurm does not know any more, or could not start.
const (
	gone         = "GONE"
	launchFailed = "LAUNCH_FAILED"
)

// watch follows one run of an executor.
type watch struct {
	*Executor
	dir    string
	store  *store.Store
	plan   *plan.Plan
	digest string
	start  time.Time

	unlock  func() // not nil: this program submits and cancels; others only look on
	journal *journal
	results *results
	summary schedule.Summary
	limit   int // tasks of an array job; 0 until asked

	seen     map[place]*end // tasks that are not in the queue any more, or ended there
	live     []string       // jobs with live tasks, at the last look
	pending  bool           // some of their tasks wait
	trouble  string         // what was last wrong with the queue
	refused  time.Time      // when a submission was last refused
	followed bool           // that another program submits has been said
}

// place is where a task is in the journal. It names the task in any case: a
// controller that lost its state gives ids a second time.
type place struct{ number, index int }

// end is what is known of a task that is over.
type end struct {
	state  string // "" while it may only be late in the queue
	since  time.Time
	misses int
}

// run follows the plan to its end, or to that of the context.
func (w *watch) run(ctx context.Context) (err error) {
	defer func() {
		if jobs := w.ours(); err != nil && len(jobs) > 0 && ctx.Err() == nil && !errors.Is(err, schedule.ErrFailFast) {
			w.Observer.Notice(theyGoOn(jobs), true)
		}
	}()
	for {
		open, err := w.open(ctx)
		if err != nil {
			return err
		}
		if w.results != nil {
			failed, err := w.look()
			if err != nil {
				return err
			}
			switch {
			case failed && w.FailFast:
				return errors.Join(schedule.ErrFailFast, w.stop(context.WithoutCancel(ctx)))
			case w.results.total == 0:
				return w.finish(context.WithoutCancel(ctx))
			case !open: // another program has given up what is left
				return nil
			}
			done, err := w.follow(context.WithoutCancel(ctx))
			if err != nil || done {
				return err
			}
		}
		select {
		case <-ctx.Done():
			w.interrupted(context.WithoutCancel(ctx))
			return ctx.Err()
		case <-time.After(w.interval()):
		}
	}
}

// interval grows with the time that the run takes: a controller serves many.
func (w *watch) interval() time.Duration {
	if w.Poll > 0 {
		return w.Poll
	}
	return min(max(time.Since(w.start)/50, time.Second), 15*time.Second)
}

// open takes control if nobody has it, and opens a round or attaches to the one
// that is open. It returns false where the round was closed by another program.
func (w *watch) open(ctx context.Context) (bool, error) {
	gained := false
	if w.unlock == nil {
		unlock, ok, err := w.store.Lock(folder)
		if err != nil {
			return false, err
		}
		if ok {
			w.unlock, gained = unlock, true
		}
	}
	if w.unlock != nil && !gained {
		return true, nil // the journal is this program's own
	}
	j, err := readJournal(w.dir)
	if err != nil {
		return false, err
	}
	switch {
	case j != nil && j.Open && j.Plan == w.digest && w.journal == nil:
		w.journal = j
		return true, w.attach()
	case j != nil && j.Open && w.journal != nil && j.Round == w.journal.Round:
		w.journal = j // with what the program in control has submitted since
		return true, nil
	case w.journal != nil:
		return false, nil
	case w.unlock == nil:
		if !w.followed {
			w.followed = true
			w.Observer.Notice("another run of this folder is about to submit its jobs; following it", false)
		}
		return true, nil
	}
	if j == nil {
		j = &journal{}
	}
	if j.Open {
		if err := w.noneLeft(ctx, j); err != nil {
			return false, err
		}
	}
	return true, w.begin(ctx, j)
}

// attach follows a round that another run has begun.
func (w *watch) attach() error {
	j := w.journal
	if jobs := j.jobs(); len(jobs) > 0 {
		w.Observer.Notice(fmt.Sprintf("attached to %s, begun %s", jobNames(jobs), j.Started.Local().Format("2006-01-02 15:04:05")), false)
	}
	if w.Retry != schedule.RetryNone {
		w.Observer.Notice("--retry is for a new run: what is under way goes on", false)
	}
	if n := w.parts(len(w.plan.Trials)); w.TrialsPerTask > 0 && n != j.Parts {
		w.Observer.Notice(fmt.Sprintf("--trials-per-task is for a new run: the plan was submitted in %s", plural.Count(j.Parts, "part")), false)
	}
	w.results = newResults(w.store, w.plan, j.Parts, j.Started)
	return w.planned()
}

// begin opens a round, if there is anything to do.
func (w *watch) begin(ctx context.Context, j *journal) error {
	if w.Retry != schedule.RetryNone {
		// No record is put aside for a job that would be refused.
		if err := w.askLimit(ctx); err != nil {
			return err
		}
		if err := trySubmit(ctx, w.Options); err != nil {
			return err
		}
	}
	if err := w.withdraw(w.store, w.plan); err != nil {
		return err
	}
	parts := w.parts(len(w.plan.Trials))
	// A trial that was skipped is always looked at again.
	before := newResults(w.store, w.plan, parts, time.Unix(1<<62, 0))
	if err := before.update(func(plan.Trial, *record.Record) {}); err != nil {
		return err
	}
	if before.total > 0 {
		if err := j.begin(w.dir, w.digest, parts); err != nil {
			return err
		}
		w.journal = j
	}
	w.results = newResults(w.store, w.plan, parts, j.Started)
	if before.total == 0 {
		w.results.since = time.Time{}
	}
	return w.planned()
}

// planned counts what has a result at the start.
func (w *watch) planned() error {
	type failure struct {
		t      plan.Trial
		reason string
	}
	var failed []failure
	if err := w.results.update(func(t plan.Trial, rec *record.Record) {
		w.summary.Count(rec.Status)
		w.summary.Cached++
		if rec.Status == record.Failed && rec.Error != nil {
			failed = append(failed, failure{t, *rec.Error})
		}
	}); err != nil {
		return err
	}
	w.Observer.Planned(w.summary.Total, w.summary.Cached)
	for _, f := range failed {
		w.Observer.FailedBefore(f.t, f.reason)
	}
	return nil
}

// look takes note of new results; failed says whether one of them is a failure.
func (w *watch) look() (failed bool, err error) {
	err = w.results.update(func(t plan.Trial, rec *record.Record) {
		w.summary.Count(rec.Status)
		w.Observer.Finished(t, rec)
		failed = failed || rec.Status == record.Failed
	})
	return failed, err
}

// noneLeft refuses to replace a plan under jobs that work on it.
func (w *watch) noneLeft(ctx context.Context, j *journal) error {
	tasks, err := queue(ctx, w.users(j))
	if err != nil {
		return err
	}
	var jobs []string
	for _, s := range j.current() {
		for id, t := range tasks {
			if t.live() && t.name == s.Name && !slices.Contains(jobs, id.job) {
				jobs = append(jobs, id.job)
			}
		}
	}
	if len(jobs) > 0 {
		return fmt.Errorf("jobs of the plan that was in %s before are still there; wait for their end, or cancel them: scancel %s", w.dir, strings.Join(jobs, " "))
	}
	return nil
}

// users are those whose jobs are looked at.
func (w *watch) users(j *journal) []string {
	users := map[string]bool{fmt.Sprint(os.Getuid()): true}
	for _, s := range j.current() {
		users[s.User] = true
	}
	return slices.Sorted(maps.Keys(users))
}

// last is the latest task of a part.
type last struct {
	submission submission
	index      int
	tries      int
}

func (l last) place() place { return place{l.submission.Number, l.index} }

// follow looks at the queue, submits what has no task, and submits lost tasks
// again. It is done where all that is left was lost too often.
func (w *watch) follow(ctx context.Context) (done bool, err error) {
	tasks, err := queue(ctx, w.users(w.journal))
	if err != nil {
		if len(w.journal.current()) == 0 {
			return false, err
		}
		// A controller that is down for a while costs nothing: tasks go on.
		if w.trouble != err.Error() {
			w.trouble = err.Error()
			w.Observer.Notice(fmt.Sprintf("the queue cannot be read (%v); trying again", err), true)
		}
		w.Observer.Queue("the queue cannot be read")
		return false, nil
	}
	if w.trouble != "" {
		w.trouble = ""
		w.Observer.Notice("the queue can be read again", true)
	}
	if w.unlock != nil {
		if err := w.adopt(tasks); err != nil {
			return false, err
		}
	}
	lives, latest, err := w.survey(ctx, tasks)
	if err != nil || w.unlock == nil {
		return false, err
	}
	return w.act(ctx, lives, latest)
}

// adopt finds the ids of jobs that were submitted by a program that did not live
// to write them down, and strikes out those that never were.
func (w *watch) adopt(tasks map[taskID]task) error {
	changed := false
	var kept []submission
	for _, s := range w.journal.Submissions {
		if s.Job == "" && s.Round == w.journal.Round {
			changed = true
			for id, t := range tasks {
				if t.name == s.Name {
					s.Job = id.job
				}
			}
			if s.Job == "" {
				continue
			}
		}
		kept = append(kept, s)
	}
	if !changed {
		return nil
	}
	w.journal.Submissions = kept
	return w.journal.write(w.dir)
}

// survey sorts the round's tasks into live ones and ended ones. It returns which
// parts have live tasks, and the latest task of every part.
func (w *watch) survey(ctx context.Context, tasks map[taskID]task) (lives map[int]bool, latest map[int]last, err error) {
	lives, latest = map[int]bool{}, map[int]last{}
	running, waiting, reasons := 0, 0, map[string]int{}
	w.live, w.pending = nil, false
	type missing struct {
		id   taskID
		name string
	}
	absent := map[place]missing{}
	for _, s := range w.journal.current() {
		alive := false
		for i, part := range s.Parts {
			id, at := taskID{s.Job, i}, place{s.Number, i}
			t, known := tasks[id]
			known = known && t.name == s.Name
			latest[part] = last{s, i, latest[part].tries + 1}
			switch {
			case known && t.stuck():
				if w.unlock != nil {
					if err := cancel(ctx, id.String()); err != nil {
						return nil, nil, err
					}
				}
				w.end(at).state = launchFailed
			case known && t.live():
				alive, lives[part] = true, true
				delete(w.seen, at) // it was late
				if t.state == "PENDING" {
					waiting++
					reasons[t.reason]++
				} else {
					running++
				}
			case w.results.left[part-1] == 0 || s.Job == "":
			case known:
				if e := w.end(at); e.state == "" {
					e.state = t.state
				}
			default:
				if e := w.end(at); e.state == "" {
					if e.misses++; e.misses >= missesBeforeGone {
						absent[at] = missing{id, s.Name}
					}
				}
			}
		}
		if alive {
			w.live = append(w.live, s.Job)
		}
	}
	w.pending = waiting > 0
	w.Observer.Queue(queueText(running, waiting, reasons))
	if len(absent) == 0 {
		return lives, latest, nil
	}
	jobs := map[string]bool{}
	for _, m := range absent {
		jobs[m.id.job] = true
	}
	known := accounted(ctx, slices.Sorted(maps.Keys(jobs)))
	for at, m := range absent {
		w.seen[at].state = gone
		if t, ok := known[m.id]; ok && t.name == m.name && !t.live() {
			w.seen[at].state = t.state
		}
	}
	return lives, latest, nil
}

func (w *watch) end(at place) *end {
	e := w.seen[at]
	if e == nil {
		e = &end{since: time.Now()}
		w.seen[at] = e
	}
	return e
}

// act submits the parts that have no task yet and those whose task was lost.
func (w *watch) act(ctx context.Context, lives map[int]bool, latest map[int]last) (done bool, err error) {
	settle := w.Settle
	if settle == 0 {
		settle = 10 * time.Second
	}
	var (
		fresh, again, givenUp []int
		states                = map[string]int{}
		unsettled             bool
	)
	for i, left := range w.results.left {
		part := i + 1
		l, submitted := latest[part]
		switch e := w.seen[l.place()]; {
		case left == 0 || lives[part]:
		case !submitted:
			fresh = append(fresh, part)
		case e == nil || e.state == "" || time.Since(e.since) < settle:
			unsettled = true
		case l.tries > w.Retries:
			givenUp = append(givenUp, part)
		default:
			again = append(again, part)
			states[e.state]++
		}
	}
	if len(again) > 0 && w.mayAsk() {
		w.Observer.Notice(lost(again, states, w.journal.Parts), true)
	}
	for _, parts := range [][]int{fresh, again} {
		if len(parts) == 0 || !w.mayAsk() {
			continue
		}
		if rest, err := w.submit(ctx, parts); err != nil {
			var refused *CommandError
			if !errors.As(err, &refused) || len(w.live) == 0 {
				return false, err
			}
			// Limits of a user's jobs: there may be room when some have ended.
			w.refused = time.Now()
			w.Observer.Notice(fmt.Sprintf("%s cannot be submitted now (%v); trying again while others run", plural.Count(rest, "part"), err), true)
		}
	}
	if len(fresh)+len(again) > 0 || unsettled || len(lives) > 0 && w.leftIn(lives) {
		return false, nil
	}
	if len(givenUp) == 0 {
		return false, nil
	}
	w.report(givenUp, latest)
	return true, w.close()
}

// mayAsk says whether a submission may be tried: not within a minute after one
// was refused, except where nothing runs.
func (w *watch) mayAsk() bool {
	return len(w.live) == 0 || w.refused.IsZero() || time.Since(w.refused) > time.Minute
}

// leftIn says whether a part with a live task lacks results.
func (w *watch) leftIn(lives map[int]bool) bool {
	for part := range lives {
		if w.results.left[part-1] > 0 {
			return true
		}
	}
	return false
}

// askLimit finds out how many tasks an array job has at most.
func (w *watch) askLimit(ctx context.Context) error {
	if w.limit > 0 {
		return nil
	}
	limit, err := arrayLimit(ctx)
	if err != nil {
		return err
	}
	if w.Chunk > limit {
		return fmt.Errorf("--array-chunk is %d; this site allows array jobs of at most %s (MaxArraySize)", w.Chunk, plural.Count(limit, "task"))
	}
	w.limit = min(limit, DefaultChunk)
	if w.Chunk > 0 {
		w.limit = w.Chunk
	}
	return nil
}

// submit submits parts as array jobs within the site's limit. Where one is not
// taken, rest counts the parts that are left.
func (w *watch) submit(ctx context.Context, parts []int) (rest int, err error) {
	rest = len(parts)
	if err := w.askLimit(ctx); err != nil {
		return rest, err
	}
	for chunk := range slices.Chunk(parts, w.limit) {
		if err := w.submitJob(ctx, chunk); err != nil {
			return rest, err
		}
		rest -= len(chunk)
	}
	return 0, nil
}

// submitJob submits one array job. The journal tells of it before Slurm does.
func (w *watch) submitJob(ctx context.Context, parts []int) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	if strings.ContainsAny(w.dir+cwd, "\"\\\n") {
		return fmt.Errorf("batch scripts cannot name folders with a quote, a backslash or a line break: %q, %q", w.dir, cwd)
	}
	s := w.journal.next(parts)
	options := []Option{
		{"job-name", s.Name}, array(len(parts), w.MaxRunning), {"output", logPattern(w.dir, s.Number)}, {"open-mode", "truncate"},
		{"chdir", cwd}, {"no-requeue", ""},
	}
	options = append(options, w.Options...)
	if w.MaxRunning > 0 && len(w.live) > 0 {
		// The limit is one of an array job: so one follows upon another.
		options = after(options, w.live[len(w.live)-1])
	}
	text := script{
		name: s.Name, title: w.plan.Title, parts: parts, of: w.journal.Parts, options: options, environment: w.Environment,
		program: w.Program, work: w.Work, dir: w.dir,
	}.text()
	path := filepath.Join(w.dir, s.Script)
	if err := store.WriteFile(path, []byte(text)); err != nil {
		return err
	}
	s.Submitted = time.Now().UTC().Truncate(time.Second)
	w.journal.Submissions = append(w.journal.Submissions, s)
	if err := w.journal.write(w.dir); err != nil {
		return err
	}
	mine := &w.journal.Submissions[len(w.journal.Submissions)-1]
	if mine.Job, err = submit(ctx, path, options); err != nil {
		// Without an answer it may be there; then it is found by its name.
		if !errors.Is(err, errNoAnswer) {
			w.journal.Submissions = w.journal.Submissions[:len(w.journal.Submissions)-1]
		}
		return errors.Join(err, w.journal.write(w.dir))
	}
	w.live = append(w.live, mine.Job)
	w.Observer.Notice(fmt.Sprintf("submitted %s as job %s", plural.Count(len(parts), "task"), mine.Job), false)
	return w.journal.write(w.dir)
}

// after makes a job wait for the end of another.
func after(options []Option, job string) []Option {
	value := "afterany:" + job
	for i, o := range options {
		if o.Name == "dependency" {
			options[i].Value = value + "," + o.Value
			return options
		}
	}
	return append(options, Option{"dependency", value})
}

// ours are the jobs that are there and that this program answers for.
func (w *watch) ours() []string {
	if w.unlock == nil || w.journal == nil || !w.journal.Open {
		return nil
	}
	return w.live
}

// interrupted leaves the jobs, or cancels them where that is the answer.
func (w *watch) interrupted(ctx context.Context) {
	jobs := w.ours()
	if len(jobs) == 0 {
		return
	}
	if w.Cancel != nil && w.Cancel(len(jobs)) {
		err := w.stop(ctx)
		if err == nil {
			return
		}
		w.Observer.Notice(fmt.Sprintf("not cancelled: %v", err), true)
	}
	w.Observer.Notice(theyGoOn(jobs), true)
}

// stop cancels what is there.
func (w *watch) stop(ctx context.Context) error {
	jobs := w.ours()
	if err := cancel(ctx, jobs...); err != nil {
		return err
	}
	if len(jobs) > 0 {
		w.Observer.Notice("cancelled "+jobNames(jobs), true)
	}
	return w.close()
}

// finish ends a round of which all trials have a result. Tasks that have not
// begun are not needed any more; those that have are about to end.
func (w *watch) finish(ctx context.Context) error {
	if w.unlock != nil && w.pending && len(w.live) > 0 {
		// It fails where they have begun since; then they find nothing to do.
		_ = cancel(ctx, append([]string{"--state=PENDING"}, w.live...)...)
	}
	return w.close()
}

// close closes the round.
func (w *watch) close() error {
	if w.unlock == nil || w.journal == nil || !w.journal.Open {
		return nil
	}
	w.journal.Open = false
	return w.journal.write(w.dir)
}
