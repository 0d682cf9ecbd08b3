package corpus

// Stage is the stage at which gorgonia fails for a graph.
type Stage int

// The stages of a graph. Up to Running, neither TapeMachine nor the engine has a result. In
// Answering, only TapeMachine's result is wrong; in Differentiating, both derivatives are.
const (
	Sound Stage = iota
	Building
	Running
	Answering
	Differentiating
)

// Fault is a defect of gorgonia, with a part of its error for Building and Running, and a
// description otherwise.
type Fault struct {
	Stage Stage
	Says  string
}

// Fault returns the defect of gorgonia in the graph, the zero Fault if there is none.
func (g Graph) Fault() Fault { return faults[g.Name] }

// Faults returns the names of the graphs with a fault.
func Faults() (names []string) {
	for name := range faults {
		names = append(names, name)
	}
	return names
}

// faults holds the defects of gorgonia v0.9.18 and tensor v0.9.24, by the name of the graph.
var faults = map[string]Fault{
	"smaller of scalars":               {Running, "Cannot perform MinBetween of *gorgonia.F"},
	"larger of scalars":                {Running, "Cannot perform MaxBetween of *gorgonia.F"},
	"smaller of a matrix and a scalar": {Building, "Unable to unify while inferring type of MinBetween"},
	"larger of a scalar and a matrix":  {Building, "Unable to unify while inferring type of MaxBetween"},
	"broadcast sum of two vectors":     {Building, "Attempting to broadcast a on axis 1 of b"},

	// Derivatives of gorgonia's own formulas.
	"binary logarithm of a scalar":           {Differentiating, "1/(x ln 2) is ln 2 / x"},
	"binary logarithm of a vector":           {Differentiating, "1/(x ln 2) is ln 2 / x"},
	"binary logarithm of a matrix":           {Differentiating, "1/(x ln 2) is ln 2 / x"},
	"binary logarithm of a rank-3 tensor":    {Differentiating, "1/(x ln 2) is ln 2 / x"},
	"inverse square root of a scalar":        {Differentiating, "x is raised to the wrong power"},
	"inverse square root of a vector":        {Differentiating, "x is raised to the wrong power"},
	"inverse square root of a matrix":        {Differentiating, "x is raised to the wrong power"},
	"inverse square root of a rank-3 tensor": {Differentiating, "x is raised to the wrong power"},
	"sparsemax of a matrix along axes 0":     {Differentiating, "it is that along the other axis"},
	"dropout of nothing":                     {Differentiating, "it is zero"},
	"average pooling":                        {Differentiating, "the shares of an average go to the wrong elements"},

	// Package tensor reduces other elements along the third of four axes.
	"sum of a rank-4 tensor along axes 2":       {Answering, "the value is that of other elements"},
	"mean of a rank-4 tensor along axes 2":      {Answering, "the value is that of other elements"},
	"maximum of a rank-4 tensor along axes 2":   {Answering, "the value is that of other elements"},
	"sum of a rank-4 tensor along axes 2 3":     {Answering, "the value is that of other elements"},
	"mean of a rank-4 tensor along axes 2 3":    {Answering, "the value is that of other elements"},
	"maximum of a rank-4 tensor along axes 2 3": {Answering, "the value is that of other elements"},

	// Softmax of a column goes along its only axis, the derivative along the other.
	"softmax of a column along the default axis":     {Differentiating, "it is that along the axis of length one"},
	"log-softmax of a column along the default axis": {Differentiating, "it is that along the axis of length one"},

	"sparsemax of a rank-3 tensor along the default axis": {Running, "Shape mismatch. Expected (2, 4). Got (2, 3, 4)"},
	"sparsemax of a rank-3 tensor along axes 0":           {Running, "repeated axis 0 in permutation pattern"},
	"sparsemax of a rank-3 tensor along axes 1":           {Running, "repeated axis 0 in permutation pattern"},
	"sparsemax of a rank-3 tensor along axes 2":           {Running, "repeated axis 0 in permutation pattern"},

	"log of the sum of exponentials of a matrix along axis 0": {Building, "Shape mismatch: (5, 7) and (7)"},

	"element of a vector":                  {Building, "Non Differentiable"},
	"element of a matrix":                  {Building, "Non Differentiable"},
	"element of a vector, the value alone": {Answering, "the operand comes back"},
	"element of a matrix, the value alone": {Answering, "the operand comes back"},
	"diagonal matrix of a vector":          {Building, "Vector float"}, // a matrix whose type is a vector
	"global average pooling":               {Building, "index out of range"},

	// The length of a slice in steps is rounded down in the graph and along the first
	// axis, and rounded up along the others.
	"[1:6:3] of [7]":      {Building, "has 1 dimensions(Shape: ())"},
	"[:, 0:7:3] of [5 7]": {Building, "let its length be a multiple of its step"},

	"outer product of vectors of one length":      {Differentiating, "the factors are exchanged"},
	"outer product":                               {Running, "Shape mismatch"},
	"outer product of columns":                    {Building, "Expected only vectors to be able to do OuterProd"},
	"contraction of a rank-3 tensor and a vector": {Running, "Shape mismatch. Expected (3, 1). Got (1, 8)"},

	// The result is allocated as numbers, and is read as such.
	"broadcast < of a column and a row, as bool": {Answering, "the bytes of bool are read as numbers"},
	"broadcast > of a column and a row, as bool": {Answering, "the bytes of bool are read as numbers"},
	"broadcast ≤ of a column and a row, as bool": {Answering, "the bytes of bool are read as numbers"},
	"broadcast ≥ of a column and a row, as bool": {Answering, "the bytes of bool are read as numbers"},
	"broadcast = of a column and a row, as bool": {Answering, "the bytes of bool are read as numbers"},
	"broadcast ≠ of a column and a row, as bool": {Answering, "the bytes of bool are read as numbers"},

	// A product is written over a reshaped value that another operation still reads.
	"Gaussian process with a column of targets":  {Answering, "the solution is overwritten before its last use"},
	"Gaussian process with a vector of targets":  {Answering, "the solution is overwritten before its last use"},
	"Gaussian process with targets from a table": {Answering, "the solution is overwritten before its last use"},
}
