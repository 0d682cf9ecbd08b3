package regression

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/privacygp/modelfile"
	"privkern/experiments/privacygp/process"
	"privkern/graphs/engine"
	"privkern/graphs/gp"
)

// Several exports of one process: W_e = Y_e + Z_e with independent noises Z_e ~ N(0, Σ_e). Whoever
// has all of them predicts from the stacked outputs W = (W_1, W_2, ...), whose noise has the
// covariance blockdiag(Σ_1, Σ_2, ...), by Eq. (4):
//
//	Cov[f(S)|W] = K_SS − K_SX M⁻¹ K_XS, M = K_XX + V + blockdiag(Σ_e).
//
// Where all are of the same rows, the errors V are the same in every block, and this is Eq. (4) with
// the noise (Σ_e Σ_e⁻¹)⁻¹: precisions add. The values of W have no part in it. Uniform noise keeps
// a kernel H everywhere: K − K_·X M⁻¹ K_X· − H is a positive definite function if and only if
// M ⪰ G, the matrix of inner products of Eq. (13) at the stacked inputs, by the Schur complement of the
// positive definite K − H in [K − H, K_·X; K_X·, M].
//
// Each condition is checked under the prior of its own export. Unknown facts are assumed in every
// way, and the least variance counts:
//
//   - rows at one place whose outputs differ between exports are one observation that was
//     corrected, or two observations with errors of their own;
//   - exports that have less than half of their rows in common are in the same units, or each is in
//     units of its own, by which their lengthscales and prior variances are the same.

// mostTogether bounds the rows of exports that are put together: factorising their matrix takes a
// third of their cube in operations.
const mostTogether = 2000

// fewTogether bounds the rows for which a sufficient noise is searched for while the register is locked.
const fewTogether = 600

// keptVariance is the variance that the sensitive places of an export keep from whoever has all exports.
type keptVariance struct {
	least float64 // in the squared unit of the output
	ratio float64 // the least over the tolerance of its place
}

// shortfallError is a condition that several exports do not keep together.
type shortfallError struct {
	export int // with the condition, from 0
	last   bool
	text   string
	advice string
}

func (e *shortfallError) Error() string {
	whose := fmt.Sprintf("export %d, which is registered already", e.export+1)
	if e.last {
		whose = "this export itself"
	}
	return fmt.Sprintf("whoever has this export and the registered ones of these data would be left with less than "+
		"is asked for by %s: %s; %s", whose, e.text, e.advice)
}

// together puts exports together, and returns a sentence for the operator on the variance that they keep. It refuses
// the last one, that of p, where some condition would hold no longer.
func (p *prepared) together(ctx context.Context, all []*registered) (string, error) {
	if len(all) == 1 {
		return "registered as export 1 of these data: repeated, it is the same; any other counts together with it", nil
	}
	kept, err := keptBy(ctx, p.engine, all)
	if short, ok := errors.AsType[*shortfallError](err); ok {
		short.advice = p.leftToDo(ctx, all, short)
	}
	if err != nil {
		return "", err
	}
	last := kept[len(kept)-1]
	every := slices.MinFunc(kept, func(a, b keptVariance) int {
		if a.ratio < b.ratio {
			return -1
		}
		return 1
	})
	return fmt.Sprintf("registered as export %d of these data: whoever has all of them is left with a variance of %.4g "+
		"or more at its sensitive places, and with %.4g times the tolerance or more at those of each export", len(all),
		roundedDown(last.least), roundedDown(every.ratio)), nil
}

// leftToDo returns the ways that remain after a shortfall.
func (p *prepared) leftToDo(ctx context.Context, all []*registered, short *shortfallError) string {
	const (
		most   = 1000 // of the setting exports
		repeat = "repeat a registered export, whose data and settings give the same file, or hand that file over"
	)
	last := all[len(all)-1]
	rows := 0
	for _, r := range all {
		rows += len(r.Rows) / rowDigest
	}
	if rows > fewTogether {
		return repeat + "; a larger exports=N makes the noise of this one stronger"
	}
	stronger := slices.Clone(all)
	for times := 2; times*p.settings.Exports <= most; times *= 2 {
		stronger[len(all)-1] = last.times(float64(times))
		_, err := keptBy(ctx, p.engine, stronger)
		if err == nil {
			return fmt.Sprintf("%s; exports=%d makes the noise of this one strong enough", repeat, times*p.settings.Exports)
		}
		errors.As(err, &short)
	}
	if short.last {
		return repeat + "; with any noise the registered ones leave less than this one asks for: it needs a lower tolerance"
	}
	return repeat + "; the registered ones leave too little for any other, however strong its noise: the first of " +
		"several needs exports=N, which provides for N of them"
}

