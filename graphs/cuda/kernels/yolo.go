package kernels

// The parameters of the kernel in yolo.cu.

// Boxes is boxes: those that a Number of anchors, two sizes each, have in Side×Side cells.
type Boxes struct {
	In                               Matrix
	Anchors                          Doubles
	Number, Attributes, Side, Pixels int
	Out                              Matrix
}

// Grid implements [Kernel].
func (k Boxes) Grid() Grid { return Each(k.Number * k.Attributes * k.Side * k.Side) }
