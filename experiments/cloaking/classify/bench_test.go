package classify

import (
	"math/rand/v2"
	"testing"

	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// BenchmarkClassification fits a private classifier of 200 points in the plane and evaluates
// it at 100 test points. The draws of one Newton step share a design and are made together;
// each draw of two steps has a design of its own.
func BenchmarkClassification(b *testing.B) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	s := Stripes().Defaults()
	stream := func(string) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	c, err := newClassifier(&experiment.Trial{
		Engine: e, Workers: 1, Stream: stream, Progress: func(int, int, string) {},
	}, &s.ClassifierSettings, s.Method)
	if err != nil {
		b.Fatal(err)
	}
	train, labels, err := s.simulate(stream(""))
	if err != nil {
		b.Fatal(err)
	}
	test, _ := stripesTest(s.Width)
	for _, row := range []struct {
		name         string
		draws, steps int
	}{{"draws=25/steps=1", 25, 1}, {"draws=1/steps=1", 1, 1}, {"draws=25/steps=2", 25, 2}} {
		b.Run(row.name, func(b *testing.B) {
			one := *c
			one.draws, one.steps.Number = row.draws, row.steps
			for b.Loop() {
				if _, err := one.predict(b.Context(), train, labels, test); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
