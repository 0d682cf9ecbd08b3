package clusters

import (
	"fmt"

	"privkern/graphs/engine"
)

// The programs below compute m problems with S starts each. An assignment (m×n×3S) has S columns of
// labels, S of squared distances to the own centre, and S of ones for points that have moved; see
// op.NearestCentres.

// stepsPerRun is the number of iterations of a run. Most starts end after ten to fifty.
const stepsPerRun = 8

// deviceStepsPerRun is that number on a device, where steps after the end cost less than a wait.
const deviceStepsPerRun = 2 * stepsPerRun

// movedAfter returns the name of the output with the column sums of an assignment, 3S for each
// member; the last S are the numbers of points that have moved.
func movedAfter(step int) string { return fmt.Sprintf("sums %d", step) }

// key returns the key of a program for the size class.
func (l *lloyd) key(name string, steps int) string {
	return fmt.Sprintf("%s %t %d %d %d %d %d %d", name, l.direct, l.members, l.starts, l.n, l.k, l.d, steps)
}

// begin computes the first "assignment" (m×n×3S) of points "x" (m×n×d), without padding "count"
// (m), to "centres" (m×S·k×d). "labels" (m×n×S) are zeros.
func (l *lloyd) begin() engine.Program {
	return engine.Program{Name: "first assignment of k-means", Key: l.key("clusters begin", 0),
		Build: func(b *engine.Builder) {
			b.Output("assignment", b.NearestCentres(l.k, l.direct, b.Tensor("x", l.members, l.n, l.d),
				b.Tensor("centres", l.members, l.starts*l.k, l.d), b.Tensor("labels", l.members, l.n, l.starts),
				b.Tensor("count", l.members)))
		}}
}

// iterations computes a number of iterations from "assignment" to the output of that name. A run that
// has ended does not change.
func (l *lloyd) iterations(steps int) engine.Program {
	return engine.Program{Name: "iterations of k-means", Key: l.key("clusters", steps),
		Build: func(b *engine.Builder) {
			x, count := b.Tensor("x", l.members, l.n, l.d), b.Tensor("count", l.members)
			assignment := b.Tensor("assignment", l.members, l.n, 3*l.starts)
			for step := range steps {
				labels := b.RefillClusters(l.k, assignment, count)
				centres := b.ClusterMeans(l.k, x, labels, count)
				assignment = b.NearestCentres(l.k, l.direct, x, centres, labels, count)
				b.Output(movedAfter(step), b.Sum(assignment, 1))
			}
			b.Output("assignment", assignment)
		}}
}
