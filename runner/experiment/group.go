package experiment

// GroupBy returns the trials in groups of equal keys, in the order of their first
// ones. A key is what a group shares: the settings with those that differ within a
// group at their zero values, or a struct of a few of them where settings hold lists
// and so are not comparable.
func GroupBy[S, M any, K comparable](trials []ObservationOf[S, M], key func(S) K) [][]ObservationOf[S, M] {
	var groups [][]ObservationOf[S, M]
	place := map[K]int{}
	for _, t := range trials {
		k := key(*t.Settings)
		i, known := place[k]
		if !known {
			i = len(groups)
			place[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], t)
	}
	return groups
}

// FirstOfEach returns the first trial of each setting: those with other seeds are
// left out.
func FirstOfEach[S comparable, M any](trials []ObservationOf[S, M]) []ObservationOf[S, M] {
	var first []ObservationOf[S, M]
	for _, g := range GroupBy(trials, func(s S) S { return s }) {
		first = append(first, g[0])
	}
	return first
}

// WithSeries returns the trials whose series of that name has points.
func WithSeries[S, M any](trials []ObservationOf[S, M], name string) []ObservationOf[S, M] {
	var out []ObservationOf[S, M]
	for _, t := range trials {
		if len(t.Series[name]["x"]) > 0 {
			out = append(out, t)
		}
	}
	return out
}
