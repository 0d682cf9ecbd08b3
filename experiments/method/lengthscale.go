package method

import (
	"fmt"
	"math"
	"slices"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// Auto is the word auto of lengthscales that follow from the public range of the inputs.
type Auto int

// Choices are the word.
func (Auto) Choices() []string { return []string{"auto"} }

// Lengthscale is the setting of lengthscales: one for all inputs, one for each, or those of a rule.
type Lengthscale = experiment.SeveralOr[Auto]

// Automatic are the lengthscales of a rule.
func Automatic() Lengthscale { return Lengthscale{IsWord: true} }

// LengthscalesOf is the setting that is numbers.
func LengthscalesOf(numbers ...float64) Lengthscale { return experiment.SeveralOf[Auto](numbers...) }

// Share is the fraction of the ranges of inputs that is a lengthscale where a few inducing inputs are laid over
// them: √d/4 for d inputs, as distances in units of the ranges grow.
func Share(inputs int) float64 { return math.Sqrt(float64(inputs)) / 4 }

// ByRange returns lengthscales, one for each input in its unit, that are the same share of its range, which low and
// high have for each of the columns that the inputs make; one number where these are equal. A category has the range 1.
// An input without a range is an error, for which what names the points that have the range.
func ByRange(share float64, inputs []table.Input, low, high []float64, what string) (experiment.Several, error) {
	out, column := make(experiment.Several, len(inputs)), 0
	for j, in := range inputs {
		out[j] = share
		if in.Levels == 0 {
			switch out[j] *= high[column] - low[column]; {
			case math.IsInf(out[j], 0):
				return nil, fmt.Errorf("lengthscale = auto: the range of %s is beyond floating point", in.Name)
			case !(out[j] > 0):
				return nil, fmt.Errorf("lengthscale = auto: all %s have the same %s; give lengthscale", what, in.Name)
			}
		}
		column += max(1, in.Levels)
	}
	if len(slices.Compact(slices.Clone(out))) == 1 {
		return out[:1], nil
	}
	return out, nil
}
