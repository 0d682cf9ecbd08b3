// Package browser tests the report, of a sweep that runs and of one that has ended, in a browser.
package browser

import (
	"testing"

	"privkern/tests/program"
)

func TestMain(m *testing.M) { program.Main(m) }
