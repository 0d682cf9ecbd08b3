package picture

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/kahm/wide"
	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// Toy returns the experiment kahm/toy.
var Toy = experiment.Of(experiment.Declaration[*ToySettings, ToyMetrics]{
	Name:    "kahm/toy",
	Version: 3,
	Summary: "machines of points in the plane and in space: images, distances, decision regions",
	Source:  "Kumar, Moser and Fischer, Figs. 1 to 4, 8 and 10; the sets of points are this project's",
	Check:   checkToy,
	// That of two or fewer parts of n samples: 57, 94 and 219 MiB were measured for
	// 200, 1,000 and 2,000.
	Memory: func(s *ToySettings) int64 { n := int64(s.Samples); return 100<<20 + 7*8*n*n },
	Run:    runToy,
})

// checkToy refuses machines of more dimensions than the space or the samples have.
func checkToy(s *ToySettings) error {
	points, n := s.Shape.points(), s.dim()
	switch {
	case n > points.dim:
		return fmt.Errorf("n = %d: the shape %s has only %d dimensions", n, experiment.NameOf(s.Shape), points.dim)
	case s.Layers > n:
		return wide.CheckLayers(n, s.Layers)
	case n >= s.Samples:
		return fmt.Errorf("samples = %d: n = %d principal directions need at least %d", s.Samples, n, n+1)
	}
	return nil
}

// dim returns the subspace dimension of the machines.
func (s *ToySettings) dim() int {
	if s.N.Is(wide.All) {
		return s.Shape.points().dim
	}
	return s.N.Number
}

// toyTrial is the state of a trial.
type toyTrial struct {
	*ToySettings
	t      *experiment.Trial
	e      *engine.Engine
	points *pointSet
	b      *wide.Builder
	// Of each part.
	original, noisy, fabricated []*mat.Dense
	machines                    []*hull.Machine
	// Sums and maxima over the parts.
	errorNoisy, errorFabricated, stepsMax float64

	metrics ToyMetrics
	series  map[string]experiment.Series
}

// runToy models every part of a shape, and evaluates the machines on the samples and on a
// lattice about them.
func runToy(ctx context.Context, t *experiment.Trial, s *ToySettings) (*experiment.Outcome[ToyMetrics], error) {
	e := engine.Of(t.Engine)
	b, err := wide.NewFabricator(t, e, s.Data, s.dim(), &s.Budget, &s.Smoothing)
	if err != nil {
		return nil, err
	}
	r := &toyTrial{ToySettings: s, t: t, e: e, points: s.Shape.points(), b: b, series: map[string]experiment.Series{}}
	for part := range r.points.parts {
		if err := r.model(ctx, part); err != nil {
			return nil, fmt.Errorf("part %d: %w", part+1, err)
		}
	}
	if err := r.evaluateSamples(ctx); err != nil {
		return nil, err
	}
	if err := r.evaluateGrid(ctx); err != nil {
		return nil, err
	}
	r.series["samples"] = r.pointSeries(r.original)
	if s.Data != wide.Original {
		r.metrics.ErrorNoisy = &r.errorNoisy
		r.series["noisy"] = r.pointSeries(r.noisy)
	}
	if s.Data == wide.Fabricated {
		r.metrics.ErrorFabricated, r.metrics.SmoothingStepsMax = &r.errorFabricated, &r.stepsMax
		r.series["fabricated"] = r.pointSeries(r.fabricated)
	}
	return &experiment.Outcome[ToyMetrics]{Metrics: r.metrics, Series: r.series,
		Privacy: privacy(b, "one coordinate of one sample"), Warnings: e.Warnings()}, nil
}

