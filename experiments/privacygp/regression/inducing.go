package regression

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/experiments/privacygp/process"
	"privkern/graphs/linalg"
	"privkern/runner/experiment"
)

// checkInducing refuses settings for which inducing inputs, or [Settings.MostRows] rows without them, are not taken.
func (s *Settings) checkInducing() (errs []error) {
	if !s.own() {
		return nil
	}
	if s.Inducing == 0 {
		if s.MostRows > maxExactRows {
			errs = append(errs, fmt.Errorf("most_rows = %d: above %d rows the covariance is taken by inducing inputs: give "+
				"inducing=500, say, or fewer rows", s.MostRows, maxExactRows))
		}
		return errs
	}
	if !s.inducible() {
		errs = append(errs, fmt.Errorf("inducing = %d: noise = %v is computed of the exact covariance; use noise=strong, "+
			"which keeps all that is promised with inducing inputs, or inducing=0", s.Inducing, s.Noise))
	}
	if s.Requirement == byKernel {
		errs = append(errs, fmt.Errorf("inducing = %d: requirement = kernel is judged by the exact covariance; use "+
			"requirement=tolerance, or inducing=0", s.Inducing))
	}
	if s.Hyperparameters == estimated || s.Mean.Is(byLikelihood) {
		errs = append(errs, fmt.Errorf("inducing = %d: hyper-parameters are not estimated by inducing inputs, of which no "+
			"bound on the difference is known: give hyperparameters=given, or public ranges, and mean=0, say; a trial on a "+
			"sample of the rows estimates them", s.Inducing))
	}
	return errs
}

// Seconds of CPU time, measured on one core with AVX-512: of an evaluation of the likelihood by n³, and of judging a
// fold by n³; with m inducing inputs of predicting the rows by n²m, and of a fold by nm².
const evaluationCost, foldCost, predictionCost, inducingCost = 5.5e-11, 3.5e-10, 3.4e-10, 8e-11

// seconds estimates the CPU time of a trial of n rows with d inputs.
func (s *Settings) seconds(n, d int) float64 {
	rows, parts := float64(n), float64(s.Folds+1) // the folds, and all rows
	if s.induces() {
		m := float64(s.Inducing)
		return predictionCost*rows*rows*m + inducingCost*rows*m*m*parts
	}
	took := foldCost * rows * rows * rows * parts
	if s.Hyperparameters == estimated {
		took += evaluationCost * rows * rows * rows * float64(15+3*d)
	}
	return took
}

// duration writes an amount of time for people.
func duration(seconds float64) string {
	if seconds < 90 {
		return fmt.Sprintf("%.0f s", math.Max(1, seconds))
	}
	return fmt.Sprintf("%.0f min", seconds/60)
}

// phase names a phase of a trial in its progress, with the time of the whole where that is long.
func (s *Settings) phase(name string, n, d int) string {
	if took := s.seconds(n, d); took >= 60 {
		return fmt.Sprintf("%s (in all about %s of CPU time)", name, duration(took))
	}
	return name
}

// tooMany is the error of n rows, with the settings that take them, and the time and memory of these.
func (s *Settings) tooMany(n, d int) error {
	more, with := *s, fmt.Sprintf("most_rows=%d", n)
	more.MostRows = n
	switch {
	case n > 20000:
		return fmt.Errorf("%d rows: at most 20000 are taken; take a sample of the rows", n)
	case s.Noise == weak || s.Noise == diagonal:
		return fmt.Errorf("%d rows: at most most_rows = %d are taken, and at most %d with noise = %v: use noise=strong, "+
			"which is in closed form, or a sample of the rows", n, s.MostRows, maxProgramRows, s.Noise)
	case n > maxExactRows && s.Inducing == 0:
		more.Inducing = 500
		with += " inducing=500"
		if s.Hyperparameters == estimated || s.Mean.Is(byLikelihood) {
			with += " hyperparameters=given mean=0, or public ranges,"
		}
		if !s.inducible() {
			with += " noise=strong"
		}
		if s.Requirement == byKernel {
			with += " requirement=tolerance"
		}
	}
	return fmt.Errorf("%d rows: at most most_rows = %d are taken; with %s a trial takes about %s of CPU time and %.1f GiB",
		n, s.MostRows, with, duration(more.seconds(n, d)), float64(memory(&more))/(1<<30))
}

