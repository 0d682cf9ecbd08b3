package record

import "testing"

// The texts that this version writes are tested in cmd/cli; these are from early records or
// invented.
func TestClassOfAnyText(t *testing.T) {
	for _, c := range []struct {
		name string
		p    Provenance
		want string
	}{
		{"none", Provenance{Go: "go1.26 linux/amd64"}, ""},
		{"no platform", Provenance{BLAS: "gonum (pure Go)"}, "gonum"},
		{"no parentheses", Provenance{BLAS: "OpenBLAS 0.3.21", Go: "go1.26 linux/arm64"}, "openblas-0.3.21-arm64"},
		{"kernels built to fuse", Provenance{BLAS: "privkern (avx2) without FMA", Go: "go1.26 linux/amd64 v3"},
			"privkern-nofma-v3"},
		{"a sentence", Provenance{BLAS: "Some (old) <library>, by hand"}, "some-old-library-by-hand"},
		{"a level below v3", Provenance{BLAS: "gonum (pure Go)", Go: "go1.26 linux/amd64 v2"}, "gonum"},
		{"a GPU of which nothing is known", Provenance{BLAS: "gonum (pure Go)", GPU: "a GPU"}, "gonum+cublas"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.p.Class(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestClassesInWords(t *testing.T) {
	for _, c := range []struct {
		name, text, sentence string
		of                   Classes
	}{
		{"none", "", "", Classes{}},
		{"one", "gonum-amd64", "", Classes{"gonum-amd64": 3}},
		{"the most trials first", "b (2 trials), a (1 trial), c (1 trial)",
			"BLAS: b (2 trials), a (1 trial), c (1 trial); " + LastBits + ".", Classes{"a": 1, "b": 2, "c": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.of.String(); got != c.text {
				t.Errorf("got %q, want %q", got, c.text)
			}
			if got := c.of.Sentence(); got != c.sentence {
				t.Errorf("got %q, want %q", got, c.sentence)
			}
		})
	}
	unknown := Classes{}
	unknown.Add("", 2)
	if unknown.String() != "unknown" {
		t.Errorf("records that do not say: %q", unknown)
	}
}
