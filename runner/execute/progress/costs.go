package progress

import (
	"math"
	"slices"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/plan"
)

// costs predicts how long the trials of one experiment take, in seconds, from
// those that have ended. Trials that differ in the seed alone are of one class. A
// class that has ended trials costs their mean. The cost of another is the product
// of factors, one for each value of each setting that varies: the logarithms of the
// classes' means are fitted by least squares.
type costs struct {
	varying []string // settings that vary in the plan
	values  []*levels
	classes map[string]*class
	all     []*class // in the order in which they came
	mean    float64  // of the logarithms
	stale   bool     // an observation is newer than the fit
}

// class is trials of equal settings.
type class struct {
	costs   *costs
	levels  []int // of each varying setting
	planned int   // trials to be run
	waiting int   // those of them that have not begun
	alone   bool
	ended   int
	seconds float64 // of the ended trials together
	rest    float64 // of the fit
}

// levels are the values of one setting.
type levels struct {
	ids     map[string]int
	numbers []float64 // NaN for what is no finite number
	effects []float64 // logarithms of the factors
	weights []float64 // of the observations; 0 for a value that none has
	law     law
}

// law is what the values that were seen say of others.
type law struct {
	seen, numbers int     // values, and those that are numbers
	spread        float64 // of their effects
	logarithmic   bool    // what follows is of the logarithms of the numbers
	low, high     float64 // of the numbers
	slope, offset float64 // of the effects by the numbers
	explained     float64 // share of the variance
	mean          float64 // logarithm of the mean factor
}

// The fit. Prior pulls effects that few trials support towards zero.
const (
	leastCost = 1e-3 // s: the logarithm of zero is of no use
	prior     = 0.01
	sweeps    = 12
	mostHeavy = 10 // trials of a class that add to its weight
)

// newCosts returns the model of one experiment for the trials of the plan.
func newCosts(trials []*plan.Trial) *costs {
	c := &costs{classes: map[string]*class{}}
	first := trials[0].Params
	varies := map[string]bool{}
	for _, t := range trials {
		for name, v := range t.Params {
			if !varies[name] && !equalValues(v, first[name]) {
				varies[name] = true
			}
		}
	}
	for name := range varies {
		c.varying = append(c.varying, name)
	}
	slices.Sort(c.varying)
	for range c.varying {
		c.values = append(c.values, &levels{ids: map[string]int{}})
	}
	return c
}

// equalValues compares values of settings; lists are compared as they are written.
func equalValues(a, b any) bool {
	switch a.(type) {
	case string, bool, int, float64:
		return a == b
	}
	return experiment.FormatValue(a) == experiment.FormatValue(b)
}

// class returns the class of a trial.
func (c *costs) class(t *plan.Trial) *class {
	texts := make([]string, len(c.varying))
	for i, name := range c.varying {
		texts[i] = experiment.FormatValue(t.Params[name])
	}
	key := strings.Join(texts, "\x00")
	k := c.classes[key]
	if k == nil {
		k = &class{costs: c, levels: make([]int, len(texts))}
		for i, text := range texts {
			k.levels[i] = c.values[i].id(text, t.Params[c.varying[i]])
		}
		c.classes[key], c.all = k, append(c.all, k)
	}
	return k
}

func (l *levels) id(text string, v any) int {
	id, ok := l.ids[text]
	if !ok {
		id = len(l.ids)
		l.ids[text] = id
		l.numbers = append(l.numbers, numberOf(v))
	}
	return id
}

// numberOf is a value as a finite number; NaN where it is none.
func numberOf(v any) float64 {
	x := math.NaN()
	switch v := v.(type) {
	case int:
		x = float64(v)
	case float64:
		x = v
	}
	if math.IsInf(x, 0) {
		return math.NaN()
	}
	return x
}

// observe adds a trial that has ended.
func (k *class) observe(seconds float64) {
	k.ended++
	k.seconds += max(0, seconds)
	k.costs.stale = true
}

// cost predicts the seconds of a trial; known is false where nothing supports the
// prediction.
func (k *class) cost() (seconds float64, known bool) {
	if k.ended > 0 {
		return k.seconds / float64(k.ended), true
	}
	k.costs.fit()
	log := k.costs.mean
	known = len(k.levels) > 0 // of a single class nothing has ended
	for i, id := range k.levels {
		effect, ok := k.costs.values[i].effect(id)
		log += effect
		known = known && ok
	}
	return math.Exp(log), known
}

