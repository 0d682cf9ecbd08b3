package judge

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"privkern/runner/claims/ledger"
)

// Band is the range around the print in which an exact reproduction lies with a
// probability of at least 95 %.
//
// The print and our trials are draws of one distribution. With the standard deviation s of
// a trial, n trials, k draws behind the print and half a unit h of its last digit, the
// difference of our mean and the print has the variance s²(1/k + 1/n) + h²/3. The
// half-width is its square root times Student's 97.5 % quantile for the degrees of freedom
// of s, but at least h. The band of a deterministic value is h.
type Band struct {
	HalfWidth float64
	Deviation float64 // s, of one trial; 0 for a deterministic value
	// DegreesOfFreedom are those of s; +Inf for a deterministic value.
	DegreesOfFreedom float64
	Pooled           bool // s is that of the cells of a pool
	// Coverage is the probability that an exact reproduction lies inside, averaged over the
	// positions of the rounding grid.
	Coverage float64
}

// leastFreedom is the minimum degrees of freedom of a standard deviation: with fewer it is
// that of the pool, or the cell is unjudged.
const leastFreedom = 4

// level is the probability of the two-sided band of a normal difference.
const level = 0.95

// spread holds the variances behind a cell.
type spread struct {
	trial   float64 // variance of one trial
	mean    float64 // variance of our mean
	freedom float64 // degrees of freedom of both
	pooled  bool
}

// exact is the spread of a deterministic value.
var exact = spread{freedom: math.Inf(1)}

// newBand returns the band of a printed number with rounding error h; printed is the
// variance of the number before rounding.
func newBand(h, printed float64, s spread) *Band {
	variance := printed + s.mean
	b := &Band{HalfWidth: halfWidth(h, variance, s.freedom), Deviation: math.Sqrt(s.trial), DegreesOfFreedom: s.freedom,
		Pooled: s.pooled}
	b.Coverage = coverage(b.HalfWidth, h, math.Sqrt(variance), s.freedom)
	return b
}

// halfWidth returns the half-width of the band of a difference with a variance, known to
// some degrees of freedom, in addition to the rounding error h.
func halfWidth(h, variance, freedom float64) float64 {
	if variance == 0 && math.IsInf(freedom, 1) {
		return h // without chance: the print is our value, rounded
	}
	return max(h, quantile((1+level)/2, freedom)*math.Sqrt(variance+h*h/3))
}

// coverage returns the probability of |D| ≤ band, where D is the sum of a rounding error,
// uniform on [−h, h], and a difference whose deviation was estimated with some degrees of
// freedom. It is exact where h or the deviation is zero; otherwise it neglects that the
// band is estimated, too.
func coverage(band, h, deviation, freedom float64) float64 {
	if deviation == 0 {
		if h <= band {
			return 1
		}
		return band / h
	}
	const steps = 64 // midpoints
	sum := 0.0
	for i := range steps {
		u := h * ((2*float64(i)+1)/steps - 1)
		sum += cumulative((band-u)/deviation, freedom) - cumulative((-band-u)/deviation, freedom)
	}
	return sum / steps
}

// quantile returns Student's quantile, or the normal one for infinite degrees of freedom.
func quantile(p, freedom float64) float64 {
	if math.IsInf(freedom, 1) {
		return distuv.UnitNormal.Quantile(p)
	}
	key := [2]float64{p, freedom}
	if known, ok := quantiles.Load(key); ok {
		return known.(float64)
	}
	out := distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(p)
	quantiles.Store(key, out)
	return out
}

// quantiles keeps results, because each takes a search and cells share few degrees of
// freedom.
var quantiles sync.Map

func cumulative(x, freedom float64) float64 {
	if math.IsInf(freedom, 1) {
		return distuv.UnitNormal.CDF(x)
	}
	return distuv.StudentsT{Sigma: 1, Nu: freedom}.CDF(x)
}

// printedVariance returns the variance of the number that was rounded to the print: that of
// repetitions where the ± is one, otherwise that of the mean of the ledger's number of draws.
func printedVariance(cl *ledger.Claim, s spread) float64 {
	var uncertainty *float64
	if cl.Printed != nil {
		uncertainty = cl.Printed.Uncertainty
	}
	return varianceOfPrint(uncertainty, cl.UncertaintyOf, s.trial, cl.Draws)
}

// varianceOfPrint computes [printedVariance] from the ± and its source, the variance of a
// trial, and the draws behind the print.
func varianceOfPrint(uncertainty *float64, of string, trial, draws float64) float64 {
	if uncertainty != nil && of == ledger.Repetitions {
		return *uncertainty * *uncertainty
	}
	return trial / draws
}

// variance returns the sample variance (ddof 1) and the mean of values. A variance within
// rounding error is 0.
func variance(values []float64) (v, mean float64) {
	n := float64(len(values))
	for _, x := range values {
		mean += x / n
	}
	if len(values) < 2 {
		return 0, mean
	}
	for _, x := range values {
		v += (x - mean) * (x - mean) / (n - 1)
	}
	if math.Sqrt(v/n) <= RoundingShare*math.Abs(mean) {
		return 0, mean
	}
	return v, mean
}

