// Build compiles the libraries of the CUDA simulator into a folder, to be named
// in LD_LIBRARY_PATH:
//
//	go run ./graphs/cuda/cudasim/build DIR
package main

import (
	"fmt"
	"os"

	"privkern/graphs/cuda/cudasim"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: build DIR")
		os.Exit(2)
	}
	if err := cudasim.Build(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}
