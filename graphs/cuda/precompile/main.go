//go:build linux && (amd64 || arm64)

// Command precompile writes the archive of machine code and PTX that the program holds, which must be made anew
// when a kernel has changed. It needs NVRTC, and no device. PTX is made by the oldest of CUDA 12, because drivers
// refuse that of a newer CUDA than they know.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"

	"privkern/graphs/cuda"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "precompile:", err)
		os.Exit(1)
	}
}

func run() error {
	code := flag.String("nvrtc", "", "folder of libnvrtc.so.12 that compiles to machine code, of CUDA 12.8 or newer")
	ptx := flag.String("ptx", "", "folder of libnvrtc.so.12 that compiles to PTX, of CUDA 12.0")
	file := flag.String("o", "graphs/cuda/kernels.zip", "the archive")
	flag.Parse()
	if *code == "" || *ptx == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	var archive bytes.Buffer
	err := cuda.WriteArchive(&archive, *code, *ptx)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes\n", *file, archive.Len())
	return os.WriteFile(*file, archive.Bytes(), 0o644)
}
