// Command mine is run with one more paper: an experiment of this module next to those of privkern.
//
//	go run . list mine
//	go run . trial mine/median points=50
//	go run . sweep median.yaml
package main

import (
	"context"
	_ "embed" // for the comments below, which `mine list` prints
	"math"
	"os"
	"slices"

	"privkern/cmd/cli"
	"privkern/experiments"
	"privkern/runner/experiment"
)

//go:embed main.go
var source string

func init() { experiment.Document[Settings](source) }

func main() {
	mine := experiment.Paper{Name: "mine", Experiments: []*experiment.Experiment{Median().Experiment}}
	os.Exit(cli.Main(append(experiments.Papers(), mine)...))
}

// Settings of the median of normal numbers.
type Settings struct {
	// how many numbers are drawn
	Points int `name:"points" default:"101" min:"1" max:"1e6"`
	// privacy parameter; inf takes the median itself
	Epsilon float64 `name:"epsilon" default:"1" above:"0" infinite:"yes"`
}

// Metrics of the median of normal numbers.
type Metrics struct {
	// distance of the answer from the median of the distribution, which is 0
	Error float64 `name:"error" best:"low" result:"yes"`
}

// Median answers with one of 201 points from −1 to 1, by the exponential mechanism (McSherry and Talwar 2007); the score
// of a point is minus the number of data between it and their median.
var Median = experiment.Of(experiment.Declaration[*Settings, Metrics]{
	Name: "mine/median", Version: 1, Summary: "the median of normal numbers, by the exponential mechanism",
	Run: func(_ context.Context, t *experiment.Trial, s *Settings) (*experiment.Outcome[Metrics], error) {
		data, noise := t.Stream("data"), t.Stream("noise")
		x := make([]float64, s.Points)
		for i := range x {
			x[i] = data.NormFloat64()
		}
		slices.Sort(x)
		best, answer := math.Inf(-1), 0.0
		for k := -100; k <= 100; k++ {
			below, _ := slices.BinarySearch(x, float64(k)/100)
			score := -math.Abs(float64(below) - float64(s.Points)/2)
			// The largest sum with Gumbel noise is a draw of the mechanism.
			if v := min(s.Epsilon, 1e300)*score/2 - math.Log(noise.ExpFloat64()); v > best {
				best, answer = v, float64(k)/100
			}
		}
		return &experiment.Outcome[Metrics]{
			Metrics: Metrics{Error: math.Abs(answer)},
			Privacy: (&experiment.Privacy{Unit: "one number", Mechanism: "exponential mechanism"}).State(s.Epsilon, 0),
		}, nil
	},
})
