package regression

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/experiments/privacygp/process"
	"privkern/experiments/privacygp/sdp"
)

const (
	// maxProgramRows and maxPlaces bound the programs: solvers of this size take minutes.
	maxProgramRows = 500
	maxPlaces      = 60
	// widestGap is the largest duality gap of a solution, relative to the trace.
	widestGap = 1e-7
)

// problem describes the noise to be found: places that must keep a predictive variance. All
// variances are in units of the prior variance.
type problem struct {
	*prior
	places   *mat.Dense // γ×d, scaled
	xi       []float64  // γ, shares of the prior variance, below 1
	h        *bound     // the kernel condition, with the diagonal xi; nil for none
	tau2     float64    // variance of the added independent noise
	exports  int        // as many times the noise that one export needs
	method   noiseMethod
	progress sdp.Progress
}

// view holds the information about the sensitive places in outputs at some inputs.
type view struct {
	*process.Observations
	x         *mat.Dense // n×d, scaled
	cross     *mat.Dense // n×γ, K_XS
	unsecured []float64  // γ, predictive variances from the outputs themselves
	need      []int      // places whose variance is below the tolerance
}

// look returns the view of outputs at the scaled inputs x.
func (p *problem) look(x *mat.Dense) (*view, error) {
	v := &view{x: x}
	var err error
	if v.Observations, err = p.observe(x); err != nil {
		return nil, err
	}
	if v.cross, err = p.between(x, p.places); err != nil {
		return nil, err
	}
	if v.unsecured, err = v.left(nil, v.cross); err != nil {
		return nil, err
	}
	for i, variance := range v.unsecured {
		if variance < p.xi[i] {
			v.need = append(v.need, i)
		}
	}
	return v, nil
}

// left returns the predictive variances at places whose correlation with the outputs is cross.
func (v *view) left(sigma mat.Matrix, cross *mat.Dense) ([]float64, error) {
	explained, err := v.Explained(sigma, cross)
	return remainder(explained), err
}

// remainder replaces explained variances by those that are left of a prior variance of 1.
func remainder(explained []float64) []float64 {
	for i, v := range explained {
		explained[i] = math.Max(0, 1-v)
	}
	return explained
}

// obfuscation is the covariance of noise.
type obfuscation struct {
	sigma *mat.Dense // n×n, with tau² I; nil for none
	trace float64    // without tau² I
	left  []float64  // γ, predictive variances at the sensitive places
}

// rank returns the numerical rank of the noise without its independent part tau2·I.
func (o *obfuscation) rank(tau2 float64) (int, error) {
	if o.sigma == nil || o.trace == 0 {
		return 0, nil
	}
	core := process.Symmetric(o.sigma)
	for i := range core.SymmetricDim() {
		core.SetSym(i, i, core.At(i, i)-tau2)
	}
	return process.RankOf(core)
}

// obfuscate returns the noise of a method for a view.
func (p *problem) obfuscate(ctx context.Context, v *view, method noiseMethod) (*obfuscation, error) {
	if method == none {
		return &obfuscation{left: v.unsecured}, nil
	}
	sigma, err := p.covariance(ctx, v, method)
	if err != nil {
		return nil, err
	}
	n, _ := v.x.Dims()
	if p.exports > 1 {
		sigma.Scale(float64(p.exports), sigma)
	}
	out := &obfuscation{sigma: sigma, trace: mat.Trace(sigma)}
	for i := range n {
		sigma.Set(i, i, sigma.At(i, i)+p.tau2)
	}
	if out.left, err = v.left(sigma, v.cross); err != nil {
		return nil, err
	}
	for i, left := range out.left {
		if !(left >= p.xi[i]-p.rounding()) {
			return nil, fmt.Errorf("noise = %v leaves %.10g of the prior variance at the sensitive place %d, below the "+
				"tolerance %.6g: the kernel matrices are too badly conditioned (condition number %.1e); a larger noise_variance, "+
				"shorter lengthscales or fewer rows make it smaller", method, left, i+1, p.xi[i], v.Condition)
		}
	}
	return out, nil
}

