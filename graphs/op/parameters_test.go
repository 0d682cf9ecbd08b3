package op

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// caseOperations are the operations in the graphs of all cases, in both element types.
func caseOperations(t *testing.T) (all []gorgonia.Op) {
	t.Helper()
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		for _, c := range BuiltinCases() {
			g := gorgonia.NewGraph()
			in := make(gorgonia.Nodes, len(c.In))
			for i, o := range c.In {
				name := gorgonia.WithName(fmt.Sprint("in", i))
				if rows, cols := o.Dims(); o.Scalar {
					in[i] = gorgonia.NewScalar(g, dtype, name)
				} else {
					in[i] = gorgonia.NewMatrix(g, dtype, gorgonia.WithShape(rows, cols), name)
				}
			}
			c.Node(in)
			for _, n := range g.AllNodes() {
				if o := n.Op(); o != nil && (o.Arity() != 0 || Random(o)) {
					all = append(all, o)
				}
			}
		}
	}
	return all
}

// layoutOf prints the fields of a type of gorgonia's, those of embedded ones included.
func layoutOf(t reflect.Type) string {
	var fields []string
	for i := range t.NumField() {
		f := t.Field(i)
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Anonymous && inner.Kind() == reflect.Struct:
			fields = append(fields, fmt.Sprintf("%v{%s}", f.Type, layoutOf(inner)))
		case f.Anonymous:
			fields = append(fields, f.Type.String())
		default:
			fields = append(fields, f.Name+" "+f.Type.String())
		}
	}
	return strings.Join(fields, "; ")
}

// The types of gorgonia's operations have the fields of version 0.9.18. The code that reads them
// has to be reviewed where they change.
func TestFieldsOfGorgonia(t *testing.T) {
	want := map[string]string{
		"BatchNormOp": "momentum float64; epsilon float64; dims int; runningMean *tensor.Dense; " +
			"runningVariance *tensor.Dense; saveMean *tensor.Dense; saveVariance *tensor.Dense; " +
			"alpha *tensor.Dense; beta *tensor.Dense; training bool",
		"GroupNormOp": "numGroups int; numChannels int; epsilon float64; mean *tensor.Dense; rstd *tensor.Dense",
		"atOp":        "coordinates gorgonia.coordinates; d int",
		"avgPoolDiffOp": "gorgonia.avgPoolOp{unpaddedB int; unpaddedC int; unpaddedH int; unpaddedW int; h int; " +
			"w int; padNorth int; padWest int; padSouth int; padEast int; explicitPadding bool; strideH int; " +
			"strideW int; mask tensor.Tensor}",
		"avgPoolOp": "unpaddedB int; unpaddedC int; unpaddedH int; unpaddedW int; h int; w int; padNorth int; " +
			"padWest int; padSouth int; padEast int; explicitPadding bool; strideH int; strideW int; " +
			"mask tensor.Tensor",
		"batchnormDiffOp": "*gorgonia.BatchNormOp{momentum float64; epsilon float64; dims int; " +
			"runningMean *tensor.Dense; runningVariance *tensor.Dense; saveMean *tensor.Dense; " +
			"saveVariance *tensor.Dense; alpha *tensor.Dense; beta *tensor.Dense; training bool}",
		"col2imOp": "unpaddedB int; unpaddedC int; unpaddedH int; unpaddedW int; gorgonia.im2colOp{h int; w int; " +
			"padH int; padW int; strideH int; strideW int; dilationH int; dilationW int}",
		"concatOp":      "axis int; d int; children int",
		"dropoutDiffOp": "*gorgonia.dropoutOp{probability float64; isTraining bool; rndGen gorgonia.randomGenF}",
		"dropoutOp":     "probability float64; isTraining bool; rndGen gorgonia.randomGenF",
		"elemBinOp":     "gorgonia.ʘBinaryOperator; arg0 hm.Type; arg1 hm.Type; retSame bool",
		"elemUnaryOp":   "gorgonia.ʘUnaryOperator; argTensor bool; numericResult bool",
		"groupNormDiffOp": "*gorgonia.GroupNormOp{numGroups int; numChannels int; epsilon float64; " +
			"mean *tensor.Dense; rstd *tensor.Dense}",
		"im2colOp":    "h int; w int; padH int; padW int; strideH int; strideW int; dilationH int; dilationW int",
		"linAlgBinOp": "gorgonia.āBinaryOperator; transA bool; transB bool",
		"maxOp":       "along gorgonia.axes; d int",
		"maxPoolDiffOp": "gorgonia.maxPoolOp{unpaddedB int; unpaddedC int; unpaddedH int; unpaddedW int; h int; " +
			"w int; padNorth int; padWest int; padSouth int; padEast int; explicitPadding bool; strideH int; " +
			"strideW int; mask tensor.Tensor}",
		"maxPoolOp": "unpaddedB int; unpaddedC int; unpaddedH int; unpaddedW int; h int; w int; padNorth int; " +
			"padWest int; padSouth int; padEast int; explicitPadding bool; strideH int; strideW int; " +
			"mask tensor.Tensor",
		"randomOp":            "which gorgonia.randomness; shape tensor.Shape; dt tensor.Dtype; a float64; b float64",
		"repeatOp":            "along int; inputShape tensor.Shape",
		"reshapeOp":           "from tensor.Shape; to tensor.Shape",
		"sizeOp":              "axis int; d int; val int",
		"sliceIncrOp":         "*gorgonia.sliceOp{tensor.Slice; along int; a int; d int}",
		"sliceOp":             "tensor.Slice; along int; a int; d int",
		"softmaxDiffOp":       "*gorgonia.softmaxOp{shape tensor.Shape; axis int; isLog bool}",
		"softmaxOp":           "shape tensor.Shape; axis int; isLog bool",
		"sparsemaxOp":         "axis int",
		"sumOp":               "along gorgonia.axes; d int; inputShape tensor.Shape",
		"tensordotOp":         "aAxes []int; bAxes []int; aDims int; bDims int; retDims int",
		"transposeOp":         "pattern []int; d int",
		"upsampleDiffOp":      "gorgonia.upsampleOp{stride int}",
		"upsampleOp":          "stride int",
		"dtConvOp":            "inshape tensor.Shape; from tensor.Dtype; to tensor.Dtype",
		"byIndicesOp":         "axis int",
		"byIndicesOpDiffOp":   "*gorgonia.byIndicesOp{axis int}",
		"diagFlatOp":          "",
		"globalAveragePoolOp": "",
		"maxBetween":          "",
		"minBetween":          "",
		"sparsemaxDiffOp":     "",
	}
	found := map[string]string{}
	for _, o := range caseOperations(t) {
		if p := parametersOf(o); p.kind != "" {
			found[p.kind] = layoutOf(p.value.Type())
		}
	}
	for kind, layout := range found {
		t.Run(kind, func(t *testing.T) {
			if fields, ok := want[kind]; !ok || layout != fields {
				t.Errorf("the fields are %q, want %q", layout, fields)
			}
		})
	}
	for kind := range want {
		if _, ok := found[kind]; !ok {
			t.Errorf("no case has the operation %s", kind)
		}
	}
	for kind := range byKind {
		if _, ok := want[kind]; !ok {
			t.Errorf("the fields of %s are not known", kind)
		}
	}
}

