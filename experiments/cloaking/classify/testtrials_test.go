package classify

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// validated cross-validates with changes of the defaults.
func validated(
	t *testing.T, s trialtest.Options, changes ...func(*classificationSettings),
) *experiment.Outcome[classificationMetrics] {
	t.Helper()
	return trialtest.Compute(t, s, Classification(), changes...)
}

// ownFile makes the data those of a file.
func ownFile(inputs, output string, low, high float64) func(*classificationSettings) {
	return func(s *classificationSettings) {
		s.Dataset, s.Inputs, s.Output = "csv:my.csv", inputs, output
		s.Low, s.High = experiment.NumberOr[method.None](low), experiment.NumberOr[method.None](high)
	}
}

// ownClasses makes the data those of the file of [cloaktest.Classes].
func ownClasses(s *classificationSettings) {
	ownFile("a+b", "class", 1, 2)(s)
	s.Lengthscale = method.LengthscalesOf(2)
}

// onStripes turns a change of the settings that all classifiers have into one of the stripes'.
func onStripes(change func(*ClassifierSettings)) func(*stripesSettings) {
	return func(s *stripesSettings) { change(&s.ClassifierSettings) }
}

// noiseless takes the noise off.
func noiseless(s *ClassifierSettings) { s.Epsilon = math.Inf(1) }

// steps is a number of Newton steps.
func steps(n int) experiment.Or[Auto, int] { return experiment.NumberOr[Auto](n) }

// rank is a number of directions.
func rank(n int) experiment.Or[cloak.Full, int] { return experiment.NumberOr[cloak.Full](n) }

// wantWarning fails where no warning has the text.
func wantWarning(t *testing.T, warnings []string, want string) {
	t.Helper()
	if !strings.Contains(strings.Join(warnings, "\n"), want) {
		t.Errorf("warnings %q, want %q", warnings, want)
	}
}

// checked is a number that another implementation, or a formula, has too.
type checked struct {
	name                 string
	got, want, tolerance float64
}

// each compares numbers with their expected values, a subtest a number.
func each(t *testing.T, numbers ...checked) {
	t.Helper()
	for _, c := range numbers {
		t.Run(c.name, func(t *testing.T) { trialtest.Near(t, c.name, c.got, c.want, c.tolerance) })
	}
}

// at names one of several, such as "input 3".
func at(what string, i int) string { return fmt.Sprintf("%s %d", what, i) }
