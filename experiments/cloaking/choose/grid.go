package choose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// configuration is one element of the grid of hyperparameters.
type configuration struct{ lengthscale, noise, kernel float64 }

// maxConfigurations bounds the grid: each distinct element of it takes a design
// per fold.
const maxConfigurations = 2000

// maxRatio bounds noise over kernel variance, and its inverse: far beyond useful values, and far
// from the limits of double precision.
const maxRatio = 1e100

// grid is the product of the lists of hyperparameters.
type grid struct {
	configurations []configuration
	// Predictions depend on the lengthscale and on the ratio of noise to kernel
	// variance only, and so do noise and error: each distinct pair is computed
	// once, and shared by the configurations that have it.
	distinct []distinctModel
	of       []int // index into distinct for each configuration
}

type distinctModel struct{ lengthscale, ratio float64 }

// grid lists the configurations, the kernel variance varying fastest.
func (c *candidates) grid() grid {
	var g grid
	for _, l := range c.Lengthscales {
		for _, n := range c.NoiseVariances {
			for _, v := range c.KernelVariances {
				c := configuration{l, n, v}
				g.configurations = append(g.configurations, c)
				i := slices.IndexFunc(g.distinct, c.is)
				if i < 0 {
					i = len(g.distinct)
					g.distinct = append(g.distinct, distinctModel{l, n / v})
				}
				g.of = append(g.of, i)
			}
		}
	}
	return g
}

// is reports whether the configuration makes the model's predictions. Ratios such as 0.2/5 and 1/25
// need not be equal to the last bit.
func (c configuration) is(d distinctModel) bool {
	return c.lengthscale == d.lengthscale && math.Abs(c.noise/c.kernel-d.ratio) <= 1e-12*d.ratio
}

// first is the first configuration that has the distinct model.
func (g *grid) first(model int) configuration {
	return g.configurations[slices.Index(g.of, model)]
}

// hyperparameters are the configuration as those of a regression.
func (c configuration) hyperparameters() cloak.Hyperparameters {
	return cloak.Hyperparameters{
		Kernel: cloak.Kernel{
			Lengthscale: method.LengthscalesOf(c.lengthscale), KernelVariance: c.kernel,
		}, NoiseVariance: c.noise,
	}
}

// name is the configuration's part of a metric's name, such as l25_n0_2_v1.
func (c configuration) name() string {
	return "l" + nameOf(c.lengthscale) + "_n" + nameOf(c.noise) + "_v" + nameOf(c.kernel)
}

func (c configuration) String() string {
	return fmt.Sprintf("lengthscale %s, noise variance %s, kernel variance %s",
		experiment.FormatNumber(c.lengthscale), experiment.FormatNumber(c.noise), experiment.FormatNumber(c.kernel))
}

var numberName = strings.NewReplacer(".", "_", "e+", "e", "e-", "em")

// nameOf writes a number as part of a metric's name: 0.2 is 0_2, and 1e-07 is
// 1em07.
func nameOf(f float64) string { return numberName.Replace(experiment.FormatNumber(f)) }

// check refuses a grid that is too large, and one with equal elements: they
// would share their probability.
func (c *candidates) check() error {
	size := 1
	for _, list := range []struct {
		name   string
		values []float64
	}{
		{"lengthscales", c.Lengthscales}, {"noise_variances", c.NoiseVariances}, {"kernel_variances", c.KernelVariances},
	} {
		sorted := slices.Sorted(slices.Values(list.values))
		for i := 1; i < len(sorted); i++ {
			if sorted[i] == sorted[i-1] {
				return fmt.Errorf("%s: %s is given twice; every configuration can be chosen once", list.name,
					experiment.FormatNumber(sorted[i]))
			}
		}
		if size *= len(list.values); size > maxConfigurations {
			return fmt.Errorf("%s: the grid has more than %d configurations", list.name, maxConfigurations)
		}
	}
	for _, n := range c.NoiseVariances {
		for _, v := range c.KernelVariances {
			if r := n / v; r < 1/maxRatio || r > maxRatio {
				return fmt.Errorf("noise variance %s over kernel variance %s is outside [%g, %g]",
					experiment.FormatNumber(n), experiment.FormatNumber(v), 1/maxRatio, maxRatio)
			}
		}
	}
	return nil
}