// gorgonia's numbers of its operators are those of version 0.9.18.
func TestOperatorsOfGorgonia(t *testing.T) {
	g := gorgonia.NewGraph()
	a := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(3, 3), gorgonia.WithName("a"))
	v := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(3), gorgonia.WithName("v"))
	c := gorgonia.NewTensor(g, tensor.Float64, 3, gorgonia.WithShape(2, 3, 3), gorgonia.WithName("c"))
	comparison := func(f func(a, b *gorgonia.Node, numbers bool) (*gorgonia.Node, error)) binary {
		return func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return f(a, b, true) }
	}
	batched := func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.BatchedMatMul(a, b) }
	for _, c := range []struct {
		name  string
		graph binary
		a, b  *gorgonia.Node
		field string
		want  int
	}{
		{"add", gorgonia.Add, a, a, operatorOfTwo, addOperator},
		{"subtract", gorgonia.Sub, a, a, operatorOfTwo, subtractOperator},
		{"multiply", gorgonia.HadamardProd, a, a, operatorOfTwo, multiplyOperator},
		{"divide", gorgonia.HadamardDiv, a, a, operatorOfTwo, divideOperator},
		{"power", gorgonia.Pow, a, a, operatorOfTwo, powerOperator},
		{"less", comparison(gorgonia.Lt), a, a, operatorOfTwo, lessOperator + kernels.Less},
		{"greater", comparison(gorgonia.Gt), a, a, operatorOfTwo, lessOperator + kernels.Greater},
		{"less or equal", comparison(gorgonia.Lte), a, a, operatorOfTwo, lessOperator + kernels.LessOrEqual},
		{"greater or equal", comparison(gorgonia.Gte), a, a, operatorOfTwo, lessOperator + kernels.GreaterOrEqual},
		{"equal", comparison(gorgonia.Eq), a, a, operatorOfTwo, lessOperator + kernels.Equal},
		{"not equal", comparison(gorgonia.Ne), a, a, operatorOfTwo, lessOperator + kernels.NotEqual},
		{"matrix and matrix", gorgonia.Mul, a, a, linearOperator, matrixMatrix},
		{"matrix and vector", gorgonia.Mul, a, v, linearOperator, matrixVector},
		{"vector and vector", gorgonia.Mul, v, v, linearOperator, vectorVector},
		{"outer product", gorgonia.OuterProd, v, v, linearOperator, outerProduct},
		{"batched product", batched, c, c, linearOperator, batchedMatrixMatrix},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parametersOf(gorgonia.Must(c.graph(c.a, c.b)).Op())
			if got := p.code(c.field); p.err != nil || got != c.want {
				t.Errorf("the number is %d (%v), want %d", got, p.err, c.want)
			}
		})
	}
	if got, want := len(operators()), 2*len(elementaries()); got != want {
		t.Errorf("%d operators on single elements, want %d", got, want)
	}
}

