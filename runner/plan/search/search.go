// Package search chooses the settings of a search, round by round, from the results of the rounds before.
//
// A choice depends on the specification, its seed and those results alone: a search that is interrupted goes
// on as it would have gone on. Settings are points of the unit cube, one coordinate for each dimension of the
// space. The methods are
//
//	random    independent uniform points
//	halving   points of a Halton sequence at the first level of a fidelity, and the best share of them at each
//	          next one (successive halving: Jamieson and Talwalkar, "Non-stochastic best arm identification and
//	          hyperparameter optimization", AISTATS 2016)
//	bayesian  points of a Halton sequence, and then those of a [Propose]
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/text"
)

// Method is the way in which settings are chosen.
type Method string

// Methods of a search.
const (
	Random   Method = "random"
	Halving  Method = "halving"
	Bayesian Method = "bayesian"
)

// Methods returns the names of all methods.
func Methods() []string { return []string{string(Random), string(Halving), string(Bayesian)} }

// DefaultBatch is the number of settings of a round of a Bayesian search.
const DefaultBatch = 4

// Spec is a search over the settings of an experiment.
type Spec struct {
	Method Method
	// Budget is the number of settings that are run, each over all seeds. A setting at another level of a
	// fidelity is another one.
	Budget   int
	Metric   string // its mean over the seeds is optimised
	Minimise bool
	Seed     int64
	Batch    int // settings of a round; 0: all that are left, or DefaultBatch of a Bayesian search
	Space    []*Dimension
	// Fidelity is the setting whose Levels, from cheap to dear, a halving climbs. A share 1/Eta of the settings
	// of a level stays at the next.
	Fidelity string
	Levels   []any
	Eta      float64

	Experiment *experiment.Experiment
	Fixed      map[string]any // the other settings that are given
	Seeds      []int64        // of the trials of a setting
}

// SeedsOf returns the seeds of the trials of a setting.
func (s *Spec) SeedsOf(p experiment.Params) []int64 { return s.Experiment.DistinctSeeds(p, s.Seeds) }

// Observation is a setting that has run.
type Observation struct {
	Params experiment.Params
	// Value is the mean of the metric; NaN where a trial failed or has no such metric, which counts as worse than
	// any number.
	Value float64
}

// Question asks for the next points of a search.
type Question struct {
	Points [][]float64 // settings that have run, in the unit cube
	Losses []float64   // their results, finite, to be minimised
	Count  int         // points that are wanted
	Rand   *rand.Rand
	// Features maps a point to numbers in [0, 1] in which like settings are near: a category has a coordinate for
	// each of its values. Points of one setting have the same features.
	Features func(point []float64) []float64
	// Allowed reports whether a point is a setting that the experiment takes and that has not run.
	Allowed func(point []float64) bool
}

// Propose answers a question with Count points that are allowed and whose settings differ, or fewer where it
// finds no more.
type Propose func(context.Context, Question) ([][]float64, error)

// Next returns the settings of the next round, none where the budget is spent or no setting is left. seen are
// all settings of the rounds before, in the order in which they were returned.
func (s *Spec) Next(ctx context.Context, seen []Observation, propose Propose) ([]experiment.Params, error) {
	left := s.Budget - len(seen)
	if left <= 0 {
		return nil, nil
	}
	t := newTried(s, seen)
	switch s.Method {
	case Halving:
		return s.halve(t, seen)
	case Bayesian:
		return s.ask(ctx, t, seen, min(left, cmp.Or(s.Batch, DefaultBatch)), propose)
	}
	return t.first(uniform(s.Seed, len(s.Space)), min(left, cmp.Or(s.Batch, left)))
}

// Design is how many settings a Bayesian search begins with.
func (s *Spec) Design() int { return min(s.Budget, max(5, 2*len(s.Space))) }

