package op

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// normalisations are the operations that standardise channels or groups of them, and
// their derivatives. A tensor is batch×channels×inner, where inner stands for all further axes,
// and a channel c has n = batch·inner elements.
func normalisations() []Builtin {
	return []Builtin{batchNorm(), batchNormGradient(), groupNorm(), groupNormGradient()}
}

// channelsOf returns the channels of a tensor: its second axis.
func channelsOf(t Stream) (c kernels.Channels, ok bool) {
	shape := t.Shape(0)
	if len(shape) < 2 {
		t.Fail(fmt.Errorf("shape %v has no channels", shape))
		return c, false
	}
	return kernels.Channels{Batch: shape[0], Channels: shape[1], Inner: sizeOf(shape[2:])}, true
}

// running returns the moving averages of the mean and of the variance that a
// normalisation of batches keeps: it computes with them out of training, and training
// moves them at the end of the run.
func running(p *parameters) (mean, variance *tensor.Dense) {
	o, ok := p.operation.(interface {
		Stats() (tensor.Tensor, tensor.Tensor)
	})
	if !ok {
		p.missing("Stats")
		return nil, nil
	}
	m, v := o.Stats()
	mean, ok = m.(*tensor.Dense)
	variance, ok2 := v.(*tensor.Dense)
	if !ok || !ok2 {
		p.missing("Stats")
	}
	return mean, variance
}

// doubles returns the elements of a tensor in float64.
func doubles(a *tensor.Dense) []float64 {
	if data, ok := a.Data().([]float64); ok {
		return data
	}
	data, _ := a.Data().([]float32)
	double := make([]float64, len(data))
	for i, v := range data {
		double[i] = float64(v)
	}
	return double
}

// move updates averages: a ← share·v + (1 − share)·a.
func move(average *tensor.Dense, share float64, to []float64) {
	switch data := average.Data().(type) {
	case []float64:
		for i, v := range to {
			data[i] = share*v + (1-share)*data[i]
		}
	case []float32:
		for i, v := range to {
			data[i] = float32(share*v + (1-share)*float64(data[i]))
		}
	}
}

// batchNorm standardises channels over a batch, y = (x − m_c)/√(v_c + ε), by their own mean m_c
// and variance v_c = Σ(x − m_c)²/n in training, and by the moving averages of them otherwise
// (Ioffe and Szegedy, "Batch normalization", 2015, Algorithm 1). The average of the variance takes
// n/(n−1) v_c, which has no bias. Scale and shift are operations of their own.
func batchNorm() Builtin {
	return Builtin{Name: "normalisation of batches", kind: "BatchNormOp",
		queue: func(p *parameters) func(Stream) {
			epsilon, momentum, training := p.number("epsilon"), p.number("momentum"), p.truth("training")
			mean, variance := running(p)
			return func(t Stream) {
				c, ok := channelsOf(t)
				switch {
				case !ok:
				case training:
					k := kernels.Standardise{In: t.In(0), Channels: c, Epsilon: epsilon, Out: t.Out(),
						Mean: t.Doubles(c.Channels), Variance: t.Doubles(c.Channels)}
					t.Launch(k)
					n := float64(c.Batch * c.Inner)
					t.Deliver(k.Mean, c.Channels, func(m []float64) { move(mean, momentum, m) })
					t.Deliver(k.Variance, c.Channels, func(v []float64) {
						for i := range v {
							v[i] *= n / (n - 1) // without bias
						}
						move(variance, momentum, v)
					})
				default:
					t.Launch(kernels.StandardiseBy{In: t.In(0), Mean: t.Numbers(doubles(mean)),
						Variance: t.Numbers(doubles(variance)), Channels: c, Epsilon: epsilon, Out: t.Out()})
				}
			}
		},
		cases: batchNormCases}
}

