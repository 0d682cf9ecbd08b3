package cloak

import (
	_ "embed"

	"privkern/runner/experiment"
)

//go:embed metrics.go
var metricsSource string

func init() { experiment.Document[ClippedHeights](metricsSource) }

// ClippedHeights counts the heights of the census that the interval clips, with noise or without.
type ClippedHeights struct {
	// number of heights outside the interval of length sensitivity_cm, which were clipped to
	// it: predictions are made from the clipped heights, and errors are measured against
	// them
	ClippedHeights *float64 `name:"clipped_heights"`
}
