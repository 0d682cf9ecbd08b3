package kernels

// The parameters of the kernels in clusters.cu.

// HalfDistances is half_distances: −½|x−c|² of points and centres, differences squared and added in order.
type HalfDistances struct {
	X, Centres Matrix
	N, M, D    int
	Out        Matrix
}

// Grid implements [Kernel].
func (k HalfDistances) Grid() Grid { return Each(k.N * k.M) }

// NearestCentres is nearest_centres: label, squared distance and change of each point, from the products P
// with the centres and half the squared norms of points and centres, negated. P are half distances, and norms
// are not read, if Direct.
type NearestCentres struct {
	P, HX, HC, Labels, Count Matrix
	N, Starts, K             int
	Direct                   bool
	Out                      Matrix
}

// Grid implements [Kernel].
func (k NearestCentres) Grid() Grid { return Each(k.N * k.Starts) }

// RefillClusters is refill_clusters: the labels of an Assignment, with a point in every cluster. Sizes is
// memory for those of the clusters.
type RefillClusters struct {
	Assignment, Count, Sizes Matrix
	N, Starts, K             int
	Out                      Matrix
}

// Grid implements [Kernel].
func (k RefillClusters) Grid() Grid { return Rows(k.Starts) }

// Memberships is memberships: ones where a point, a row, belongs to a cluster, a column.
type Memberships struct {
	Labels, Count Matrix
	N, Starts, K  int
	Out           Matrix
}

// Grid implements [Kernel].
func (k Memberships) Grid() Grid { return Each(k.N * k.Starts * k.K) }

// MeansOfSums is means_of_sums: rows of Out over Sizes, in place; zeros where the size is zero.
type MeansOfSums struct {
	Sizes      Matrix
	Rows, Cols int
	Out        Matrix
}

// Grid implements [Kernel].
func (k MeansOfSums) Grid() Grid { return Each(k.Rows * k.Cols) }
