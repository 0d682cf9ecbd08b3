package regression

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/privacygp/modelfile"
	"privkern/experiments/privacygp/process"
	"privkern/runner/experiment"
)

// bound is a kernel condition H at the sensitive places, Eq. (12), in units of the prior
// variance.
type bound struct {
	name         string
	lengthscales []float64  // d
	variance     float64    // H(s, s)
	matrix       *mat.Dense // γ×γ, H_SS
	below        float64    // least eigenvalue of K_SS − H_SS
	kept         float64    // least eigenvalue of Cov[f(S)|W] − H_SS
}

// checkH refuses a kernel condition that no data can satisfy.
func (s *Settings) checkH() []error {
	var errs []error
	switch s.Noise {
	case strong, none:
	case uniform:
		if s.hFamily() != eqKernel || s.Kernel.String() != eqKernel {
			errs = append(errs, fmt.Errorf("requirement = kernel: noise = uniform, Eq. (13), is computed for kernel=eq and "+
				"an eq kernel H, and they are %v and %s: use noise=strong, which keeps H at the places", s.Kernel, s.hFamily()))
		}
	default:
		errs = append(errs, fmt.Errorf("requirement = kernel: noise = %v takes places one by one, and H would say no more "+
			"than xi = h_variance: use noise=strong, Eq. (12), or uniform, Eq. (13), or requirement=tolerance", s.Noise))
	}
	if s.HLengthscales != priorLengthscales {
		if _, err := parseLengthscales("h_lengthscales", s.HLengthscales, nil); err != nil {
			errs = append(errs, fmt.Errorf("%w, or %s for those of the process", err, priorLengthscales))
		}
	}
	if process, _, known := s.variances(); known || s.XiUnit == ofPrior {
		if err := s.checkBelowPrior(s.HVariance, process); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

const (
	// priorLengthscales is the word for the lengthscales of the process.
	priorLengthscales = "prior"
	eqKernel          = "eq"
	laplacianKernel   = "laplacian"
)

// hFamily is the family of H by its name in files.
func (s *Settings) hFamily() string {
	if s.HKernel == ofProcess {
		return s.Kernel.String()
	}
	return s.HKernel.String()
}

// newBound returns H at the places of rows, with its share of the prior variance.
func newBound(s *Settings, p *prior, r *rows, variance float64) (*bound, error) {
	h := &bound{name: s.hFamily(), lengthscales: slices.Clone(p.Lengthscales), variance: variance}
	if s.HLengthscales != priorLengthscales {
		var err error
		if h.lengthscales, err = parseLengthscales("h_lengthscales", s.HLengthscales, r.asked()); err != nil {
			return nil, err
		}
	}
	return h, h.at(p, r.places)
}

// at sets the matrix of H at places (γ×d, in the units of the inputs).
func (h *bound) at(p *prior, places *mat.Dense) error {
	k, known := modelfile.Unit(h.name)
	if !known {
		return experiment.Unknown("kernel", h.name, kernelName(0).Choices())
	}
	at := divided(places, h.lengthscales)
	var err error
	if h.matrix, err = k.Matrix(p.engine, at, at); err != nil {
		return err
	}
	h.matrix.Scale(h.variance, h.matrix)
	return nil
}

// checkBound refuses a kernel condition that the process cannot meet: where K_SS − H_SS is
// not positive definite, some combination of outputs would have to keep more than its prior
// variance. To rounding it may be singular, as K_SS is for places that lie densely.
func (p *problem) checkBound(inadmissible bool) error {
	places, _ := p.places.Dims()
	if inadmissible {
		return fmt.Errorf("requirement = kernel: H, %s, is inadmissible: K_SS - H_SS of the %d sensitive places has the "+
			"eigenvalue %.3g in units of the prior variance, and must be positive definite: a combination of outputs would "+
			"have to keep more than the variance that it has without any data. %s", p.describe(), places, p.h.below,
			p.advice())
	}
	if p.method != uniform {
		return nil
	}
	if c, smooth := p.share(); !smooth || c >= 1 {
		return fmt.Errorf("requirement = kernel: H, %s, is inadmissible for noise = uniform: K - H must be positive "+
			"definite at all places (Example 3), which strong noise does not ask for. %s", p.describe(), p.advice())
	}
	return nil
}

// share returns c∏h_j/l_j, the largest ratio of the Fourier transforms of H and K for eq kernels,
// and whether H is nowhere rougher than K: Example 3 for a lengthscale in each input.
func (p *problem) share() (c float64, smooth bool) {
	c, smooth = p.h.variance, true
	for j, l := range p.Lengthscales {
		c *= p.h.lengthscales[j] / l
		smooth = smooth && p.h.lengthscales[j] >= l
	}
	return c, smooth
}

// advice tells the user how to make H admissible.
func (p *problem) advice() string {
	const smoother = "H has to be as smooth as K or smoother, and smaller the smoother it is: leave h_kernel and " +
		"h_lengthscales as prior, or "
	if !asSmooth(p.h.name, p.kernelName, len(p.Lengthscales)) {
		family := "h_kernel=prior, which is " + p.kernelName
		if p.kernelName != eqKernel {
			family += ", or h_kernel=" + eqKernel
		}
		return "First give H a family as smooth as K or smoother, " + family + "; numbers help only then: h_lengthscales " +
			"that are not below " + plus(p.Lengthscales) + ", those of K, and a smaller h_variance"
	}
	if p.h.name != eqKernel || p.kernelName != eqKernel {
		return smoother + "give h_lengthscales that are not below " + plus(p.Lengthscales) + ", and a smaller h_variance"
	}
	c, smooth := p.share()
	if !smooth {
		return smoother + "give h_lengthscales that are not below " + plus(p.Lengthscales) + ", those of K, in any input"
	}
	if p.method == uniform {
		return smoother + fmt.Sprintf("give an h_variance of %.4g of the prior variance or less, which is admissible with "+
			"these lengthscales (Example 3)", p.mostVariance())
	}
	return smoother + fmt.Sprintf("give an h_variance below %.4g of the prior variance, which is admissible with these "+
		"lengthscales wherever the places are (Example 3)", roundedDown(p.h.variance/c))
}

// mostVariance returns a variance of H, over the prior one, with which noise = uniform accepts its
// lengthscales, to the digits of a message.
func (p *problem) mostVariance() float64 {
	c, _ := p.share()
	return roundedDown(mostShare * p.h.variance / c)
}

// roundedDown rounds v > 0 down to four digits. A number of four digits up to rounding errors
// stays the same.
func roundedDown(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v))-3)
	return math.Floor(v/unit*(1+1e-12)) * unit
}

