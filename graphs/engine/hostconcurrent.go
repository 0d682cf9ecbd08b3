package engine

import (
	"gorgonia.org/tensor"

	"privkern/graphs/cost"
	"privkern/graphs/parallel"
)

// The host's steps that are worth a goroutine: those that take some tenths of a millisecond.
const (
	heavyOperations = 1 << 23
	heavyTraffic    = 16 << 20 // bytes of operands and results
	// heavyElements is below what any heavy step has of operands and result: fewer make fewer
	// than heavyOperations in any product or factor.
	heavyElements = 1 << 14
)

func (d *hostDevice) workers() *parallel.Pool { return d.pool }

// share gives the steps headers of their own.
func (d *hostDevice) share() { d.apart = true }

// heavy counts what the step asks of a CUDA device, whose operations are those of the host.
func (d *hostDevice) heavy(s step, out DTensor, in []DTensor) bool {
	elements := out.Shape.TotalSize()
	for _, t := range in {
		elements += t.Shape.TotalSize()
	}
	if elements < heavyElements {
		return false
	}
	work, ok := cost.Of(s.op, operandsOf([]DTensor{out})[0], operandsOf(in))
	return ok && (work.Operations >= heavyOperations || work.Traffic >= heavyTraffic)
}

// divisible refuses views and matrices that are still to be transposed: package tensor would
// share between headers what each of them gives back.
func (d *hostDevice) divisible(t DTensor) bool {
	v, ok := t.Buf.(*hostBuf).value.(*tensor.Dense)
	return !ok || !v.IsMaterializable()
}
