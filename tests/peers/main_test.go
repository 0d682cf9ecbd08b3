// Package peers compares results with those of other implementations, in Python.
package peers

import (
	"testing"

	"privkern/tests/program"
)

func TestMain(m *testing.M) { program.Main(m) }
