package regression

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
)

// everyRow is the warning where all rows are sensitive.
const everyRow = "every row is sensitive: no place is left for which the obfuscated data are of use; name fewer"

// warnings returns warnings that depend on covariances alone.
func (p *prepared) warnings() []string {
	out := p.engine.Warnings()
	if p.single() {
		out = append(out, "computed in float32: tolerances are held to a thousandth of the prior variance only")
	}
	if n := len(p.rows.y); p.all.Rank < n {
		out = append(out, fmt.Sprintf("computed but suspect: the covariance of the %d outputs has condition number %.1e and "+
			"numerical rank %d: predictions without noise are those of a user of its numerical range; more noise_variance "+
			"or shorter lengthscales make it smaller", n, p.all.Condition, p.all.Rank))
	}
	places, _ := p.places.Dims()
	far := 0
	for _, v := range p.all.unsecured {
		if v > 0.99 {
			far++
		}
	}
	switch {
	case p.settings.Noise == none, p.settings.Noise == uniform:
	// Strong noise may hide combinations of outputs where no single place is in need.
	case len(p.all.need) == 0 && p.noise.trace == 0:
		name := p.settings.toleranceName()
		held := fmt.Sprintf("at least %.4g of the prior one at every sensitive place, and %s asks for %.4g",
			leastOf(p.all.unsecured), name, p.xi[0])
		if !same(p.xi) {
			held = "at every sensitive place at least its own tolerance"
		}
		out = append(out, fmt.Sprintf("nothing to do: without noise the predictive variance is %s: a larger %s would hide "+
			"more", held, name))
	case far > 0:
		out = append(out, fmt.Sprintf("%d of the %d sensitive places are so far from all rows that the data say nothing of "+
			"them, with noise or without: are they in the units of the inputs?", far, places))
	}
	return out
}

func leastOf(values []float64) float64 {
	least := math.Inf(1)
	for _, v := range values {
		least = math.Min(least, v)
	}
	return least
}

// suspicions returns warnings of the fit, given the metrics and the number of rows that are not
// sensitive. They depend on the outputs, and are no part of an export.
func (p *prepared) suspicions(m *Metrics, public int) []string {
	out := slices.Clone(p.rows.suspect)
	where := append([]string{"an input", "the output"}, p.rows.beside...)
	out = append(out, method.DroppedWarnings(p.rows.dropped, len(p.rows.y), nil, joined(where, "or"))...)
	if spread := stat.Variance(p.rows.y, nil); m.Tolerance > spread && p.settings.Noise != none {
		out = append(out, fmt.Sprintf("the tolerance is a variance of %.4g, and the outputs have one of %.4g: the prior "+
			"variance, %.4g, is far above it, and whoever guesses their mean does better; give a smaller %s, or one in the "+
			"unit of the output (xi_unit=output)",
			m.Tolerance, spread, p.Variance, p.settings.toleranceName()))
	}
	if public == 0 {
		return append(out, everyRow)
	}
	if rmse, centre := m.RMSEPublic[released], m.RMSEPublic[middle]; rmse >= centre {
		out = append(out, fmt.Sprintf("computed but suspect: at rows that are not sensitive the predictions have an error "+
			"of %.3g, and the mean of the outputs has %.3g; without noise it is %.3g: if that is far less, a smaller %s "+
			"or fewer sensitive places help; otherwise another kernel or other hyper-parameters",
			rmse, centre, m.RMSEPublic[unsecured], p.settings.toleranceName()))
	}
	const change = "noise_variance or process_variance, or another kernel; what is said of the variance at sensitive " +
		"places is no better"
	if w := table.CoverageWarning(*m.CoveragePublic, table.CoverageError(public), public, "use a larger "+change,
		"use a smaller "+change); w != "" {
		out = append(out, w)
	}
	return out
}
