package kernels

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed *.cu
var sources embed.FS

// Unit is a family of kernels, which is compiled by itself and loaded when a kernel of it is first
// launched.
type Unit string

// Elements has the [Elementwise] kernels, and is compiled with --fmad=false. In the other units the
// compiler contracts, and their kernels compute batches.
const Elements Unit = "elements"

// units are the source files of each unit, behind the common part.
var units = map[Unit][]string{
	Elements:   {"elements"},
	"copies":   {"copies", "strided", "index", "random", "members"},
	"sums":     {"reduce", "lines"},
	"pairs":    {"pairs"},
	"factors":  {"factor", "cholesky", "condition"},
	"spectra":  {"eigen", "singular"},
	"networks": {"convolution", "norm", "batch"},
	"models":   {"padding", "laplace", "hull", "clusters"},
}

// Units are all units, in order.
func Units() []Unit { return slices.Sorted(maps.Keys(units)) }

// unitsByType are the units of [All].
var unitsByType = sync.OnceValue(func() map[reflect.Type]Unit {
	byName := map[string]Unit{}
	for u, files := range units {
		text, _ := read(files...) // [Source] reports the error
		for name := range signatures(text) {
			byName[name] = u
		}
	}
	byType := map[reflect.Type]Unit{}
	for _, k := range All() {
		t := reflect.TypeOf(k)
		byType[t] = byName[nameOf(t)]
	}
	return byType
})

// UnitOf is the unit that has a kernel; it is empty for one that no source has.
func UnitOf(k Kernel) Unit {
	if _, ok := k.(Elementwise); ok {
		return Elements
	}
	return unitsByType()[reflect.TypeOf(k)]
}

// read joins source files.
func read(files ...string) (string, error) {
	var b strings.Builder
	for _, name := range files {
		text, err := sources.ReadFile(name + ".cu")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "#line 1 \"%s.cu\"\n%s\n", name, text)
	}
	return b.String(), nil
}

// The compiler warns of functions that nothing calls, but in the common part.
const (
	partlyUsed = "#pragma nv_diag_suppress 177\n"
	allUsed    = "#pragma nv_diag_default 177\n"
)

// Source is all kernels of a unit in CUDA C.
func Source(u Unit) (string, error) {
	if u == Elements {
		text, err := read(append([]string{"numbers"}, units[u]...)...)
		if err != nil {
			return text, err
		}
		var b strings.Builder
		b.WriteString(text)
		for _, k := range Of(u) {
			b.WriteString(elementKernel(reflect.TypeOf(k)))
		}
		return b.String(), nil
	}
	if units[u] == nil {
		return "", fmt.Errorf("there is no unit %q of kernels", u)
	}
	common, err := read("numbers", "common")
	if err != nil {
		return "", err
	}
	text, err := read(units[u]...)
	if err != nil {
		return "", err
	}
	return forMembers(partlyUsed + common + allUsed + text)
}

// head is a kernel up to the beginning of its body.
var head = regexp.MustCompile(`(extern "C" __global__ void \w+)\(([^)]*)\)(\s*)\{`)

// strideSuffix ends the names of the parameters that forMembers adds.
const strideSuffix = "_stride"

// forMembers lets every kernel compute batches, one member for each block in y: for every
// pointer it adds a parameter, by how many elements the memory of a member is behind that
// of the one before, and begins the body by advancing the pointer. Lines stay where they are.
func forMembers(source string) (string, error) {
	if kernels, heads := strings.Count(source, "__global__"), len(head.FindAllString(source, -1)); kernels != heads {
		return "", fmt.Errorf("the bodies of %d kernels of %d begin with a brace", heads, kernels)
	}
	return head.ReplaceAllStringFunc(source, func(text string) string {
		m := head.FindStringSubmatch(text)
		var parameters, advance strings.Builder
		for p := range strings.SplitSeq(m[2], ",") {
			if i := strings.LastIndex(p, "*"); i >= 0 {
				name := strings.TrimSpace(p[i+1:])
				fmt.Fprintf(&parameters, ", Int %s%s", name, strideSuffix)
				fmt.Fprintf(&advance, " %s += blockIdx.y * %s%s;", name, name, strideSuffix)
			}
		}
		return fmt.Sprintf("%s(%s%s)%s{%s", m[1], m[2], &parameters, m[3], &advance)
	}), nil
}