// pools holds the pooled variances of a table.
type pools map[poolKey]*pooled

type poolKey struct{ name, variant string }

type pooled struct{ sum, freedom float64 } // sum: of squared deviations

// add adds the values of a cell to its pool.
func (p pools) add(cl *ledger.Claim, s *sample) {
	if cl.Pool == nil || cl.Deterministic || s.apart || !cl.Primary || len(s.values) < 2 {
		return
	}
	values := s.values
	if cl.Pool.Scale == ledger.Log {
		if values = logarithms(values); values == nil {
			return
		}
	}
	v, _ := variance(values)
	k := poolKey{cl.Pool.Name, cl.Variant}
	if p[k] == nil {
		p[k] = &pooled{}
	}
	p[k].sum += v * float64(len(values)-1)
	p[k].freedom += float64(len(values) - 1)
}

// logarithms returns nil where one of the values is not positive.
func logarithms(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		if v <= 0 {
			return nil
		}
		out[i] = math.Log(v)
	}
	return out
}

// seedsDiffer is the reason why a value that is declared deterministic is not judged.
const seedsDiffer = "no random draw is to enter the value, but seeds differ"

// spreadOf returns the variances of a cell, or the reason why too little is known of them.
func (p pools) spreadOf(cl *ledger.Claim, s *sample) (spread, string) {
	v, mean := variance(s.values)
	if cl.Deterministic {
		if v > 0 || s.apart && s.minus.StandardError > 0 {
			return spread{}, seedsDiffer
		}
		return exact, ""
	}
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return spread{}, "the variance is beyond the largest number"
	}
	n := float64(len(s.values))
	own := spread{trial: v, mean: v / n, freedom: n - 1}
	if s.apart {
		if seedless(cl.Left) {
			own = exact
		}
		own = welch(own, s.other)
	}
	if own.freedom >= leastFreedom {
		return own, ""
	}
	few := fmt.Sprintf("the spread of a trial is not known: it has %.3g of %d degrees of freedom",
		max(own.freedom, 0), leastFreedom)
	if len(cl.Members) > 0 && cl.Pool == nil {
		return p.spreadOfMean(cl, s, few)
	}
	if cl.Pool == nil || s.apart {
		return spread{}, few + ", and no other cell is declared to share the variance"
	}
	shared := p[poolKey{cl.Pool.Name, cl.Variant}]
	if shared == nil || shared.freedom < leastFreedom {
		return spread{}, few + fmt.Sprintf(", and the cells of the pool %q have too few", cl.Pool.Name)
	}
	v = shared.sum / shared.freedom
	if cl.Pool.Scale == ledger.Log {
		if logarithms(s.values) == nil {
			return spread{}, few + fmt.Sprintf(", and that of the pool %q is of logarithms, which not all values have",
				cl.Pool.Name)
		}
		v *= mean * mean // the deviation of a logarithm is a share of the value
	}
	return spread{trial: v, mean: v / n, freedom: shared.freedom, pooled: true}, ""
}

// spreadOfMean returns the variances of a mean with too few trials of its own, from those of
// its cells. Trials of one seed may share their draws, so that the cells need not be
// independent. The deviation of a mean is at most the mean of their deviations, and this
// bound is used, with the smallest of their degrees of freedom. A trial of a mean is one of
// all its cells.
func (p pools) spreadOfMean(cl *ledger.Claim, s *sample, few string) (spread, string) {
	out := spread{freedom: math.Inf(1), pooled: true}
	deviation := 0.0
	for i, member := range cl.Members {
		if len(s.members[i].values) == 0 {
			return spread{}, few + ", and a cell of the mean has no trial"
		}
		of, unknown := p.spreadOf(member, s.members[i])
		if unknown != "" {
			return spread{}, few + fmt.Sprintf(", and that of row %q, column %q, which the mean is taken over, is not known",
				member.Cell.Row, member.Cell.Column)
		}
		deviation += math.Sqrt(of.trial) / float64(len(cl.Members))
		out.freedom = min(out.freedom, of.freedom)
	}
	out.trial = deviation * deviation
	out.mean = out.trial / float64(len(s.values))
	return out, ""
}

// welch adds the variances of two independent samples. The degrees of freedom are those of
// Welch (1947) and Satterthwaite (1946): ν = (a + b)² / (a²/ν_a + b²/ν_b), with a and b the
// variances of the means.
func welch(a, b spread) spread {
	out := spread{trial: a.trial + b.trial, mean: a.mean + b.mean, freedom: min(a.freedom, b.freedom)}
	if a.mean+b.mean == 0 || out.freedom < 1 {
		return out
	}
	out.freedom = out.mean * out.mean / (a.mean*a.mean/a.freedom + b.mean*b.mean/b.freedom)
	return out
}
