//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// A choice is an environment variable by which cuBLAS computes with other digits than without it,
// under the same names and versions, which are all that records have.
type choice struct {
	variable string
	effect   string
	off      bool // at the value 0 it has none
}

// choices are those of NVIDIA's documentation of cuBLAS 13 ("Floating Point Emulation",
// "cublasSetWorkspace", "cublasSetMathMode") and of the library itself. An algorithm that needs
// more work space than there is, is not chosen.
var choices = []choice{
	{"CUBLAS_EMULATE_DOUBLE_PRECISION", "float64 products are sums of products of 8-bit integers", true},
	{"CUBLAS_EMULATE_SINGLE_PRECISION", "float32 products are sums of products of bfloat16", true},
	{"NVIDIA_TF32_OVERRIDE", "float32 products may be those of TF32", true},
	{"CUBLAS_WORKSPACE_CONFIG", "other algorithms are chosen for products", false},
	{"CUBLASLT_HEURISTICS_LUT_FILE", "other algorithms are chosen for products", false},
}

// emulation is a variable of a kin of the first ones, such as CUBLAS_EMULATION_STRATEGY and
// CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT.
func emulation(variable string) bool {
	return strings.HasPrefix(variable, "CU") && strings.Contains(variable, "_EMULAT")
}

// checkEnvironment refuses variables that change digits.
func checkEnvironment() error {
	var errs []error
	for _, set := range slices.Sorted(slices.Values(os.Environ())) {
		variable, value, _ := strings.Cut(set, "=")
		i := slices.IndexFunc(choices, func(c choice) bool { return c.variable == variable })
		c := choice{variable, "products are emulated in another way", false}
		if i >= 0 {
			c = choices[i]
		}
		if value == "" || i < 0 && !emulation(variable) || c.off && value == "0" {
			continue
		}
		remedy := "unset it"
		if c.off {
			remedy += " or set it to 0"
		}
		errs = append(errs, fmt.Errorf("%s is %q: with it %s, so that results have other digits under the same key; "+
			"%s, or compute with --backend cpu", variable, value, c.effect, remedy))
	}
	return errors.Join(errs...)
}
