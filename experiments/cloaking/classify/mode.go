package classify

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/graphs/engine"
	"privkern/graphs/laplace"
)

// short is the error of a mode that had to converge and has not.
func short(m *laplace.Mode, e *engine.Engine) error {
	return fmt.Errorf("the Laplace approximation stopped after %d Newton steps, the most that are allowed, of which the "+
		"last one moved the latent function by %.1e of its size or of 1, and at most %.0e is wanted; use a smaller "+
		"kernel_variance or another lengthscale", m.Steps, m.Change, laplace.Tolerance(e))
}

// converged reports that the last step moved f by rounding errors only.
func converged(m *laplace.Mode, e *engine.Engine) bool { return m.Change <= laplace.Tolerance(e) }

// modeElements bounds the elements of the covariances of fits whose modes are found together,
// 64 MiB in float64.
const modeElements = 1 << 23

// together is how many fits to some training rows have their modes found together.
func (c *classifier) together(rows int) int {
	columns := rows
	if c.method != cloak.Standard {
		columns = c.settings.Inducing
	}
	return max(1, modeElements/(rows*columns))
}

// fitModes fits without noise to labels of several training sets, whose modes are found in common
// runs. An error comes with the number of its fit, -1 for all of them.
func (c *classifier) fitModes(ctx context.Context, fits []*publicFit, labels [][]float64) ([]*prediction, int, error) {
	problems := make([]laplace.Problem, len(fits))
	for i, p := range fits {
		problems[i] = laplace.Problem{Model: p.cov.model, Sums: p.sums(labels[i])}
	}
	modes, err := laplace.Modes(ctx, c.e, problems, c.steps)
	if err != nil {
		return nil, -1, err
	}
	out := make([]*prediction, len(fits))
	for i := range modes {
		if out[i], err = c.atMode(ctx, fits[i].cov, &modes[i]); err != nil {
			return nil, i, err
		}
	}
	return out, -1, nil
}

// atMode is the prediction at a mode.
func (c *classifier) atMode(ctx context.Context, cov *covariances, m *laplace.Mode) (*prediction, error) {
	if m.Err != nil {
		return nil, m.Err
	}
	out := &prediction{steps: m.Steps}
	if !converged(m, c.e) {
		if c.converge {
			return nil, short(m, c.e)
		}
		out.moved = m.Change
	}
	return out, c.posterior(ctx, cov, [][]float64{m.Latent}, []*mat.Dense{mat.NewDense(len(m.Dual), 1, m.Dual)}, out)
}