// times returns the export with a multiple of its noise.
func (r *registered) times(multiple float64) *registered {
	out := *r
	out.Digest = nil // other noise has another
	out.Tau2 *= multiple
	out.Factor = slices.Clone(r.Factor)
	for i := range out.Factor {
		out.Factor[i] *= math.Sqrt(multiple)
	}
	return &out
}

// keptBy returns the variances that each of the exports keeps from a reader of all of them, or a [shortfallError].
func keptBy(ctx context.Context, e *engine.Engine, all []*registered) ([]keptVariance, error) {
	out := make([]keptVariance, len(all))
	for j, r := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := r.stack(all)
		if err != nil {
			return nil, err
		}
		left, err := r.keep(ctx, e, s)
		if short, ok := errors.AsType[*shortfallError](err); ok {
			short.export, short.last = j, j == len(all)-1
		}
		if err != nil {
			return nil, err
		}
		out[j] = keptVariance{least: slices.Min(left), ratio: math.Inf(1)}
		for i, v := range left {
			if xi := r.Condition.Variance[i]; xi > 0 {
				out[j].ratio = min(out[j].ratio, v/xi)
			}
		}
	}
	return out, nil
}

// stack holds exports of one process, as one of them sees it.
type stack struct {
	exports []*registered
	alike   []bool // by export: it shares half of the rows, and so the units
}

// stack returns the exports that disclose something of the process of r.
func (r *registered) stack(all []*registered) (*stack, error) {
	s, rows := &stack{}, 0
	for i, o := range all {
		if o.Digest != nil && slices.ContainsFunc(s.exports, func(e *registered) bool {
			return bytes.Equal(e.Digest, o.Digest)
		}) {
			continue // the same outputs, for another condition
		}
		n := min(len(o.Rows), len(r.Rows)) / rowDigest
		alike := len(o.Inputs) == len(r.Inputs) && 2*commonRows(o, r) >= n
		switch same := slices.Equal(o.Inputs, r.Inputs); {
		case alike, o.Output == r.Output && same:
			s.exports, s.alike = append(s.exports, o), append(s.alike, alike)
			rows += len(o.Rows) / rowDigest
		case o.Output == r.Output:
			return nil, fmt.Errorf("an export of the output %s by the inputs %s and one by %s (export %d of these data) tell "+
				"of different processes, and no bound holds for both: give the same inputs, or repeat a registered export",
				r.Output, strings.Join(r.Inputs, ", "), strings.Join(o.Inputs, ", "), i+1)
		}
	}
	if rows > mostTogether {
		return nil, fmt.Errorf("the exports of the output %s have %d rows together, and a bound is computed for at most %d: "+
			"repeat a registered export, whose data and settings give the same file, or hand that file over", r.Output, rows,
			mostTogether)
	}
	return s, nil
}

// digestOf returns the digest of row i.
func (r *registered) digestOf(i int) [rowDigest]byte {
	return [rowDigest]byte(r.Rows[i*rowDigest:])
}

// commonRows counts the rows that two exports have in common.
func commonRows(a, b *registered) int {
	count := map[[rowDigest]byte]int{}
	for i := range len(a.Rows) / rowDigest {
		count[a.digestOf(i)]++
	}
	common := 0
	for i := range len(b.Rows) / rowDigest {
		if d := b.digestOf(i); count[d] > 0 {
			count[d]--
			common++
		}
	}
	return common
}