// asSmooth reports whether a kernel of the family h is below one of the family k in d inputs
// for some lengthscales and variance: whether the ratio of their Fourier transforms is
// bounded. That of a Matérn kernel falls as |ω|^-(2ν+d), and that of laplacian, ∏1/(1+ω_j²),
// as ω^-2 along an axis and as ω^-2d along a diagonal.
func asSmooth(h, k string, d int) bool {
	// 2ν; that of laplacian is for one input, where it is matern12.
	twice := map[string]int{"matern12": 1, "matern32": 3, "matern52": 5, "laplacian": 1}
	switch {
	case h == k || h == eqKernel:
		return true
	case k == eqKernel || h == laplacianKernel && d > 1:
		return false
	case k == laplacianKernel:
		return twice[h] >= d
	}
	return twice[h] >= twice[k]
}

// plus writes numbers as the setting lengthscales.
func plus(values []float64) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = fmt.Sprintf("%.4g", v)
	}
	return strings.Join(out, "+")
}

// describe returns H in words, in the unit of the output.
func (p *problem) describe() string {
	return fmt.Sprintf("%.6g times the kernel %s with the lengthscales %s", p.Variance*p.h.variance, p.h.name,
		plus(p.h.lengthscales))
}

// checkCondition computes the least eigenvalue of Cov[f(S)|W] − H_SS, and refuses noise for which it
// is negative beyond rounding.
func (p *prepared) checkCondition() error {
	if p.h == nil {
		return nil
	}
	left, err := p.remaining()
	if err != nil {
		return err
	}
	var sigma mat.Matrix // nil for none
	if p.noise.sigma != nil {
		sigma = p.noise.sigma
	}
	solved, err := p.all.Solve(sigma, p.all.cross)
	if err != nil {
		return err
	}
	var explained mat.Dense
	explained.Mul(p.all.cross.T(), solved)
	left.Sub(left, &explained)
	values, err := process.Eigenvalues(left)
	if err != nil {
		return err
	}
	p.h.kept = values[0]
	if n := float64(len(values)); p.method != none && !(p.h.kept >= -n*p.rounding()) {
		return fmt.Errorf("noise = %v leaves a combination of outputs at the sensitive places with less than H asks for, by "+
			"%.3g of the prior variance: the kernel matrices are too badly conditioned (condition number %.1e); a larger "+
			"noise_variance, shorter lengthscales or fewer places make it smaller", p.method, -p.h.kept, p.all.Condition)
	}
	return nil
}

