package cli

import (
	"context"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"privkern/graphs/backend"
	"privkern/graphs/cost"
	"privkern/graphs/cuda"
	"privkern/graphs/engine"
	"privkern/runner/execute/machine"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
)

// Where there is a device, --backend auto tries trials of a plan on the CPU, at most triedTrials of
// them, and short ones up to repeatedTrials times, for predictionTime in all, or for predictionShare
// of the plan's time where that is more. A trial of a plan of many may take longTrial. One that
// does not heed its end is left to itself after lateTrial.
const (
	predictionTime  = time.Second
	predictionShare = 0.05
	triedTrials     = 5
	repeatedTrials  = 5
	longTrial       = 10 * time.Second
	lateTrial       = 5 * time.Second
)

// chooseTrial is choose for one trial in this process.
func (a *app) chooseTrial(cmd *cobra.Command, s sweep.Assignment, o trialOptions) (backend.Choice, error) {
	if o.backend != backend.Auto {
		return a.choose(o.backend, o.dtype)
	}
	p := pilot{app: a, dtype: o.dtype, jobs: 1, workers: runtime.GOMAXPROCS(0), memory: availableMemory(o.ignoreMemory)}
	return a.chooseFor(o.dtype, func() (cost.Plan, error) {
		tried, err := p.try(cmd.Context(), []sweep.Assignment{s})
		return cost.Plan{Tried: tried, Jobs: 1, DeviceJobs: 1, Devices: 1, Starts: 1}, err
	})
}

// choosePlan is choose for a plan that workers of this machine run. The device is opened to test
// it, given back, and opened by the workers.
func (a *app) choosePlan(cmd *cobra.Command, o *runOptions, w *plan.Draft) (backend.Choice, error) {
	p := pilot{app: a, dtype: w.DType, jobs: min(o.jobs, runtime.GOMAXPROCS(0)),
		workers: max(1, runtime.GOMAXPROCS(0)/o.jobs), memory: availableMemory(o.ignoreMemory)}
	return a.chooseFor(w.DType, func() (cost.Plan, error) {
		tried, err := p.try(cmd.Context(), w.Settings)
		devices := 1
		if os.Getenv(engine.DeviceVariable) == "" {
			devices = cuda.Count()
		}
		jobs := devices
		if cmd.Flags().Changed("jobs") {
			jobs = o.jobs
		}
		return cost.Plan{Tried: tried, Jobs: p.jobs, DeviceJobs: jobs, Devices: devices,
			Starts: 2}, err
	})
}

// chooseFor chooses the backend by a prediction, and reports why.
func (a *app) chooseFor(dtype string, predict func() (cost.Plan, error)) (backend.Choice, error) {
	c, notice, err := backend.ChooseFor(dtype, predict)
	if notice != nil {
		a.complain("%v", notice)
	}
	return a.chosen(c, err)
}

// pilot tries trials on the CPU while their work is counted. Their results go nowhere.
type pilot struct {
	*app
	dtype         string
	jobs, workers int
	memory        int64 // available; 0 for no limit
}

// try tries some of the settings, which stand for all. Those are left out whose data are missing,
// that may not fit into memory, and programs of the user's.
func (p pilot) try(ctx context.Context, settings []sweep.Assignment) (tried []cost.Tried, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as workers have it
	n := float64(len(settings)) / float64(p.jobs)
	budget, start, host := predictionTime, time.Now(), 0.0
	for i, s := range spaced(settings) {
		limit := budget - time.Since(start)
		if i == 0 && n*predictionShare >= 1 {
			limit = longTrial
		}
		if limit < predictionTime/20 {
			break
		}
		t, ok, err := p.measure(ctx, s, limit)
		if err != nil {
			return nil, err
		}
		if ok {
			tried = append(tried, t)
			host += t.Host
			mean := host / float64(len(tried))
			budget = max(predictionTime, time.Duration(predictionShare*n*mean*float64(time.Second)))
		}
	}
	for i := range tried {
		tried[i].Trials = float64(len(settings)) / float64(len(tried))
	}
	return tried, nil
}

