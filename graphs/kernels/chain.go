package kernels

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Chain is functions of single elements that one kernel applies at N places, in order.
// A step reads the results of others from registers; only the steps of Out are written.
type Chain struct {
	Steps []Step
	// Inputs is the number of tensors that are read, Out the steps whose results are
	// written.
	Inputs int
	Out    []int
	N      int
}

// Step is one function of a [Chain]. From holds the source of each operand: the number of a
// step before it, or −1−i for input i.
type Step struct {
	Element
	From []int
}

// load is an element of an input that the kernel reads.
type load struct {
	input int
	truth bool
	index Index
	runs  int // the number of the parameters of its runs
}

// plan is how a chain's kernel is called: its parameters in order are the addresses of
// inputs, the runs of repeated operands (inner and by of each), the numbers of
// functions, the addresses of outputs, and n.
type plan struct {
	loads   []load
	runs    [][2]int
	numbers []float64
}

func (c *Chain) plan() *plan {
	p := new(plan)
	for _, s := range c.Steps {
		for j, o := range s.Operands {
			if s.From[j] < 0 {
				p.load(-1-s.From[j], o)
			}
		}
		p.numbers = append(p.numbers, s.Numbers...)
	}
	return p
}

// load is the number of the element that an operand reads of an input.
func (p *plan) load(input int, o Operand) int {
	l := load{input: input, truth: o.Truth, index: o.Index}
	if o.Index == TheRepeated {
		l.runs = number(&p.runs, [2]int{o.Inner, o.By})
	}
	return number(&p.loads, l)
}

// number is the place of v in a list, which it is added to where it is not there.
func number[T comparable](list *[]T, v T) int {
	i := slices.Index(*list, v)
	if i < 0 {
		i = len(*list)
		*list = append(*list, v)
	}
	return i
}

// Words are the kernel's arguments, 64 bits each: the addresses of inputs first, those of outputs
// before the last one. The addresses are 0, to be set for each launch.
func (c *Chain) Words() []uint64 {
	p := c.plan()
	words := make([]uint64, c.Inputs, c.Inputs+2*len(p.runs)+len(p.numbers)+len(c.Out)+1)
	for _, r := range p.runs {
		words = append(words, uint64(r[0]), uint64(r[1]))
	}
	for _, v := range p.numbers {
		words = append(words, math.Float64bits(v))
	}
	return append(append(words, make([]uint64, len(c.Out))...), uint64(c.N))
}

// Grid is the number and the shape of the kernel's blocks.
func (c *Chain) Grid() Grid { return Each(c.N) }

// ChainKernel is the name of a chain's kernel.
const ChainKernel = "chain"

// Source is the kernel and the functions that it needs, in CUDA C, to be compiled as
// [Elements]. It depends on the functions and their operands, not on sizes or numbers.
func (c *Chain) Source() (string, error) {
	functions, err := read("numbers", "elements")
	if err != nil {
		return "", err
	}
	p := c.plan()
	var declared []string
	var before, inside strings.Builder
	types := make([]string, c.Inputs)
	for k, l := range p.loads {
		kind := typeOf(l.truth)
		types[l.input] = kind
		line := fmt.Sprintf("    const %s x%d = in%d[%s];\n", kind, k, l.input,
			indexText(l.index, fmt.Sprint("inner", l.runs), fmt.Sprint("by", l.runs)))
		if l.index == TheFirst {
			before.WriteString(line)
		} else {
			inside.WriteString("    " + line)
		}
	}
	for i, kind := range types {
		declared = append(declared, fmt.Sprintf("const %s *in%d", kind, i))
	}
	for i := range p.runs {
		declared = append(declared, fmt.Sprintf("Int inner%d, Int by%d", i, i))
	}
	for i := range p.numbers {
		declared = append(declared, fmt.Sprintf("double c%d", i))
	}
	numbers := 0
	for k, s := range c.Steps {
		arguments := make([]string, 0, len(s.Operands)+len(s.Codes)+len(s.Numbers))
		for j, o := range s.Operands {
			if from := s.From[j]; from >= 0 {
				arguments = append(arguments, fmt.Sprint("v", from))
			} else {
				arguments = append(arguments, fmt.Sprint("x", p.load(-1-from, o)))
			}
		}
		for _, code := range s.Codes {
			arguments = append(arguments, strconv.Itoa(code))
		}
		for range s.Numbers {
			arguments = append(arguments, fmt.Sprint("c", numbers))
			numbers++
		}
		fmt.Fprintf(&inside, "        const %s v%d = element::%s(%s);\n", typeOf(s.Truth), k, s.Function,
			strings.Join(arguments, ", "))
	}
	for i, k := range c.Out {
		declared = append(declared, fmt.Sprintf("%s *out%d", typeOf(c.Steps[k].Truth), i))
		fmt.Fprintf(&inside, "        out%d[i] = v%d;\n", i, k)
	}
	declared = append(declared, "Int n")
	return fmt.Sprintf("%sextern \"C\" __global__ void %s(%s)\n{\n%s    EACH(i, n)\n    {\n%s    }\n}\n", functions,
		ChainKernel, strings.Join(declared, ", "), before.String(), inside.String()), nil
}

// typeOf is the type of an element.
func typeOf(truth bool) string {
	if truth {
		return "Byte"
	}
	return "REAL"
}
