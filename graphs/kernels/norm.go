package kernels

// The parameters of the kernels in norm.cu.

// Channels are the channels of a tensor: Batch×Channels×Inner elements.
type Channels struct{ Batch, Channels, Inner int }

// Standardise is standardise: (x − m)/√(v + Epsilon) with the mean m and the variance v
// of each channel, which it leaves in Mean and Variance.
type Standardise struct {
	In Matrix
	Channels
	Epsilon        float64
	Out            Matrix
	Mean, Variance Doubles
}

// Grid implements [Kernel].
func (k Standardise) Grid() Grid { return Rows(k.Channels.Channels) }

// StandardiseBy is standardise_by: the same with a given mean and variance.
type StandardiseBy struct {
	In             Matrix
	Mean, Variance Doubles
	Channels
	Epsilon float64
	Out     Matrix
}

// Grid implements [Kernel].
func (k StandardiseBy) Grid() Grid { return Each(k.Batch * k.Channels.Channels * k.Inner) }

// StandardiseGradient is standardise_gradient: from the operand and the derivative G by
// the result.
type StandardiseGradient struct {
	In, G Matrix
	Channels
	Epsilon float64
	Out     Matrix
}

// Grid implements [Kernel].
func (k StandardiseGradient) Grid() Grid { return Rows(k.Channels.Channels) }
