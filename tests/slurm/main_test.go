// Package slurm tests sweeps on a real Slurm: lost tasks, nodes and terminals.
package slurm

import (
	"testing"

	"privkern/tests/program"
)

func TestMain(m *testing.M) { program.Main(m) }
