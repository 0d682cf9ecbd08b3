package regression

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/experiments/privacygp/modelfile"
	"privkern/experiments/privacygp/process"
	"privkern/graphs/engine"
	"privkern/graphs/gp"
	"privkern/graphs/kernel"
	"privkern/runner/experiment"
)

// prior is a Gaussian process with the noise of its data, in the units of the data.
// Matrices of it are in units of its variance.
type prior struct {
	engine     *engine.Engine
	kernel     kernel.Kernel // with unit parameters
	kernelName string
	gp.Hyperparameters
}

// lengthscales are those of the public ranges, or of the setting: one number, or one for each of the inputs (nil where
// they are not known yet), joined by +.
func (s *Settings) lengthscales(inputs []table.Input) ([]float64, error) {
	if s.Hyperparameters == ranged {
		return s.byRange(inputs)
	}
	return parseLengthscales("lengthscales", s.Lengthscales, inputs)
}

func parseLengthscales(setting, value string, inputs []table.Input) ([]float64, error) {
	var out experiment.Several
	for _, text := range strings.Split(value, "+") {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("%s = %s: %q is no positive number; write one for all inputs, or one for each, joined by +",
				setting, value, strings.TrimSpace(text))
		}
		out = append(out, v)
	}
	if inputs == nil {
		return out, nil
	}
	each, err := method.ForInputs(setting, out, inputs)
	if err != nil { // numbers that are joined by +
		return nil, method.CountError(setting, value, len(out), inputs)
	}
	return each, nil
}

// spans returns the public ranges of output and inputs.
func (r publicRanges) spans() (method.OutputRange, method.InputRange) {
	return method.OutputRange{Low: r.Low, High: r.High}, method.InputRange{Low: r.InputLow, High: r.InputHigh}
}

// given reports whether both ranges have both ends.
func (r publicRanges) given() bool {
	return !r.Low.Is(method.Absent) && !r.High.Is(method.Absent) && !r.InputLow.Is(method.Absent) &&
		!r.InputHigh.Is(method.Absent)
}

// checkRanges refuses ranges that are missing or empty.
func (s *Settings) checkRanges() error {
	if !s.publicRanges.given() {
		return errors.New("hyperparameters = range: low, high, input_low and input_high are its public ranges, of the " +
			"output and of the inputs; all must be given, and none read off the data")
	}
	output, inputs := s.spans()
	err := output.Check(true)
	if names := s.spec().Asked(); s.own() && len(names) > 0 {
		return errors.Join(err, inputs.Check(names, true))
	}
	return errors.Join(err, inputs.CheckGiven(true))
}

// Of the output's public range the process has a standard deviation of a quarter, and the data's noise one of a tenth.
// A lengthscale is a tenth of the range of one input, and [method.Share] of those of several.
const processShare, noiseShare, oneInputShare = 0.25, 0.1, 0.1

// completeByRange takes public ranges where they are given, with the middle of the output's as the mean.
func (s *Settings) completeByRange(given func(field any) bool) {
	some := given(&s.Low) || given(&s.High) || given(&s.InputLow) || given(&s.InputHigh)
	if s.own() && some && !given(&s.Hyperparameters) {
		s.Hyperparameters = ranged
	}
	if s.Hyperparameters != ranged || !s.publicRanges.given() { // a check refuses what is missing
		return
	}
	if !given(&s.Mean) {
		output, _ := s.spans()
		centre, _ := output.Unit()
		s.Mean = experiment.NumberOr[likelihood](centre)
	}
}

// variances are those of process and noise that do not depend on the outputs; they are known unless they are estimated.
func (s *Settings) variances() (process, noise float64, known bool) {
	switch s.Hyperparameters {
	case given:
		return s.ProcessVariance, s.NoiseVariance, true
	case ranged:
		output, _ := s.spans()
		_, half := output.Unit()
		return 4 * half * half * processShare * processShare, 4 * half * half * noiseShare * noiseShare, true
	}
	return 0, 0, false
}

