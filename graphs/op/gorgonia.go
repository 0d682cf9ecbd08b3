package op

import (
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// Builtin is an operation of gorgonia that has a launch on a CUDA device. gorgonia's type is
// not exported, so that it is identified by the name of its type and by its fields.
//
// On the host gorgonia computes these itself, apart from those with a host kernel. A Builtin
// has gorgonia's result also where that differs from the operation's name. An operation that no
// Builtin matches has no kernel on the device and falls back to the host, with a warning.
type Builtin struct {
	Name string
	kind string // the type's name in package gorgonia
	// queue returns the launch of the operation with these parameters, or nil where
	// they are another operation's.
	queue func(p *parameters) func(Stream)
	// element returns, for an operation on single elements, the kernel that is all of
	// its launch, or nil where the parameters are another operation's. A fused kernel
	// takes its function from there. Where there is a queue as well, it queues the same.
	element func(p *parameters) func(Operands) kernels.Elementwise
	// host returns the CPU kernel for these parameters and operands, or nil where gorgonia
	// computes the result; it is nil itself for most.
	host func(p *parameters, in []gorgonia.Value) HostKernel
	// other are the types of the operands, by their places, and of the result, at −1, that
	// are not the element type.
	other map[int]tensor.Dtype
	// of is the type of the elements of an operation that computes nothing, if it is not
	// the element type.
	of    tensor.Dtype
	cases func(*sampler) []Case
}

// Cases are the operation's cases, as [Op.Cases].
func (b Builtin) Cases() []Case { return b.cases(newSampler()) }

// Launch returns the launch of o if it is this operation, or nil.
func (b Builtin) Launch(o gorgonia.Op) func(Stream) {
	p := parametersOf(o)
	if p.kind != b.kind {
		return nil
	}
	return b.launch(p)
}

// launch returns the launch of an operation of the right type, or nil. A parameter that cannot
// be read is an error of the launch.
func (b Builtin) launch(p *parameters) func(Stream) {
	queue := b.queued(p)
	if p.err != nil {
		return func(t Stream) { t.Fail(p.err) }
	}
	return queue
}

// queued returns the result of queue, or the launch of element's kernel where there is no
// queue.
func (b Builtin) queued(p *parameters) func(Stream) {
	if b.queue != nil {
		return b.queue(p)
	}
	kernel := b.element(p)
	if kernel == nil {
		return nil
	}
	return func(t Stream) {
		if k := kernel(t); k != nil {
			t.Launch(k)
		}
	}
}

// byKind are the operations by type.
var byKind = func() map[string][]Builtin {
	m := map[string][]Builtin{}
	for _, b := range Builtins() {
		m[b.kind] = append(m[b.kind], b)
	}
	return m
}()

// launchBuiltin returns the launch of one of gorgonia's operations, or nil.
func launchBuiltin(o gorgonia.Op, types []tensor.Dtype) func(Stream) {
	p := parametersOf(o)
	for _, b := range byKind[p.kind] {
		if launch := b.launch(p); launch != nil && b.takes(types) {
			return launch
		}
	}
	return nil
}

// refused are the types of gorgonia's operations that no backend computes, and why.
var refused = map[string]string{
	"ctcLossOp":     temporalClassification,
	"ctcLossDiffOp": temporalClassification,
	"yoloOp": "gorgonia takes the first anchors for those of the mask, and has no derivative; compute the boxes from " +
		"the graph's outputs",
	"Iop": "it shares the memory of its operand, for operations that write to it; let them return all results",
}

const temporalClassification = "gorgonia's derivative is right for the sum over sequences of full length behind a " +
	"log-softmax alone, and labels that are no classes end the process; compute the loss from the graph's outputs"

// Refused returns the reason for which a graph with this operation is refused, or an empty one.
func Refused(o gorgonia.Op) string { return refused[parametersOf(o).kind] }

// takes reports whether the kernels are for operands and a result of these types.
func (b Builtin) takes(types []tensor.Dtype) bool {
	element := b.of
	if element == (tensor.Dtype{}) {
		element = ElementType(types...)
	}
	for i, t := range types {
		if i == len(types)-1 {
			i = -1
		}
		want, ok := b.other[i]
		if !ok {
			want = element
		}
		if t != want {
			return false
		}
	}
	return true
}

// Builtins lists gorgonia's operations that have a launch, by families.
func Builtins() []Builtin {
	return slices.Concat(functions(), pairFunctions(), comparisons(), reductions(), softmaxes(), products(), movements(),
		moves(), convolutions(), normalisations(), indices(), randoms())
}

// BuiltinCases are the cases of all operations of gorgonia that have a launch, each
// once: some operations share theirs.
func BuiltinCases() (all []Case) {
	known := map[string]bool{}
	for _, b := range Builtins() {
		cases := b.Cases()
		if name := cases[0].Name; !known[name] {
			known[name] = true
			all = append(all, cases...)
		}
	}
	return all
}

// always is a queue without parameters.
func always(launch func(Stream)) func(*parameters) func(Stream) {
	return func(*parameters) func(Stream) { return launch }
}

// built returns a case with a graph.
func built(name string, condition float64, in []Operand, graph func(in gorgonia.Nodes) (*gorgonia.Node, error)) Case {
	return Case{Name: name, In: in, Condition: condition,
		Graph: func(in gorgonia.Nodes) *gorgonia.Node { return gorgonia.Must(graph(in)) }}
}

// exact returns a case whose results are the host's to the last bit: copies, comparisons.
func exact(name string, in []Operand, graph func(in gorgonia.Nodes) (*gorgonia.Node, error)) Case {
	c := built(name, 0, in, graph)
	c.Exact = true
	return c
}

// slope returns the derivative of Σ graph(in)² by one input: it contains the operations
// that only derivatives use.
func slope(name string, by int, condition float64, in []Operand,
	graph func(in gorgonia.Nodes) (*gorgonia.Node, error)) Case {
	return Case{Name: name, In: in, Condition: condition, Graph: func(in gorgonia.Nodes) *gorgonia.Node {
		out := gorgonia.Must(gorgonia.Square(gorgonia.Must(graph(in))))
		if !out.IsScalar() {
			out = gorgonia.Must(gorgonia.Sum(out))
		}
		return gradient(out, in[by])
	}}
}
