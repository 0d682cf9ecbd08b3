package clipped

import (
	"testing"

	"privkern/graphs/internal/graphtest"
)

// BenchmarkConvolution takes the time of 256 pictures of 28×28 pixels.
func BenchmarkConvolution(b *testing.B) {
	for _, dtype := range []string{"float64", "float32"} {
		b.Run(dtype, func(b *testing.B) {
			p := problem{network: Convolution{Width: 28, Height: 28, Targets: 10}, loss: CrossEntropy, length: 28 * 28}
			x, targets, weights := p.draw(256)
			s, err := Over(graphtest.Engine(b, dtype, 1), p.network, p.loss, x, targets, 0.1)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			for b.Loop() {
				if _, err := s.All(b.Context(), weights); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