// byRange returns the lengthscales of the public ranges, one for each column of the inputs.
func (s *Settings) byRange(inputs []table.Input) ([]float64, error) {
	_, span := s.spans()
	low, high, err := span.Ends("input_low", "input_high", inputs)
	if err != nil {
		return nil, err
	}
	share := oneInputShare
	if n := len(inputs); n > 1 {
		share = method.Share(n)
	}
	each, err := method.ByRange(share, inputs, low, high, "inputs")
	if err != nil {
		return nil, err
	}
	return method.ForInputs("lengthscales", each, inputs)
}

// newPrior takes or estimates the hyper-parameters.
func newPrior(ctx context.Context, e *engine.Engine, s *Settings, r *rows, progress func(done, total int, what string),
) (*prior, error) {
	k, _ := modelfile.Unit(s.Kernel.String())
	p := &prior{engine: e, kernel: k, kernelName: s.Kernel.String()}
	_, d := r.x.Dims()
	free := s.Mean.Is(byLikelihood)
	if process, noise, known := s.variances(); known {
		lengths, err := s.lengthscales(r.asked())
		if err != nil {
			return nil, err
		}
		p.Hyperparameters = gp.Hyperparameters{Lengthscales: lengths, Variance: process, Noise: noise, Mean: s.Mean.Number}
		if !free {
			return p, nil
		}
		return p, p.estimateMean(r)
	}
	y := slices.Clone(r.y)
	if !free {
		for i := range y {
			y[i] -= s.Mean.Number
		}
	}
	phase := s.phase("likelihood", len(y), d)
	fit, err := gp.Maximise(ctx, e, r.x, y, gp.Options{Kernel: k, Isotropic: !s.ARD, Mean: free,
		Progress: func(done, expected int) { progress(done, expected, phase) }})
	if err != nil {
		return nil, err
	}
	p.Hyperparameters = fit.Hyperparameters
	if len(p.Lengthscales) == 1 {
		p.Lengthscales = slices.Repeat(p.Lengthscales, d)
	}
	if !free {
		p.Mean = s.Mean.Number
	}
	return p, nil
}

// estimateMean returns the constant mean by maximum likelihood, 1ᵀC⁻¹y / 1ᵀC⁻¹1 for C = K_XX + V.
func (p *prior) estimateMean(r *rows) error {
	x := p.scaled(r.x)
	o, err := p.observe(x)
	if err != nil {
		return err
	}
	ones := mat.NewDense(len(r.y), 1, slices.Repeat([]float64{1}, len(r.y)))
	solved, err := o.Solve(nil, ones)
	if err != nil {
		return err
	}
	p.Mean = stat.Mean(r.y, mat.Col(nil, 0, solved))
	if math.IsNaN(p.Mean) || math.IsInf(p.Mean, 0) {
		return fmt.Errorf("the mean cannot be estimated with these hyper-parameters; give it by mean=%.4g, say",
			stat.Mean(r.y, nil))
	}
	return nil
}

// scaled returns x divided by the lengthscales.
func (p *prior) scaled(x *mat.Dense) *mat.Dense { return divided(x, p.Lengthscales) }

// divided returns x (n×d) with every column divided by its scale.
func divided(x *mat.Dense, scales []float64) *mat.Dense {
	out := mat.DenseCopyOf(x)
	out.Apply(func(_, j int, v float64) float64 { return v / scales[j] }, out)
	return out
}

// between returns the correlation of scaled inputs, n×m.
func (p *prior) between(x, y *mat.Dense) (*mat.Dense, error) { return p.kernel.Matrix(p.engine, x, y) }

// observe returns the outputs at the scaled inputs x, with the data's own noise.
func (p *prior) observe(x *mat.Dense) (*process.Observations, error) {
	cov, err := p.between(x, x)
	if err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	for i := range n {
		cov.Set(i, i, cov.At(i, i)+p.Noise/p.Variance)
	}
	return process.ObserveDefinite(p.engine, cov, p.Noise/p.Variance)
}