// model draws the samples of a part, adds noise or fabricates as data requires, and fits their
// machine.
func (r *toyTrial) model(ctx context.Context, part int) error {
	y := r.points.draw(part, r.Samples, r.SD, r.t.Stream(fmt.Sprintf("samples, part %d", part+1)))
	r.original = append(r.original, y)
	own, err := hull.Model(ctx, r.e, y, wide.MachineOptions(r.dim(), 1, wide.Near))
	if err != nil {
		return err
	}
	r.metrics.ErrorOriginal += own.Error
	modelled := y
	if r.Data != wide.Original {
		if modelled, err = r.protect(ctx, part, y); err != nil {
			return err
		}
	}
	for i := range r.Samples {
		r.metrics.DisplacementMean += distance(y.RawRowView(i), modelled.RawRowView(i)) / float64(r.Samples*r.points.parts)
	}
	m, err := hull.Fit(ctx, r.e, modelled, wide.MachineOptions(r.dim(), r.Layers, wide.Near))
	r.machines = append(r.machines, m)
	return err
}

// protect returns the noisy or the fabricated samples for those of a part.
func (r *toyTrial) protect(ctx context.Context, part int, y *mat.Dense) (*mat.Dense, error) {
	clusters, err := r.b.Split(ctx, &wide.Source{Class: part, Samples: y})
	if err != nil {
		return nil, err
	}
	noisy := clusters[0].Samples
	r.noisy = append(r.noisy, noisy)
	if r.Data == wide.Noisy {
		m, err := hull.Model(ctx, r.e, noisy, wide.MachineOptions(r.dim(), 1, wide.Near))
		if err != nil {
			return nil, err
		}
		r.errorNoisy += m.Error
		return noisy, nil
	}
	f, err := r.b.Fabricate(ctx, clusters[0])
	if err != nil {
		return nil, err
	}
	r.fabricated = append(r.fabricated, f.Samples)
	r.errorNoisy += f.Errors[0]
	r.errorFabricated += f.Errors[f.Steps()]
	r.stepsMax = max(r.stepsMax, float64(f.Steps()))
	return f.Samples, nil
}

// distance returns the Euclidean distance.
func distance(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		sum += (v - b[j]) * (v - b[j])
	}
	return math.Sqrt(sum)
}

// imageSet holds the images of points under the machines of all parts.
type imageSet struct {
	machine   []int        // the nearest, from 0; -1 where there is no image
	distance  []float64    // to it, +Inf where there is no image
	distances [][]float64  // to each machine
	images    []*mat.Dense // under each machine, of its nearest layer; NaN where there is none
}

// mapPoints returns the images of points (n×dim) under the machines of all parts. The image
// under a machine is that of the layer that is nearest to the point (Eqs. 50 and 52), and the
// distance is to it (Eq. 53).
func (r *toyTrial) mapPoints(ctx context.Context, points *mat.Dense) (*imageSet, error) {
	n, dim := points.Dims()
	out := &imageSet{machine: make([]int, n), distance: make([]float64, n)}
	for i := range n {
		out.machine[i], out.distance[i] = -1, math.Inf(1)
	}
	for k, m := range r.machines {
		layers, distances, err := m.Images(ctx, r.e, points)
		if err != nil {
			return nil, err
		}
		image, to := mat.NewDense(n, dim, nil), make([]float64, n)
		for i := range n {
			l, d := hull.NearestLayer(distances.RawRowView(i))
			image.SetRow(i, layers[l].RawRowView(i))
			if to[i] = d; d < out.distance[i] {
				out.machine[i], out.distance[i] = k, d
			}
		}
		out.images, out.distances = append(out.images, image), append(out.distances, to)
	}
	return out, nil
}

// image returns the image of point i under its nearest machine, nil where there
// is none.
func (m *imageSet) image(i int) []float64 {
	if m.machine[i] < 0 {
		return nil
	}
	return m.images[m.machine[i]].RawRowView(i)
}

// evaluateSamples computes the distances of the original samples to the machines, and
// how many are nearest to that of their own part.
func (r *toyTrial) evaluateSamples(ctx context.Context) error {
	right, reached, sum := 0, 0, 0.0
	for part, y := range r.original {
		m, err := r.mapPoints(ctx, y)
		if err != nil {
			return err
		}
		for i, k := range m.machine {
			if k == part {
				right++
			}
			if k >= 0 {
				reached++
				sum += m.distance[i]
			}
		}
	}
	if reached == 0 {
		return errors.New("no sample has an image; use more samples, or less noise")
	}
	r.metrics.DistanceMean = sum / float64(reached)
	r.metrics.Accuracy = float64(right) / float64(r.Samples*r.points.parts)
	return nil
}