// rounding is the accepted violation of a tolerance, as a share of the prior variance.
func (p *problem) rounding() float64 {
	if p.single() {
		return 1e-3
	}
	return 1e-6
}

// single reports whether the engine computes in float32.
func (p *problem) single() bool { return p.engine.DType() == "float32" }

// covariance returns Σ, n×n, without the added independent noise.
func (p *problem) covariance(ctx context.Context, v *view, method noiseMethod) (*mat.Dense, error) {
	n, _ := v.x.Dims()
	switch method {
	case uniform:
		g, err := p.inner(ctx, v.x)
		if err != nil {
			return nil, err
		}
		noise, err := v.PSDNoise(g)
		if err != nil {
			return nil, err
		}
		return noise.Sigma, nil
	case strong:
		return p.strong(v)
	}
	// Noise never decreases a variance: a tolerance that holds without noise holds with it.
	if len(v.need) == 0 {
		return mat.NewDense(n, n, nil), nil
	}
	switch method {
	case optimal:
		return p.strong(v)
	case weak:
		return p.weak(ctx, v)
	case diagonal:
		return p.diagonal(ctx, v)
	}
	return p.equal(v)
}

// strong solves Eq. (11) for the Ξ of [problem.remaining]; for one place, Eq. (8).
func (p *problem) strong(v *view) (*mat.Dense, error) {
	q, err := p.remaining()
	if err != nil {
		return nil, err
	}
	noise, err := v.StrongNoise(v.cross, q)
	if err != nil {
		return nil, err
	}
	return noise.Sigma, nil
}

// remaining returns K_SS − Ξ (γ×γ): for a kernel condition Ξ = H_SS, Eq. (12), for one tolerance
// Ξ = ξK_SS, and for several Ξ_ij = √(ξ_iξ_j) K(s_i, s_j), which is positive semi-definite
// and has the tolerances on its diagonal.
func (p *problem) remaining() (*mat.Dense, error) {
	q, err := p.between(p.places, p.places)
	if err != nil {
		return nil, err
	}
	if p.h != nil {
		q.Sub(q, p.h.matrix)
		return q, nil
	}
	if same(p.xi) {
		q.Scale(1-p.xi[0], q)
		return q, nil
	}
	q.Apply(func(i, j int, v float64) float64 { return v * (1 - math.Sqrt(p.xi[i]*p.xi[j])) }, q)
	return q, nil
}

// checkRequirement refuses a Ξ that is not below K_SS: Eq. (11) needs K_SS − Ξ positive
// definite. To rounding it may be singular, as K_SS is for places that lie densely.
func (p *problem) checkRequirement() error {
	q, err := p.remaining()
	if err != nil {
		return err
	}
	values, err := process.Eigenvalues(q)
	if err != nil {
		return err
	}
	n := len(values)
	inadmissible := values[0] < -p.dust(n)*values[n-1]
	if p.h != nil {
		p.h.below = values[0]
		return p.checkBound(inadmissible)
	}
	if inadmissible {
		return fmt.Errorf("noise = strong: the tolerances from %.4g to %.4g of the prior variance are no requirement for "+
			"the %d places together: K_SS - Xi with Xi_ij = sqrt(xi_i xi_j) K(s_i, s_j) has the eigenvalue %.3g, and must be "+
			"positive definite (Eq. 11): the outputs at places with different tolerances depend on each other too much; use "+
			"noise=weak, which takes each place on its own, or one xi for all, the largest",
			slices.Min(p.xi), slices.Max(p.xi), n, values[0])
	}
	return nil
}

// dust is the rounding error of the eigenvalues of a covariance matrix of order n, relative to the
// largest eigenvalue.
func (p *problem) dust(n int) float64 {
	if p.single() {
		return 10 * float64(n) * 0x1p-23
	}
	return 10 * float64(n) * 0x1p-52
}

