//go:build linux && (amd64 || arm64)

// Command precompile writes the kernels as PTX into a folder, for package kernels to
// embed: go generate ./graphs/kernels. It needs NVRTC, best the oldest of CUDA 12
// (PRIVKERN_CUDA names its folder): drivers refuse PTX of a newer CUDA than they know.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"privkern/graphs/cuda"
	"privkern/graphs/kernels"
)

// capability is the oldest that the backend supports.
const capability = 70

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: precompile FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "precompile:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	digest, err := kernels.Digest()
	if err != nil {
		return err
	}
	for _, unit := range []kernels.Unit{kernels.General, kernels.Elements} {
		for _, single := range []bool{false, true} {
			if err := compile(folder, unit, single); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(folder, "source.sha256"), []byte(digest+"\n"), 0o644)
}

// compile writes one unit's kernels in one precision.
func compile(folder string, unit kernels.Unit, single bool) error {
	ptx, err := cuda.PTX(unit, single, capability)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = z.Write(bytes.TrimRight(ptx, "\x00"))
	if err = errors.Join(err, z.Close()); err != nil {
		return err
	}
	name := kernels.PrecompiledFile(unit, single)
	fmt.Printf("%s: %d bytes of PTX, %d packed\n", name, len(ptx), packed.Len())
	return os.WriteFile(filepath.Join(folder, name), packed.Bytes(), 0o644)
}