// observations numbers the observations behind the stacked rows. Rows of different exports with the
// same inputs and output are one observation; so are, if corrected, rows with the same inputs alone.
func (s *stack) observations(corrected bool) []int {
	type observation struct {
		number  int
		digests [][rowDigest]byte
		last    int // export that has it
	}
	at := map[string][]*observation{}
	var out []int
	for k, e := range s.exports {
		x := e.inputs()
		n, _ := x.Dims()
		numbers, first := make([]int, n), len(out)
		find := func(i int, is func(*observation) bool) bool {
			for _, o := range at[placeKey(x.RawRowView(i))] {
				if o.last < k && is(o) {
					o.last, o.digests, numbers[i] = k, append(o.digests, e.digestOf(i)), o.number
					return true
				}
			}
			return false
		}
		var open []int
		for i := range n {
			if !find(i, func(o *observation) bool { return slices.Contains(o.digests, e.digestOf(i)) }) {
				open = append(open, i)
			}
		}
		for _, i := range open {
			if !corrected || !find(i, func(*observation) bool { return true }) {
				key := placeKey(x.RawRowView(i))
				numbers[i] = first + i // which no other has
				at[key] = append(at[key], &observation{number: first + i, digests: [][rowDigest]byte{e.digestOf(i)}, last: k})
			}
		}
		out = append(out, numbers...)
	}
	return out
}

// keep returns the variances at the places of r, in the squared unit of its output, that all exports of the
// stack leave, or a [shortfallError].
func (r *registered) keep(ctx context.Context, e *engine.Engine, s *stack) ([]float64, error) {
	p, err := r.problem(e)
	if err != nil {
		return nil, err
	}
	separate, corrected := s.observations(false), s.observations(true)
	errorsOf := [][]int{separate}
	if !slices.Equal(separate, corrected) {
		errorsOf = append(errorsOf, corrected)
	}
	units := []bool{false}
	for i, o := range s.exports {
		if !s.alike[i] && (!slices.Equal(o.Kernel.Lengthscales, r.Kernel.Lengthscales) ||
			o.Kernel.Variance != r.Kernel.Variance) {
			units = []bool{false, true}
		}
	}
	least := slices.Repeat([]float64{math.Inf(1)}, len(p.xi))
	for _, own := range units {
		x, noise := s.stacked(r, own)
		for _, numbers := range errorsOf {
			left, err := p.given(ctx, x, noise, numbers)
			if err != nil {
				return nil, err
			}
			for i, v := range left {
				least[i] = min(least[i], v)
			}
		}
	}
	for i, v := range least {
		least[i] = p.Variance * v
	}
	return least, nil
}

// problem returns the condition of r as a problem whose noise is known.
func (r *registered) problem(e *engine.Engine) (*problem, error) {
	unit, known := modelfile.Unit(r.Kernel.Name)
	if !known {
		return nil, fmt.Errorf("a registered export has the unknown kernel %q", r.Kernel.Name)
	}
	p := &problem{method: weak, prior: &prior{engine: e, kernel: unit, kernelName: r.Kernel.Name}}
	p.Hyperparameters = gp.Hyperparameters{
		Lengthscales: r.Kernel.Lengthscales, Variance: r.Kernel.Variance, Noise: r.Noise,
	}
	switch {
	case r.Condition.Everywhere:
		p.method = uniform
	case r.Together:
		p.method = strong
	}
	for _, v := range r.Condition.Variance {
		p.xi = append(p.xi, v/p.Variance)
	}
	places := r.places()
	p.places = p.scaled(places)
	if h := r.Condition.Kernel; h != nil {
		p.h = &bound{name: h.Name, lengthscales: h.Lengthscales, variance: h.Variance / p.Variance}
		return p, p.h.at(p.prior, places)
	}
	return p, nil
}

// stacked returns the scaled inputs of all exports, and the covariances of their noise over the prior
// variance: of r, or, for exports whose units may be others, their own.
func (s *stack) stacked(r *registered, own bool) (x *mat.Dense, noise []*mat.Dense) {
	total := 0
	for _, e := range s.exports {
		total += len(e.Rows) / rowDigest
	}
	x = mat.NewDense(total, len(r.Inputs), nil)
	row := 0
	for i, e := range s.exports {
		kernel := r.Kernel
		if own && !s.alike[i] {
			kernel = e.Kernel
		}
		scaled := divided(e.inputs(), kernel.Lengthscales)
		n, _ := scaled.Dims()
		for k := range n {
			x.SetRow(row+k, scaled.RawRowView(k))
		}
		row += n
		sigma := e.covariance()
		sigma.Scale(1/kernel.Variance, sigma)
		noise = append(noise, sigma)
	}
	return x, noise
}

