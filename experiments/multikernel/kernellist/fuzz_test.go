package kernellist

import (
	"strings"
	"testing"
)

// FuzzParseKernels reads lists of kernels; those that are taken give metrics of
// different names, and read the same as they are written.
func FuzzParseKernels(f *testing.F) {
	for _, s := range []string{
		"linear", "rbf:0.01+laplacian:.1", "polynomial:1:3:1,sigmoid", "polynomial:1:1e300:0", "rbf:NaN", "rbf:-1",
		"rbf:1e308", "rbf:1:2", "+", "rbf+rbf:.01",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		kernels, err := Parse(list)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		if len(kernels) == 0 || len(kernels) > Most {
			t.Fatalf("%q gives %d kernels", list, len(kernels))
		}
		seen := map[string]bool{}
		for _, name := range MetricNames(kernels) {
			if seen[name] {
				t.Errorf("%q gives two metrics %s", list, name)
			}
			seen[name] = true
		}
		var written []string
		for _, k := range kernels {
			written = append(written, k.Text)
		}
		again, err := Parse(strings.Join(written, "+"))
		if err != nil || len(again) != len(kernels) {
			t.Fatalf("%q is written %q, which is refused: %v", list, written, err)
		}
		for i := range again {
			if again[i].Kernel.String() != kernels[i].Kernel.String() {
				t.Errorf("%q is %s, written %s", list, kernels[i].Kernel, again[i].Kernel)
			}
		}
	})
}
