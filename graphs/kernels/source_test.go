package kernels

import (
	"slices"
	"strings"
	"testing"
)

// Every kernel of the source has a type with its parameters, and every type a
// kernel: the check of opening a device, without one. A unit is whole by itself.
func TestTypesAgreeWithTheSource(t *testing.T) {
	for _, k := range All() {
		if !slices.Contains(Units(), UnitOf(k)) {
			t.Errorf("no unit has %T", k)
		}
	}
	for _, u := range Units() {
		source, err := Source(u)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(source, Of(u)); err != nil {
			t.Error(err)
		}
		if n := strings.Count(source, "__global__"); n != len(Of(u)) {
			t.Errorf("%d types for %d kernels", len(Of(u)), n)
		}
	}
}

// A change of either side that the other does not follow is an error.
func TestCheck(t *testing.T) {
	const good = `extern "C" __global__ void pack_largest(const double *w, const double *v,
		Int n, Int k, REAL *out) {}`
	for _, c := range []struct {
		name, source, want string
	}{
		{"agreement", good, ""},
		{"two parameters that changed places", strings.Replace(good, "Int n, Int k", "Int k, Int n", 1),
			"double * v Int k Int n REAL * out"},
		{"a parameter more", strings.Replace(good, "Int n", "Int n, Int m", 1), "Int m"},
		{"a parameter less", strings.Replace(good, "Int k, ", "", 1), "has the parameters"},
		{"another type", strings.Replace(good, "Int k", "double k", 1), "double k"},
		{"another pointer", strings.Replace(good, "REAL *out", "double *out", 1), "double * out"},
		{"another name", strings.Replace(good, "pack_largest", "pack_larger", 1),
			"kernel pack_largest, which Go launches as PackLargest, is not in the source"},
		{"a kernel that nobody launches", good + ` extern "C" __global__ void narrow(REAL *a)`,
			"kernel narrow of the source has no type in Go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Check(c.source, []Kernel{PackLargest{}})
			if c.want == "" && err == nil {
				return
			}
			if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A macro stands for its parameters, and const does not count.
func TestSignatures(t *testing.T) {
	const source = "#define PAIR Int form, double scale\nextern \"C\" __global__ void k(const REAL *a, int " +
		"*failed,\n  PAIR)"
	want := []parameter{{"a", "REAL *"}, {"failed", "int *"}, {"form", "Int"}, {"scale", "double"}}
	if got := signatures(source)["k"]; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Arguments are passed in the order of the fields, in 64 bits each.
func TestPack(t *testing.T) {
	name, words := Pack(FinishProduct{N: 2, M: 3, Symmetric: true, Out: Matrix{At: 4096, Rows: 2, Cols: 3},
		Profile: Profile{Form: 4, Scale: 1, Rate: 2, Offset: -2, Degree: 5}})
	want := []uint64{2, 3, 1, 4096, 4, 0, 0x3ff0000000000000, 0x4000000000000000, 0xc000000000000000, 5, 0}
	if name != "finish_product" || !slices.Equal(words, want) {
		t.Errorf("got %s %#x, want %#x", name, words, want)
	}
	if _, words := Pack(KeepFailure{Other: 8, Failed: 16}); !slices.Equal(words, []uint64{8, 16, 0, 0}) {
		t.Errorf("got %v", words)
	}
}

// In a batch a stride for every address follows the arguments.
func TestPackBatch(t *testing.T) {
	_, words := PackBatch(nil, CheckFactor{L: Matrix{At: 4096, Rows: 2, Cols: 2}, N: 2, Failed: 16},
		func(at uintptr) int { return int(at) / 4 })
	if want := []uint64{4096, 2, 16, 1024, 4}; !slices.Equal(words, want) {
		t.Errorf("got %v, want %v", words, want)
	}
	add := Add{Binary{A: Matrix{At: 8}, B: Matrix{At: 16}, Out: Matrix{At: 24}, N: 3}}
	_, one := Pack(add)
	if _, words := PackBatch(nil, add, func(uintptr) int { return 7 }); !slices.Equal(words, one) {
		t.Errorf("a kernel of single elements has the arguments %v, want %v", words, one)
	}
}

// Every pointer is advanced by its stride, which is the next parameter but for those of the
// kernel itself; lines stay.
func TestKernelsTakeMembers(t *testing.T) {
	const before = "#line 1\nextern \"C\" __global__ void k(const REAL *a,\n  Int n, int *failed)\n{\n  *failed = 1;\n}\n"
	got, err := forMembers(before)
	const want = "#line 1\nextern \"C\" __global__ void k(const REAL *a,\n  Int n, int *failed, Int a_stride, Int " +
		"failed_stride)\n{ a += blockIdx.y * a_stride; failed += blockIdx.y * failed_stride;\n  *failed = 1;\n}\n"
	if err != nil || got != want {
		t.Errorf("%v, %s", err, got)
	}
	if _, err := forMembers("extern \"C\" __global__ void k(REAL *a)\n  BODY"); err == nil {
		t.Error("a kernel whose body is a macro passed")
	}
}
