// Package memory compares estimates of memory with the memory that the program takes.
package memory

import (
	"testing"

	"privkern/tests/program"
)

func TestMain(m *testing.M) { program.Main(m) }