// A field that is not there, or of another type, is an error of the launch: the
// operation does not fall back without a word.
func TestMissingFieldIsAnError(t *testing.T) {
	for _, c := range []struct {
		name string
		of   any
		read func(p *parameters)
	}{
		{"no field", struct{ other int }{}, func(p *parameters) { p.integer("axis") }},
		{"a number of another type", struct{ axis string }{}, func(p *parameters) { p.integer("axis") }},
		{"a list of another type", struct{ along []string }{[]string{"1"}}, func(p *parameters) { p.integers("along") }},
		{"no list", struct{ along int }{}, func(p *parameters) { p.integers("along") }},
		{"an operator that is no number", struct{ code string }{}, func(p *parameters) { p.code("code") }},
		{"a way that ends", struct{ operator any }{}, func(p *parameters) { p.code("operator.code") }},
		{"a number for a truth value", struct{ isLog int }{}, func(p *parameters) { p.truth("isLog") }},
		{"an integer for a number", struct{ epsilon int }{}, func(p *parameters) { p.number("epsilon") }},
		{"an operator without an address", struct{ operator any }{1}, func(p *parameters) { p.address("operator") }},
		{"a slice of another type", struct{ Slice any }{1}, func(p *parameters) { p.slice() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			launched := false
			b := Builtin{queue: func(p *parameters) func(Stream) {
				c.read(p)
				return func(Stream) { launched = true }
			}}
			var s failures
			b.launch(&parameters{kind: "operation", value: reflect.ValueOf(c.of)})(&s)
			if launched || s.err == nil || !strings.Contains(s.err.Error(), "gorgonia's operation operation has no field") {
				t.Errorf("launched: %v, error: %v", launched, s.err)
			}
		})
	}
}

// failures is a stream that takes nothing but an error.
type failures struct {
	Stream
	err error
}

func (f *failures) Fail(err error) { f.err = err }

// Kernels are for operands of one element type, or move integers or truth values, with
// which the host computes.
func TestTypesOfOperands(t *testing.T) {
	g := gorgonia.NewGraph()
	a := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(2, 3), gorgonia.WithName("a"))
	b := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(2, 3), gorgonia.WithName("b"))
	sum, truth := gorgonia.Must(gorgonia.Add(a, b)).Op(), gorgonia.Must(gorgonia.Gt(a, b, false)).Op()
	number, reshaped := gorgonia.Must(gorgonia.Gt(a, b, true)).Op(), shaped(a, 3, 2).Op()
	integer := gorgonia.Must(integersOf(a)).Op()
	for _, c := range []struct {
		name  string
		of    gorgonia.Op
		types []tensor.Dtype
		want  bool
	}{
		{"sum in float64", sum, []tensor.Dtype{tensor.Float64, tensor.Float64, tensor.Float64}, true},
		{"sum in float32", sum, []tensor.Dtype{tensor.Float32, tensor.Float32, tensor.Float32}, true},
		{"sum of both", sum, []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.Float64}, false},
		{"sum of integers", sum, []tensor.Dtype{tensor.Int, tensor.Int, tensor.Int}, false},
		{"truth", truth, []tensor.Dtype{tensor.Float32, tensor.Float32, tensor.Bool}, true},
		{"order of truth values", truth, []tensor.Dtype{tensor.Bool, tensor.Bool, tensor.Bool}, false},
		{"equal truth values", gorgonia.Must(gorgonia.Eq(a, b, false)).Op(),
			[]tensor.Dtype{tensor.Bool, tensor.Bool, tensor.Bool}, true},
		{"comparison as numbers", number, []tensor.Dtype{tensor.Float64, tensor.Float64, tensor.Float64}, true},
		{"truth values in another shape", reshaped, []tensor.Dtype{tensor.Bool, tensor.Bool}, true},
		{"integers in another shape", reshaped, []tensor.Dtype{tensor.Int, tensor.Int}, true},
		{"integers as numbers in another shape", reshaped, []tensor.Dtype{tensor.Int, tensor.Float64}, false},
		{"integers", integer, []tensor.Dtype{tensor.Float32, tensor.Int}, true},
		{"from integers", integer, []tensor.Dtype{tensor.Int, tensor.Float32}, true},
		{"integers of integers", integer, []tensor.Dtype{tensor.Int, tensor.Int}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Launch(c.of, c.types...) != nil; got != c.want {
				t.Errorf("a launch: %v, want %v", got, c.want)
			}
		})
	}
}
