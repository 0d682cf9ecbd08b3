package kernels

// The parameters of the kernels in ctc.cu.

// CTC is a batch of problems of connectionist temporal classification: logarithms of
// probabilities, Steps×Batch×Classes; Labels, of which there are Total, Stride of them
// for each member of the batch, or with a Stride of 0 one member's behind another's; and
// for each member the number of its steps and that of its labels.
type CTC struct {
	LogP                                 Matrix
	Labels, Lengths, Counts              Integers
	Steps, Batch, Classes, Total, Stride int
}

// Paths is the number of pairs of a step and a state of all members.
func (c CTC) Paths() int { return c.Steps * (2*c.Total + c.Batch) }

// CtcPathsTo is ctc_paths_to: Alpha from the first step on, and for each member −log p and
// what it adds to the loss.
type CtcPathsTo struct {
	CTC
	Mean                       bool
	Alpha, Likelihoods, Losses Doubles
	Failed                     Flag
}

// Grid implements [Kernel].
func (k CtcPathsTo) Grid() Grid { return Rows(k.Batch) }

// CtcPathsFrom is ctc_paths_from: Beta from the last step on.
type CtcPathsFrom struct {
	CTC
	Beta Doubles
}

// Grid implements [Kernel].
func (k CtcPathsFrom) Grid() Grid { return Rows(k.Batch) }

// CtcGradient is ctc_gradient: the derivative by LogP times G.
type CtcGradient struct {
	CTC
	Alpha, Beta, Likelihoods Doubles
	G, Out                   Matrix
}

// Grid implements [Kernel].
func (k CtcGradient) Grid() Grid { return Each(k.Steps * k.Batch * k.Classes) }
