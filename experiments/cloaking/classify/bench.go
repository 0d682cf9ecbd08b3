package classify

import (
	"context"
	"errors"
	"math/rand/v2"

	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Benchmark measures fits of a private classifier.
func Benchmark() experiment.Benchmark {
	return experiment.Benchmark{
		Name: "cloaking/classification",
		Doc: "A private classifier of 200 points in the plane at 100 test points: 25 draws of one Newton step together " +
			"and one by one, and of two steps, where each draw has a design of its own.",
		Run: benchmark,
	}
}

func benchmark(ctx context.Context, m experiment.Meter) (err error) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	s := Stripes().Defaults()
	stream := func(string) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	c, err := newClassifier(&experiment.Trial{
		Engine: e, Workers: 1, Stream: stream, Progress: func(int, int, string) {},
	}, &s.ClassifierSettings, s.Method)
	if err != nil {
		return err
	}
	train, labels, err := s.simulate(stream(""))
	if err != nil {
		return err
	}
	test, _ := stripesTest(s.Width)
	fit := func(draws, steps int) func() error {
		return func() error {
			one := *c
			one.draws, one.steps = draws, steps
			_, err := one.predict(ctx, train, labels, test)
			return err
		}
	}
	together, err := m.Time("25 draws of one step", fit(25, 1))
	if err != nil {
		return err
	}
	single, err := m.Time("one draw of one step", fit(1, 1))
	if err != nil {
		return err
	}
	if _, err := m.Time("25 draws of two steps", fit(25, 2)); err != nil {
		return err
	}
	m.Value("25 draws one by one to together", 25*single/together, "times", experiment.Target{AtLeast: 5})
	return nil
}
