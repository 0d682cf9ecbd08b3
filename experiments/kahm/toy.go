package kahm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kahm"
	"privkern/runner/experiment"
)

func toy() *experiment.Experiment {
	params := []experiment.Param{
		choice("shape", "circle", "where the samples lie: on a shape in the plane (circle, spiral, moons, gaussian), in space (helix, sphere, swiss-roll), or on one in three parts, each with a machine of its own (three-classes, three-parties)", shapeNames()...),
		count("samples", 200, 2, 2000, "samples, of each part"),
		{Name: "sd", Kind: experiment.Number, Default: 0.05, Min: experiment.Bound(0), Max: experiment.Bound(1), Doc: "standard deviation of the samples about the shape, whose size is about 1"},
		choice("data", dataOriginal, "what the machines model: the samples, samples with noise, or samples fabricated from those", dataOriginal, dataNoisy, dataFabricated),
	}
	params = append(params, mechanismFor("inf")...)
	params = append(params, experiment.When(smoothingParams(), []string{"variant", "smoothing"}, isFabricated)...)
	params = append(params,
		experiment.Param{Name: "n", Kind: experiment.Integer, Default: allPoints, Words: []string{allPoints}, Min: experiment.Bound(1), Max: experiment.Bound(3), Doc: "subspace dimension; all for that of the plane or space"},
		count("layers", 1, 1, 3, "L, the layers of a machine; at most n"),
		count("grid", 50, 2, 200, "points of the plane along each axis whose images are computed; in space, a lattice of about as many points in all"),
	)
	return &experiment.Experiment{
		Name:    "kahm/toy",
		Version: 1,
		Summary: "machines of points in the plane and in space: images, distances, decision regions",
		Source:  "Kumar, Moser and Fischer, Figs. 1 to 4, 8 and 10; the sets of points are this project's",
		Params:  params,
		Metrics: []experiment.Metric{
			{Name: "distance_mean", Doc: "mean distance of the original samples to the nearest machine (Eq. 53), of those that have an image"},
			{Name: "accuracy", Doc: "share of the original samples whose nearest machine is that of their own part"},
			{Name: "image_distance_mean", Doc: "mean distance of the images of the grid to the nearest original sample"},
			{Name: "no_image", Doc: "share of the grid without an image, because the sum of memberships is not safely positive"},
			{Name: "error_original", Doc: "modelling error of the original samples, summed over the parts (Eq. 88)"},
			{Name: "displacement_mean", Doc: "mean distance between an original sample and the noisy or fabricated one in its place"},
			{Name: "error_noisy", Doc: "data noisy and fabricated: modelling error of the noisy samples (Eq. 79)"},
			{Name: "error_fabricated", Doc: "data fabricated: modelling error of the smoothed samples, of which the fabricated ones are the images (Eq. 87)"},
			{Name: "smoothing_steps_max", Doc: "data fabricated: largest number of smoothing steps of a part"},
		},
		Check:  checkToy,
		Memory: toyMemory,
		Run:    runToy,
	}
}

func checkToy(p experiment.Params) error {
	s, n := shapeOf(p.Text("shape")), toyDim(p)
	switch l, samples := p.Int("layers"), p.Int("samples"); {
	case n > s.dim:
		return fmt.Errorf("n = %d: the shape %s has only %d dimensions", n, s.name, s.dim)
	case l > n:
		return fmt.Errorf("layers = %d: a machine has at most n = %d layers (Definition 3)", l, n)
	case n >= samples:
		return fmt.Errorf("samples = %d: n = %d principal directions need at least %d", samples, n, n+1)
	}
	return nil
}

func toyDim(p experiment.Params) int {
	if p.Text("n") == allPoints {
		return shapeOf(p.Text("shape")).dim
	}
	return p.Int("n")
}

// toyTrial is the state of a trial.
type toyTrial struct {
	t     *experiment.Trial
	e     *engine.Engine
	shape *shape
	b     *pipeline
	// Of each part.
	original, noisy, fabricated []*mat.Dense
	machines                    []*kahm.Machine

	metrics map[string]float64
	series  map[string]experiment.Series
}

