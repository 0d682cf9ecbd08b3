package kahm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kahm"
	"privkern/runner/experiment"
)

// smoothingParams say how samples are fabricated where there is one cluster, so
// that only the number of smoothing steps can tell of private data.
func smoothingParams() []experiment.Param {
	return []experiment.Param{
		choice("variant", variantCorrected, "as-published smooths until the modelling error is not above that of the original, private samples (Eqs. 88 and 92); corrected takes a public number of steps", variantPublished, variantCorrected),
		count("smoothing", 2, 0, maxSmoothing, "corrected: smoothing steps, a public number").Where(isCorrected),
	}
}

// newFabricator returns the pipeline of a trial whose samples are one cluster.
func newFabricator(t *experiment.Trial, e *engine.Engine, data string, n int) (*pipeline, error) {
	p := t.Params
	b := &pipeline{e: e, n: n, branches: func(int) int { return 1 }, data: data, stream: t.Stream, progress: t.Progress,
		smoothing: p.Int("smoothing"), private: p.Text("variant") == variantPublished}
	return b, b.setNoise(p)
}

func fabrication() *experiment.Experiment {
	params := append(digitParams(), mechanismParams(16.0)...)
	params = append(params, count("n", 20, 1, maxDim, "subspace dimension"))
	params = append(params, smoothingParams()...)
	params = append(params, count("shown", 10, 1, 100, "images whose pixels are kept: the first that were drawn"))
	return &experiment.Experiment{
		Name:    "kahm/fabrication",
		Version: 1,
		Summary: "digits with noise, and digits fabricated from them",
		Source:  "Kumar, Moser and Fischer, Definitions 13 and 14, Theorem 6, Fig. 9",
		Params:  params,
		Metrics: []experiment.Metric{
			{Name: "error_original", Doc: "modelling error of the images, the sum of the distances to their images under their own machine (Eq. 88), pixels from 0 to 1"},
			{Name: "error_noisy", Doc: "the same of the images with noise (Eq. 79)"},
			{Name: "error_fabricated", Doc: "the same of the smoothed images, of which the fabricated ones are the images under their machine (Eq. 87)"},
			{Name: "smoothing_steps", Doc: "smoothing steps"},
			{Name: "difference_mean", Doc: "mean absolute difference of a pixel, from 0 to 1, of a fabricated image to the original"},
			{Name: "difference_mean_noisy", Doc: "the same of an image with noise"},
		},
		Datasets: func(experiment.Params) []string { return []string{dataMNIST} },
		Memory:   func(p experiment.Params) int64 { return imageMemory(p, 1) },
		Check: func(p experiment.Params) error {
			if s, images := p.Int("shown"), p.Int("images"); s > images {
				return fmt.Errorf("shown = %d: there are only %d images", s, images)
			}
			return checkDigits(p)
		},
		Run: func(ctx context.Context, t *experiment.Trial) (*experiment.Result, error) {
			y, err := digitImages(t)
			if err != nil {
				return nil, err
			}
			return runFabrication(ctx, t, y)
		},
	}
}

// runFabrication fabricates the rows of y.
func runFabrication(ctx context.Context, t *experiment.Trial, y *mat.Dense) (result *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	b, err := newFabricator(t, e, dataFabricated, t.Params.Int("n"))
	if err != nil {
		return nil, err
	}
	original, err := kahm.Model(ctx, e, y, b.n)
	if err != nil {
		return nil, err
	}
	parts, err := b.split(ctx, &source{class: t.Params.Int("digit"), samples: y})
	if err != nil {
		return nil, err
	}
	f, err := b.fabricate(ctx, parts[0])
	if err != nil {
		return nil, err
	}
	steps := f.steps()
	for what, v := range map[string]float64{"original": original.Error, "noisy": f.errors[0], "smoothed": f.errors[steps]} {
		if math.IsInf(v, 1) {
			return nil, fmt.Errorf("some %s images have no image under their machine, because the sum of memberships is not safely positive (the paper's Eq. 148 fails); choose others, or another n", what)
		}
	}
	noisy := parts[0].given
	return &experiment.Result{
		Metrics: map[string]float64{
			"error_original":        original.Error,
			"error_noisy":           f.errors[0],
			"error_fabricated":      f.errors[steps],
			"smoothing_steps":       float64(steps),
			"difference_mean":       meanDifference(f.samples, y),
			"difference_mean_noisy": meanDifference(noisy, y),
		},
		Series: map[string]experiment.Series{
			"errors":     {"x": numbered(steps+1, 0), "error": f.errors},
			"original":   shown(t, y),
			"noisy":      shown(t, noisy),
			"fabricated": shown(t, f.samples),
		},
		Privacy:  fabricationPrivacy(t.Params, dataFabricated, "one pixel (from 0 to 1) of one of the images"),
		Warnings: e.Warnings(),
	}, nil
}

// shown returns the pixels of the images that the record keeps, a column each.
func shown(t *experiment.Trial, images *mat.Dense) experiment.Series {
	_, p := images.Dims()
	s := experiment.Series{"x": numbered(p, 0)}
	for i := range t.Params.Int("shown") {
		s[imageColumn(i)] = images.RawRowView(i)
	}
	return s
}

// imageColumn names a shown image, from 0.
func imageColumn(i int) string { return fmt.Sprintf("image_%d", i+1) }

// meanDifference is the mean of |a−b| over all entries.
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

// fabricationPrivacy is privacy where all samples are one cluster.
func fabricationPrivacy(p experiment.Params, data, unit string) *experiment.Privacy {
	p = maps.Clone(p)
	p["data"], p["clusters"] = data, clustersNoisy
	out := privacy(p, unit, false)
	if out != nil {
		out.Notes = append(out.Notes, "the series of this record hold original samples, for the figure")
	}
	return out
}
