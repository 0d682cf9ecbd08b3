//go:build gpu && linux

package cuda

import (
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"

	"privkern/graphs/op"
)

// kernelFor returns what queues an operation, or nil.
func kernelFor(o gorgonia.Op) func(*task) {
	if ours, ok := o.(op.Op); ok {
		return operations[ours.Name()]
	}
	return builtin(o)
}

// builtin finds the kernel of one of gorgonia's own operations. Their types are
// not exported, so they are told by type and printed form.
func builtin(o gorgonia.Op) func(*task) {
	text := o.String()
	switch strings.TrimPrefix(fmt.Sprintf("%T", o), "*") {
	case "gorgonia.elemBinOp":
		symbol, _, _ := strings.Cut(text, " ")
		if name, ok := map[string]string{"+": "add", "-": "subtract", "⊙": "multiply", "÷": "divide"}[symbol]; ok {
			return func(t *task) { t.binary(name) }
		}
	case "gorgonia.elemUnaryOp":
		if name, ok := map[string]string{"neg": "negate", "square": "square", "sin": "sine", "cos": "cosine"}[text]; ok {
			return func(t *task) { t.launch(name, each(t.out.size()), t.in[0], t.out, t.out.size()) }
		}
	case "gorgonia.linAlgBinOp":
		if tA, tB, ok := product(text); ok {
			return func(t *task) { t.product(tA, tB) }
		}
	case "gorgonia.transposeOp":
		if text == "Aᵀ{1, 0}" {
			return func(t *task) {
				a := t.in[0]
				t.launch("transpose", tiles(a.rows, a.cols, 32, 32, 8), a, t.out, a.rows, a.cols)
			}
		}
	case "gorgonia.reshapeOp":
		return func(t *task) { t.copy(t.out, t.in[0]) }
	case "gorgonia.sumOp":
		switch text {
		case "Σ[0 1]":
			return func(t *task) { t.sumAll() }
		case "Σ[0]":
			return func(t *task) {
				a := t.in[0]
				if t.vector(0) {
					t.sumAll()
					return
				}
				t.launch("sum_columns", columns(a.cols), a, a.rows, a.cols, 1.0, t.out)
			}
		case "Σ[1]":
			return func(t *task) {
				a := t.in[0]
				t.launch("sum_rows", rows(a.rows), a, a.rows, a.cols, 1.0, t.out)
			}
		}
	case "gorgonia.repeatOp":
		return func(t *task) { t.repeat() }
	case "gorgonia.sizeOp":
		return size(text)
	case "gorgonia.concatOp":
		if axis, ok := strings.CutPrefix(text, "Concat(axis="); ok && (axis == "0)" || axis == "1)") {
			return func(t *task) { t.concat(axis == "1)") }
		}
	}
	return nil
}

// binary is an operation on matching elements; a scalar goes with every element.
func (t *task) binary(name string) {
	stride := func(m matrix) int {
		if m.size() == 1 {
			return 0
		}
		return 1
	}
	a, b, n := t.in[0], t.in[1], t.out.size()
	for _, m := range t.in {
		if m.size() != n && m.size() != 1 {
			t.err = fmt.Errorf("operands of %d and %d elements for %d", a.size(), b.size(), n)
			return
		}
	}
	t.launch(name, each(n), a, stride(a), b, stride(b), t.out, n)
}

// product reads the transpositions of a matrix product, such as "Aᵀ × B".
func product(text string) (tA, tB blas.Transpose, ok bool) {
	left, right, ok := strings.Cut(text, " × ")
	tA, tB = blas.NoTrans, blas.NoTrans
	if left == "Aᵀ" {
		tA, left = blas.Trans, "A"
	}
	if right == "Bᵀ" {
		tB, right = blas.Trans, "B"
	}
	return tA, tB, ok && left == "A" && right == "B"
}

func (t *task) product(tA, tB blas.Transpose) {
	k := t.in[0].cols
	if tA == blas.Trans {
		k = t.in[0].rows
	}
	t.gemm(tA, tB, t.out.rows, t.out.cols, k, 1, t.in[0], t.in[1], t.out)
}

func (t *task) sumAll() {
	a := t.in[0]
	g := each(a.size())
	parts := t.doubles(g.blocks)
	t.launch("sum_all", g, a, a.size(), parts)
	t.total(parts, g.blocks, t.out)
}

// vector says whether an operand has one dimension only. The kernels see it as a
// row; gorgonia counts its elements along axis 0.
func (t *task) vector(operand int) bool { return len(t.operands[operand].Shape) == 1 }

// repeat takes its number from the shapes; the second input is the same number.
// A vector that is repeated along axis 1 becomes the columns of a matrix.
func (t *task) repeat() {
	a := t.in[0]
	if t.vector(0) && t.out.rows > 1 {
		a.rows, a.cols = a.cols, 1
	}
	if a.rows == 0 || a.cols == 0 || t.out.rows%a.rows != 0 || t.out.cols%a.cols != 0 {
		t.err = fmt.Errorf("%d×%d cannot be repeated to %d×%d", a.rows, a.cols, t.out.rows, t.out.cols)
		return
	}
	t.launch("repeat", each(t.out.size()), a, t.out, t.out.rows, t.out.cols, t.out.rows/a.rows, t.out.cols/a.cols)
}

// size is a number that the shapes give: "SizeOf=5", or "SizeOf(0)" for the
// length of a dimension.
func size(text string) func(*task) {
	if v, err := strconv.Atoi(strings.TrimPrefix(text, "SizeOf=")); err == nil {
		return func(t *task) { t.launch("fill", one, t.out, float64(v), 1) }
	}
	axis, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(text, "SizeOf("), ")"))
	if err != nil {
		return nil
	}
	return func(t *task) {
		shape := t.operands[0].Shape
		if axis >= len(shape) {
			t.err = fmt.Errorf("dimension %d of shape %v", axis, shape)
			return
		}
		t.launch("fill", one, t.out, float64(shape[axis]), 1)
	}
}

// concat copies one operand after another.
func (t *task) concat(byColumn bool) {
	at := 0
	for _, a := range t.in {
		to := t.out
		to.at += cuOffset(at, t.elem())
		if byColumn {
			at += a.cols
		} else {
			at += a.size()
		}
		t.launch("copy_block", each(a.size()), a, a.cols, to, t.out.cols, a.rows, a.cols)
	}
}
