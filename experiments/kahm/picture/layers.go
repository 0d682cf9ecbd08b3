package picture

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/kahm/wide"
	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// Layers returns the experiment kahm/layers.
var Layers = experiment.Of(experiment.Declaration[*LayersSettings, LayersMetrics]{
	Name:     "kahm/layers",
	Version:  3,
	Summary:  "what the layers of a conditionally deep machine make of a digit",
	Source:   "Kumar, Moser and Fischer, Definitions 3 and 4, Fig. 6",
	Datasets: func(s *LayersSettings) []string { return s.Names() },
	Memory:   func(s *LayersSettings) int64 { return s.memory(s.Layers) },
	Check:    checkLayers,
	Run: func(ctx context.Context, t *experiment.Trial, s *LayersSettings,
	) (*experiment.Outcome[LayersMetrics], error) {
		y, err := s.draw(t)
		if err != nil {
			return nil, err
		}
		return runLayers(ctx, t, s, y)
	},
})

// checkLayers refuses an input that is not drawn, and layers that no machine has.
func checkLayers(s *LayersSettings) error {
	if images := s.Images.Images; s.Sample >= images {
		return fmt.Errorf("sample = %d: with %d images use 0 to %d", s.Sample, images, images-1)
	}
	if err := s.check(s.N); err != nil {
		return err
	}
	return wide.CheckLayers(s.N, s.Layers)
}

// runLayers models the rows of y (images×784) by a conditionally deep machine and passes one of
// them through its layers (Eq. 51). The output is that of the nearest layer (Eqs. 50 and 52).
func runLayers(ctx context.Context, t *experiment.Trial, s *LayersSettings, y *mat.Dense,
) (*experiment.Outcome[LayersMetrics], error) {
	e := engine.Of(t.Engine)
	m, err := hull.Fit(ctx, e, y, wide.MachineOptions(s.N, s.Layers, wide.Near))
	if err != nil {
		return nil, err
	}
	input := y.RawRowView(s.Sample)
	images, distances, err := m.Images(ctx, e, mat.NewDense(1, len(input), input))
	if err != nil {
		return nil, err
	}
	d := distances.RawRowView(0)
	pictures := experiment.Series{"x": numbered(len(input), 0), "input": input}
	for l, v := range d {
		if math.IsInf(v, 1) {
			return nil, fmt.Errorf("layer %d has no image of the input, because the sum of memberships is not safely "+
				"positive (the paper's Eq. 148 fails); choose another sample", l+1)
		}
		pictures[layerColumn(l+1)] = images[l].RawRowView(0)
	}
	best, distance := hull.NearestLayer(d)
	pictures["output"] = images[best].RawRowView(0)
	return &experiment.Outcome[LayersMetrics]{
		Metrics: LayersMetrics{DistanceFirst: d[0], DistanceLast: d[len(d)-1], Best: float64(best + 1),
			DistanceBest: distance},
		Series: map[string]experiment.Series{"layers": {"x": numbered(len(d), 1), "distance": d},
			"pictures": pictures},
		Warnings: e.Warnings(),
	}, nil
}

// layerColumn names the output of a layer, from 1, among the pictures.
func layerColumn(layer int) string { return fmt.Sprintf("layer_%d", layer) }
