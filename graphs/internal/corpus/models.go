package corpus

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/op"
)

var must = gorgonia.Must

func convolution(pad, stride, dilation []int) binary {
	return func(x, filter *gorgonia.Node) (*gorgonia.Node, error) {
		s := filter.Shape()
		return gorgonia.Conv2d(x, filter, tensor.Shape{s[2], s[3]}, pad, stride, dilation)
	}
}

func pool(f func(x *gorgonia.Node, kernel tensor.Shape, pad, stride []int) (*gorgonia.Node, error), kernel,
	pad, stride []int) unary {
	return func(x *gorgonia.Node) (*gorgonia.Node, error) { return f(x, tensor.Shape(kernel), pad, stride) }
}

// dropout drops elements at random; the probabilities 0 and 1 are deterministic.
func dropout(probability float64) unary {
	return func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Dropout(x, probability) }
}

// layers returns building blocks of networks.
func layers() []Graph {
	normalised := func(in gorgonia.Nodes) gorgonia.Nodes {
		y, _, _, _, err := gorgonia.BatchNorm(in[0], in[1], in[2], 0.9, 1e-5)
		return gorgonia.Nodes{must(y, err)}
	}
	columns := func(x *gorgonia.Node) (*gorgonia.Node, error) {
		return gorgonia.Im2Col(x, tensor.Shape{2, 2}, tensor.Shape{1, 1}, tensor.Shape{1, 1}, tensor.Shape{1, 1})
	}
	row := func(x, filter *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Conv1d(x, filter, 3, 1, 1, 1) }
	rows := func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.MaxPool1D(x, 2, 0, 2) }
	entropy := func(p, y *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.BinaryXent(p, y) }
	graphs := []Graph{
		one("columns of image patches", normal(2, 2, 4, 5), columns),
		two("convolution", normal(2, 2, 6, 5), weights(3, 2, 3, 3), convolution([]int{0, 0}, []int{1, 1}, nil)),
		two("padded convolution", normal(2, 1, 6, 5), weights(3, 1, 3, 3), convolution([]int{1, 1}, []int{1, 1}, nil)),
		two("convolution with stride", normal(2, 2, 6, 6), weights(3, 2, 2, 2), convolution([]int{0, 0}, []int{2, 2}, nil)),
		two("dilated convolution", normal(1, 2, 7, 7), weights(2, 2, 3, 3),
			convolution([]int{0, 0}, []int{1, 1}, []int{2, 2})),
		two("one-dimensional convolution", normal(2, 2, 1, 9), weights(3, 2, 1, 3), row),
		one("max-pooling", normal(2, 2, 6, 6), pool(gorgonia.MaxPool2D, []int{2, 2}, []int{0, 0}, []int{2, 2})),
		one("overlapping max-pooling", normal(1, 2, 5, 6), pool(gorgonia.MaxPool2D, []int{3, 2}, []int{0, 0}, []int{1, 1})),
		one("padded max-pooling", normal(1, 1, 5, 5), pool(gorgonia.MaxPool2D, []int{3, 3}, []int{1, 1}, []int{2, 2})),
		one("one-dimensional max-pooling", normal(2, 2, 1, 8), rows),
		one("average pooling", normal(2, 2, 6, 6), pool(gorgonia.AveragePool2D, []int{2, 2}, []int{0, 0}, []int{2, 2})),
		one("global average pooling", normal(2, 3, 4, 5), gorgonia.GlobalAveragePool2D),
		alone(one("global average pooling", normal(2, 3, 4, 5), gorgonia.GlobalAveragePool2D)),
		{Name: "batch normalisation of a matrix", In: []Input{normal(6, 4), normal(1, 4), normal(1, 4)}, Build: normalised},
		{Name: "batch normalisation of images", In: []Input{normal(3, 2, 3, 4), normal(1, 2, 1, 1), normal(1, 2, 1, 1)},
			Build: normalised},
		one("dropout of nothing", normal(5, 7), dropout(0)),
		alone(one("dropout of nothing", normal(5, 7), dropout(0))),
		one("dropout of everything", normal(5, 7), dropout(1)),
		two("binary cross-entropy", probabilities(5, 7), coins(5, 7), entropy),
		{Name: "dense layer with a bias for each row", In: []Input{normal(5, 4), weights(4, 3), weights(3)},
			Build: func(in gorgonia.Nodes) gorgonia.Nodes {
				return gorgonia.Nodes{must(gorgonia.Tanh(dense(in[0], in[1], in[2])))}
			}},
	}
	for i := range graphs {
		graphs[i].Condition = 1e3
	}
	return graphs
}

