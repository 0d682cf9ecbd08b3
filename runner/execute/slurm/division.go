package slurm

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"privkern/runner/plan"
)

// division is the division of a plan into parts, each of them a task's. The last
// timed parts hold the timed trials. Part i of n of either kind is its trials i, i+n,
// i+2n, ...
type division struct{ parts, timed int }

func (d division) untimed() int { return d.parts - d.timed }

// divide returns the division of a plan.
func (e *Executor) divide(p *plan.Plan) division {
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
	parts := func(trials int) int { return (trials + size - 1) / size }
	return division{parts(len(p.Trials)-timed) + parts(timed), parts(timed)}
}

// assign returns the part of each trial, counted from 1.
func (d division) assign(p *plan.Plan, isTimed func(plan.Trial) bool) ([]int, error) {
	of := make([]int, len(p.Trials))
	timed, untimed := 0, 0
	for i, t := range p.Trials {
		switch {
		case d.timed > 0 && isTimed != nil && isTimed(t):
			of[i] = d.untimed() + timed%d.timed + 1
			timed++
		case d.untimed() > 0:
			of[i] = untimed%d.untimed() + 1
			untimed++
		default:
			return nil, errors.New("the jobs of this folder divide the plan otherwise than this version of the program " +
				"does; wait for their end with the program that submitted them, or cancel them")
		}
	}
	return of, nil
}

// jobName is the name of an array job. It has all that a later command needs to know of
// a job in the queue.
type jobName struct {
	folder, keys string // digests of the output folder and of the plan's keys
	division
	base int // task i runs part base+i+1
}

func (n jobName) String() string {
	return fmt.Sprintf("privkern-%s-%s-%d-%d-%d", n.folder, n.keys, n.parts, n.timed, n.base)
}

// parseName reads the name of a job; ok is false for the job of another program.
func parseName(name string) (n jobName, ok bool) {
	fields, err := fmt.Sscanf(name, "privkern-%8s-%8s-%d-%d-%d", &n.folder, &n.keys, &n.parts, &n.timed, &n.base)
	return n, err == nil && fields == 5 && n.base >= 0 && n.timed >= 0 && n.timed <= n.parts && n.String() == name
}

// nameOf returns the name of the jobs of a plan in an output folder whose path has no symbolic links, without its
// division.
func nameOf(dir string, p *plan.Plan) jobName {
	digest := func(texts ...string) string {
		h := sha256.New()
		for _, text := range texts {
			_, _ = fmt.Fprintln(h, text)
		}
		return fmt.Sprintf("%.4x", h.Sum(nil))
	}
	var keys []string
	for _, t := range p.Trials {
		keys = append(keys, t.Key)
	}
	return jobName{folder: digest(dir), keys: digest(keys...)}
}