// ask returns the settings of a round of a Bayesian search.
func (s *Spec) ask(ctx context.Context, t *tried, seen []Observation, n int, propose Propose) ([]experiment.Params,
	error) {
	losses, vary := s.losses(seen)
	if missing := s.Design() - len(seen); missing > 0 {
		return t.first(halton(s.Seed, len(s.Space)), missing)
	}
	if !vary { // equal results are no guide
		return t.first(halton(s.Seed, len(s.Space)), n)
	}
	if propose == nil {
		return nil, errors.New("a Bayesian search needs a program that proposes settings")
	}
	q := Question{Losses: losses, Count: n, Rand: rand.New(rand.NewPCG(uint64(s.Seed), uint64(len(seen)))),
		Features: s.features, Allowed: func(point []float64) bool { return t.params(point, nil) != nil }}
	for _, o := range seen {
		q.Points = append(q.Points, s.pointOf(o.Params))
	}
	points, err := propose(ctx, q)
	if err != nil {
		return nil, err
	}
	var out []experiment.Params
	for _, point := range points {
		if p := t.params(point, nil); p != nil {
			out = append(out, t.take(p))
		}
	}
	return out, nil
}

// losses returns the results to be minimised, the worst for one without a number, and whether they differ.
func (s *Spec) losses(seen []Observation) (losses []float64, vary bool) {
	worst := math.Inf(-1)
	for _, o := range seen {
		losses = append(losses, s.loss(o))
		if v := losses[len(losses)-1]; !math.IsInf(v, 1) {
			worst = max(worst, v)
		}
	}
	for i := range losses {
		losses[i] = min(losses[i], worst)
		vary = vary || losses[i] != losses[0]
	}
	return losses, vary && !math.IsInf(worst, -1)
}

// loss is the result of a setting to be minimised, +Inf for one that is no finite number.
func (s *Spec) loss(o Observation) float64 {
	switch {
	case math.IsNaN(o.Value) || math.IsInf(o.Value, 0):
		return math.Inf(1)
	case s.Minimise:
		return o.Value
	}
	return -o.Value
}

// Rank returns the positions of the settings from the best to the worst: a setting at a higher level of the
// fidelity goes before one at a lower level. Of equal ones the earlier is first.
func (s *Spec) Rank(seen []Observation) []int {
	order := make([]int, len(seen))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(s.level(seen[j].Params), s.level(seen[i].Params)),
			cmp.Compare(s.loss(seen[i]), s.loss(seen[j])))
	})
	return order
}

// Direction is "minimise" or "maximise".
func (s *Spec) Direction() string {
	if s.Minimise {
		return "minimise"
	}
	return "maximise"
}

// String identifies the search: one goes on with the rounds of another if both have the same text. The budget, except
// of a halving, and the size of rounds may change. Other seeds of the trials are another search: settings of one search
// have means over the same seeds.
func (s *Spec) String() string {
	text := fmt.Sprintf("%s %s %s seed=%d; seeds: %s", s.Method, s.Direction(), s.Metric, s.Seed,
		strings.Join(text.Runs(s.Seeds), ","))
	for _, d := range s.Space {
		text += fmt.Sprintf("; %s: %s", d.Param.Name, d)
	}
	if s.Method == Halving {
		text += fmt.Sprintf("; %s: %s, eta=%g, budget=%d", s.Fidelity, list(s.Levels), s.Eta, s.Budget)
	}
	return text
}

// Useless returns the first dimension of which a part has no effect in any of many settings, and why: the dimension is
// inert, or the experiment refuses each setting with one of the values of its list. why is nil where there is none, and
// where each setting is refused, as [Spec.Next] will state.
func (s *Spec) Useless() (of *Dimension, why error) {
	const settings = 256
	sequence := halton(s.Seed, len(s.Space))
	inert, refused := make([]error, len(s.Space)), make([]map[string]error, len(s.Space))
	applies, taken := make([]bool, len(s.Space)), make([]map[string]bool, len(s.Space))
	for i := range s.Space {
		refused[i], taken[i] = map[string]error{}, map[string]bool{}
	}
	possible := false
	for range settings {
		point := sequence()
		p, err := s.resolve(point, nil)
		possible = possible || err == nil
		for i, d := range s.Space {
			text := experiment.FormatValue(d.at(point[i]))
			if err != nil {
				refused[i][text] = err
				continue
			}
			taken[i][text] = true
			if why := s.Experiment.Inert(d.Param.Name, p); why != nil {
				inert[i] = errors.New(why.String())
			} else {
				applies[i] = true
			}
		}
	}
	if !possible {
		return nil, nil
	}
	for i, d := range s.Space {
		if inert[i] != nil && !applies[i] {
			return d, fmt.Errorf("%s: %w: leave it out of the space", s.Experiment.Name, inert[i])
		}
		for _, v := range d.Values {
			text := experiment.FormatValue(v)
			if err := refused[i][text]; err != nil && !taken[i][text] {
				return d, fmt.Errorf("no setting of the space with %s=%s is possible, such as: %w", d.Param.Name, text, err)
			}
		}
	}
	return nil, nil
}

