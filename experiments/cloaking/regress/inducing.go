package regress

import (
	"fmt"
	"slices"

	"privkern/experiments/cloaking/cloak"
	"privkern/runner/experiment"
)

// check refuses inducing inputs that the sparse method cannot have: more than the
// smallest training set has rows, the same twice, which makes K_mm singular, and given
// ones where there are several inputs, since a list of numbers names no pairs. NoList
// is the reason then, and empty otherwise; name is that of the setting.
func (i *inducing) check(name string, rows int, noList string) error {
	z := i.Inducing
	if n := max(z.Count, len(z.Values)); n > rows {
		return fmt.Errorf("%s: %d inducing inputs, but there are only %d training rows", name, n, rows)
	}
	if z.Values != nil && noList != "" {
		return fmt.Errorf("%s = %s: %s; give how many k-means is to place", name, experiment.FormatValue(z), noList)
	}
	for i, v := range z.Values {
		if slices.Contains(z.Values[:i], v) {
			return fmt.Errorf("%s: %g is given twice; equal inducing inputs make their kernel matrix singular", name, v)
		}
	}
	return nil
}

// noList returns the reason why a list of numbers names no inducing inputs; empty for one input.
func noList(x cloak.Inputs) string {
	if x != cloak.AgeAndWeight {
		return ""
	}
	return fmt.Sprintf("a list gives ages, but with inputs=%s an inducing input is a pair of weight and age",
		experiment.NameOf(x))
}
