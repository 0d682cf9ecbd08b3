package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"time"
)

// Shared is the result of work that several trials of a sweep have in common, such as
// the clusters of a seed. It is kept to the last bit, and nobody changes it.
type Shared struct {
	// Numbers are columns of numbers by name, of any length. The experiment decides on
	// their meaning and their rows.
	Numbers map[string][]float64
	// Texts are kept in their order: the warnings that the work gave, as a rule.
	Texts []string
	// Took is the wall time of the work in the trial that did it; [Trial.Memo] sets it.
	Took time.Duration
}

// Keeper keeps the results of shared work between trials.
type Keeper interface {
	// Keep returns the stored result of the work of that name and key, or stores the result
	// of compute. It calls compute once at most.
	Keep(ctx context.Context, name, key string, compute func() (*Shared, error)) (*Shared, error)
}

// Memo returns the result of work that other trials of the sweep may have done: the
// result of the first compute, to the last bit. The others wait while one
// computes, and compute themselves where it fails or is killed; an error is not kept.
// compute must not call Memo.
//
// The name describes the work, such as "kernel matrix", and key gets everything that
// its result depends on besides the name and the trial's experiment, result version,
// backend, element type and BLAS class: settings, the seed where random streams
// are drawn from, and the data themselves.
//
// Outside of a sweep, and where noise is secure, compute is called and nothing is kept:
// no value that is computed from private data is written in a trial that protects them.
// Trials with metrics of time have nothing kept either, but where their experiment is
// declared with [Experiment.CountsShared].
func (t *Trial) Memo(ctx context.Context, name string, key func(*Inputs), compute func() (*Shared, error),
) (*Shared, error) {
	if t.Keeper == nil || t.private() {
		return Work(compute)
	}
	return t.Keeper.Keep(ctx, name, Digest(key), compute)
}

// private reports whether nothing of the trial may be kept.
func (t *Trial) private() bool { return t.Secure || t.Book != nil || t.Entropy != nil }

// Work calls compute and notes how long it takes.
func Work(compute func() (*Shared, error)) (*Shared, error) {
	start := time.Now()
	out, err := compute()
	if err != nil {
		return nil, err
	}
	out.Took = time.Since(start)
	return out, nil
}

// Inputs is the digest of the inputs of a result. Values are framed, so that different
// sequences of calls have different digests.
type Inputs struct{ hash hash.Hash }

// Digest returns the digest of the inputs that add adds, as hexadecimal digits.
func Digest(add func(*Inputs)) string {
	in := &Inputs{sha256.New()}
	add(in)
	return hex.EncodeToString(in.hash.Sum(nil))
}

// Text adds texts, in their order.
func (in *Inputs) Text(values ...string) {
	in.begin('t', len(values))
	for _, v := range values {
		in.begin('s', len(v))
		in.hash.Write([]byte(v)) // a hash never fails
	}
}

// Whole adds whole numbers, in their order.
func (in *Inputs) Whole(values ...int) {
	in.begin('w', len(values))
	for _, v := range values {
		in.word(uint64(v))
	}
}

// Numbers adds numbers by their bits, in their order.
func (in *Inputs) Numbers(values ...float64) {
	in.begin('n', len(values))
	var block [1 << 12]byte
	for len(values) > 0 {
		n := min(len(values), len(block)/8)
		for i, v := range values[:n] {
			binary.LittleEndian.PutUint64(block[8*i:], math.Float64bits(v))
		}
		in.hash.Write(block[:8*n])
		values = values[n:]
	}
}

// begin frames the values that follow.
func (in *Inputs) begin(kind byte, length int) {
	in.hash.Write([]byte{kind})
	in.word(uint64(length))
}

func (in *Inputs) word(v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	in.hash.Write(b[:])
}