// induces reports whether the covariance of own data is taken by inducing inputs.
func (s *Settings) induces() bool { return s.Inducing > 0 && s.own() }

// inducible reports whether the noise is computed with inducing inputs.
func (s *Settings) inducible() bool {
	return slices.Contains([]noiseMethod{strong, optimal, none}, s.Noise)
}

// below holds the information in outputs at some rows, with the covariance from below: every variance is a lower bound.
type below struct {
	x     *mat.Dense // n×d, scaled
	l     *mat.Dense // n×m, LLᵀ ≼ K_XX
	f     *mat.Dense // n×r, the noise is FFᵀ + τ²I; nil for none
	cross *mat.Dense // n×γ, K_XS
	rest  float64    // K_XX ≼ LLᵀ + rest·I
	// own is V, and least is V less the rounding that may have made LLᵀ too large.
	own, least  float64
	independent float64 // variance of independent noise for the same tolerance
	unsecured   []float64
	need        []int
}

// lookBelow returns the view of some of the rows.
func (p *problem) lookBelow(x *mat.Dense, in *process.Inducing, rows []int) (*below, error) {
	b := &below{x: x, l: in.L, rest: in.Rest, own: p.Noise / p.Variance}
	b.least = b.own - in.Rounding
	if rows != nil {
		b.x, b.l = mat.DenseCopyOf(learn.SelectRows(x, rows)), mat.DenseCopyOf(learn.SelectRows(in.L, rows))
	}
	n, _ := b.x.Dims()
	if least := 10 * float64(n) * 0x1p-52 / p.rounding(); !(b.least > least) {
		return nil, fmt.Errorf("inducing: with noise_variance = %.3g the variances that are kept have more rounding than is "+
			"accepted: give at least %.2g, or inducing=0", p.Noise, 2*least*p.Variance)
	}
	var err error
	if b.cross, err = p.between(b.x, p.places); err != nil {
		return nil, err
	}
	bare, err := process.NewLowRank(b.least, b.l)
	if err != nil {
		return nil, err
	}
	_, explained, err := bare.SolveExplained(b.cross)
	if err != nil {
		return nil, err
	}
	b.unsecured = remainder(explained)
	for i, v := range b.unsecured {
		if v < p.xi[i] {
			b.need = append(b.need, i)
		}
	}
	if b.independent, err = p.alone(b, bare); err != nil || p.method == none || p.method == optimal && len(b.need) == 0 {
		return b, err
	}
	q, err := p.remaining()
	if err != nil {
		return nil, err
	}
	if b.f, err = process.Strong(p.engine, b.cross, q, b.l, b.least); err != nil || b.f == nil {
		return b, err
	}
	b.f.Scale(math.Sqrt(float64(p.exports)), b.f)
	return b, nil
}

// alone returns the least variance of independent noise that keeps the tolerances, by bisection as [problem.equal].
func (p *problem) alone(b *below, bare *process.LowRank) (float64, error) {
	if len(b.need) == 0 {
		return 0, nil
	}
	holds := func(c float64) (bool, error) {
		with, err := bare.With(b.least + c)
		if err != nil {
			return false, err
		}
		_, explained, err := with.SolveExplained(b.cross)
		for _, place := range b.need {
			if err == nil && explained[place] > 1-p.xi[place] {
				return false, nil
			}
		}
		return true, err
	}
	length := mat.Norm(b.cross, 2)
	high := length * length / (1 - slices.Max(p.xi)) // explains at most 1 − ξ, for all places
	for low := b.least * 1e-6; high/low > 1+1e-9; {
		middle := math.Sqrt(low * high)
		ok, err := holds(middle)
		switch {
		case err != nil:
			return 0, err
		case ok:
			high = middle
		default:
			low = middle
		}
	}
	return high * float64(p.exports), nil
}

