package plan

// Workload is the work of a run, with the times of earlier trials.
type Workload struct {
	Plan *Plan
	// Pending are the positions of the trials to be run, in their order; Alone those
	// of the trials that run one at a time, after the others.
	Pending, Alone []int
	// Past are trials that have a record, with the time they took.
	Past []Past
	// Jobs is how many trials run at a time at most; 0 where that is not known.
	Jobs int
}

// Past is a trial of an earlier run.
type Past struct {
	Index   int     // position in the plan
	Seconds float64 // wall time
}
