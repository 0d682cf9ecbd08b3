//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"strings"
	"testing"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
)

// Variables that change digits are refused with their value and the remedy, and those that do not
// are not.
func TestVariablesThatChangeDigits(t *testing.T) {
	for _, variable := range []string{"CUBLAS_EMULATE_DOUBLE_PRECISION", "CUBLAS_EMULATE_SINGLE_PRECISION",
		"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATION_STRATEGY", "CUBLAS_EMULATION_SPECIAL_VALUES_SUPPORT_MASK",
		"CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT", "CUBLAS_WORKSPACE_CONFIG", "CUBLASLT_HEURISTICS_LUT_FILE"} {
		t.Run(variable, func(t *testing.T) {
			off := strings.HasSuffix(variable, "E_PRECISION") || variable == "NVIDIA_TF32_OVERRIDE"
			for _, value := range []string{"", "0", "1", "performant"} {
				t.Setenv(variable, value)
				err := checkEnvironment()
				if refused := value != "" && !(off && value == "0"); refused != (err != nil) {
					t.Errorf("%q: %v", value, err)
				}
			}
			err := checkEnvironment()
			for _, part := range []string{variable + ` is "performant"`, "unset it", "--backend cpu"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v lacks %q", err, part)
				}
			}
		})
	}
	t.Setenv("CUBLAS_LOGINFO_DBG", "1")
	t.Setenv("CUDA_VISIBLE_DEVICES", "0")
	if err := checkEnvironment(); err != nil {
		t.Error(err)
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
