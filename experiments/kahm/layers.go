package kahm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/graphs/engine"
	"privkern/graphs/kahm"
	"privkern/runner/experiment"
)

// mnistSide is the side of an image, in pixels.
const mnistSide = 28

// maxImages is how many training images the most frequent digit, one, has.
const maxImages = 6742

// digitParams say which images are modelled.
func digitParams() []experiment.Param {
	return []experiment.Param{
		choice("dataset", dataMNIST, "data set", dataMNIST),
		count("digit", 8, 0, digits-1, "the digit of all images"),
		count("images", 1000, 2, maxImages, "training images of this digit, drawn at random without repetition"),
	}
}

func checkDigits(p experiment.Params) error {
	if n, images := p.Int("n"), p.Int("images"); n >= images {
		return fmt.Errorf("n = %d: %d images span at most %d principal directions; use fewer, or more images", n, images, images-1)
	}
	return nil
}

// digitImages draws the images of a trial: images×784, pixels in [0, 1].
func digitImages(t *experiment.Trial) (*mat.Dense, error) {
	all, err := dataset.LoadMNIST(t.Dataset(dataMNIST))
	if err != nil {
		return nil, err
	}
	digit, images := t.Params.Int("digit"), t.Params.Int("images")
	var rows []int
	for i, l := range all.Train.Labels {
		if int(l) == digit {
			rows = append(rows, i)
		}
	}
	if len(rows) < images {
		return nil, fmt.Errorf("images = %d: there are only %d training images of the digit %d", images, len(rows), digit)
	}
	order := t.Stream("images").Perm(len(rows))[:images]
	for i, r := range order {
		order[i] = rows[r]
	}
	return all.Train.Matrix(order), nil
}

func layers() *experiment.Experiment {
	params := append(digitParams(),
		count("n", 20, 1, maxDim, "subspace dimension: principal directions of the first layer"),
		count("layers", 20, 1, maxDim, "L, the layers of the machine; at most n"),
		count("sample", 0, 0, maxImages-1, "the input: its place among the drawn images, from 0"),
	)
	return &experiment.Experiment{
		Name:    "kahm/layers",
		Version: 1,
		Summary: "what the layers of a conditionally deep machine make of a digit",
		Source:  "Kumar, Moser and Fischer, Definitions 3 and 4, Fig. 6",
		Params:  params,
		Metrics: []experiment.Metric{
			{Name: "distance_layer_1", Doc: "distance of the input to the output of the first layer (Eq. 51), pixels from 0 to 1"},
			{Name: "distance_layer_last", Doc: "the same of the last layer"},
			{Name: "best_layer", Doc: "the layer, from 1, whose output is nearest to the input and so the output of the machine (Eq. 52)"},
			{Name: "distance_best", Doc: "distance of the input to the machine (Eq. 53)"},
		},
		Datasets: func(experiment.Params) []string { return []string{dataMNIST} },
		Memory:   func(p experiment.Params) int64 { return imageMemory(p, p.Int("layers")) },
		Check: func(p experiment.Params) error {
			if s, images := p.Int("sample"), p.Int("images"); s >= images {
				return fmt.Errorf("sample = %d: with %d images use 0 to %d", s, images, images-1)
			}
			if err := checkDigits(p); err != nil {
				return err
			}
			return checkPipeline(p)
		},
		Run: func(ctx context.Context, t *experiment.Trial) (*experiment.Result, error) {
			y, err := digitImages(t)
			if err != nil {
				return nil, err
			}
			return runLayers(ctx, t, y)
		},
	}
}

// runLayers models the rows of y and passes one of them through the layers.
func runLayers(ctx context.Context, t *experiment.Trial, y *mat.Dense) (result *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	m, err := kahm.Fit(ctx, e, y, kahm.Options{Dim: t.Params.Int("n"), Layers: t.Params.Int("layers")})
	if err != nil {
		return nil, err
	}
	input := y.RawRowView(t.Params.Int("sample"))
	images, distances, err := m.Images(ctx, e, mat.NewDense(1, len(input), input))
	if err != nil {
		return nil, err
	}
	d := distances.RawRowView(0)
	pictures := experiment.Series{"x": numbered(len(input), 0), "input": input}
	for l, v := range d {
		if math.IsInf(v, 1) {
			return nil, fmt.Errorf("layer %d has no image of the input, because the sum of memberships is not safely positive (the paper's Eq. 148 fails); choose another sample", l+1)
		}
		pictures[layerColumn(l+1)] = images[l].RawRowView(0)
	}
	best, distance := kahm.NearestLayer(d)
	pictures["output"] = images[best].RawRowView(0)
	return &experiment.Result{
		Metrics: map[string]float64{
			"distance_layer_1":    d[0],
			"distance_layer_last": d[len(d)-1],
			"best_layer":          float64(best + 1),
			"distance_best":       distance,
		},
		Series:   map[string]experiment.Series{"layers": {"x": numbered(len(d), 1), "distance": d}, "pictures": pictures},
		Warnings: e.Warnings(),
	}, nil
}

// layerColumn names the output of a layer, from 1, among the pictures.
func layerColumn(layer int) string { return fmt.Sprintf("layer_%d", layer) }

// numbered returns first, first+1, …, n numbers.
func numbered(n, first int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(first + i)
	}
	return out
}
