//go:build gpu && linux

package main

// The linker takes flags in the order in which packages are met: from here its
// --as-needed comes before gorgonia.org/cu's -lcuda. So the program does not ask
// for the driver's library when it starts, on systems too where that is not the
// linker's habit.
import _ "privkern/graphs/cuda/driver"