const (
	// mostTerms bounds the series of [problem.inner], each of whose terms is a kernel
	// matrix.
	mostTerms = 4000
	// mostShare is the largest c for which the series has mostTerms terms.
	mostShare = 0.989
)

// termsOf returns the length of the series for a share c below 1: the rest is below rounding.
func termsOf(c float64) int { return int(math.Ceil(math.Log(0x1p-53*(1-c)) / math.Log(c))) }

// inner returns G, the matrix of inner products of Eq. (13) at scaled inputs x (n×d), for noise that
// keeps H everywhere. For H = ξK it is K/(1 − ξ). For other eq kernels, with the Fourier transforms of
// Proposition 2, where H̃/K̃ = q(ω) = c∏h_j/l_j·exp(−Σω_j²(h_j² − l_j²)/2) is below 1,
// K̃²/(K̃ − H̃) = K̃Σ_m q^m, and every term is that of an eq kernel:
//
//	G(x, x') = Σ_m c^m ∏_j (h_j/l_j)^m l_j/ℓ_jm exp(−(x_j − x'_j)²/(2ℓ_jm²)), ℓ_jm² = l_j² + m(h_j² − l_j²).
//
// The omitted terms are below rounding.
func (p *problem) inner(ctx context.Context, x *mat.Dense) (*mat.Dense, error) {
	if p.h == nil {
		g, err := p.between(x, x)
		if err != nil {
			return nil, err
		}
		g.Scale(1/(1-p.xi[0]), g) // all are one
		return g, nil
	}
	c, _ := p.share()
	terms := termsOf(c)
	if terms > mostTerms {
		return nil, fmt.Errorf("requirement = kernel: noise = uniform sums %d kernel matrices for this H, %s, and at most "+
			"%d are taken: give an h_variance of %.4g of the prior variance or less", terms, p.describe(), mostTerms,
			p.mostVariance())
	}
	n, d := x.Dims()
	g, widths := mat.NewDense(n, n, nil), make([]float64, d)
	for m := range max(terms, 1) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		weight := math.Pow(c, float64(m))
		for j, l := range p.Lengthscales {
			r := p.h.lengthscales[j] / l
			widths[j] = math.Sqrt(1 + float64(m)*(r*r-1)) // x is in units of l
			weight /= widths[j]
		}
		at := divided(x, widths)
		k, err := p.between(at, at)
		if err != nil {
			return nil, err
		}
		k.Scale(weight, k)
		g.Add(g, k)
	}
	return g, nil
}
