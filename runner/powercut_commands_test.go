package runner_test

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"time"

	"privkern/runner"
	"privkern/runner/execute/merge"
	"privkern/runner/execute/schedule"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
)

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

// Run runs one trial. Its result depends on the trial alone, except for its cost, and
// some trials fail.
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

// observer notes durable results.
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

func (observer) Ahead(plan.Workload)                                       {}
func (observer) Planned(int, int)                                          {}
func (observer) FailedBefore(plan.Trial, string)                           {}
func (observer) Started(plan.Trial)                                        {}
func (observer) Inner(plan.Trial, int, int, string)                        {}
func (observer) Elsewhere(plan.Trial)                                      {}
func (observer) Waiting(int)                                               {}
func (observer) Aside(store.Aside)                                         {}
func (observer) Again(plan.Trial, *trial.Trouble, int, int, time.Duration) {}
func (observer) GivenUp(plan.Trial, *trial.Trouble, int)                   {}

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
	report, err := merge.Folders(c.process, into.name, from, "", w.catalogue.Experiments)
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

// rank orders records by their use.
func rank(s record.Status) int { return slices.Index([]record.Status{"", record.Failed, record.OK}, s) }

// content returns the content of the file of a trial.
func (w *world) content(folder, key string) string {
	return string(w.disk.Look(recordPath(folder, key)))
}

func recordPath(folder, key string) string { return path.Join(folder, "trials", key+".json") }

// withdraw puts a record aside.
func (w *world) withdraw(c *command, f *folder, key string) error {
	s, err := store.Create(c.process, f.name)
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