// dense returns XW + b for a vector b.
func dense(x, w, b *gorgonia.Node) *gorgonia.Node {
	return must(gorgonia.BroadcastAdd(must(gorgonia.Mul(x, w)), b, nil, []byte{0}))
}

// crossEntropy returns −Σ y∘log p, divided by the number of rows.
func crossEntropy(p, y *gorgonia.Node) *gorgonia.Node {
	each := must(gorgonia.Sum(must(gorgonia.HadamardProd(y, must(gorgonia.Log(p)))), 1))
	return must(gorgonia.Neg(must(gorgonia.Mean(each))))
}

// models returns whole models, most of them with the derivative of their loss.
func models() []Graph {
	graphs := []Graph{
		{Name: "line", In: []Input{label(normal(9)), label(normal(9)), normal(), normal()}, Build: line},
		{Name: "linear regression", In: []Input{label(normal(9, 4)), label(normal(9)), normal(4)}, Build: linear},
		{Name: "logistic regression", In: []Input{label(normal(12, 4)), coins(12), weights(4), weights()}, Build: logistic},
		{Name: "update of a logistic regression", In: []Input{label(normal(12, 4)), coins(12), weights(4), weights()},
			Build: logisticUpdate, Constant: true},
		{Name: "softmax regression", In: []Input{label(normal(8, 5)), classes(8, 3), weights(5, 3), weights(3)},
			Build: func(in gorgonia.Nodes) gorgonia.Nodes {
				p := must(gorgonia.SoftMax(dense(in[0], in[2], in[3])))
				return gorgonia.Nodes{crossEntropy(p, in[1]), p}
			}},
		{Name: "softmax perceptron of two layers", In: []Input{label(normal(8, 5)), classes(8, 3), weights(5, 6),
			weights(6), weights(6, 3), weights(3)}, Build: perceptron},
		{Name: "small convolution net", In: []Input{label(normal(2, 1, 8, 8)), classes(2, 3), weights(2, 1, 3, 3),
			weights(3, 2, 3, 3), weights(12, 5), weights(5, 3)}, Build: convolutionNet},
		{Name: "convolution net with batch normalisation", In: []Input{label(normal(3, 1, 6, 6)), classes(3, 2),
			weights(2, 1, 3, 3), weights(1, 2, 1, 1), weights(1, 2, 1, 1), weights(18, 2)}, Build: normalisedNet},
		{Name: "residual block", In: []Input{normal(1, 2, 5, 5), weights(2, 2, 3, 3), weights(2, 2, 3, 3)}, Build: residual},
		{Name: "autoencoder with tied weights", In: []Input{coins(6, 5), weights(5, 3), weights(6, 3), weights(6, 5)},
			Build: autoencoder},
		{Name: "recurrent step", In: []Input{label(normal(4, 3)), normal(4, 5), weights(3, 5), weights(5, 5), weights(5)},
			Build: recurrent},
		{Name: "two recurrent steps over slices", In: []Input{label(normal(2, 4, 3)), normal(4, 5), weights(3, 5),
			weights(5, 5)}, Build: unrolled},
		{Name: "step of a long short-term memory", In: memoryInputs(), Build: memory},
		{Name: "attention", In: []Input{normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 4)}, Build: attention},
		{Name: "negative log-likelihood of a class", In: []Input{normal(5)}, Build: func(in gorgonia.Nodes) gorgonia.Nodes {
			p := must(gorgonia.SoftMax(in[0]))
			return gorgonia.Nodes{must(gorgonia.Slice(must(gorgonia.Neg(must(gorgonia.Log(p)))), gorgonia.S(2)))}
		}},
		{Name: "product with a constant table", In: []Input{normal(2, 3)}, Build: func(in gorgonia.Nodes) gorgonia.Nodes {
			table := gorgonia.NewConstant(value(in[0].Dtype(), []int{3, 2}, []float64{1, -2, 3, 4, .5, 6}))
			return gorgonia.Nodes{must(gorgonia.Mul(in[0], table))}
		}},
		{Name: "triangular mask", In: []Input{normal(5, 5), numbers(5, 1), numbers(1, 5)}, Build: mask},
		{Name: "Gaussian process with a column of targets", In: []Input{label(normal(6, 2)), label(normal(6, 1)), positive(),
			classes(6, 6)}, Build: process, Condition: 1e4},
		{Name: "Gaussian process with a vector of targets", In: []Input{label(normal(6, 2)), label(normal(6)), positive(),
			classes(6, 6)}, Build: process, Condition: 1e4},
		{Name: "Gaussian process with targets from a table", In: []Input{label(normal(6, 3)), positive(), classes(6, 6)},
			Build: func(in gorgonia.Nodes) gorgonia.Nodes {
				x := must(gorgonia.Slice(in[0], nil, gorgonia.S(0, 2)))
				y := must(gorgonia.Slice(in[0], nil, gorgonia.S(2, 3))) // a vector: the axis of width 1 is gone
				return process(gorgonia.Nodes{x, y, in[1], in[2]})
			}, Condition: 1e4},
	}
	for i := range graphs {
		graphs[i].Condition = max(graphs[i].Condition, 1e3)
	}
	return graphs
}

