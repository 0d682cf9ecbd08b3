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

// Names of the files that [Precompiled] reads.
const (
	digestFile = "precompiled/source.sha256"
	doubleFile = "precompiled/float64.ptx.gz"
	singleFile = "precompiled/float32.ptx.gz"
)

// Precompiled is the PTX of all kernels, for machines without NVRTC. It is an error where
// it was made of other sources than [Source].
func Precompiled(single bool) ([]byte, error) {
	digest, err := Digest()
	if err != nil {
		return nil, err
	}
	made, err := precompiled.ReadFile(digestFile)
	if err != nil {
		return nil, err
	}
	if got := strings.TrimSpace(string(made)); got != digest {
		return nil, fmt.Errorf("the precompiled kernels are of other sources (%.12s, not %.12s): run go generate "+
			"./graphs/cuda/kernels", got, digest)
	}
	file := doubleFile
	if single {
		file = singleFile
	}
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

// Digest is the SHA-256 of [Source], in hexadecimal digits.
func Digest() (string, error) {
	source, err := Source()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:]), nil
}
