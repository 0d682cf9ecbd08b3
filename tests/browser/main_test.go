// Package browser tests the report, and the view of a sweep while it runs, in a browser.
package browser

import (
	"testing"

	"privkern/tests/program"
)

func TestMain(m *testing.M) { program.Main(m) }
