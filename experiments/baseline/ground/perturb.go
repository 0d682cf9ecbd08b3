package ground

import (
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Perturbation is Gaussian noise, of factor times the change of a query, for mechanisms whose proofs are their own: it
// is not among the [Losses]. Without privacy there is none.
func (d *Data) Perturbation(q release.Query, factor float64) (*Noise, error) {
	out := &Noise{query: Query{What: q.What, Coordinates: q.Coordinates}}
	if d.Noiseless() {
		return out, nil
	}
	out.loss = experiment.Loss{Law: "gaussian"}
	var err error
	out.exact, err = release.Gaussian(q, factor)
	return out, err
}

// Grid is the spacing of the noisy numbers of a release; 0 without privacy.
func (n *Noise) Grid() float64 {
	if n.exact == nil {
		return 0
	}
	return n.exact.Grid()
}

// Perturb returns numbers with the noise of a [Data.Perturbation]. They may depend on the rows in other ways than by
// sums: the proof of the mechanism covers it.
func (s *Sums) Perturb(n *Noise, values []float64) ([]float64, error) {
	if s.source != nil {
		return s.source.Add(n.exact, values)
	}
	out := append([]float64(nil), values...)
	s.Judge(n, out)
	return out, nil
}
