package op

import "gorgonia.org/gorgonia"

// stateless are the operations of gorgonia that keep nothing from one call to the next, and
// write to no operand's elements. They may change an operand's header for a moment.
var stateless = map[string]bool{
	"atOp": true, "concatOp": true, "diagFlatOp": true, "dtConvOp": true, "elemBinOp": true, "elemUnaryOp": true,
	"linAlgBinOp": true, "maxOp": true, "repeatOp": true, "reshapeOp": true, "sizeOp": true, "sliceIncrOp": true,
	"sliceOp": true, "sumOp": true, "tensordotOp": true, "transposeOp": true,
}

// Stateless reports whether a graph's operations of this kind may run at the same time, each with
// its own headers of its operands. Operations that draw random numbers or learn may not, nor may
// unknown ones.
func Stateless(o gorgonia.Op) bool {
	if _, ours := o.(Op); ours {
		return true
	}
	return stateless[parametersOf(o).kind]
}