// needed returns the columns of K_XS for the places in need.
func (v *view) needed() *mat.Dense {
	return mat.DenseCopyOf(learn.SelectRows(mat.DenseCopyOf(v.cross.T()), v.need).T())
}

// checkProgram refuses programs that take a solver too long.
func (v *view) checkProgram(method noiseMethod) error {
	n, _ := v.x.Dims()
	if n <= maxProgramRows && len(v.need) <= maxPlaces {
		return nil
	}
	return fmt.Errorf("noise = %v takes at most %d rows and %d sensitive places that need noise, and there are %d and "+
		"%d: use noise=strong, which is in closed form, or fewer", method, maxProgramRows, maxPlaces, n, len(v.need))
}

// weak solves Eq. (10).
func (p *problem) weak(ctx context.Context, v *view) (*mat.Dense, error) {
	if err := v.checkProgram(weak); err != nil {
		return nil, err
	}
	q := make([]float64, len(v.need))
	for i, place := range v.need {
		q[i] = 1 - p.xi[place]
	}
	s, err := sdp.SolveWeak(ctx, v.Covariance(), v.needed(), q, p.progress)
	if err != nil {
		return nil, err
	}
	return mat.DenseCopyOf(s.Sigma), checkGap(weak, s)
}

// checkGap refuses a solution whose certificate is too wide.
func checkGap(method noiseMethod, s *sdp.Solution) error {
	if gap := s.RelativeGap(); !(gap <= widestGap) {
		return fmt.Errorf("the program of noise = %v stopped after %d steps at a relative duality gap of %.1e, and at most "+
			"%.0e is wanted: more noise_variance, or fewer rows, make the kernel matrix better conditioned; noise=strong "+
			"needs no program", method, s.Iterations, gap, widestGap)
	}
	return nil
}

// diagonal returns the least independent noise for one place, Eq. (7). For several places each row
// has the largest of the noises for each, which suffices and need not be the least.
func (p *problem) diagonal(ctx context.Context, v *view) (*mat.Dense, error) {
	if err := v.checkProgram(diagonal); err != nil {
		return nil, err
	}
	n, _ := v.x.Dims()
	out := mat.NewDense(n, n, nil)
	m := v.Covariance()
	for _, place := range v.need {
		s, err := sdp.SolveDiagonal(ctx, m, mat.Col(nil, place, v.cross), 1-p.xi[place], p.progress)
		if err != nil {
			return nil, err
		}
		if err := checkGap(diagonal, s); err != nil {
			return nil, err
		}
		for i := range n {
			out.Set(i, i, math.Max(out.At(i, i), s.Sigma.At(i, i)))
		}
	}
	return out, nil
}

// equal returns cI with the least c that keeps the tolerance at all places. With C = K_XX + V =
// UΛUᵀ the explained variance at a place is Σ_k (u_kᵀa)²/(λ_k + c), which decreases in c.
func (p *problem) equal(v *view) (*mat.Dense, error) {
	n, _ := v.x.Dims()
	values, u, err := v.Spectrum()
	if err != nil {
		return nil, err
	}
	a := v.needed()
	var w mat.Dense
	w.Mul(u.T(), a)
	holds := func(c float64) bool {
		for j, place := range v.need {
			explained := 0.0
			for k, value := range values {
				explained += w.At(k, j) * w.At(k, j) / (math.Max(0, value) + c)
			}
			if explained > 1-p.xi[place] {
				return false
			}
		}
		return true
	}
	// c = |a|²/(1 − ξ) explains at most 1 − ξ, for all a and the largest ξ.
	high := mat.Norm(a, 2)
	high = high * high / (1 - slices.Max(p.xi))
	low := high * 0x1p-60
	for high/low > 1+0x1p-40 {
		if middle := math.Sqrt(low * high); holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	out := mat.NewDense(n, n, nil)
	for i := range n {
		out.Set(i, i, high)
	}
	return out, nil
}
