//go:build linux && (amd64 || arm64)

package cuda_test

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"

	"privkern/graphs/engine"
	"privkern/tests/tier"
)

// Results do not depend on the other work of a device: each of eight engines that compute the programs at the
// same time, beginning with different ones, has the bits of one that computes alone. Their digests are
// logged, for comparison with those of other processes.
func TestBitsOfEightEngines(t *testing.T) {
	names := slices.Sorted(maps.Keys(programs))
	if !tier.AtNight() {
		names = []string{"k-means", "principal and desensitised components", "products of rows"}
	}
	for _, dtype := range []string{"float64", "float32"} {
		t.Run(dtype, func(t *testing.T) {
			alone, err := digests(open(t, "cuda", dtype), names)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				t.Logf("bits: %016x %s in %s", alone[name], name, dtype)
			}
			var wait sync.WaitGroup
			for i := range 8 {
				e, begin := open(t, "cuda", dtype), i*len(names)/8
				wait.Go(func() {
					got, err := digests(e, slices.Concat(names[begin:], names[:begin]))
					if err != nil {
						t.Errorf("engine %d: %v", i, err)
						return
					}
					for name, digest := range got {
						if digest != alone[name] {
							t.Errorf("engine %d: other bits of %s than one alone", i, name)
						}
					}
				})
			}
			wait.Wait()
		})
	}
}

// digests returns those of the results of programs, by name; each is computed twice, since an
// engine keeps values.
func digests(e *engine.Engine, names []string) (map[string]uint64, error) {
	all := map[string]uint64{}
	for range 2 {
		for _, name := range names {
			out, err := programs[name].run(e)
			if err != nil {
				return nil, err
			}
			h := fnv.New64a()
			for _, v := range out {
				_ = binary.Write(h, binary.LittleEndian, math.Float64bits(v))
			}
			if first, ok := all[name]; ok && first != h.Sum64() {
				return nil, fmt.Errorf("other bits of %s in a second run", name)
			}
			all[name] = h.Sum64()
		}
	}
	return all, nil
}