// given are the settings of a point, before defaults. level is that of the fidelity, nil for none.
func (s *Spec) given(point []float64, level any) map[string]any {
	given := maps.Clone(s.Fixed)
	if given == nil {
		given = map[string]any{}
	}
	for i, d := range s.Space {
		given[d.Param.Name] = d.at(point[i])
	}
	if s.Method == Halving {
		given[s.Fidelity] = level
		if level == nil {
			given[s.Fidelity] = s.Levels[0]
		}
	}
	return given
}

// resolve returns the settings of a point. A dimension without effect there has its default: settings that differ in
// it alone would be one computation.
func (s *Spec) resolve(point []float64, level any) (experiment.Params, error) {
	given := s.given(point, level)
	p, err := s.Experiment.Resolve(given)
	if err != nil {
		return nil, err
	}
	dropped := false
	for _, d := range s.Space {
		if d.Param.Default != nil && s.Experiment.Inert(d.Param.Name, p) != nil {
			delete(given, d.Param.Name)
			dropped = true
		}
	}
	if dropped {
		return s.Experiment.Resolve(given)
	}
	return p, nil
}

// pointOf returns a point of the settings.
func (s *Spec) pointOf(p experiment.Params) []float64 {
	p = s.Experiment.Whole(p)
	point := make([]float64, len(s.Space))
	for i, d := range s.Space {
		point[i] = d.of(p[d.Param.Name])
	}
	return point
}

// features implements Question.Features. Points whose settings the experiment refuses have those of the coordinates.
func (s *Spec) features(point []float64) []float64 {
	if p, err := s.resolve(point, nil); err == nil {
		point = s.pointOf(p)
	}
	var out []float64
	for i, d := range s.Space {
		out = append(out, d.features(point[i])...)
	}
	return out
}

// tried are the settings that have run or are chosen, by their text.
type tried struct {
	spec *Spec
	seen map[string]bool
	last error // why the experiment refused a setting
}

func newTried(s *Spec, seen []Observation) *tried {
	t := &tried{spec: s, seen: map[string]bool{}}
	for _, o := range seen {
		t.take(o.Params)
	}
	return t
}

// text writes settings; all of an experiment have the same names.
func (t *tried) text(p experiment.Params) string {
	var b strings.Builder
	p = t.spec.Experiment.Whole(p)
	for i := range t.spec.Experiment.Params {
		b.WriteString(experiment.FormatValue(p[t.spec.Experiment.Params[i].Name]))
		b.WriteByte(0)
	}
	return b.String()
}

// take notes settings.
func (t *tried) take(p experiment.Params) experiment.Params {
	t.seen[t.text(p)] = true
	return p
}

// params returns the settings of a point, nil where they are refused or noted.
func (t *tried) params(point []float64, level any) experiment.Params {
	p, err := t.spec.resolve(point, level)
	if err != nil {
		t.last = err
		return nil
	}
	if t.seen[t.text(p)] {
		return nil
	}
	return p
}

// A space may have no more settings, or the experiment may refuse most: a sequence ends after some misses in a row, and
// after more of them the more settings there are to miss.
const missesAtLeast, missesPerSetting = 10_000, 20

// first returns the settings of the first n points of a sequence that are not noted, fewer where there are no more.
func (t *tried) first(sequence func() []float64, n int) ([]experiment.Params, error) {
	var out []experiment.Params
	for misses := 0; len(out) < n && misses < missesAtLeast+missesPerSetting*len(t.seen); misses++ {
		if p := t.params(sequence(), nil); p != nil {
			out = append(out, t.take(p))
			misses = -1
		}
	}
	if len(t.seen) == 0 && t.last != nil {
		return nil, fmt.Errorf("%s takes no setting of the space: %w", t.spec.Experiment.Name, t.last)
	}
	return out, nil
}
