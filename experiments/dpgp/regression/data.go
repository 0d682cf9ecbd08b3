package regression

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/dpgp/modelfile"
	"privkern/experiments/dpgp/sparse"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// simulatedRows is the number of rows of the simulated data.
const simulatedRows = 1024

// lattice is a regular grid (count^d × d) between the ends in each of d inputs.
func lattice(n int, low, high []float64) *mat.Dense {
	all, d := 1, len(low)
	for range d {
		all *= n
	}
	out := mat.NewDense(all, d, nil)
	for i := range all {
		for j, rest := d-1, i; j >= 0; j, rest = j-1, rest/n {
			v := low[j] + (high[j]-low[j])/2
			if n > 1 {
				v = low[j] + (high[j]-low[j])*float64(rest%n)/float64(n-1)
			}
			out.Set(i, j, v)
		}
	}
	return out
}

// regressor is a trial of dpgp/regression.
type regressor struct {
	*sparse.Problem
	settings *Settings
	x        *mat.Dense // N×d
	y        []float64  // scaled to [−1, 1], clipped there
	raw      []float64  // scaled, not clipped
	outputs  []float64  // as they were read
	dropped  int
	clipped  int
	inputs   []string
	output   modelfile.Output
	bound    sparse.Bound
	scaling  sparse.Scaling // of inputs and inducing inputs; nil for one lengthscale
	z        *mat.Dense     // the inducing inputs, in the units of the inputs
}

// newRegressor reads the data and calibrates the noise.
func newRegressor(t *experiment.Trial, s *Settings) (*regressor, error) {
	r := &regressor{settings: s, inputs: s.inputNames()}
	low, high := s.outputRange().or(1)
	r.output = modelfile.Output{Name: s.Output, Centre: low + (high-low)/2, Scale: (high - low) / 2}
	if err := r.read(t); err != nil {
		return nil, err
	}
	z, err := r.inducing(t)
	if err != nil {
		return nil, err
	}
	r.z = z
	number, _ := z.Dims()
	if n := len(r.y); n*number > sparse.MaxKernel {
		return nil, fmt.Errorf("%d rows with %d inducing inputs: their kernel matrix has more than %.0e elements; use fewer "+
			"of either", n, number, sparse.MaxKernel)
	}
	lengthscale := s.Lengthscale[0]
	if len(s.Lengthscale) > 1 {
		r.scaling, lengthscale = sparse.Scaling(s.Lengthscale), 1
	}
	m := sparse.NewModel(r.scaling.Apply(z), lengthscale, s.KernelVariance, s.Sigma*s.Sigma, s.Jitter)
	noise, bound, err := s.Bound.calibrate(m, sparse.Calibration{
		Epsilon: s.Epsilon, Delta: s.Delta, OutputBound: 1, Ratio: s.Ratio,
	})
	if err != nil {
		return nil, err
	}
	r.bound = bound
	r.Problem = &sparse.Problem{Trial: t, Engine: engine.Of(t.Engine), Model: m, Noise: noise,
		Update: sparse.Update{Rho: s.Rho, Regularisation: s.Regularisation, Covariance: s.Covariance}}
	return r, nil
}

// read reads or simulates the rows, and scales and clips the outputs.
func (r *regressor) read(t *experiment.Trial) error {
	if s := r.settings; isFile(s.Dataset) {
		table, err := dataset.LoadTable(t.Dataset(s.Dataset), r.inputs, s.Output)
		if err != nil {
			return dataset.AsWritten(err, s.Dataset)
		}
		r.x, r.outputs, r.dropped = table.Inputs, table.Output, table.Dropped
	} else {
		r.inputs, r.output.Name = []string{"x"}, "y" // whatever names are given, no column has them
		r.x = sparse.UniformInputs(simulatedRows, t.Stream("inputs"))
		r.outputs = sparse.Observe(sparse.Values(sparse.Sinc, r.x), 0.1, t.Stream("observation noise"))
	}
	for _, v := range r.outputs {
		scaled := (v - r.output.Centre) / r.output.Scale
		cut := max(-1, min(1, scaled))
		if cut != scaled {
			r.clipped++
		}
		r.raw, r.y = append(r.raw, scaled), append(r.y, cut)
	}
	return nil
}

// inducing returns the inducing inputs, in which no data have a part.
func (r *regressor) inducing(t *experiment.Trial) (*mat.Dense, error) {
	name := r.settings.Inducing
	if !isFile(name) {
		n, err := r.settings.gridCount()
		if err != nil {
			return nil, err
		}
		low, high, err := r.settings.inputRanges(len(r.inputs))
		if err != nil {
			return nil, err
		}
		return lattice(n, low, high), nil
	}
	z, err := dataset.LoadInputs(t.Dataset(name), r.inputs)
	if err != nil {
		return nil, dataset.AsWritten(err, name)
	}
	n, _ := z.Dims()
	path, _ := dataset.FilePath(name)
	if n > sparse.MaxInducing {
		return nil, fmt.Errorf("%s: %d inducing inputs; at most %d are possible", path, n, sparse.MaxInducing)
	}
	if n > 1 {
		if i, j, distance := sparse.Nearest(z); distance == 0 {
			return nil, fmt.Errorf("%s: the inducing inputs %d and %d are equal, which makes their covariance singular", path,
				min(i, j)+1, max(i, j)+1)
		}
	}
	return z, nil
}
