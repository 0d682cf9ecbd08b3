package method

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"privkern/experiments/learn"
	"privkern/runner/experiment"
)

// Classified are the predictions of a classifier at P test rows, of classes from 0.
type Classified struct {
	Classes          []string // C names
	Truth, Predicted []int    // P; a row without a class has −1 as the predicted one
	// Scores are larger the more a row looks like the class, C×P; nil for none.
	Scores [][]float64
	// Probabilities of the classes, C×P; nil for none.
	Probabilities [][]float64
	// Trained are the training rows of each class, C.
	Trained []int
}

const (
	// leastProbability is the one from which on probabilities count in a logarithmic loss, as
	// scikit-learn has had it.
	leastProbability = 1e-15
	// mostConfused is the most classes whose confusion is counted in metrics.
	mostConfused = 10
)

// Measures returns the measures of the predictions. Those that the test rows do not determine, such as
// the order of two classes of which one is not tested, are left out.
func (c *Classified) Measures() *ClassMeasures {
	out := &ClassMeasures{}
	tested, right := make([]float64, len(c.Classes)), make([]float64, len(c.Classes))
	for i, class := range c.Truth {
		tested[class]++
		if c.Predicted[i] == class {
			right[class]++
		}
	}
	classes, balanced := 0.0, 0.0
	for class, n := range tested {
		if n > 0 {
			classes, balanced = classes+1, balanced+right[class]/n
		}
	}
	if classes > 0 {
		out.Balanced, out.BalancedTrivial = new(balanced/classes), new(1/classes)
	}
	if c.Scores != nil {
		out.AUC = c.auc(tested)
	}
	if len(c.Truth) > 0 {
		shares := sharesOf(c.Trained)
		out.LogLossTrivial = new(c.loss(func(class, _ int) float64 { return shares[class] }))
		if c.Probabilities != nil {
			out.LogLoss = new(c.logLoss())
		}
	}
	out.Confusion = c.confusion()
	return out
}

// sharesOf returns the shares of classes with these numbers of rows, to which one of each class is added.
func sharesOf(rows []int) []float64 {
	all := 0
	for _, n := range rows {
		all += n + 1
	}
	out := make([]float64, len(rows))
	for class, n := range rows {
		out[class] = float64(n+1) / float64(all)
	}
	return out
}

// logLoss returns the loss of the probabilities.
func (c *Classified) logLoss() float64 {
	return c.loss(func(class, i int) float64 { return c.Probabilities[class][i] })
}

// loss returns the mean of −ln of the probability of the row's own class.
func (c *Classified) loss(probability func(class, row int) float64) (mean float64) {
	for i, class := range c.Truth {
		mean -= math.Log(max(leastProbability, probability(class, i))) / float64(len(c.Truth))
	}
	return mean
}

// worseLoss is a loss above that of the trivial rule, as a multiple: that of a useless rule is a little above it, too.
const worseLoss = 1.05

// Warning warns of probabilities whose loss is clearly above that of the shares of the classes; empty for none.
func (l *ClassLosses) Warning() string {
	if l.LogLoss == nil || l.LogLossTrivial == nil || !(*l.LogLoss > worseLoss**l.LogLossTrivial) {
		return ""
	}
	return fmt.Sprintf("computed but suspect: the probabilities have a log_loss of %.3g, and the shares of the classes "+
		"have %.3g; do not use the probabilities: the accuracy judges the classes alone", *l.LogLoss, *l.LogLossTrivial)
}

// auc returns the area under the ROC curve of a class against the others, mean over the classes of
// which there are test rows and others; nil where there is none.
func (c *Classified) auc(tested []float64) *float64 {
	sum, classes := 0.0, 0.0
	for class, n := range tested {
		if n == 0 || int(n) == len(c.Truth) {
			continue
		}
		var own, others []float64
		for i, l := range c.Truth {
			if v := c.Scores[class][i]; l == class {
				own = append(own, v)
			} else {
				others = append(others, v)
			}
		}
		area, err := learn.AUC(own, others)
		if err != nil { // a score that is no number has no place in an order
			return nil
		}
		sum, classes = sum+area, classes+1
	}
	if classes == 0 {
		return nil
	}
	return new(sum / classes)
}

// confusion counts the test rows of each class that get each class; nil for many classes.
func (c *Classified) confusion() map[string]float64 {
	if len(c.Classes) > mostConfused {
		return nil
	}
	out, number := map[string]float64{}, len(c.Classes)
	names, pairs := MetricNames(c.Classes), []string{}
	for _, a := range names {
		for _, b := range names {
			pairs = append(pairs, a+"_as_"+b)
		}
	}
	pairs = distinct(pairs) // of x_as_x and x, two are alike
	for _, name := range pairs {
		out[name] = 0
	}
	for i, class := range c.Truth {
		if c.Predicted[i] >= 0 {
			out[pairs[class*number+c.Predicted[i]]]++
		}
	}
	return out
}

// longestName is the length to which a part of a name is cut: names of metrics have three of them, and
// MLflow takes at most 250 characters.
const longestName = 60

// MetricNames returns the parts of metric names for names of columns or classes: small letters, digits
// and _, at most longestName of them, with a number where two would be equal. A name without such a letter or
// digit, as one of another script, is its number in the order of names.
func MetricNames(of []string) []string {
	names := make([]string, len(of))
	for i, text := range of {
		name := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return '_'
		}, strings.ToLower(text))
		if names[i] = name[:min(len(name), longestName)]; strings.Trim(names[i], "_") == "" {
			names[i] = strconv.Itoa(i + 1)
		}
	}
	return distinct(names)
}

// distinct adds numbers to texts that are there before.
func distinct(texts []string) []string {
	var names []string
	for _, name := range texts {
		unique := name
		for i := 2; slices.Contains(names, unique); i++ {
			unique = fmt.Sprintf("%s_%d", name, i)
		}
		names = append(names, unique)
	}
	return names
}

// MeanOf returns the mean of each metric over the parts that have it, such as the splits of a trial.
func MeanOf[M any](parts []*M) *M {
	number, sums := map[string]float64{}, map[string]float64{}
	all := make([]map[string]float64, len(parts))
	for i, p := range parts {
		all[i] = experiment.MetricValues(*p)
		for name := range all[i] {
			number[name]++
		}
	}
	for _, values := range all {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			sums[name] += values[name] / number[name]
		}
	}
	return experiment.MetricsIn[M](sums)
}

// Explained returns the share of the squared differences of outputs from their mean that predictions
// explain, given the sum of the squares of their errors (the coefficient of determination); nil for
// outputs that are all equal.
func Explained(square float64, outputs []float64) *float64 {
	mean, sum := 0.0, 0.0
	for _, v := range outputs {
		mean += v / float64(len(outputs))
	}
	for _, v := range outputs {
		sum += (v - mean) * (v - mean)
	}
	if !(sum > 0) || slices.Min(outputs) == slices.Max(outputs) {
		return nil
	}
	return new(1 - square/sum)
}
