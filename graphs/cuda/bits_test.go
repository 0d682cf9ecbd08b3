//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"privkern/graphs/op"
)

// otherOrder makes this test print the digests of results instead of comparing them.
const otherOrder = "PRIVKERN_TEST_PRINT_BITS"

// Results of gorgonia's operations do not depend on the order in which blocks and threads
// run: a process in which the simulated device takes them from the last to the first
// computes the same bits.
func TestBitsDoNotDependOnTheOrder(t *testing.T) {
	var got bytes.Buffer
	for _, dtype := range []string{"float64", "float32"} {
		t.Run(dtype, func(t *testing.T) {
			_, device := engines(t, dtype)
			for _, c := range op.BuiltinCases() {
				out, err := device.Run(context.Background(), program(c), inputs(device, c))
				if err != nil {
					t.Fatal(err)
				}
				h := fnv.New64a()
				for _, v := range numbers(t, out["out"]) {
					if math.IsNaN(v) {
						v = math.NaN() // with any bits
					}
					_ = binary.Write(h, binary.LittleEndian, v)
				}
				fmt.Fprintf(&got, "bits: %s of %s: %x\n", c.Name, dtype, h.Sum64())
			}
		})
	}
	if os.Getenv(otherOrder) != "" {
		fmt.Print(got.String())
		return
	}
	other := exec.Command(os.Args[0], "-test.run=^TestBitsDoNotDependOnTheOrder$")
	other.Env = append(os.Environ(), otherOrder+"=1", "CUDASIM_ORDER=reverse")
	text, err := other.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	want := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		want[line] = true
	}
	for line := range strings.Lines(got.String()) {
		if !want[line] {
			t.Errorf("in the other order other than %s", line)
		}
	}
}
