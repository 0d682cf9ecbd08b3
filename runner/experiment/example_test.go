package experiment_test

import (
	"context"
	_ "embed" // for the comments of settings and metrics
	"fmt"
	"log"

	"privkern/runner/experiment"
)

//go:embed example_test.go
var exampleSource string

func init() { experiment.Document[hillSettings](exampleSource) }

// hillSettings are the settings of the example.
type hillSettings struct {
	// where
	X float64 `name:"x" default:"0.5" min:"-1" max:"1"`
}

// hillMetrics are its metrics.
type hillMetrics struct {
	// height at x
	Height float64 `name:"height_m" unit:"m"`
}

// An experiment is declared by a struct of its settings and a struct of its metrics. Values that a sweep file or the
// command line gives are checked by the tags.
func ExampleOf() {
	hill := experiment.Of(experiment.Declaration[*hillSettings, hillMetrics]{
		Name: "example/hill", Version: 1, Summary: "the height of a hill at x",
		Run: func(_ context.Context, _ *experiment.Trial, s *hillSettings) (*experiment.Outcome[hillMetrics], error) {
			return &experiment.Outcome[hillMetrics]{Metrics: hillMetrics{Height: 1 - s.X*s.X}}, nil
		},
	})
	_, err := hill().Resolve(map[string]any{"x": 2.0})
	fmt.Println(err)
	params, err := hill().Resolve(nil)
	if err != nil {
		log.Fatal(err)
	}
	out, err := hill().Run(context.Background(), &experiment.Trial{}, params)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(params, out.Metrics)
	// Output:
	// example/hill: parameter "x": 2 is outside [-1, 1]
	// map[x:0.5] map[height_m:0.75]
}
