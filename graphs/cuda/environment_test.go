//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
)

// Variables that change digits are refused with their value and the remedy, but for a value without
// effect.
func TestVariablesThatChangeDigits(t *testing.T) {
	for variable, remedy := range map[string]string{
		"CUBLAS_EMULATE_DOUBLE_PRECISION": "unset it or set it to 0,", "CUBLAS_EMULATE_SINGLE_PRECISION": "set it to 0,",
		"NVIDIA_TF32_OVERRIDE": "set it to 0,", "CUBLAS_EMULATION_STRATEGY": "unset it,",
		"CUBLAS_EMULATION_SPECIAL_VALUES_SUPPORT_MASK": "unset it,", "CUBLAS_WORKSPACE_CONFIG": "unset it,",
		"CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT": "unset it,", "CUBLASLT_HEURISTICS_LUT_FILE": "unset it,",
		"CUBLAS_LOGINFO_DBG": "", "CUDA_VISIBLE_DEVICES": ""} {
		t.Run(variable, func(t *testing.T) {
			for _, value := range []string{"", "0", "00", "performant"} {
				t.Setenv(variable, value)
				err := checkEnvironment()
				refused := remedy != "" && value != "" && (value != "0" || remedy == "unset it,")
				if refused != (err != nil) || refused && (!strings.Contains(err.Error(), remedy) ||
					!strings.Contains(err.Error(), fmt.Sprintf("%s is %q", variable, value))) {
					t.Errorf("%q: %v", value, err)
				}
			}
		})
	}
}

// Every such variable is named, when the backend is opened.
func TestBackendRefusesVariables(t *testing.T) {
	before := shared.gpu
	shared.gpu = nil
	defer func() { shared.gpu = before }()
	t.Setenv("CUBLAS_EMULATE_DOUBLE_PRECISION", "1")
	t.Setenv("CUBLAS_EMULATION_STRATEGY", "eager")
	_, err := engine.Open("cuda", "float64", 1)
	if errors.Is(err, driver.ErrNoDriver) {
		t.Skip(err)
	}
	if err == nil || !strings.Contains(err.Error(), `CUBLAS_EMULATE_DOUBLE_PRECISION is "1"`) ||
		!strings.Contains(err.Error(), `CUBLAS_EMULATION_STRATEGY is "eager"`) {
		t.Errorf("got %v", err)
	}
}