// line returns the mean square of mx + c − y.
func line(in gorgonia.Nodes) gorgonia.Nodes {
	x, y, m, c := in[0], in[1], in[2], in[3]
	predicted := must(gorgonia.Add(must(gorgonia.Mul(x, m)), c))
	return gorgonia.Nodes{must(gorgonia.Mean(must(gorgonia.Square(must(gorgonia.Sub(predicted, y)))))), predicted}
}

func linear(in gorgonia.Nodes) gorgonia.Nodes {
	predicted := must(gorgonia.Mul(in[0], in[2]))
	return gorgonia.Nodes{must(gorgonia.Mean(must(gorgonia.Square(must(gorgonia.Sub(predicted, in[1])))))), predicted}
}

// logistic returns the cross-entropy with a penalty, the probabilities, and the classes, which
// are bool.
func logistic(in gorgonia.Nodes) gorgonia.Nodes {
	x, y, w, b := in[0], in[1], in[2], in[3]
	one := constant(x, 1)
	p := must(gorgonia.Sigmoid(must(gorgonia.Add(must(gorgonia.Mul(x, w)), b))))
	classes := must(gorgonia.Gt(p, constant(x, 0.5), false))
	first := must(gorgonia.HadamardProd(must(gorgonia.Neg(y)), must(gorgonia.Log(p))))
	second := must(gorgonia.HadamardProd(must(gorgonia.Sub(one, y)), must(gorgonia.Log(must(gorgonia.Sub(one, p))))))
	loss := must(gorgonia.Mean(must(gorgonia.Sub(first, second))))
	penalty := must(gorgonia.Mul(constant(x, 0.01), must(gorgonia.Sum(must(gorgonia.Square(w))))))
	return gorgonia.Nodes{must(gorgonia.Add(loss, penalty)), p, classes}
}

// logisticUpdate returns the parameters after a step of gradient descent.
func logisticUpdate(in gorgonia.Nodes) gorgonia.Nodes {
	grads, err := gorgonia.Grad(logistic(in)[0], in[2], in[3])
	if err != nil {
		panic(err)
	}
	rate := constant(in[0], 0.1)
	step := func(of, by *gorgonia.Node) *gorgonia.Node {
		return must(gorgonia.Sub(of, must(gorgonia.Mul(rate, by))))
	}
	return gorgonia.Nodes{step(in[2], grads[0]), step(in[3], grads[1])}
}

