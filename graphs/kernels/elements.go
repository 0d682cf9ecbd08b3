package kernels

// The kernels of the functions in elements.cu, whose source element.go makes from these types.

// Elementwise is a kernel of a function of elements.cu, of the kernel's name, that is
// applied to each of N places. Its fields say how, by their names: Out and N; the operands,
// of type [Matrix] or [Truth], in the order of the function's parameters, of which
// operand A is taken at the place itself, at SA times the place if SA follows it (0
// repeats a scalar), or [Repeat]'s way if Inner and By follow it; and then the function's
// other parameters.
type Elementwise interface {
	Kernel
	elementwise()
}

// Unary is a function of each of N elements.
type Unary struct {
	A, Out Matrix
	N      int
}

// Grid implements [Kernel].
func (k Unary) Grid() Grid { return Each(k.N) }

func (Unary) elementwise() {}

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

func (Binary) elementwise() {}

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
	// Negate is negate: −a.
	Negate struct{ Unary }
	// Square is square: a².
	Square struct{ Unary }
	// Sine is sine: the sine.
	Sine struct{ Unary }
	// Cosine is cosine: the cosine.
	Cosine struct{ Unary }
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
	// Add is add: A + B.
	Add struct{ Binary }
	// Subtract is subtract: A − B.
	Subtract struct{ Binary }
	// Multiply is multiply: A ∘ B.
	Multiply struct{ Binary }
	// Divide is divide: A / B.
	Divide struct{ Binary }
	// RaiseTo is raise_to: A to the power of B.
	RaiseTo struct{ Binary }
	// Quotient is quotient: A / B, +Inf where B is zero.
	Quotient struct{ Binary }
	// Larger is larger: the larger of two elements.
	Larger struct{ Binary }
	// Smaller is smaller: the smaller of two elements.
	Smaller struct{ Binary }
)

// Relation is the relation of a comparison, numbered as in the source.
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

func (Compare) elementwise() {}

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

func (CompareTruth) elementwise() {}

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

func (MatchTruth) elementwise() {}

// DropoutGradient is dropout_gradient: G / P where Y is not zero.
type DropoutGradient struct {
	Y, G Matrix
	P    float64
	Out  Matrix
	N    int
}

// Grid implements [Kernel].
func (k DropoutGradient) Grid() Grid { return Each(k.N) }

func (DropoutGradient) elementwise() {}

// Fill is fill: V in each of N elements.
type Fill struct {
	Out Matrix
	V   float64
	N   int
}

// Grid implements [Kernel].
func (k Fill) Grid() Grid { return Each(k.N) }

func (Fill) elementwise() {}

// Repeat is repeat: runs of Inner elements of A, By times each.
type Repeat struct {
	A         Matrix
	Inner, By int
	Out       Matrix
	N         int
}

// Grid implements [Kernel].
func (k Repeat) Grid() Grid { return Each(k.N) }

func (Repeat) elementwise() {}
