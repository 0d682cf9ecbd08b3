package simulated

import (
	"testing"

	"privkern/tests/tier"
)

func TestMain(m *testing.M) { tier.Main(m, "Workers") }
