package schedule

import (
	"fmt"
	"slices"

	"privkern/runner/execute/machine"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/text"
)

// requests returns the demands of the pending trials in the order in which they run:
// that of the plan, but timed trials last, so that workers idle only once.
func (r *run) requests(pending []int) ([]*request, error) {
	var out, timed []*request
	for _, index := range pending {
		t := r.plan.Trials[index]
		e, err := r.experiments.Lookup(t.Experiment)
		if err != nil {
			return nil, err
		}
		next := &request{index: index}
		if r.refusal(e, t.Params) == "" { // a refused trial takes nothing
			next.memory, next.alone = e.Peak(t.Params), e.Timed() && !r.opts.ShareTimings
		}
		if next.alone {
			timed = append(timed, next)
		} else {
			out = append(out, next)
		}
	}
	return append(out, timed...), nil
}

// workload returns the trials to be run and the durations of earlier ones.
func (r *run) workload(requests []*request) plan.Workload {
	w := plan.Workload{Plan: r.plan, Past: r.past, Jobs: r.opts.Jobs}
	for _, q := range requests {
		if q.alone {
			w.Alone = append(w.Alone, q.index)
		} else {
			w.Pending = append(w.Pending, q.index)
		}
	}
	return w
}

// refusal returns the reason for which the machine cannot run a trial; "" where it can.
func (r *run) refusal(e *experiment.Experiment, p experiment.Params) string {
	return machine.MemoryRefusal(declared(e, p), r.opts.Memory, r.opts.Process)
}

// declared returns the declared memory of a trial in bytes; 0 where it is little or
// unknown. A trial with 0 is always started.
func declared(e *experiment.Experiment, p experiment.Params) int64 {
	if e.Memory == nil {
		return 0
	}
	return e.Memory(p)
}

// announce reports the reasons for which fewer trials run at a time.
func (r *run) announce(requests []*request) {
	if r.opts.Notice == nil || r.opts.Jobs == 1 {
		return
	}
	first := slices.IndexFunc(requests, func(q *request) bool { return q.alone })
	if first < 0 {
		first = len(requests)
	}
	if text := packing(requests[:first], r.opts.Jobs, r.opts.Memory); text != "" {
		r.opts.Notice(text)
	}
	if text := TimedNotice(len(requests) - first); text != "" {
		r.opts.Notice(text)
	}
}

// TimedNotice returns the notice about n timed trials; "" for none.
func TimedNotice(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 trial is timed and runs alone, after the others (--share-timings: beside others)"
	}
	return fmt.Sprintf("%d trials are timed and run one at a time, each alone, after the others (--share-timings: "+
		"beside others)", n)
}

// packing returns a notice about the number of requests that run at a time, where the
// memory does not always hold as many as there are workers; "" where it does.
func packing(requests []*request, workers int, available int64) string {
	var needs []int64
	for _, q := range requests {
		if q.memory > 0 { // others are refused
			needs = append(needs, q.memory)
		}
	}
	asked := min(workers, len(needs))
	slices.Sort(needs)
	if available == 0 || within(needs[len(needs)-asked:], available) == asked {
		return ""
	}
	most := max(1, within(needs[:asked], available))
	left := available // with most-1 of the smallest
	for _, need := range needs[:most-1] {
		left -= need
	}
	fewer := 0
	for _, need := range needs {
		if need > left {
			fewer++
		}
	}
	notice := fmt.Sprintf("up to %d at a time", most)
	if most < asked {
		notice += fmt.Sprintf(" instead of %d", asked)
	}
	least, largest := machine.Gibibytes(needs[0]), machine.Gibibytes(needs[len(needs)-1])
	sizes := largest
	if least != largest {
		sizes = least + " to " + largest
	}
	notice += fmt.Sprintf(": a trial needs about %s, %s are available", sizes, machine.Gibibytes(available))
	if fewer > 0 {
		verb := "run"
		if fewer == 1 {
			verb = "runs"
		}
		notice += fmt.Sprintf("; %s of up to about %s %s beside fewer", text.Count(fewer, "trial"), largest, verb)
	}
	return notice + "; --ignore-memory runs as many as asked for"
}

// within returns how many of the needs, from the first, fit together.
func within(needs []int64, available int64) int {
	for i, need := range needs {
		if available -= need; available < 0 {
			return i
		}
	}
	return len(needs)
}