// fit determines the factors by backfitting.
func (c *costs) fit() {
	if !c.stale {
		return
	}
	c.stale = false
	var seen []*class
	weight, sum := 0.0, 0.0
	for _, k := range c.all {
		if k.ended > 0 {
			seen = append(seen, k)
			k.rest = math.Log(max(leastCost, k.seconds/float64(k.ended)))
			weight, sum = weight+k.weight(), sum+k.weight()*k.rest
		}
	}
	c.mean = sum / weight
	for _, k := range seen {
		k.rest -= c.mean
	}
	for _, l := range c.values {
		l.effects, l.weights = make([]float64, len(l.numbers)), make([]float64, len(l.numbers))
	}
	for range sweeps {
		for i, l := range c.values {
			l.backfit(i, seen)
		}
	}
	for _, l := range c.values {
		l.law = l.lawOf()
	}
}

func (k *class) weight() float64 { return float64(min(k.ended, mostHeavy)) }

// backfit fits the effects of setting i to what the others leave.
func (l *levels) backfit(i int, seen []*class) {
	sums := make([]float64, len(l.effects))
	clear(l.weights)
	for _, k := range seen {
		id := k.levels[i]
		sums[id] += k.weight() * (k.rest + l.effects[id])
		l.weights[id] += k.weight()
	}
	for _, k := range seen {
		id := k.levels[i]
		k.rest += l.effects[id] - sums[id]/(l.weights[id]+prior)
	}
	for id := range sums {
		l.effects[id] = sums[id] / (l.weights[id] + prior)
	}
}

// How many values must be seen, and how little they may differ (as the logarithm
// of a factor), for one that has not been seen to be like them.
const (
	fewestNumbers = 3
	fewestWords   = 4
	bestFit       = 0.9 // of the variance, for a power law to be extrapolated
	reach         = 2   // how far, in multiples of the range that was seen
)

var littleSpread = math.Log(1.5)

// effect is that of a value; ok is false where nothing supports it.
func (l *levels) effect(id int) (effect float64, ok bool) {
	switch {
	case id < len(l.weights) && l.weights[id] > 0:
		return l.effects[id], true
	case math.IsNaN(l.numbers[id]):
		return 0, l.law.seen >= fewestWords && l.law.spread < littleSpread
	}
	return l.law.effect(l.numbers[id])
}

// lawOf is the law of the effects that were fitted.
func (l *levels) lawOf() law {
	var xs, ys []float64
	w := law{low: math.Inf(1), high: math.Inf(-1)}
	least, most, factors := math.Inf(1), math.Inf(-1), 0.0
	for i, weight := range l.weights {
		if weight == 0 {
			continue
		}
		w.seen++
		least, most = min(least, l.effects[i]), max(most, l.effects[i])
		if x := l.numbers[i]; !math.IsNaN(x) {
			xs, ys = append(xs, x), append(ys, l.effects[i])
			w.low, w.high = min(w.low, x), max(w.high, x)
			factors += math.Exp(l.effects[i])
		}
	}
	w.spread, w.numbers, w.mean = most-least, len(xs), math.Log(factors/float64(len(xs)))
	if w.logarithmic = w.low > 0; w.logarithmic {
		w.low, w.high = math.Log(w.low), math.Log(w.high)
		for i := range xs {
			xs[i] = math.Log(xs[i])
		}
	}
	w.slope, w.offset, w.explained = line(xs, ys)
	return w
}

// effect follows the power law of the numbers that were seen, where they have one;
// a number among others is like them. One far from all is not.
func (w law) effect(x float64) (effect float64, ok bool) {
	if w.numbers < fewestNumbers {
		return 0, false
	}
	if w.logarithmic {
		x = math.Log(x) // not finite, and far from all, where x is not positive
	}
	outside := max(w.low-x, x-w.high) / (w.high - w.low)
	if w.explained >= bestFit {
		return w.offset + w.slope*x, outside <= reach
	}
	return w.mean, outside <= 0.5
}

// line fits y = offset + slope·x; explained is the share of the variance of y.
func line(xs, ys []float64) (slope, offset, explained float64) {
	n := float64(len(xs))
	var mx, my, sxx, sxy, syy float64
	for i := range xs {
		mx, my = mx+xs[i]/n, my+ys[i]/n
	}
	for i := range xs {
		dx, dy := xs[i]-mx, ys[i]-my
		sxx, sxy, syy = sxx+dx*dx, sxy+dx*dy, syy+dy*dy
	}
	if sxx == 0 || syy == 0 {
		return 0, my, 0
	}
	slope = sxy / sxx
	return slope, my - slope*mx, slope * sxy / syy
}