// batchNormGradient is the derivative of batchNorm. In training m_c and v_c depend on x, so that
//
//	∂x = (g − ḡ − (x − m_c) Σ(x − m_c)g / (n(v_c + ε))) / √(v_c + ε)
//
// with the mean ḡ of g over the channel. Out of training it is g/√(v_c + ε); gorgonia's takes the
// variance of images for zero.
func batchNormGradient() Builtin {
	return Builtin{Name: "normalisation of batches, derivative", kind: "batchnormDiffOp",
		queue: func(p *parameters) func(Stream) {
			epsilon, training := p.number("epsilon"), p.truth("training")
			_, variance := running(p)
			return func(t Stream) {
				c, ok := channelsOf(t)
				switch {
				case !ok:
				case training:
					t.Launch(kernels.StandardiseGradient{In: t.In(0), G: t.In(1), Channels: c, Epsilon: epsilon, Out: t.Out()})
				default:
					v := make([]float64, c.Channels)
					mean := t.Numbers(v)
					if c.Inner == 1 {
						v = doubles(variance)
					}
					t.Launch(kernels.StandardiseBy{In: t.In(1), Mean: mean, Variance: t.Numbers(v), Channels: c, Epsilon: epsilon,
						Out: t.Out()})
				}
			}
		},
		cases: batchNormCases}
}

// batchNormCases are in training, as gorgonia makes the operation, and out of it.
func batchNormCases(s *sampler) (all []Case) {
	for _, c := range []struct {
		name     string
		shape    []int
		training bool
	}{
		{"normalisation of a batch", []int{24, 5}, true},
		{"normalisation of a batch of images", []int{4, 3, 2, 5}, true},
		{"normalisation of a batch out of training", []int{24, 5}, false},
		{"normalisation of a batch of images out of training", []int{4, 3, 2, 5}, false},
	} {
		graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) {
			x := shaped(in[0], c.shape...)
			out, _, _, normalisation, err := gorgonia.BatchNorm(x, shaped(in[1], c.shape...), shaped(in[2], c.shape...), 0.125,
				0.01)
			if err == nil {
				err = normalisation.SetTraining(c.training)
			}
			return out, err
		}
		in := []Operand{s.normal(6, 20), s.normal(6, 20), s.normal(6, 20)}
		all = append(all, built(c.name, 10, in, graph), slope(c.name+", derivative", 0, 1000, in, graph))
	}
	return all
}

// groupNorm standardises groups of the channels of each element of a batch (Wu and He,
// "Group normalization", 2018): it is batchNorm in training with a channel for each element and
// group, without averages.
func groupNorm() Builtin {
	return Builtin{Name: "normalisation of groups", kind: "GroupNormOp",
		queue: func(p *parameters) func(Stream) {
			epsilon, groups := p.number("epsilon"), p.integer("numGroups")
			return func(t Stream) {
				if c, ok := groupsOf(t, groups); ok {
					t.Launch(kernels.Standardise{In: t.In(0), Channels: c, Epsilon: epsilon, Out: t.Out(),
						Mean: t.Doubles(c.Channels), Variance: t.Doubles(c.Channels)})
				}
			}
		},
		cases: groupNormCases}
}

// groupNormGradient is the derivative of groupNorm.
func groupNormGradient() Builtin {
	return Builtin{Name: "normalisation of groups, derivative", kind: "groupNormDiffOp",
		queue: func(p *parameters) func(Stream) {
			epsilon, groups := p.number("epsilon"), p.integer("numGroups")
			return func(t Stream) {
				if c, ok := groupsOf(t, groups); ok {
					t.Launch(kernels.StandardiseGradient{In: t.In(0), G: t.In(1), Channels: c, Epsilon: epsilon, Out: t.Out()})
				}
			}
		},
		cases: groupNormCases}
}

// groupsOf returns the groups of channels as channels of one large element.
func groupsOf(t Stream, groups int) (kernels.Channels, bool) {
	c, ok := channelsOf(t)
	if ok && (groups < 1 || c.Channels%groups != 0) {
		t.Fail(fmt.Errorf("%d channels in %d groups", c.Channels, groups))
		ok = false
	}
	if !ok {
		return c, false
	}
	return kernels.Channels{Batch: 1, Channels: c.Batch * groups, Inner: c.Channels / groups * c.Inner}, true
}

// groupNormCases have groups of fewer elements than the 384 from which on the host's
// variance is wrong.
func groupNormCases(s *sampler) []Case {
	graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) {
		shape := []int{2, 6, 3, 5}
		return gorgonia.GroupNorm(shaped(in[0], shape...), shaped(in[1], shape...), shaped(in[2], shape...), 3, 6, 0.01)
	}
	in := []Operand{s.normal(12, 15), s.normal(12, 15), s.normal(12, 15)}
	return []Case{built("normalisation of groups", 10, in, graph),
		slope("normalisation of groups, derivative", 0, 1000, in, graph)}
}