func perceptron(in gorgonia.Nodes) gorgonia.Nodes {
	hidden := must(gorgonia.Rectify(dense(in[0], in[2], in[3])))
	p := must(gorgonia.SoftMax(dense(hidden, in[4], in[5])))
	return gorgonia.Nodes{crossEntropy(p, in[1]), p}
}

// convolutionNet has two convolutions, each rectified and pooled, and two dense layers.
func convolutionNet(in gorgonia.Nodes) gorgonia.Nodes {
	convolve := convolution([]int{1, 1}, []int{1, 1}, []int{1, 1})
	halve := pool(gorgonia.MaxPool2D, []int{2, 2}, []int{0, 0}, []int{2, 2})
	block := func(x, filter *gorgonia.Node) *gorgonia.Node {
		return must(halve(must(gorgonia.Rectify(must(convolve(x, filter))))))
	}
	maps := block(block(in[0], in[2]), in[3])
	flat := must(gorgonia.Reshape(maps, tensor.Shape{maps.Shape()[0], -1}))
	hidden := must(gorgonia.Rectify(must(gorgonia.Mul(flat, in[4]))))
	p := must(gorgonia.SoftMax(must(gorgonia.Mul(hidden, in[5]))))
	return gorgonia.Nodes{crossEntropy(p, in[1]), p}
}

func normalisedNet(in gorgonia.Nodes) gorgonia.Nodes {
	x := must(convolution([]int{1, 1}, []int{1, 1}, nil)(in[0], in[2]))
	x, _, _, _, err := gorgonia.BatchNorm(x, in[3], in[4], 0.9, 1e-5)
	x = must(pool(gorgonia.MaxPool2D, []int{2, 2}, []int{0, 0}, []int{2, 2})(must(gorgonia.Rectify(must(x, err)))))
	p := must(gorgonia.SoftMax(must(gorgonia.Mul(must(gorgonia.Reshape(x, tensor.Shape{3, 18})), in[5]))))
	return gorgonia.Nodes{crossEntropy(p, in[1]), p}
}

func residual(in gorgonia.Nodes) gorgonia.Nodes {
	convolve := convolution([]int{1, 1}, []int{1, 1}, nil)
	inner := must(convolve(must(gorgonia.Rectify(must(convolve(in[0], in[1])))), in[2]))
	return gorgonia.Nodes{must(gorgonia.Rectify(must(gorgonia.Add(in[0], inner))))}
}

// autoencoder uses the weights of the encoder, transposed, in the decoder.
func autoencoder(in gorgonia.Nodes) gorgonia.Nodes {
	layer := func(x, w, b *gorgonia.Node) *gorgonia.Node {
		return must(gorgonia.Sigmoid(must(gorgonia.Add(must(gorgonia.Mul(x, w)), b))))
	}
	code := layer(in[0], in[1], in[2])
	decoded := layer(code, must(gorgonia.Transpose(in[1])), in[3])
	return gorgonia.Nodes{must(gorgonia.Mean(must(gorgonia.BinaryXent(decoded, in[0])))), decoded}
}

func recurrent(in gorgonia.Nodes) gorgonia.Nodes {
	fromInput, fromState := must(gorgonia.Mul(in[0], in[2])), must(gorgonia.Mul(in[1], in[3]))
	sum := must(gorgonia.BroadcastAdd(must(gorgonia.Add(fromInput, fromState)), in[4], nil, []byte{0}))
	return gorgonia.Nodes{must(gorgonia.Tanh(sum))}
}

func unrolled(in gorgonia.Nodes) gorgonia.Nodes {
	state := in[1]
	for i := range 2 {
		x := must(gorgonia.Slice(in[0], gorgonia.S(i)))
		state = must(gorgonia.Tanh(must(gorgonia.Add(must(gorgonia.Mul(x, in[2])), must(gorgonia.Mul(state, in[3]))))))
	}
	return gorgonia.Nodes{state}
}