// given returns the predictive variances at the places from outputs at x (scaled) with noise in
// blocks, rounded down, for the numbers of their observations. It returns a [shortfallError] where they, those of
// linear combinations or those of all other places are below the condition.
func (p *problem) given(ctx context.Context, x *mat.Dense, noise []*mat.Dense, numbers []int) ([]float64, error) {
	m, err := p.between(x, x)
	if err != nil {
		return nil, err
	}
	n, _ := m.Dims()
	for i := range n {
		for j := range n {
			if numbers[i] == numbers[j] {
				m.Set(i, j, m.At(i, j)+p.Noise/p.Variance)
			}
		}
	}
	row := 0
	for _, sigma := range noise {
		k, _ := sigma.Dims()
		block := m.Slice(row, row+k, row, row+k).(*mat.Dense)
		block.Add(block, sigma)
		row += k
	}
	total := process.Symmetric(m)
	var c mat.Cholesky
	if !c.Factorize(total) {
		return nil, errors.New("the covariance of all exports of these data together is singular in floating point, so " +
			"that no bound is known: give a larger resolution, or repeat a registered export")
	}
	cross, err := p.between(x, p.places)
	if err != nil {
		return nil, err
	}
	var solved, explained mat.Dense
	if err := c.SolveTo(&solved, cross); err != nil {
		return nil, fmt.Errorf("the exports of these data together: %w; give a larger resolution", err)
	}
	explained.Mul(cross.T(), &solved)
	// A factorisation is that of a matrix that differs by about n units in the last place.
	unit := float64(n) * 0x1p-53 * mat.Norm(total, 2)
	left := make([]float64, len(p.xi))
	for i := range left {
		length := mat.Norm(solved.ColView(i), 2)
		left[i] = max(0, 1-explained.At(i, i)-unit*length*length)
	}
	for i, v := range left {
		if !(v >= p.xi[i]-p.rounding()) {
			return nil, &shortfallError{text: fmt.Sprintf("a variance of %.4g instead of %.6g at its sensitive place %d",
				p.Variance*v, p.Variance*p.xi[i], i+1)}
		}
	}
	if err := p.checkCombinations(&explained); err != nil {
		return nil, err
	}
	return left, p.checkEverywhere(ctx, x, total, unit)
}

// checkCombinations refuses a posterior covariance K_SS less explained (γ×γ) that is below that of the
// condition, where it is for linear combinations.
func (p *problem) checkCombinations(explained *mat.Dense) error {
	if p.method != strong && p.h == nil {
		return nil
	}
	left, err := p.remaining()
	if err != nil {
		return err
	}
	left.Sub(left, explained)
	values, err := process.Eigenvalues(left)
	if err != nil {
		return err
	}
	if !(values[0] >= -float64(len(values))*p.rounding()) {
		return &shortfallError{text: fmt.Sprintf("a linear combination of the outputs at the %d places has %.4g less than "+
			"its variance is to be", len(values), -p.Variance*values[0])}
	}
	return nil
}

// checkEverywhere refuses the covariance of outputs at x (n×n) where the condition holds everywhere and
// the covariance is not above G.
func (p *problem) checkEverywhere(ctx context.Context, x *mat.Dense, total *mat.SymDense, unit float64) error {
	if p.method != uniform {
		return nil
	}
	g, err := p.inner(ctx, x)
	if err != nil {
		return err
	}
	n, _ := g.Dims()
	above := process.Symmetric(g)
	above.ScaleSym(-1, above)
	above.AddSym(above, total)
	for i := range n {
		above.SetSym(i, i, above.At(i, i)-unit)
	}
	var c mat.Cholesky
	if !c.Factorize(above) {
		return &shortfallError{text: "some place keeps less than its variance is to be, and the noise is to protect all"}
	}
	return nil
}
