package sgd

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/clipped"
)

// network is a function of the inputs u in [−1, 1]^d with k outputs: of x = (u/√d, 1) it is Wx, or with h hidden units
// V(tanh(Ux)/√h, 1). The scales keep the vectors that weights multiply within the norm √2. Its weights are one list,
// U (h×(d+1)) before V (k×(h+1)), or W (k×(d+1)), each by rows.
type network struct {
	inputs, hidden, outputs int // d, h, which is 0 for none, and k
	classes                 bool
	filters                 *clipped.Convolution // of pictures, in place of all that; nil for none
}

// split returns the matrices of weights: first is nil without hidden units.
func (n *network) split(weights []float64) (first, last *mat.Dense) {
	below := n.inputs
	if n.hidden > 0 {
		cut := n.hidden * (n.inputs + 1)
		first, weights, below = mat.NewDense(n.hidden, n.inputs+1, weights[:cut]), weights[cut:], n.hidden
	}
	return first, mat.NewDense(n.outputs, below+1, weights)
}

// size is the number of weights.
func (n *network) size() int {
	return n.program().Len()
}

// gain is the standard deviation of the first weights of hidden units.
const gain = 1.5

// start returns the first weights, which are public: 0 of the last layer, and normal numbers of a fixed seed of hidden
// units.
func (n *network) start() []float64 {
	out := make([]float64, n.size())
	rng := rand.New(rand.NewPCG(uint64(n.inputs), uint64(n.hidden)))
	if n.filters != nil {
		n.filters.Start(out, rng)
		return out
	}
	for i := range n.hidden * (n.inputs + 1) {
		out[i] = gain * rng.NormFloat64()
	}
	return out
}

// widened returns the vectors (su, 1) of rows u (m×d).
func widened(u *mat.Dense, scale float64) *mat.Dense {
	m, d := u.Dims()
	out := mat.NewDense(m, d+1, nil)
	for i := range m {
		row := out.RawRowView(i)
		floats.ScaleTo(row[:d], scale, u.RawRowView(i))
		row[d] = 1
	}
	return out
}

// forward returns outputs (m×k) at vectors x (m×(d+1)) for weights U, nil for none, and V, and the vectors that V
// multiplies: x, or (s·tanh(Ux), 1) (m×(h+1)).
func forward(first, last, x *mat.Dense, scale float64) (outputs, below *mat.Dense) {
	m, _ := x.Dims()
	k, _ := last.Dims()
	below = x
	if first != nil {
		h, _ := first.Dims()
		below = mat.NewDense(m, h+1, nil)
		below.Slice(0, m, 0, h).(*mat.Dense).Mul(x, first.T())
		for i := range m {
			row := below.RawRowView(i)
			for j := range h {
				row[j] = scale * math.Tanh(row[j])
			}
			row[h] = 1
		}
	}
	outputs = mat.NewDense(m, k, nil)
	outputs.Mul(below, last.T())
	return outputs, below
}

// misses turns outputs (m×k) into the derivatives of the loss by them, in place: of a regression half the squared
// error, and of a classification the cross entropy of the softmax. Targets are the output, or the number of the class.
func (n *network) misses(outputs *mat.Dense, targets []float64) {
	for i, target := range targets {
		row := outputs.RawRowView(i)
		if !n.classes {
			row[0] -= target
			continue
		}
		all := floats.LogSumExp(row)
		for c := range row {
			row[c] = math.Exp(row[c] - all)
		}
		row[int(target)]--
	}
}

// program is the network as programs have it.
func (n *network) program() clipped.Network {
	if n.filters != nil {
		return *n.filters
	}
	return clipped.Dense{Length: n.inputs + 1, Hidden: n.hidden, Targets: n.outputs}
}

// loss is that of programs, see misses.
func (n *network) loss() clipped.Loss {
	if n.classes {
		return clipped.CrossEntropy
	}
	return clipped.Squared
}

// wanted are targets as programs have them (m×k): a column, or unit vectors of classes. Rows without a target have
// zeros.
func (n *network) wanted(targets []float64) *mat.Dense {
	out := mat.NewDense(len(targets), n.outputs, nil)
	for i, target := range targets {
		switch {
		case !n.classes && !math.IsNaN(target):
			out.Set(i, 0, target)
		case n.classes && target >= 0:
			out.Set(i, int(target), 1)
		}
	}
	return out
}

// add adds to sum the gradients of the loss at the rows x (m×(d+1)), each of which is made shorter to the norm clip.
// The gradient of a layer at one row is the product δaᵀ of the derivatives by its outputs and the vector that its
// weights multiply, and has the norm |δ||a| (Goodfellow, "Efficient per-example gradient computations", 2015): sums of
// clipped gradients are products of matrices, in which no gradient of one row is written out.
func (n *network) add(weights []float64, x *mat.Dense, targets []float64, clip float64, sum []float64) {
	m := len(targets)
	first, last := n.split(weights)
	root := math.Sqrt(float64(n.hidden))
	miss, below := forward(first, last, x, 1/root)
	n.misses(miss, targets)
	var hidden *mat.Dense // derivatives by Ux (m×h)
	if first != nil {
		hidden = mat.NewDense(m, n.hidden, nil)
		hidden.Mul(miss, last.Slice(0, n.outputs, 0, n.hidden))
		for i := range m {
			row := hidden.RawRowView(i)
			for j, unit := range below.RawRowView(i)[:n.hidden] { // tanh/√h, with the derivative (1 − tanh²)/√h
				row[j] *= (1 - float64(n.hidden)*unit*unit) / root
			}
		}
	}
	for i := range m {
		norm := floats.Norm(miss.RawRowView(i), 2) * floats.Norm(below.RawRowView(i), 2)
		if hidden != nil {
			norm = math.Hypot(norm, floats.Norm(hidden.RawRowView(i), 2)*floats.Norm(x.RawRowView(i), 2))
		}
		if norm > clip {
			floats.Scale(clip/norm, miss.RawRowView(i))
			if hidden != nil {
				floats.Scale(clip/norm, hidden.RawRowView(i))
			}
		}
	}
	firstSum, lastSum := n.split(sum)
	var product mat.Dense
	product.Mul(miss.T(), below)
	lastSum.Add(lastSum, &product)
	if hidden != nil {
		product.Reset()
		product.Mul(hidden.T(), x)
		firstSum.Add(firstSum, &product)
	}
}
