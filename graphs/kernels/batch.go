package kernels

// The parameters of the kernel in batch.cu.

// BatchedProduct is batched_product: C = op(A) op(B) for each of a batch of matrices,
// M×N with K products each.
type BatchedProduct struct {
	A, B           Matrix
	Batch, M, N, K int
	TransA, TransB bool
	C              Matrix
}

// Grid implements [Kernel].
func (k BatchedProduct) Grid() Grid {
	return Grid{min(k.Batch*((k.M+15)/16)*((k.N+15)/16), maxBlocks), 16, 16}
}
