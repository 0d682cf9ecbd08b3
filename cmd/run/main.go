// Command run launches sweeps of privacy-preserving kernel-method experiments
// and regenerates the tables and figures of the papers they come from, with
// the published value next to every reproduced one.
package main

import (
	"os"

	"privkern/cmd/cli"
	"privkern/experiments"
)

func main() { os.Exit(cli.Main(experiments.Papers()...)) }
