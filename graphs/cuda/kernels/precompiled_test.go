package kernels

import (
	"strings"
	"testing"
)

// The embedded PTX has every kernel, for the oldest device and the oldest driver.
func TestPrecompiled(t *testing.T) {
	for name, single := range map[string]bool{"float64": false, "float32": true} {
		t.Run(name, func(t *testing.T) {
			raw, err := Precompiled(single)
			if err != nil {
				t.Fatal(err)
			}
			ptx := string(raw)
			for _, line := range []string{".version 8.0\n", ".target sm_70\n"} {
				if !strings.Contains(ptx, line) {
					t.Errorf("there is no line %q", line)
				}
			}
			for _, k := range All() {
				if entry, _ := Pack(k); !strings.Contains(ptx, ".visible .entry "+entry+"(") {
					t.Errorf("there is no kernel %s", entry)
				}
			}
		})
	}
}
