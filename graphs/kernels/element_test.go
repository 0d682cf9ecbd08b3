package kernels

import (
	"reflect"
	"strings"
	"testing"
)

// ElementOf returns the function of a kernel with the indices of its operands and its further
// arguments.
func TestElementOf(t *testing.T) {
	unary := Unary{A: Matrix{At: 1, Rows: 2, Cols: 6}, Out: Matrix{At: 9, Rows: 2, Cols: 6}, N: 12}
	binary := Binary{A: Matrix{At: 2}, SA: 1, B: Matrix{At: 1}, SB: 0, Out: Matrix{At: 9}, N: 12}
	for _, c := range []struct {
		kernel Elementwise
		want   Element
	}{
		{Cube{unary}, Element{Function: "cube", Operands: []Operand{{At: 1}}}},
		{Sign{unary, true}, Element{Function: "sign", Operands: []Operand{{At: 1}}, Codes: []int{1}}},
		{Subtract{binary}, Element{Function: "subtract", Operands: []Operand{{At: 2}, {At: 1, Index: TheFirst}}}},
		{CompareTruth{A: Matrix{At: 1}, SA: 1, B: Matrix{At: 2}, SB: 1, Relation: GreaterOrEqual, Out: 9, N: 12},
			Element{Function: "compare_truth", Operands: []Operand{{At: 1}, {At: 2}}, Codes: []int{3}, Truth: true}},
		{MatchTruth{A: 2, SA: 0, B: 1, SB: 1, Unlike: true, Out: 9, N: 12}, Element{Function: "match_truth",
			Operands: []Operand{{At: 2, Truth: true, Index: TheFirst}, {At: 1, Truth: true}}, Codes: []int{1}, Truth: true}},
		{DropoutGradient{Y: Matrix{At: 2}, G: Matrix{At: 3}, P: 0.25, Out: Matrix{At: 9}, N: 12},
			Element{Function: "dropout_gradient", Operands: []Operand{{At: 2}, {At: 3}}, Numbers: []float64{0.25}}},
		{Fill{Out: Matrix{At: 9}, V: 7, N: 12}, Element{Function: "fill", Numbers: []float64{7}}},
		{Repeat{A: Matrix{At: 1}, Inner: 3, By: 4, Out: Matrix{At: 9}, N: 12},
			Element{Function: "repeat", Operands: []Operand{{At: 1, Index: TheRepeated, Inner: 3, By: 4}}}},
		{Repeat{A: Matrix{At: 1}, Inner: 1, By: 12, Out: Matrix{At: 9}, N: 12},
			Element{Function: "repeat", Operands: []Operand{{At: 1, Index: TheFirst, Inner: 1, By: 12}}}},
		{Repeat{A: Matrix{At: 1}, Inner: 12, By: 1, Out: Matrix{At: 9}, N: 12},
			Element{Function: "repeat", Operands: []Operand{{At: 1, Inner: 12, By: 1}}}},
	} {
		if got := ElementOf(c.kernel); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%T: %+v, want %+v", c.kernel, got, c.want)
		}
	}
}

// The source of the kernel of a single function.
func TestElementKernel(t *testing.T) {
	for _, c := range []struct {
		kernel Elementwise
		want   string
	}{
		{Add{}, "add(const REAL *a, Int sa, const REAL *b, Int sb, REAL *out, Int n)\n{\n    EACH(i, n) " +
			"out[i] = element::add(a[i * sa], b[i * sb]);\n}"},
		{Sign{}, "sign(const REAL *a, REAL *out, Int n, Int bit)\n{\n    EACH(i, n) out[i] = element::sign(a[i], bit);\n}"},
		{Repeat{}, "repeat(const REAL *a, Int inner, Int by, REAL *out, Int n)\n{\n    EACH(i, n) " +
			"out[i] = element::repeat(a[i / inner / by * inner + i % inner]);\n}"},
		{MatchTruth{}, "match_truth(const Byte *a, Int sa, const Byte *b, Int sb, Int unlike, Byte *out, Int n)\n{\n    " +
			"EACH(i, n) out[i] = element::match_truth(a[i * sa], b[i * sb], unlike);\n}"},
	} {
		if got := elementKernel(reflect.TypeOf(c.kernel)); strings.TrimSpace(got) != `extern "C" __global__ void `+c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
	}
}

// The source of a chain depends on its functions and their operands; sizes and numbers are arguments, in
// the order of the parameters.
func TestChain(t *testing.T) {
	chain := func(n int, p float64) *Chain {
		return &Chain{Inputs: 4, N: n, Out: []int{3, 4}, Steps: []Step{
			{ElementOf(Repeat{A: Matrix{At: 1}, Inner: 3, By: n / 6, N: n}), []int{-1}},
			{ElementOf(Subtract{Binary{A: Matrix{At: 1}, SA: 0, B: Matrix{At: 2}, SB: 1, N: n}}), []int{-2, 0}},
			{ElementOf(DropoutGradient{P: p, N: n}), []int{-3, 1}},
			{ElementOf(Multiply{Binary{SA: 1, SB: 1, N: n}}), []int{2, -3}},
			{ElementOf(MatchTruth{SA: 1, SB: 1, Unlike: true, N: n}), []int{-4, -4}},
			{ElementOf(Repeat{A: Matrix{At: 1}, Inner: 1, By: 3, N: n}), []int{-1}},
		}}
	}
	source, err := chain(12, 0.5).Source()
	if err != nil {
		t.Fatal(err)
	}
	const want = `extern "C" __global__ void chain(const REAL *in0, const REAL *in1, const REAL *in2, const Byte *in3, ` +
		`Int inner0, Int by0, Int inner1, Int by1, double c0, REAL *out0, Byte *out1, Int n)
{
    const REAL x1 = in1[0];
    EACH(i, n)
    {
        const REAL x0 = in0[i / inner0 / by0 * inner0 + i % inner0];
        const REAL x2 = in2[i];
        const Byte x3 = in3[i];
        const REAL x4 = in0[i / inner1 / by1 * inner1 + i % inner1];
        const REAL v0 = element::repeat(x0);
        const REAL v1 = element::subtract(x1, v0);
        const REAL v2 = element::dropout_gradient(x2, v1, c0);
        const REAL v3 = element::multiply(v2, x2);
        const Byte v4 = element::match_truth(x3, x3, 1);
        const REAL v5 = element::repeat(x4);
        out0[i] = v3;
        out1[i] = v4;
    }
}
`
	if !strings.HasSuffix(source, want) {
		t.Errorf("got %s\nwant %s", source[strings.Index(source, `extern "C"`):], want)
	}
	if other, err := chain(24, 0.25).Source(); err != nil || other != source {
		t.Errorf("for other sizes and numbers: %s, %v", other, err)
	}
	words := chain(12, 0.5).Words()
	arguments := []uint64{0, 0, 0, 0, 3, 2, 1, 3, 0x3fe0000000000000, 0, 0, 12}
	if !reflect.DeepEqual(words, arguments) {
		t.Errorf("arguments %v, want %v", words, arguments)
	}
}
