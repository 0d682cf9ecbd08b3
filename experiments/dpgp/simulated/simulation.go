package simulated

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// fit holds the settings that inference and calibration share.
type fit struct {
	*sparse.Budget
	*sparse.InducingInputs
	*sparse.EQKernel
	*fitSettings
	n int
}

func (s *inferenceSettings) fit() fit {
	return fit{&s.Budget, &s.InducingInputs, &s.EQKernel, &s.fitSettings, s.N}
}

func (s *calibrationSettings) fit() fit {
	return fit{&s.Budget, &s.InducingInputs, &s.EQKernel, &s.fitSettings, s.N}
}

func (f fit) model() *sparse.Model { return f.InducingInputs.Model(*f.EQKernel, f.Sigma, f.Jitter) }

// check refuses settings that no trial can have.
func (f fit) check() error {
	if err := f.CheckRows(f.n); err != nil {
		return err
	}
	_, err := f.model().Calibrate(f.calibration(f.CheapBound()))
	return err
}

func (f fit) calibration(bound sparse.Bound) sparse.Calibration {
	return sparse.Calibration{
		Unit:    1,
		Epsilon: f.Epsilon, Delta: f.Delta, OutputBound: f.OutputBound, Ratio: f.Ratio,
		Bound: bound, Spacing: f.AssumedSpacing(),
	}
}

// simulation is a trial that fits a model to simulated observations.
type simulation struct {
	*sparse.Problem
	fit
}

func newSimulation(t *experiment.Trial, f fit) (*simulation, error) {
	if f.Strict && t.Secure && !f.Noiseless() {
		return nil, errors.New("strict = true with secure noise: a refusal would disclose whether an output is beyond " +
			"r_y, which is private; use strict=false, which clips")
	}
	m := f.model()
	noise, err := m.Calibrate(f.calibration(f.Bound))
	if err != nil {
		return nil, err
	}
	p := &sparse.Problem{Trial: t, Engine: engine.Of(t.Engine), Model: m, Noise: noise, Update: f.Update()}
	return &simulation{p, f}, nil
}

// posterior is Algorithm 1 for the data of one repeat.
func (s *simulation) posterior(
	ctx context.Context, x *mat.Dense, y []float64, repeat int,
) (p *sparse.Posterior, clipped int, err error) {
	sums, clipped, err := s.Problem.Model.Sums(ctx, s.Engine, x, y, s.OutputBound, s.Noise.SigmaB > 0)
	if err != nil {
		return nil, 0, err
	}
	if clipped > 0 && s.Strict {
		return nil, 0, fmt.Errorf("%d of %d outputs are beyond r_y = %g, which the noise is calibrated for; use a larger "+
			"r_y, or strict=false to clip them", clipped, len(y), s.OutputBound)
	}
	if s.Noise.SigmaB > 0 {
		s.Noise.Perturb(sums, s.Stream("mechanism", repeat))
	}
	p, err = s.Problem.Model.Infer(ctx, s.Engine, sums, s.Noise, s.Problem.Update)
	return p, clipped, err
}

// metrics are those that all simulations have.
func (s *simulation) metrics(clipped, outputs int) simulationMetrics {
	out := simulationMetrics{FitMetrics: s.FitMetrics()}
	if !s.Publishes() {
		out.ClippedFraction = new(float64(clipped) / float64(outputs))
	}
	return out
}

// warnings returns the warnings about suspect results: here, where more than a tenth of the outputs
// was clipped.
func (s *simulation) warnings(clipped, outputs int) []string {
	out := s.Engine.Warnings()
	if 10*clipped > outputs && !s.Publishes() {
		out = append(out, fmt.Sprintf("computed but suspect: %d of %d outputs were beyond r_y = %s and were clipped to it",
			clipped, outputs, experiment.FormatNumber(s.OutputBound)))
	}
	return out
}

// privacy describes the protection by a published posterior; nil without noise.
func (s *simulation) privacy() *experiment.Privacy {
	if s.Noise.SigmaA == 0 {
		return nil
	}
	bound := experiment.FormatNumber(s.OutputBound)
	record := "this record itself is not private: it holds the data, and errors and coverages measured on them or on " +
		"the true function; only the posterior (m, S) at the inducing inputs, and what is computed from it, would be released"
	clipping := fmt.Sprintf("outputs beyond ±%s are clipped before they are summed; how many were is private", bound)
	if s.Publishes() {
		record = sparse.SimulatedNote
	} else {
		clipping += ", and clipped_fraction shows it"
	}
	out := &experiment.Privacy{
		Unit: "one row, input and output, substituted by any other",
		Mechanism: "analytic Gaussian mechanism (Balle and Wang 2018) on the sums A and B of a sparse GP together " +
			"(Honkela 2021, Algorithm 1), sensitivity by Eq. (6) with bound " + s.Bound.String(),
		Notes: []string{
			record,
			"protects inputs and outputs of a row; how many rows there are is taken as public",
			"the kernel, sigma, r_y and the inducing inputs are taken as public: choosing them by the data costs privacy of " +
				"its own",
			clipping,
			"every data set that is fitted (repeats) spends a budget of its own",
			"that the update fails where the noise exceeds lambda depends on the noisy sums alone, and discloses no more " +
				"than they do; but a failed fit has spent its budget, and publishing the first of several that succeeds " +
				"is not covered",
		},
	}
	out.State(s.Epsilon, s.Delta)
	if s.Strict {
		out.Withdraw("with strict=true a private output beyond r_y means that there is no result; strict=false clips it")
	}
	return out
}
