package op

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/kernels"
	"privkern/graphs/parallel"
)

// Batch returns the form of the operation for operands of some shapes.
//
// Operands [batch…, rows, columns], or [batch…] for a scalar, hold one problem for each
// place of their leading dimensions, which all operands that have them share. An operand
// of the plain shape is the same one for all members. The result has the leading
// dimensions before those of a single one. Members are numbered in row-major order.
//
// A vector for each member is a column, [batch…, n, 1]: [batch, n] is a matrix that all
// members share. A batch of none and unequal leading dimensions are errors.
func (o Op) Batch(in ...tensor.Shape) (Op, error) {
	form := Op{def: o.def}
	for i, s := range in[:min(len(in), len(o.def.in))] {
		form.lead = max(form.lead, len(s)-o.def.in[i])
	}
	for i, s := range in[:min(len(in), len(o.def.in))] {
		if form.lead > 0 && len(s) == o.def.in[i] {
			form.shared |= 1 << i
		}
	}
	_, err := form.Shape(in...)
	return form, err
}

// members divides the shapes of a batch's operands into the leading dimensions and the
// shapes of a member.
func (o Op) members(in []tensor.Shape) (lead tensor.Shape, member []tensor.Shape, err error) {
	first := 0 // the first operand that is not shared
	for o.shares(first) {
		first++
	}
	member = make([]tensor.Shape, len(in))
	for i, s := range in {
		want := o.def.in[i]
		if !o.shares(i) {
			want += o.lead
		}
		if len(s) != want {
			return nil, nil, o.wrongDims(i, first, in)
		}
		member[i] = s[len(s)-o.def.in[i]:]
	}
	if o.lead == 0 {
		return nil, member, nil
	}
	lead = in[first][:o.lead]
	for i, s := range in {
		if o.shares(i) {
			continue
		}
		if !s[:o.lead].Eq(lead) {
			return nil, nil, fmt.Errorf("input %d has shape %v, input %d shape %v: their leading dimensions differ", i, s,
				first, in[first])
		}
	}
	for _, length := range lead {
		if length < 1 {
			return nil, nil, fmt.Errorf("input %d has shape %v: a batch of no members", first, in[first])
		}
	}
	return lead, member, nil
}

// wrongDims returns the error for operand i; first is the first one with leading dimensions.
func (o Op) wrongDims(i, first int, in []tensor.Shape) error {
	dims := o.def.in[i]
	if o.lead == 0 {
		return fmt.Errorf("input %d has shape %v, want %d dimensions", i, in[i], dims)
	}
	return fmt.Errorf("input %d has shape %v, want %d dimensions, or %d in the batch of input %d, which has shape %v", i,
		in[i], dims, dims+o.lead, first, in[first])
}

// shares reports whether all members have the same operand i.
func (o Op) shares(i int) bool { return o.shared>>i&1 == 1 }

// MemberShape returns the shape of a member's operand i, given that of a batch, and whether all
// members share it.
func (o Op) MemberShape(i int, shape tensor.Shape) (member tensor.Shape, shared bool) {
	return shape[len(shape)-o.def.in[i]:], o.shares(i)
}

// MemberSolveBlock returns the order of the diagonal blocks by which a device solves triangular
// systems of order n in batches: X_i = L_ii⁻¹(B_i − L_i X_<i), products alone. The inverses cost
// accuracy only where a block is itself ill-conditioned.
func MemberSolveBlock(n int) int {
	size := kernels.FactorOrder
	for size < min(n, kernels.InverseOrder) {
		size *= 2
	}
	return size
}

// batchName returns the suffix of the operation's name that distinguishes a batch.
func (o Op) batchName() string {
	if o.lead == 0 {
		return ""
	}
	var shared strings.Builder
	for i := range o.def.in {
		if o.shares(i) {
			fmt.Fprintf(&shared, " %d", i)
		}
	}
	return fmt.Sprintf("[batch rank=%d shared=%s]", o.lead, strings.TrimSpace(shared.String()))
}

// executeMembers runs a kernel for every member of a batch.
// Each member is computed as if it were alone, on parts of the operands' memory: its bits
// depend neither on the batch nor on the number of workers. The results of members that fail
// are NaN.
func executeMembers[T cpublas.Float](o Op, run func(call[T]) error, pool *parallel.Pool, out gorgonia.Value,
	in []gorgonia.Value) error {
	shapes := make([]tensor.Shape, len(in))
	operands := make([][]T, len(in))
	for i, v := range in {
		var err error
		if operands[i], err = elementsOf[T](v); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
		shapes[i] = v.Shape()
	}
	lead, member, err := o.members(shapes)
	if err != nil {
		return err
	}
	shape, err := o.def.shape(member)
	if err != nil {
		return err
	}
	results, err := elementsOf[T](out)
	if err != nil {
		return fmt.Errorf("the output: %w", err)
	}
	failed := make([]error, lead.TotalSize())
	err = pool.For(context.Background(), len(failed), 1, func(i, _ int) error {
		c := call[T]{pool: pool, in: make([]matrix[T], len(in))}
		for j, data := range operands {
			if o.shares(j) {
				c.in[j] = memberOf(data, member[j], 0)
			} else {
				c.in[j] = memberOf(data, member[j], i)
			}
		}
		c.out = memberOf(results, shape, i)
		if err := run(c); errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		} else if err != nil {
			failed[i] = fmt.Errorf("%s: %w", o.Name(), err)
			for k := range c.out.data {
				c.out.data[k] = T(math.NaN())
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return NewMembersError(failed)
}

// memberOf returns the matrix of member i in the elements of all.
func memberOf[T cpublas.Float](data []T, shape tensor.Shape, i int) matrix[T] {
	m := matrix[T]{rows: 1, cols: 1}
	if len(shape) == 2 {
		m.rows, m.cols = shape[0], shape[1]
	}
	size := m.rows * m.cols
	m.data = data[i*size : (i+1)*size]
	return m
}