// spaced returns evenly spaced settings, the middle one first.
func spaced(settings []sweep.Assignment) (out []sweep.Assignment) {
	n := min(len(settings), triedTrials)
	for i := range n {
		j := (i + n/2) % n
		out = append(out, settings[(2*j+1)*len(settings)/(2*n)])
	}
	return out
}

// measure tries one trial for some time, a short one several times. ok is false where it cannot be
// tried.
func (p pilot) measure(ctx context.Context, s sweep.Assignment, limit time.Duration,
) (best cost.Tried, ok bool, err error) {
	e := s.Experiment
	if e.External {
		return best, false, nil
	}
	t, folders, missing, err := plan.Single(s, p.datasets(), plan.Options{Backend: "cpu", DType: p.dtype})
	if err != nil || missing != nil {
		return best, false, err
	}
	if e.Memory != nil && machine.MemoryRefusal(e.Memory(s.Params), p.memory, processLimit(p.memory == 0)) != "" {
		return best, false, nil
	}
	job := trial.Job{Key: t.Key, Identity: t.Identity, Workers: p.workers, Folders: folders}
	if e.Timed() {
		job.Workers = runtime.GOMAXPROCS(0)
	}
	for start, run := time.Now(), 0; run < repeatedTrials; run++ {
		once, whole, measured := tryTrial(ctx, e, job, limit)
		if ctx.Err() != nil {
			return best, false, context.Cause(ctx)
		}
		if measured && (!ok || once.Host < best.Host) {
			best, ok = once, true
		}
		if !whole || time.Since(start) > limit/20 {
			break
		}
	}
	best.Alone = e.Timed()
	return best, ok, nil
}

// tryTrial runs a trial for some time. whole reports whether it has ended, and measured that there
// are times: of one that has not, which a run of a program has to have begun, and whose length
// nobody knows, twice the part, the second time as in the second half of it.
func tryTrial(ctx context.Context, e *experiment.Experiment, job trial.Job, limit time.Duration,
) (t cost.Tried, whole, measured bool) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	opened, ended := make(chan *engine.Engine, 1), make(chan *record.Record, 1)
	began := time.Now()
	go func() {
		r, _ := trial.Execute(ctx, e, job, func(backend, dtype string, workers int) (io.Closer, error) {
			x, err := engine.Open(backend, dtype, workers)
			if err == nil {
				x.StartCounting()
				opened <- x
			}
			return x, err
		}, nil)
		ended <- r // nil where the time or the machine ended it
	}()
	var x *engine.Engine
	half, late := time.After(limit/2), time.After(limit+lateTrial)
	var first cost.Tried
	for wait := true; wait; {
		select {
		case x = <-opened:
		case <-half:
			first = times(x, began)
		case r := <-ended:
			if r != nil && r.Status != record.OK { // its time tells nothing of others
				return t, false, false
			}
			wait, whole = false, r != nil
		case <-late:
			wait = false
		}
	}
	select {
	case x = <-opened: // it was seen to end first
	default:
	}
	if x == nil {
		return t, whole, false
	}
	t = times(x, began)
	if whole {
		return t, true, true
	}
	second := cost.Tried{Host: t.Host - first.Host, Outside: max(0, t.Outside-first.Outside),
		Device: t.Device - first.Device}
	if second.Device == 0 {
		second = t
	}
	again := t.Host / second.Host
	measured = t.Device > 0
	t.Host, t.Outside, t.Device = 2*t.Host, t.Outside+again*second.Outside, t.Device+again*second.Device
	return t, false, measured
}

// times are those of a trial so far, which began at some time. The share of its programs is that of
// the processor time.
func times(x *engine.Engine, began time.Time) cost.Tried {
	t := cost.Tried{Host: time.Since(began).Seconds()}
	t.Outside = t.Host
	if x == nil {
		return t
	}
	p := x.Profile()
	if p.CPU != nil {
		t.Outside *= max(0, 1-p.CPU.Share)
	}
	t.Device = p.Total.Own
	return t
}
