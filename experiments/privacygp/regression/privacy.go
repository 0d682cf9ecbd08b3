package regression

import (
	"fmt"
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// noGuarantee is the reason why obfuscated data have no guarantee.
const noGuarantee = "a bound on the predictive variance under one Gaussian process prior has no (epsilon, delta)"

// privacy describes the protection of the obfuscated data, and its limits.
func (p *prepared) privacy() *experiment.Privacy {
	places, _ := p.places.Dims()
	if p.settings.Noise == none {
		out := &experiment.Privacy{Unit: p.unit(places), Mechanism: p.mechanism()}
		out.Withdraw("noise = none: the outputs are as they were read")
		return out
	}
	n := len(p.rows.y)
	beside, others := "; between and beside them it may be less", ", and outputs at other places are not protected"
	// Uniform noise protects every place, and does not depend on the named ones.
	shows, seen := ", which shows where the sensitive places are,", "in the covariance of the noise and "
	if p.method == uniform {
		beside, others, shows, seen = "", "", "", ""
	}
	out := &experiment.Privacy{
		Unit:      p.unit(places),
		Mechanism: p.mechanism(),
		Notes: []string{
			"holds for a user with this prior, who knows its parameters: " + p.condition(places) + beside,
			"inferential privacy, not differential privacy: there is no (epsilon, delta)" + others,
			"a user with another prior, a polynomial say, may do better (erratum 3)",
			"public: the inputs (" + strings.Join(p.rows.names, ", ") + ") of all rows, which are handed over as they are, " +
				"and the covariance of the noise" + shows + " and the sensitive places with what each keeps, which are listed",
		},
	}
	if texts := p.rows.predicates; len(texts) > 0 {
		note := "sensitive places are the inputs of the rows for which " + strings.Join(texts, ", or for which ")
		if len(p.rows.beside) > 0 {
			note += "; what is in " + joined(p.rows.beside, "and") + " is not handed over, but for which rows this holds is " +
				"seen " + seen + "in the list of the sensitive places"
		}
		out.Notes = append(out.Notes, note)
	}
	if made := p.settings.estimates(); len(made) > 0 {
		out.Notes = append(out.Notes, strings.Join(made, ", ")+": made of the outputs, sensitive ones among them, and not "+
			"covered by this bound; that is for judging, and an export takes public values")
	}
	if rank := p.rank; rank < n {
		out.Notes = append(out.Notes, fmt.Sprintf("the noise that hides has rank %d: %d linear functionals of the %d "+
			"outputs have no noise but the independent part, of standard deviation tau = %.4g (erratum 3)",
			rank, n-rank, n, p.tau))
	}
	out.Withdraw(noGuarantee)
	return out
}

// joined joins words by commas, with word before the last.
func joined(words []string, word string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + word + " " + words[last]
}

// condition states the variance that the noise keeps at the sensitive places.
func (p *prepared) condition(places int) string {
	low, high := slices.Min(p.xi), slices.Max(p.xi)
	if p.h != nil {
		where := fmt.Sprintf("the %d sensitive places", places)
		if p.method == uniform {
			where = "any places"
		}
		return fmt.Sprintf("Var[sum b_i f(s_i)|W] >= sum b_i b_j H(s_i, s_j) for all b and %s, where H(x, x') is %s; so "+
			"Var[f(s)|W] >= %.6g (%.4g of the prior variance) at each", where, p.describe(), p.Variance*low, low)
	}
	if p.method == uniform {
		return fmt.Sprintf("Var[f(s)|W] >= %.6g (%.4g of the prior variance) at any place", p.Variance*low, low)
	}
	if same(p.xi) {
		return fmt.Sprintf("Var[f(s)|W] >= %.6g (%.4g of the prior variance) at each of the %d sensitive places",
			p.Variance*low, low, places)
	}
	return fmt.Sprintf("Var[f(s)|W] >= the tolerance of each of the %d sensitive places, from %.6g to %.6g (%.4g to "+
		"%.4g of the prior variance)", places, p.Variance*low, p.Variance*high, low, high)
}

func (p *prepared) unit(places int) string {
	what := fmt.Sprintf("the output %s at each of %d sensitive places", p.rows.output, places)
	switch p.settings.Noise {
	case uniform:
		return "the output " + p.rows.output + " at every place, and linear combinations of outputs"
	case strong:
		return what + ", and linear combinations of these"
	}
	return what
}

func (p *prepared) mechanism() string {
	together := "Sigma of Eq. (11) with Xi = xi K_SS"
	everywhere := "Sigma of Eq. (13) with H = xi K"
	if p.h != nil {
		together, everywhere = "Sigma of Eq. (12) with a kernel condition H", "Sigma of Eq. (13) with a kernel condition H"
	}
	if !same(p.xi) {
		together = "Sigma of Eq. (11) with Xi_ij = sqrt(xi_i xi_j) K(s_i, s_j)"
	}
	const paper = "privacy-aware Gaussian process regression (Tuo and Bhattacharya): W = Y + Z, " +
		"Z ~ N(0, Sigma + tau^2 I), "
	return paper + map[noiseMethod]string{
		optimal:  "Sigma least for one place, Eq. (8)",
		weak:     "Sigma least for each place on its own, Eq. (10)",
		strong:   together,
		diagonal: "Sigma diagonal, Eq. (7)",
		equal:    "Sigma a multiple of I",
		uniform:  everywhere,
		none:     "without noise",
	}[p.settings.Noise]
}