// keptBelow returns the variances at the places from obfuscated outputs, from below, and by how much they may be
// larger.
func (p *problem) keptBelow(b *below) (left []float64, most float64, err error) {
	var bounds [2][]float64
	for i, c := range []float64{b.least + p.tau2, b.own + b.rest + p.tau2} {
		m, err := process.NewLowRank(c, b.l, b.f)
		if err != nil {
			return nil, 0, err
		}
		if _, bounds[i], err = m.SolveExplained(b.cross); err != nil {
			return nil, 0, err
		}
		remainder(bounds[i])
	}
	for i, v := range bounds[0] {
		if p.method != none && !(v >= p.xi[i]-p.rounding()) {
			return nil, 0, fmt.Errorf("noise = %v leaves %.10g of the prior variance at the sensitive place %d, below the "+
				"tolerance %.6g: give a larger noise_variance, or fewer places", p.method, v, i+1, p.xi[i])
		}
		most = math.Max(most, bounds[1][i]-v)
	}
	return bounds[0], most, nil
}

// chunk is the number of rows that are predicted together.
const chunk = 500

// predictBelow predicts at the scaled inputs at as [problem.predict], from the outputs y with the noise FFᵀ + extra·I,
// and returns a bound on the difference of the root mean square error of the exact process, apart from rounding.
//
// With M = LLᵀ + Σ + V, R = K_XX − LLᵀ ≼ rest·I and w' = (M + R)⁻¹k, the mean differs by w'ᵀRM⁻¹(y − m), and
// |w'| ≤ c^-½, for kᵀ(M + R)⁻¹k ≤ 1 and c the diagonal part of M; Σ^½w differs by Σ^½M⁻¹Rw', of length at most rest/c.
func (p *problem) predictBelow(ctx context.Context, b *below, f *mat.Dense, extra float64, y []float64, at *mat.Dense,
) (*prediction, float64, error) {
	m, err := process.NewLowRank(b.own+extra, b.l, f)
	if err != nil {
		return nil, 0, err
	}
	residual := mat.NewDense(len(y), 1, nil)
	for i, v := range y {
		residual.Set(i, 0, v-p.Mean)
	}
	weights, _, err := m.SolveExplained(residual)
	if err != nil {
		return nil, 0, err
	}
	differs := b.rest / math.Sqrt(b.own+extra) * mat.Norm(weights, 2)
	if f != nil || extra > 0 {
		differs += math.Sqrt(p.Variance) * b.rest / (b.own + extra)
	}
	out := &prediction{}
	n, d := at.Dims()
	for low := 0; low < n; low += chunk {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		cross, err := p.between(b.x, mat.DenseCopyOf(at.Slice(low, min(low+chunk, n), 0, d)))
		if err != nil {
			return nil, 0, err
		}
		w, explained, err := m.SolveExplained(cross)
		if err != nil {
			return nil, 0, err
		}
		var mean, moved mat.Dense
		mean.Mul(w.T(), residual)
		wander := linalg.ColumnProducts(w, w)
		floats.Scale(extra, wander)
		if f != nil {
			moved.Mul(f.T(), w)
			floats.Add(wander, linalg.ColumnProducts(&moved, &moved))
		}
		for j, left := range remainder(explained) {
			out.variance, out.wander = append(out.variance, p.Variance*left), append(out.wander, p.Variance*wander[j])
			out.mean = append(out.mean, p.Mean+mean.At(j, 0))
		}
	}
	return out, differs, nil
}

