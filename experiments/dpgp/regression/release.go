package regression

import (
	"context"
	"fmt"
	"strings"

	"privkern/experiments/dpgp/modelfile"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Guarantee states the protection by a released model; nil without noise.
func (l *Learner) Guarantee() *experiment.Privacy {
	if l.Noise.SigmaA == 0 {
		return nil
	}
	number, s := experiment.FormatNumber, l.settings.method()
	relation, by := l.settings.Neighbours.Neighbours, "by Eq. (6)"
	if relation == method.AddRemove {
		by = "by the norm of what a row adds"
	}
	out := &experiment.Privacy{
		Unit: relation.Unit(s.Person, fmt.Sprintf("inputs (%s) and output (%s)", strings.Join(l.rows.Inputs, ", "),
			l.rows.Output)),
		Mechanism: "analytic Gaussian mechanism (Balle and Wang 2018) on the sums A and B of a sparse GP together " +
			"(Honkela 2021, Algorithm 1), sensitivity " + by + " " + l.ofBound(),
		Notes: []string{
			"protects inputs and outputs of " + s.Person.Whose() + "; " + s.Counted(),
			"public, and so not to be read off the data: " + l.inducing.Public(l.rows.Asked) + ", the kernel with its " +
				"lengthscale and variance, sigma, and the range of the output; the guarantee does not cover choosing them by " +
				"the data",
			fmt.Sprintf("outputs are clipped to [%s, %s]; how many were outside is private",
				number(l.rows.Centre-l.rows.Scale), number(l.rows.Centre+l.rows.Scale)),
			"predictions from a released model cost nothing more, at any inputs and in any number; another " +
				"release spends another budget",
		},
	}
	out.State(l.settings.Epsilon, l.settings.Delta)
	relation.State(out)
	if l.Noise.Limited {
		out.Notes = append(out.Notes, sparse.LimitedNote)
	}
	return out
}

// named is the name of the bound in a file, or that of the features in its place.
func (l *Learner) named() string {
	if l.Model.Whitened != nil {
		return l.settings.Features.String()
	}
	return l.bound.String()
}

// ofBound describes the bound on the norm of the vectors that are summed.
func (l *Learner) ofBound() string {
	if l.Model.Whitened != nil {
		return "of whitened features, whose squared norms are at most kernel_variance"
	}
	return "with bound " + l.bound.String()
}

// Publication plans a model of all rows, which depends on them through noisy sums alone.
func (l *Learner) Publication(context.Context) (*method.Publication, error) {
	s := l.settings
	if err := l.inducing.CheckApart(l.Trial, s.Dataset, l.z, l.rows); err != nil {
		return nil, err
	}
	sums, err := sparse.NewExactSums(l.Model, l.rows.Slots, s.method().Person.Rows(), s.Epsilon, s.Delta,
		l.Noise.Sensitivity, s.Ratio)
	if err != nil {
		return nil, err
	}
	// The update allows for the noise that is drawn.
	l.Noise.SigmaA, l.Noise.SigmaB = sums.Scales()
	return &method.Publication{Losses: sums.Losses(), Size: l.size(), Publish: func(ctx context.Context,
		rows *method.Part, privacy *experiment.Privacy, source *release.Source) (*experiment.Release, error) {
		noisy, err := sums.Noisy(l.scaling.Apply(rows.X), rows.Y, l.Trial.Workers, source)
		if err != nil {
			return nil, err
		}
		posterior, err := l.Model.Infer(ctx, l.Engine, noisy, l.Noise, l.Update)
		if err != nil {
			return nil, err
		}
		metrics := l.publicMetrics()
		metrics.Lambda = posterior.Ridge
		out := &experiment.Release{Model: l.file(posterior, privacy), Metrics: experiment.MetricValues(metrics)}
		if posterior.Raised {
			out.Warnings = []string{sparse.RaisedText}
		}
		return out, nil
	}}, nil
}

// size is that of the file of the model: inducing inputs, lengthscales where there are several,
// mean and covariance.
func (l *Learner) size() experiment.Size {
	m, d := l.z.Dims()
	scales := len(l.scaling)
	return experiment.Size{
		Numbers: m*d + scales + m + m*m, Lists: m + min(scales, 1) + 1 + m,
		Names: release.LengthOf(l.rows.Inputs) + len(l.rows.Output),
	}
}

// file is the file of a model.
func (l *Learner) file(p *sparse.Posterior, privacy *experiment.Privacy) *modelfile.Model {
	return &modelfile.Model{
		Format: modelfile.FormatOf(l.scaling != nil),
		About:  modelfile.About(l.scaling != nil),
		Inputs: l.rows.Inputs,
		Output: modelfile.Output{Name: l.rows.Output, Centre: l.rows.Centre, Scale: l.rows.Scale},
		Kernel: l.kernel(),
		Noise:  l.Model.Noise, Jitter: l.Model.Inducing.Jitter,
		Inducing: model.Rows(l.z), Mean: p.Mean, Covariance: model.Rows(p.Cov),
		Mechanism: modelfile.Mechanism{
			Epsilon: l.settings.Epsilon, Delta: l.settings.Delta, Sensitivity: l.Noise.Sensitivity,
			Bound: l.named(), NormSquared: l.Noise.NormSquared,
			SigmaA: l.Noise.SigmaA, SigmaB: l.Noise.SigmaB, Lambda: p.Ridge,
		},
		Privacy: privacy,
	}
}

// kernel is that of the file, whose inputs are not scaled.
func (l *Learner) kernel() modelfile.Kernel {
	k := modelfile.Kernel{Name: "EQ", Variance: l.Model.Variance, Lengthscales: l.scaling}
	if l.scaling == nil {
		k.Lengthscale = l.Model.Lengthscale
	}
	return k
}