// memoryInputs returns x, the hidden state and the cell, and for each of four gates the weights
// of x and of the hidden state and the bias. All states are vectors.
func memoryInputs() []Input {
	in := []Input{normal(3), normal(4), normal(4)}
	for range 4 {
		in = append(in, weights(4, 3), weights(4, 4), weights(4))
	}
	return in
}

func memory(in gorgonia.Nodes) gorgonia.Nodes {
	gate := func(i int, f unary) *gorgonia.Node {
		fromInput, fromState := must(gorgonia.Mul(in[3*i], in[0])), must(gorgonia.Mul(in[3*i+1], in[1]))
		return must(f(must(gorgonia.Add(must(gorgonia.Add(fromInput, fromState)), in[3*i+2]))))
	}
	input, forget, output := gate(1, gorgonia.Sigmoid), gate(2, gorgonia.Sigmoid), gate(3, gorgonia.Sigmoid)
	written := must(gorgonia.HadamardProd(input, gate(4, gorgonia.Tanh)))
	cell := must(gorgonia.Add(must(gorgonia.HadamardProd(forget, in[2])), written))
	return gorgonia.Nodes{must(gorgonia.HadamardProd(output, must(gorgonia.Tanh(cell)))), cell}
}

// attention returns softmax(QKᵀ/√d)V for each member of the batch.
func attention(in gorgonia.Nodes) gorgonia.Nodes {
	scores := must(gorgonia.Mul(must(gorgonia.BatchedMatMul(in[0], in[1], false, true)), constant(in[0], 0.5)))
	return gorgonia.Nodes{must(gorgonia.BatchedMatMul(must(gorgonia.SoftMax(scores)), in[2]))}
}

// mask keeps the lower triangle, by a comparison of row and column numbers.
func mask(in gorgonia.Nodes) gorgonia.Nodes {
	lower := must(gorgonia.BroadcastGte(in[1], in[2], true, []byte{1}, []byte{0}))
	return gorgonia.Nodes{must(gorgonia.HadamardProd(in[0], lower)), lower}
}

// process returns the negative log-likelihood, without its constant, of a Gaussian process with
// the kernel exp(−‖x−x'‖²/2ℓ²), ℓ > 0, and noise of variance 0.5. Points are the rows of x;
// targets are a column or a vector.
func process(in gorgonia.Nodes) gorgonia.Nodes {
	x, y, lengthscale := in[0], in[1], in[2] // and in[3], the identity
	squares := must(gorgonia.Sum(must(gorgonia.Square(x)), 1))
	n := x.Shape()[0]
	column, row := must(gorgonia.Reshape(squares, tensor.Shape{n, 1})), must(gorgonia.Reshape(squares, tensor.Shape{1, n}))
	sums := must(gorgonia.BroadcastAdd(column, row, []byte{1}, []byte{0}))
	cross := must(gorgonia.Mul(x, must(gorgonia.Transpose(x))))
	distance := must(gorgonia.Sub(sums, must(gorgonia.Mul(constant(x, 2), cross))))
	scale := must(gorgonia.Mul(constant(x, -0.5), must(gorgonia.Inverse(must(gorgonia.Square(lengthscale))))))
	k := must(gorgonia.Exp(must(gorgonia.Mul(scale, distance))))
	noisy := must(gorgonia.Add(k, must(gorgonia.Mul(constant(x, 0.5), in[3]))))
	factor := must(op.Cholesky().Apply(noisy))
	solved := must(gorgonia.Reshape(must(op.Solve().Apply(noisy, factor, y)), y.Shape().Clone()))
	fit := must(gorgonia.Sum(must(gorgonia.HadamardProd(y, solved))))
	volume := must(op.LogDet().Apply(noisy, factor))
	return gorgonia.Nodes{must(gorgonia.Mul(constant(x, 0.5), must(gorgonia.Add(fit, volume)))), k}
}
