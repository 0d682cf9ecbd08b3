package kernels

import (
	"strings"
	"testing"
)

// The embedded PTX has every kernel, for the oldest device and the oldest driver.
func TestPrecompiled(t *testing.T) {
	for _, name := range []string{"general-float64", "general-float32", "elements-float64", "elements-float32"} {
		t.Run(name, func(t *testing.T) {
			unit := General
			if strings.HasPrefix(name, "elements") {
				unit = Elements
			}
			raw, err := Precompiled(unit, strings.HasSuffix(name, "float32"))
			if err != nil {
				t.Fatal(err)
			}
			ptx := string(raw)
			for _, line := range []string{".version 8.0\n", ".target sm_70\n"} {
				if !strings.Contains(ptx, line) {
					t.Errorf("there is no line %q", line)
				}
			}
			for _, k := range Of(unit) {
				if entry, _ := Pack(k); !strings.Contains(ptx, ".visible .entry "+entry+"(") {
					t.Errorf("there is no kernel %s", entry)
				}
			}
		})
	}
}