// evaluateGrid computes the images of a lattice of points about the samples: under the global
// machine, which for each point is the nearest of the parts' (Eq. 101), and where there are
// several parts under the machine of each.
func (r *toyTrial) evaluateGrid(ctx context.Context) error {
	points := r.lattice()
	m, err := r.mapPoints(ctx, points)
	if err != nil {
		return err
	}
	n, _ := points.Dims()
	near, group, missing := 0.0, make([]float64, n), 0
	global := mat.NewDense(n, r.points.dim, nil)
	for i := range n {
		image := m.image(i)
		if image == nil {
			missing++
			group[i] = math.NaN()
			for j := range r.points.dim {
				global.Set(i, j, math.NaN())
			}
			continue
		}
		group[i] = float64(m.machine[i])
		global.SetRow(i, image)
		near += r.nearestSample(image)
	}
	if missing == n {
		return errors.New("no point of the grid has an image; use more samples")
	}
	r.metrics.NoImage = float64(missing) / float64(n)
	r.metrics.ImageDistanceMean = near / float64(n-missing)
	grid := columnsOf(points, "")
	maps.Copy(grid, columnsOf(global, "image_"))
	grid["group"], grid["distance"] = group, rounded(m.distance)
	r.series["grid"] = grid
	if r.points.parts == 1 {
		return nil
	}
	for k, image := range m.images {
		s := columnsOf(image, "image_")
		s["x"], s["y"], s["distance"] = grid["x"], grid["y"], rounded(m.distances[k])
		r.series[machineSeries(k)] = s
	}
	return nil
}

// machineSeries returns the name of the series with the grid under machine k of several.
func machineSeries(k int) string { return fmt.Sprintf("machine_%d", k+1) }

// nearestSample returns the distance of a point to the nearest original sample.
func (r *toyTrial) nearestSample(point []float64) float64 {
	best := math.Inf(1)
	for _, y := range r.original {
		n, _ := y.Dims()
		for i := range n {
			best = min(best, distance(point, y.RawRowView(i)))
		}
	}
	return best
}

// latticeMargin is the margin of the lattice around the samples, as a share of their extent.
const latticeMargin = 0.25

// lattice returns the points (per^dim×dim) of a square or cube about the original samples, the
// first axis changing fastest. In space per is r.Grid to the power 2/3, so that there are about as
// many points as in the plane.
func (r *toyTrial) lattice() *mat.Dense {
	dim := r.points.dim
	low, high := make([]float64, dim), make([]float64, dim)
	side := 0.0
	for j := range dim {
		low[j], high[j] = math.Inf(1), math.Inf(-1)
		for _, y := range r.original {
			for _, v := range mat.Col(nil, j, y) {
				low[j], high[j] = min(low[j], v), max(high[j], v)
			}
		}
		side = max(side, high[j]-low[j])
	}
	side *= 1 + 2*latticeMargin
	per := r.Grid
	if dim == 3 {
		per = max(2, int(math.Round(math.Pow(float64(per), 2.0/3))))
	}
	n := 1
	for range dim {
		n *= per
	}
	points := mat.NewDense(n, dim, nil)
	for i := range n {
		rest := i
		for j := range dim {
			middle := (low[j] + high[j]) / 2
			points.Set(i, j, middle+side*(float64(rest%per)/float64(per-1)-0.5))
			rest /= per
		}
	}
	return points
}

// pointSeries returns the samples of all parts (samples×dim each) as a series, with the
// part of each from 0.
func (r *toyTrial) pointSeries(parts []*mat.Dense) experiment.Series {
	n := r.Samples
	all := mat.NewDense(n*len(parts), r.points.dim, nil)
	group := make([]float64, n*len(parts))
	for k, y := range parts {
		for i := range n {
			all.SetRow(k*n+i, y.RawRowView(i))
			group[k*n+i] = float64(k)
		}
	}
	s := columnsOf(all, "")
	s["group"] = group
	return s
}
