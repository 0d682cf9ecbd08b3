package slurm

import (
	"errors"

	"privkern/runner/plan"
)

// division is how a plan is divided into parts, each of them a task's: first the
// untimed trials, then the timed ones. Part i of n of either is their trials i,
// i+n, i+2n, ...
type division struct {
	parts int
	timed int   // how many of the parts, the last ones, are of timed trials
	of    []int // the part of each trial of the plan, counted from 0
}

// untimed returns how many parts come before those of timed trials.
func (d *division) untimed() int { return d.parts - d.timed }

// divide divides a plan for a new round.
func (e *Executor) divide(p *plan.Plan) *division {
	size := e.TrialsPerTask
	if size == 0 {
		size = max(1, (len(p.Trials)+DefaultTasks-1)/DefaultTasks)
	}
	timed := 0
	for _, t := range p.Trials {
		if !e.ShareTimings && e.Timed != nil && e.Timed(t) {
			timed++
		}
	}
	parts := func(n int) int { return (n + size - 1) / size }
	d := &division{timed: parts(timed)}
	d.parts = parts(len(p.Trials)-timed) + d.timed
	d.assign(p, e.Timed)
	return d
}

// divided returns the division of a round that has begun. Where it has no parts
// for timed trials, these are among the others.
func (e *Executor) divided(p *plan.Plan, j *journal) (*division, error) {
	d := &division{parts: j.Parts, timed: j.TimedParts}
	if !d.assign(p, e.Timed) {
		return nil, errors.New("the jobs of this folder divide the plan otherwise than this version of the program does; " +
			"wait for their end with the program that submitted them, or cancel them and remove slurm/jobs.json")
	}
	return d, nil
}

// assign gives every trial its part; it returns false where there is none.
func (d *division) assign(p *plan.Plan, isTimed func(plan.Trial) bool) bool {
	d.of = make([]int, len(p.Trials))
	timed, untimed := 0, 0
	for i, t := range p.Trials {
		switch {
		case d.timed > 0 && isTimed != nil && isTimed(t):
			d.of[i] = d.untimed() + timed%d.timed
			timed++
		case d.untimed() > 0:
			d.of[i] = untimed % d.untimed()
			untimed++
		default:
			return false
		}
	}
	return true
}

// kind is what the tasks of a job run: parts of the timed trials, of the untimed
// ones, or of all where a plan is not divided by that.
type kind struct {
	only   string // the value of --only; "" for all
	before int    // parts of the round before its first one
	parts  int
}

// kindOf returns the kind of a part, counted from 1.
func (j *journal) kindOf(part int) kind {
	untimed := j.Parts - j.TimedParts
	switch {
	case j.TimedParts == 0:
		return kind{"", 0, j.Parts}
	case part > untimed:
		return kind{"timed", untimed, j.TimedParts}
	}
	return kind{"untimed", 0, untimed}
}

// exclusive returns the options of a job that has its nodes to itself, whatever
// else was asked for.
func exclusive(options []Option) []Option {
	var out []Option
	for _, o := range options {
		if o.Name != "exclusive" && o.Name != "oversubscribe" && o.Name != "share" {
			out = append(out, o)
		}
	}
	return append(out, Option{"exclusive", ""})
}
