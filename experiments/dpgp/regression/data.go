package regression

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/modelfile"
	"privkern/experiments/dpgp/own"
	"privkern/experiments/dpgp/sparse"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// simulatedRows is the number of rows of the simulated data.
const simulatedRows = 1024

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
	suspect  []string // what is suspect about them, for judging alone
	private  []string // those whose levels were read off the data
	output   modelfile.Output
	bound    sparse.Bound
	scaling  sparse.Scaling // of inputs and inducing inputs; nil for one lengthscale
	z        *mat.Dense     // the inducing inputs, in the units of the inputs
}

// newRegressor reads the data and calibrates the noise.
func newRegressor(t *experiment.Trial, s *Settings) (*regressor, error) {
	r := &regressor{settings: s, inputs: s.table().Names()}
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
	if own.IsFile(s.Inducing) {
		if w := own.AmongWarning(z, r.x); w != "" {
			r.suspect = append(r.suspect, w)
		}
	}
	number, _ := z.Dims()
	if n := len(r.y); n*number > sparse.MaxKernel {
		return nil, fmt.Errorf("%d rows with %d inducing inputs: their kernel matrix has more than %.0e elements; use fewer "+
			"of either", n, number, sparse.MaxKernel)
	}
	m, scaling := own.Model(z, s.Lengthscale, s.KernelVariance, s.Sigma*s.Sigma, s.Jitter)
	r.scaling = scaling
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
	if s := r.settings; own.IsFile(s.Dataset) {
		data, err := s.table().Load(t)
		if err != nil {
			return err
		}
		if t.ForOthers() {
			if err := own.CheckLevels(s.Inputs, data.Private); err != nil {
				return err
			}
		}
		if r.outputs, err = data.Numbers(s.Output); err != nil {
			return err
		}
		r.x, r.dropped, r.inputs, r.private = data.X, data.Dropped, data.Names, data.Private
		r.output.Name = data.Column(s.Output)
		if err := s.checkInputs(true, len(r.inputs)); err != nil { // categories are several
			return err
		}
		r.suspect = s.inputRange().Warnings(data, !own.IsFile(s.Inducing))
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
	if !own.IsFile(name) {
		n, err := r.settings.gridCount()
		if err != nil {
			return nil, err
		}
		if err := own.CheckGrid(n, len(r.inputs)); err != nil {
			return nil, err
		}
		low, high, err := r.settings.inputRange().Of(len(r.inputs), 3.5)
		if err != nil {
			return nil, err
		}
		return own.Grid(n, low, high), nil
	}
	return own.InducingFile(t, name, r.inputs)
}
