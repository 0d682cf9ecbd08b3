package kernels

// The parameters of the kernels in members.cu.

// MemberAddresses is member_addresses: First + i·Step + j·Apart for Count members i of each of Blocks
// blocks j, in bytes. First is an address as an integer, which no batch advances.
type MemberAddresses struct {
	First, Step, Count, Apart, Blocks int
	Out                               Integers
}

// Grid implements [Kernel].
func (k MemberAddresses) Grid() Grid { return Each(k.Count * k.Blocks) }

// Invalidate is invalidate: N elements of NaN where Failed says that the operation failed.
type Invalidate struct {
	Failed Flag
	N      int
	Out    Matrix
}

// Grid implements [Kernel].
func (k Invalidate) Grid() Grid { return Each(k.N) }

// ClearUpper is clear_upper: zeros above the diagonal of A, within its diagonal blocks of an Order.
type ClearUpper struct {
	A        Matrix
	N, Order int
}

// Grid implements [Kernel].
func (k ClearUpper) Grid() Grid { return Each(k.N * k.Order) }
