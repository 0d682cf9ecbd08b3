package kernels

// The parameters of the kernels in functions.cu.

// Unary is a function of each of N elements.
type Unary struct {
	A, Out Matrix
	N      int
}

// Grid implements [Kernel].
func (k Unary) Grid() Grid { return Each(k.N) }

// Binary is a function of N pairs of elements. A stride of 0 takes a scalar for
// all of them.
type Binary struct {
	A   Matrix
	SA  int
	B   Matrix
	SB  int
	Out Matrix
	N   int
}

// Grid implements [Kernel].
func (k Binary) Grid() Grid { return Each(k.N) }

// Functions of single elements, which the kernels of the same names compute.
type (
	// Absolute is absolute: |a|.
	Absolute struct{ Unary }
	// Sign is sign: 1 or −1. Zeros and NaN stay, or with Bit have that of their sign bit.
	Sign struct {
		Unary
		Bit bool
	}
	// RoundUp is round_up: ⌈a⌉.
	RoundUp struct{ Unary }
	// RoundDown is round_down: ⌊a⌋.
	RoundDown struct{ Unary }
	// Exponential is exponential: exp a.
	Exponential struct{ Unary }
	// Logarithm is logarithm: the natural logarithm.
	Logarithm struct{ Unary }
	// BinaryLogarithm is binary_logarithm: the logarithm to base 2.
	BinaryLogarithm struct{ Unary }
	// LogarithmOfOnePlus is logarithm_of_one_plus: log(1 + a).
	LogarithmOfOnePlus struct{ Unary }
	// ExponentialMinusOne is exponential_minus_one: exp a − 1.
	ExponentialMinusOne struct{ Unary }
	// SquareRoot is square_root: √a.
	SquareRoot struct{ Unary }
	// Reciprocal is reciprocal: 1/a.
	Reciprocal struct{ Unary }
	// ReciprocalRoot is reciprocal_root: 1/√a.
	ReciprocalRoot struct{ Unary }
	// Cube is cube: a³.
	Cube struct{ Unary }
	// HyperbolicTangent is hyperbolic_tangent: tanh a.
	HyperbolicTangent struct{ Unary }
	// Sigmoid is sigmoid: 1/(1 + exp(−a)).
	Sigmoid struct{ Unary }
	// Softplus is softplus: log(1 + exp a).
	Softplus struct{ Unary }
)

// Functions of pairs of elements.
type (
	// RaiseTo is raise_to: A to the power of B.
	RaiseTo struct{ Binary }
	// Quotient is quotient: A / B, +Inf where B is zero.
	Quotient struct{ Binary }
	// Larger is larger: the larger of two elements.
	Larger struct{ Binary }
	// Smaller is smaller: the smaller of two elements.
	Smaller struct{ Binary }
)

// Relation is what a comparison asks, as the source numbers it.
type Relation = int

// The relations.
const (
	Less Relation = iota
	Greater
	LessOrEqual
	GreaterOrEqual
	Equal
	NotEqual
)

// Compare is compare: 1 where the relation holds between A and B, 0 elsewhere.
type Compare struct {
	A        Matrix
	SA       int
	B        Matrix
	SB       int
	Relation Relation
	Out      Matrix
	N        int
}

// Grid implements [Kernel].
func (k Compare) Grid() Grid { return Each(k.N) }

// CompareTruth is compare_truth: Compare as truth values.
type CompareTruth struct {
	A        Matrix
	SA       int
	B        Matrix
	SB       int
	Relation Relation
	Out      Truth
	N        int
}

// Grid implements [Kernel].
func (k CompareTruth) Grid() Grid { return Each(k.N) }

// MatchTruth is match_truth: whether truth values are equal, or are not with Unlike.
type MatchTruth struct {
	A      Truth
	SA     int
	B      Truth
	SB     int
	Unlike bool
	Out    Truth
	N      int
}

// Grid implements [Kernel].
func (k MatchTruth) Grid() Grid { return Each(k.N) }

// DropoutGradient is dropout_gradient: G / P where Y is not zero.
type DropoutGradient struct {
	Y, G Matrix
	P    float64
	Out  Matrix
	N    int
}

// Grid implements [Kernel].
func (k DropoutGradient) Grid() Grid { return Each(k.N) }
