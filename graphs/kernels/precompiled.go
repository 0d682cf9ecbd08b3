package kernels

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// The kernels as PTX for devices of compute capability 7.0 and newer, by the oldest NVRTC
// of CUDA 12, which every driver that knows CUDA 12 can finish.
//
//go:generate go run privkern/graphs/cuda/precompile precompiled
//go:embed precompiled
var precompiled embed.FS

// digestFile holds the [Digest] of the sources of the embedded files.
const digestFile = "source.sha256"

// PrecompiledFile is the name of the file with a unit's PTX in one precision.
func PrecompiledFile(u Unit, single bool) string {
	if single {
		return u.String() + "-float32.ptx.gz"
	}
	return u.String() + "-float64.ptx.gz"
}

// Precompiled is the PTX of a unit's kernels, for machines without NVRTC. It is an error
// where it was made of other sources than [Source].
func Precompiled(u Unit, single bool) ([]byte, error) {
	digest, err := Digest()
	if err != nil {
		return nil, err
	}
	made, err := precompiled.ReadFile("precompiled/" + digestFile)
	if err != nil {
		return nil, err
	}
	if got := strings.TrimSpace(string(made)); got != digest {
		return nil, fmt.Errorf("the precompiled kernels are of other sources (%.12s, not %.12s): run go generate "+
			"./graphs/kernels", got, digest)
	}
	file := "precompiled/" + PrecompiledFile(u, single)
	packed, err := precompiled.ReadFile(file)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return io.ReadAll(z)
}

// Digest is the SHA-256 of the [Source] of all units, in hexadecimal digits.
func Digest() (string, error) {
	h := sha256.New()
	for u := range files {
		text, err := Source(Unit(u))
		if err != nil {
			return "", err
		}
		h.Write([]byte(text))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