// judgeBelow predicts every row from the other folds, as [problem.judge], and returns the bound of predictBelow.
func (p *prepared) judgeBelow(ctx context.Context, t *experiment.Trial, x *mat.Dense, in *process.Inducing,
) (public, hidden *score, differs float64, err error) {
	public, hidden = &score{squares: byWay{}, absolute: byWay{}}, &score{squares: byWay{}, absolute: byWay{}}
	split, err := learn.RandomFolds(len(p.rows.y), p.settings.Folds, t.Stream("folds"))
	if err != nil {
		return nil, nil, 0, err
	}
	for i, fold := range split {
		t.Progress(i, len(split), p.settings.phase("folds", len(p.rows.y), len(p.rows.names)))
		b, err := p.lookBelow(x, in, fold.Train)
		if err != nil {
			return nil, nil, 0, err
		}
		known := learn.Select(p.rows.y, fold.Train)
		predictions := map[string]*prediction{}
		for _, way := range []struct {
			name  string
			f     *mat.Dense
			extra float64
		}{{released, b.f, p.tau2}, {unsecured, nil, 0}, {independent, nil, b.independent + p.tau2}} {
			f, most, err := p.predictBelow(ctx, b, way.f, way.extra, known, learn.SelectRows(x, fold.Test))
			if err != nil {
				return nil, nil, 0, err
			}
			predictions[way.name], differs = f, math.Max(differs, most)
		}
		p.tally(p.rows, fold, known, predictions, public, hidden)
	}
	return public, hidden, differs, nil
}

// runInducing is run with the covariance of the process from below.
func runInducing(ctx context.Context, t *experiment.Trial, s *Settings) (*experiment.Outcome[Metrics], error) {
	if t.DType == "float32" {
		return nil, errors.New("inducing: in float32 the bounds that it keeps are lost in rounding: use --dtype float64")
	}
	p, err := begin(ctx, t, s)
	if err != nil {
		return nil, err
	}
	if s.Noise == strong && !same(p.xi) {
		if err := p.checkRequirement(); err != nil {
			return nil, err
		}
	}
	x := p.scaled(p.rows.x)
	n, _ := x.Dims()
	in, err := process.Induce(ctx, n, s.Inducing, func(rows []int) (*mat.Dense, error) {
		return p.between(mat.DenseCopyOf(learn.SelectRows(x, rows)), x)
	})
	if err != nil {
		return nil, err
	}
	all, err := p.lookBelow(x, in, nil)
	if err != nil {
		return nil, err
	}
	left, variance, err := p.keptBelow(all)
	if err != nil {
		return nil, err
	}
	p.noise = &obfuscation{left: left}
	if all.f != nil {
		p.noise.trace = math.Pow(mat.Norm(all.f, 2), 2)
		_, p.rank = all.f.Dims()
	}
	p.all = &view{Observations: &process.Observations{Condition: (float64(n) + all.own) / all.own, Rank: n},
		unsecured: all.unsecured, need: all.need}
	public, hidden, differs, err := p.judgeBelow(ctx, t, x, in)
	if err != nil {
		return nil, err
	}
	m := p.measure(float64(n) * all.independent)
	m.ErrorRMSE, m.ErrorVariance, m.ErrorTrace = &differs, new(p.Variance*variance), new(0.0)
	if all.f != nil {
		*m.ErrorTrace = p.Variance * float64(p.exports) * (in.Rest + float64(n)*in.Rounding)
	}
	o := p.outcome(m, public, hidden, p.seriesBelow(t, all))
	o.Metrics.RMSEOther = nil // other users have other inducing inputs
	return o, nil
}

// seriesBelow returns the data with one draw of the noise.
func (p *prepared) seriesBelow(t *experiment.Trial, b *below) map[string]experiment.Series {
	rng, n := t.Stream("noise"), len(p.rows.y)
	data := p.dataSeries(func(i int) float64 {
		v := p.tau2
		if b.f != nil {
			v += math.Pow(mat.Norm(b.f.RowView(i), 2), 2)
		}
		return p.Variance * v
	})
	w := slices.Clone(p.rows.y)
	var z mat.VecDense
	if b.f != nil {
		omega := mat.NewVecDense(p.rank, nil)
		for i := range p.rank {
			omega.SetVec(i, rng.NormFloat64())
		}
		z.MulVec(b.f, omega)
	}
	for i := range n {
		w[i] += p.tau * rng.NormFloat64()
		if b.f != nil {
			w[i] += math.Sqrt(p.Variance) * z.AtVec(i)
		}
	}
	data["obfuscated"] = w
	return map[string]experiment.Series{"data": data}
}
