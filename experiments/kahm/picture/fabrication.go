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

// Fabrication returns the experiment kahm/fabrication.
var Fabrication = experiment.Of(experiment.Declaration[*FabricationSettings, FabricationMetrics]{
	Name:     "kahm/fabrication",
	Version:  3,
	Summary:  "digits with noise, and digits fabricated from them",
	Source:   "Kumar, Moser and Fischer, Definitions 13 and 14, Theorem 6, Fig. 9",
	Datasets: func(s *FabricationSettings) []string { return s.Names() },
	Memory:   func(s *FabricationSettings) int64 { return s.memory(1) },
	Check:    checkFabrication,
	Run: func(ctx context.Context, t *experiment.Trial, s *FabricationSettings,
	) (*experiment.Outcome[FabricationMetrics], error) {
		y, err := s.draw(t)
		if err != nil {
			return nil, err
		}
		return runFabrication(ctx, t, s, y)
	},
})

// checkFabrication refuses to keep more images than there are, and subspaces that no images
// of a digit span.
func checkFabrication(s *FabricationSettings) error {
	if images := s.Images.Images; s.Shown > images {
		return fmt.Errorf("shown = %d: there are only %d images", s.Shown, images)
	}
	return s.check(s.N)
}

// runFabrication fabricates the rows of y (images×784, pixels in [0, 1]) as one cluster
// (Definition 14), and compares modelling errors Σ‖y − A(y)‖ (Eq. 88) of the original, noisy and
// smoothed images, each under a machine of its own.
func runFabrication(ctx context.Context, t *experiment.Trial, s *FabricationSettings, y *mat.Dense,
) (*experiment.Outcome[FabricationMetrics], error) {
	e := engine.Of(t.Engine)
	b, err := wide.NewFabricator(t, e, wide.Fabricated, s.N, &s.Budget, &s.Smoothing)
	if err != nil {
		return nil, err
	}
	original, err := hull.Model(ctx, e, y, wide.MachineOptions(s.N, 1, wide.Near))
	if err != nil {
		return nil, err
	}
	clusters, err := b.Split(ctx, &wide.Source{Class: s.Digit, Samples: y})
	if err != nil {
		return nil, err
	}
	f, err := b.Fabricate(ctx, clusters[0])
	if err != nil {
		return nil, err
	}
	noisy := clusters[0].Samples
	m := FabricationMetrics{
		ErrorOriginal: original.Error, ErrorNoisy: f.Errors[0], ErrorFabricated: f.Errors[f.Steps()],
		SmoothingSteps:      float64(f.Steps()),
		DifferenceMean:      meanDifference(f.Samples, y),
		DifferenceMeanNoisy: meanDifference(noisy, y),
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return &experiment.Outcome[FabricationMetrics]{
		Metrics: m,
		Series: map[string]experiment.Series{
			"errors":     {"x": numbered(len(f.Errors), 0), "error": f.Errors},
			"original":   s.firstImages(y),
			"noisy":      s.firstImages(noisy),
			"fabricated": s.firstImages(f.Samples),
		},
		Privacy:  privacy(b, "one pixel (from 0 to 1) of one of the images"),
		Warnings: e.Warnings(),
	}, nil
}

// check refuses modelling errors of images of which some have no image under their
// machine.
func (m *FabricationMetrics) check() error {
	for _, of := range []struct {
		name  string
		error float64
	}{{"original", m.ErrorOriginal}, {"noisy", m.ErrorNoisy}, {"smoothed", m.ErrorFabricated}} {
		if math.IsInf(of.error, 1) {
			return fmt.Errorf("some %s images have no image under their machine, because the sum of memberships is not "+
				"safely positive (the paper's Eq. 148 fails); choose others, or another n", of.name)
		}
	}
	return nil
}

// firstImages returns the pixels of the images that the record keeps, a column each.
func (s *FabricationSettings) firstImages(images *mat.Dense) experiment.Series {
	_, p := images.Dims()
	out := experiment.Series{"x": numbered(p, 0)}
	for i := range s.Shown {
		out[imageColumn(i)] = images.RawRowView(i)
	}
	return out
}

// imageColumn names a shown image, from 0.
func imageColumn(i int) string { return fmt.Sprintf("image_%d", i+1) }

// meanDifference returns the mean of |a−b| over all entries.
func meanDifference(a, b *mat.Dense) float64 {
	n, p := a.Dims()
	sum := 0.0
	for i := range n {
		for j, v := range a.RawRowView(i) {
			sum += math.Abs(v - b.At(i, j))
		}
	}
	return sum / float64(n*p)
}

// privacy returns the privacy of a trial whose samples are one cluster each. Its record holds
// samples.
func privacy(b *wide.Builder, unit string) *experiment.Privacy {
	out := b.Privacy(unit, false)
	if out != nil {
		out.Notes = append(out.Notes, "the series of this record hold original samples, for the figure")
	}
	return out
}
