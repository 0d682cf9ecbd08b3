package attack

import (
	"cmp"
	"math"
	"slices"
)

// The attacks.
const (
	Threshold  = "threshold"
	Calibrated = "calibrated"
	Offline    = "LiRA, offline"
	Online     = "LiRA, online"
)

// names are the attacks in the order in which they are shown, and fewNames those by few shadow models.
var (
	names    = []string{Threshold, Offline, Online}
	fewNames = []string{Threshold, Calibrated}
)

// observed is the statistic of a unit in a model.
type observed struct {
	value float64
	model int
}

// shadows are a number of each unit in models with it and without it, in increasing order.
type shadows struct {
	in, out [][]observed
	count   int
}

func newShadows(models []*Model, of func(*Model) []float64) *shadows {
	n := len(models[0].Member)
	s := &shadows{in: make([][]observed, n), out: make([][]observed, n), count: len(models)}
	for k, m := range models {
		for unit, v := range of(m) {
			to := s.out
			if m.Member[unit] {
				to = s.in
			}
			to[unit] = append(to[unit], observed{v, k})
		}
	}
	for _, list := range [][][]observed{s.in, s.out} {
		for _, o := range list {
			slices.SortFunc(o, func(a, b observed) int { return cmp.Compare(a.value, b.value) })
		}
	}
	return s
}

// mean is that of a unit over models with it and without it, but one, and their number.
func (s *shadows) mean(unit, without int) (n int, mean float64) {
	for _, values := range [][]observed{s.in[unit], s.out[unit]} {
		for _, v := range values {
			if v.model == without {
				continue
			}
			n, mean = n+1, mean+v.value
		}
	}
	return n, mean / float64(max(1, n))
}

// none stands for no shadow model that is left out.
const none = -1

// moments returns the number of values but those of one model, their median, and the sum of their squared distances
// from their mean.
func moments(values []observed, without int) (n int, median, squares float64) {
	mean, position := 0.0, len(values)
	for i, v := range values {
		if v.model == without {
			position = i
			continue
		}
		n, mean = n+1, mean+v.value
	}
	if n == 0 {
		return 0, 0, 0
	}
	mean /= float64(n)
	for _, v := range values {
		if v.model != without {
			squares += (v.value - mean) * (v.value - mean)
		}
	}
	at := func(i int) float64 {
		if i >= position {
			i++
		}
		return values[i].value
	}
	return n, (at((n-1)/2) + at(n/2)) / 2, squares
}

// manyShadows is the number of shadow models above which each unit has deviations of its own: with fewer all units have
// one (Carlini et al. 2022, Section VI-B).
const manyShadows = 64

// normal is the distribution of the statistic of a unit, over models with it or without it.
type normal struct {
	n        int // models; none tells anything of 0
	mean, sd float64
}

// least is added to deviations, so that equal values have densities.
const least = 1e-30

// logDensity is the logarithm of the density, but for a constant.
func (d normal) logDensity(x float64) float64 {
	z := (x - d.mean) / (d.sd + least)
	return -z*z/2 - math.Log(d.sd+least)
}

// fit returns the distributions of all units in models of a list, but one.
func (s *shadows) fit(list [][]observed, without int) []normal {
	all := make([]normal, len(list))
	sum, freedom := 0.0, 0
	for unit, values := range list {
		n, median, squares := moments(values, without)
		all[unit] = normal{n: n, mean: median, sd: math.Sqrt(squares / float64(max(1, n)))}
		sum, freedom = sum+squares, freedom+max(0, n-1)
	}
	if s.count <= manyShadows { // of a shadow model that is judged there is one less, and thresholds are for all
		for unit := range all {
			all[unit].sd = math.Sqrt(sum / float64(max(1, freedom)))
		}
	}
	return all
}

// adversary is one who has shadow models.
type adversary struct{ statistic, confidence *shadows }

func newAdversary(models []*Model) *adversary {
	return &adversary{newShadows(models, func(m *Model) []float64 { return m.Statistic }),
		newShadows(models, func(m *Model) []float64 { return m.Confidence })}
}

// scores are those of all units of a model by an attack: the larger one is, the more does it speak for a member. A
// shadow model is judged by the others, without itself. A unit of which shadow models tell nothing has 0.
func (a *adversary) scores(attack string, m *Model, without int) []float64 {
	scores := make([]float64, len(m.Member))
	switch attack {
	case Online:
		in, out := a.statistic.fit(a.statistic.in, without), a.statistic.fit(a.statistic.out, without)
		for unit, x := range m.Statistic {
			if in[unit].n > 0 && out[unit].n > 0 {
				scores[unit] = in[unit].logDensity(x) - out[unit].logDensity(x)
			}
		}
	case Calibrated:
		// Watson, Guo, Cormode and Sablayrolles, "On the importance of difficulty calibration in membership inference
		// attacks" (ICLR 2022), with all shadow models as references.
		for unit, x := range m.Confidence {
			if n, mean := a.confidence.mean(unit, without); n > 0 {
				scores[unit] = x - mean
			}
		}
	case Offline:
		for unit, d := range a.confidence.fit(a.confidence.out, without) {
			if d.n > 0 {
				scores[unit] = (m.Confidence[unit] - d.mean) / (d.sd + least)
			}
		}
	default:
		copy(scores, m.Confidence)
	}
	return scores
}