func runToy(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	b, err := newFabricator(t, e, t.Params.Text("data"), toyDim(t.Params))
	if err != nil {
		return nil, err
	}
	r := &toyTrial{t: t, e: e, shape: shapeOf(t.Params.Text("shape")), b: b,
		metrics: map[string]float64{}, series: map[string]experiment.Series{}}
	for part := range r.shape.parts {
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
	if b.data != dataOriginal {
		r.series["noisy"] = r.pointSeries(r.noisy)
	}
	if b.data == dataFabricated {
		r.series["fabricated"] = r.pointSeries(r.fabricated)
	}
	return &experiment.Result{
		Metrics: r.metrics, Series: r.series,
		Privacy:  fabricationPrivacy(t.Params, b.data, "one coordinate of one sample"),
		Warnings: e.Warnings(),
	}, nil
}

// model draws the samples of a part, does to them what data says, and fits
// their machine.
func (r *toyTrial) model(ctx context.Context, part int) error {
	p := r.t.Params
	y := r.shape.draw(part, p.Int("samples"), p.Float("sd"), r.t.Stream(fmt.Sprintf("samples, part %d", part+1)))
	r.original = append(r.original, y)
	own, err := kahm.Model(ctx, r.e, y, r.b.n)
	if err != nil {
		return err
	}
	r.metrics["error_original"] += own.Error
	modelled := y
	if r.b.data != dataOriginal {
		parts, err := r.b.split(ctx, &source{class: part, samples: y})
		if err != nil {
			return err
		}
		modelled = parts[0].given
		r.noisy = append(r.noisy, modelled)
		switch r.b.data {
		case dataNoisy:
			m, err := kahm.Model(ctx, r.e, modelled, r.b.n)
			if err != nil {
				return err
			}
			r.metrics["error_noisy"] += m.Error
		case dataFabricated:
			f, err := r.b.fabricate(ctx, parts[0])
			if err != nil {
				return err
			}
			modelled = f.samples
			r.fabricated = append(r.fabricated, modelled)
			r.metrics["error_noisy"] += f.errors[0]
			r.metrics["error_fabricated"] += f.errors[f.steps()]
			r.metrics["smoothing_steps_max"] = max(r.metrics["smoothing_steps_max"], float64(f.steps()))
		}
	}
	for i := range p.Int("samples") {
		r.metrics["displacement_mean"] += distance(y.RawRowView(i), modelled.RawRowView(i)) / float64(p.Int("samples")*r.shape.parts)
	}
	m, err := kahm.Fit(ctx, r.e, modelled, kahm.Options{Dim: r.b.n, Layers: p.Int("layers")})
	r.machines = append(r.machines, m)
	return err
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		sum += (v - b[j]) * (v - b[j])
	}
	return math.Sqrt(sum)
}

// mapped is what the machines make of some points.
type mapped struct {
	machine   []int        // the nearest, from 0; -1 where there is no image
	distance  []float64    // to it, +Inf where there is no image
	distances [][]float64  // to each machine
	images    []*mat.Dense // under each machine, of its nearest layer; NaN where there is none
}

func (r *toyTrial) mapPoints(ctx context.Context, points *mat.Dense) (*mapped, error) {
	n, dim := points.Dims()
	out := &mapped{machine: make([]int, n), distance: make([]float64, n)}
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
			l, d := kahm.NearestLayer(distances.RawRowView(i))
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
func (m *mapped) image(i int) []float64 {
	if m.machine[i] < 0 {
		return nil
	}
	return m.images[m.machine[i]].RawRowView(i)
}

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
	r.metrics["distance_mean"] = sum / float64(reached)
	r.metrics["accuracy"] = float64(right) / float64(r.t.Params.Int("samples")*r.shape.parts)
	return nil
}

// evaluateGrid computes the images of a lattice of points about the samples.
func (r *toyTrial) evaluateGrid(ctx context.Context) error {
	points := r.lattice()
	m, err := r.mapPoints(ctx, points)
	if err != nil {
		return err
	}
	n, _ := points.Dims()
	near, group, missing := 0.0, make([]float64, n), 0
	global := mat.NewDense(n, r.shape.dim, nil)
	for i := range n {
		image := m.image(i)
		if image == nil {
			missing++
			group[i] = math.NaN()
			for j := range r.shape.dim {
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
	r.metrics["no_image"] = float64(missing) / float64(n)
	r.metrics["image_distance_mean"] = near / float64(n-missing)
	grid := columnsOf(points, "")
	for name, c := range columnsOf(global, "image_") {
		grid[name] = c
	}
	grid["group"], grid["distance"] = group, rounded(m.distance)
	r.series["grid"] = grid
	if r.shape.parts == 1 {
		return nil
	}
	for k, image := range m.images {
		s := columnsOf(image, "image_")
		s["x"], s["y"], s["distance"] = grid["x"], grid["y"], rounded(m.distances[k])
		r.series[machineSeries(k)] = s
	}
	return nil
}

// machineSeries names what one of several machines makes of the grid.
func machineSeries(k int) string { return fmt.Sprintf("machine_%d", k+1) }

// nearestSample is the distance of a point to the nearest original sample.
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

// latticeMargin is by which share of its side the lattice goes beyond the
// samples.
const latticeMargin = 0.25

// lattice returns the points of a square or cube about the original samples,
// along the first axis first.
func (r *toyTrial) lattice() *mat.Dense {
	dim := r.shape.dim
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
	per := r.t.Params.Int("grid")
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

func (r *toyTrial) pointSeries(parts []*mat.Dense) experiment.Series {
	n := r.t.Params.Int("samples")
	all := mat.NewDense(n*len(parts), r.shape.dim, nil)
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

// axes names the coordinates.
var axes = []string{"x", "y", "z"}

// columnsOf returns the coordinates of points as columns.
func columnsOf(points *mat.Dense, prefix string) experiment.Series {
	_, dim := points.Dims()
	s := experiment.Series{}
	for j := range dim {
		s[prefix+axes[j]] = rounded(mat.Col(nil, j, points))
	}
	return s
}

// rounded keeps four decimals, more than a figure shows, so that records with
// thousands of points stay small. An infinity becomes a gap, and -0 a 0.
func rounded(a []float64) []float64 {
	out := make([]float64, len(a))
	for i, v := range a {
		if out[i] = math.Round(v*1e4)/1e4 + 0; math.IsInf(v, 0) {
			out[i] = math.NaN()
		}
	}
	return out
}
