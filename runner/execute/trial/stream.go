package trial

import (
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"privkern/runner/experiment"
)

// streams returns the function that gives the random stream of a purpose. A
// stream is ChaCha8, a cipher in counter mode, whose key is the SHA-256 of
// (seed, experiment, purpose): it depends on nothing else, above all not on
// which trials ran before. That of a trial that draws nothing panics.
func streams(e *experiment.Experiment, job Job) func(purpose string) *rand.Rand {
	if e.Seedless != nil && e.Seedless(job.Params) {
		return func(purpose string) *rand.Rand {
			panic(fmt.Sprintf("a trial that is declared to draw nothing asked for the stream %q", purpose))
		}
	}
	if job.Secure {
		return func(string) *rand.Rand { return rand.New(entropy{}) }
	}
	return func(purpose string) *rand.Rand {
		key := sha256.Sum256(fmt.Appendf(nil, "privkern stream 1\n%d\n%s\n%s\n", job.Seed, job.Experiment, purpose))
		return rand.New(rand.NewChaCha8(key))
	}
}

// entropy is the operating system's entropy source.
type entropy struct{}

func (entropy) Uint64() uint64 {
	var b [8]byte
	// Read never fails: the Go runtime ends the process where there is no
	// entropy.
	_, _ = cryptorand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}