// All are the kernels that are launched, without arguments.
func All() []Kernel {
	return []Kernel{
		Add{}, Subtract{}, Multiply{}, Divide{}, Negate{}, Square{}, Sine{}, Cosine{}, Fill{}, Repeat{},
		CopyBlock{}, Transpose{}, Scale{}, ScaleRoot{},
		SumAll{}, SumLowerProducts{}, SumRidge{}, SumParts{}, SumDiagonal{}, SumRows{}, SumColumns{},
		AddParts{}, RowDistance{}, CentreSymmetric{},
		DirectSquared{}, DirectManhattan{}, ShiftRows{}, FinishSquared{}, FinishProduct{},
		MirrorUpper{}, ManhattanGradient{}, SquaredGradient{}, Gibbs{}, GibbsGradient{},
		LowerShifted{}, CheckFactor{}, Identity{}, AddIdentity{}, HalveDiagonal{}, Symmetrise{},
		RowNormParts{}, ConditionBegin{}, ConditionSigns{}, ConditionUnit{}, ConditionAlternate{},
		ConditionEnd{}, WidenFinite{}, PackEigen{}, PackLargest{}, PositivePart{}, DividedDifferences{},
		KeepFailure{}, EstimateCondition{}, SymmetricEigen{}, StartBlock{}, ShiftedInverse{}, LastRows{}, RitzPairs{},
		LeftSingular{},
		FactorBlock{}, FactorRows{}, PlaceDiagonal{}, InvertBlocks{}, JoinBlocks{}, Invalidate{}, Leading{},
		HalfDistances{}, NearestCentres{}, RefillClusters{}, Memberships{}, MeansOfSums{},
		LogisticScale{}, NewtonTarget{}, IdentityPlusScaled{},
		HullQueries{}, HalfSquares{}, HullExponentials{}, HullSafety{}, HullNormalise{},
		Absolute{}, Sign{}, RoundUp{}, RoundDown{}, Exponential{}, Logarithm{}, BinaryLogarithm{},
		LogarithmOfOnePlus{}, ExponentialMinusOne{}, SquareRoot{}, Reciprocal{}, ReciprocalRoot{}, Cube{},
		HyperbolicTangent{}, Sigmoid{}, Softplus{}, RaiseTo{}, Quotient{}, Larger{}, Smaller{}, Compare{}, CompareTruth{},
		MatchTruth{},
		DropoutGradient{}, Drop{},
		Gather{}, Scatter{}, GatherIntegers{}, ScatterIntegers{}, GatherTruth{}, ScatterTruth{},
		SumLines{}, SumChunks{}, MaxLines{}, MaxChunks{}, Softmax{}, SoftmaxGradient{}, Sparsemax{},
		SparsemaxGradient{},
		BatchedProduct{},
		Standardise{}, StandardiseBy{}, StandardiseGradient{},
		ToIntegers{}, FromIntegers{}, Pick{}, PickGradient{},
		ImageColumns{}, ColumnsImage{}, MaxPool{}, MaxPoolGradient{}, AveragePool{}, AveragePoolGradient{},
	}
}

// Of are the kernels of a unit among [All].
func Of(u Unit) []Kernel {
	return slices.DeleteFunc(All(), func(k Kernel) bool { return UnitOf(k) != u })
}

// parameter is one parameter of a kernel: its name, without regard to case, and
// its type in CUDA C without const.
type parameter struct{ name, kind string }

func (p parameter) String() string { return p.kind + " " + p.name }

// Check compares the types of kernels with a source. Its error names every
// kernel that one has and the other lacks, and every parameter that differs in
// name, place or type.
func Check(source string, kernels []Kernel) error {
	declared := signatures(source)
	var errs []error
	for _, k := range kernels {
		t := reflect.TypeOf(k)
		name := nameOf(t)
		want, ok := declared[name]
		if !ok {
			errs = append(errs, fmt.Errorf("kernel %s, which Go launches as %s, is not in the source", name, t.Name()))
			continue
		}
		if got := fields(t); !slices.Equal(got, want) {
			errs = append(errs, fmt.Errorf("kernel %s has the parameters %v, but %s has the fields %v", name, want, t.Name(),
				got))
		}
		delete(declared, name)
	}
	for name := range declared {
		errs = append(errs, fmt.Errorf("kernel %s of the source has no type in Go", name))
	}
	return errors.Join(errs...)
}

// fields are the parameters that a type declares.
func fields(t reflect.Type) (all []parameter) {
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Anonymous:
			all = append(all, fields(f.Type)...)
		case f.Type != metricType:
			all = append(all, parameter{strings.ToLower(f.Name), kindOf(f.Type)})
		}
	}
	return all
}

// kindOf is the type in CUDA C for a type of Go.
func kindOf(t reflect.Type) string {
	switch t {
	case matrixType:
		return "REAL *"
	case reflect.TypeFor[Doubles]():
		return "double *"
	case reflect.TypeFor[Flag]():
		return "int *"
	case reflect.TypeFor[Integers]():
		return "Int *"
	case reflect.TypeFor[Truth]():
		return "Byte *"
	case reflect.TypeFor[int](), reflect.TypeFor[Form](), reflect.TypeFor[bool]():
		return "Int"
	case reflect.TypeFor[float64]():
		return "double"
	}
	return "no " + t.String()
}

var (
	signature = regexp.MustCompile(`extern "C" __global__ void (\w+)\(([^)]*)\)`)
	pointer   = regexp.MustCompile(`\s*\*\s*`)
	// A macro that stands for parameters, such as PROFILE.
	macro = regexp.MustCompile(`(?m)^#define (\w+) ((?:Int|double|const) .*)$`)
)

// signatures are the kernels of a source with their parameters, but the strides of batches.
func signatures(source string) map[string][]parameter {
	macros := map[string]string{}
	for _, m := range macro.FindAllStringSubmatch(source, -1) {
		macros[m[1]] = m[2]
	}
	found := map[string][]parameter{}
	for _, m := range signature.FindAllStringSubmatch(source, -1) {
		var list []parameter
		for _, text := range strings.Split(m[2], ",") {
			text = strings.TrimSpace(text)
			for _, text := range strings.Split(cmp.Or(macros[text], text), ",") {
				if p := parameterOf(text); !strings.HasSuffix(p.name, strideSuffix) {
					list = append(list, p)
				}
			}
		}
		found[m[1]] = list
	}
	return found
}

func parameterOf(text string) parameter {
	text = strings.TrimPrefix(strings.TrimSpace(text), "const ")
	text = pointer.ReplaceAllString(text, " * ")
	i := strings.LastIndex(text, " ")
	return parameter{strings.ToLower(text[i+1:]), strings.TrimSpace(text[:max(i, 0)])}
}
