package kernels

// The parameters of the kernels in pairs.cu.

// DirectSquared is direct_squared: a profile of squared distances, term by term.
type DirectSquared struct {
	X, Y      Matrix
	N, M, D   int
	Symmetric bool
	Out       Matrix
	Profile
}

// Grid implements [Kernel].
func (k DirectSquared) Grid() Grid { return tiles(k.N, k.M, 64, 16, 16) }

// DirectManhattan is direct_manhattan: a profile of Manhattan distances, term by term.
type DirectManhattan struct {
	X, Y      Matrix
	N, M, D   int
	Symmetric bool
	Out       Matrix
	Profile
}

// Grid implements [Kernel].
func (k DirectManhattan) Grid() Grid { return tiles(k.N, k.M, 64, 16, 16) }

// ShiftRows is shift_rows: the rows of A minus Mean, and their squared norms.
type ShiftRows struct {
	A          Matrix
	Mean       Doubles
	Rows, Cols int
	Out, Norms Matrix
}

// Grid implements [Kernel].
func (k ShiftRows) Grid() Grid { return Rows(k.Rows) }

// FinishSquared is finish_squared: from Out = −2XYᵀ to the profile of squared distances; XX and YY are squared norms.
type FinishSquared struct {
	X, Y, XX, YY Matrix
	N, M, D      int
	Near         float64
	Symmetric    bool
	Out          Matrix
	Profile
}

// Grid implements [Kernel].
func (k FinishSquared) Grid() Grid { return Each(k.N * k.M) }

// FinishProduct is finish_product: from inner products to their profile, in place.
type FinishProduct struct {
	N, M      int
	Symmetric bool
	Out       Matrix
	Profile
}

// Grid implements [Kernel].
func (k FinishProduct) Grid() Grid { return Each(k.N * k.M) }

// MirrorUpper is mirror_upper: the upper triangle of an N×N matrix, copied into the lower one.
type MirrorUpper struct {
	A Matrix
	N int
}

// Grid implements [Kernel].
func (k MirrorUpper) Grid() Grid { return tiles(k.N, k.N, 32, 32, 8) }

// ManhattanGradient is manhattan_gradient: Σ_j w_ij sign(x_i − y_j); Width is the number
// of dimensions that a block does at a time.
type ManhattanGradient struct {
	X, Y, W        Matrix
	N, M, D, Width int
	Out            Matrix
}

// Grid implements [Kernel].
func (k ManhattanGradient) Grid() Grid { return Rows(k.N) }

// SquaredGradient is squared_gradient: from Out = −2W(Y − 1cᵀ) to 2(s∘(X − 1cᵀ) − W(Y − 1cᵀ))
// in place, with Sums s of the rows of W and Mean c.
type SquaredGradient struct {
	X, Sums Matrix
	Mean    Doubles
	N, D    int
	Out     Matrix
}

// Grid implements [Kernel].
func (k SquaredGradient) Grid() Grid { return Each(k.N * k.D) }

// Gibbs is gibbs: the Gibbs kernel of X and Y with the lengthscales LX and LY.
type Gibbs struct {
	X, Y, LX, LY Matrix
	N, M, D      int
	Variance     float64
	Out          Matrix
}

// Grid implements [Kernel].
func (k Gibbs) Grid() Grid { return tiles(k.N, k.M, 16, 16, 16) }

// GibbsGradient is gibbs_gradient: the derivative of the Gibbs kernel by the points or the lengthscales.
type GibbsGradient struct {
	X, Y, LX, LY, W Matrix
	N, M, D, Width  int
	ByLengthscale   bool
	Out             Matrix
}

// Grid implements [Kernel].
func (k GibbsGradient) Grid() Grid { return Rows(k.N) }
