package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/release"
)

// follows reports a release that depends on more than its noisy numbers, and "" for none: a
// release of the first rows is made, and one of the second rows with the same noisy numbers.
// They are equal to the last byte, or something private has a part in the post-processing.
func (p *planned) follows(ctx context.Context, first, second *mat.Dense) (string, error) {
	reference, draws, err := p.release(ctx, first, release.Unbooked(rand.NewChaCha8([32]byte{5})))
	if err != nil {
		return "", err
	}
	var outputs []float64
	for _, d := range draws {
		outputs = append(outputs, d.Output...)
	}
	again, _, err := p.release(ctx, second, release.Replay(outputs))
	if err != nil {
		return "", err
	}
	a, errA := json.Marshal(reference)
	b, errB := json.Marshal(again)
	if errA != nil || errB != nil {
		return "", fmt.Errorf("a release: %w, %w", errA, errB)
	}
	if bytes.Equal(a, b) {
		return "", nil
	}
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return fmt.Sprintf("equal noisy numbers give %s and %s", clip(a[max(0, at-20):]), clip(b[max(0, at-20):])), nil
}
