package mechanism

import (
	_ "embed"
	"math"

	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[Budget](source) }

// Budget is the strength of a protection: settings of every experiment with
// (ε, δ)-differential privacy.
type Budget struct {
	// privacy parameter; inf adds no noise
	Epsilon float64 `name:"epsilon" default:"1" above:"0" infinite:"yes"`
	// privacy parameter
	Delta float64 `name:"delta" default:"0.01" above:"0" below:"1" when:"epsilon is not inf"`
}

// Noiseless reports whether nothing is protected.
func (b *Budget) Noiseless() bool { return math.IsInf(b.Epsilon, 1) }
