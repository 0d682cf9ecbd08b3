package inert

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

//go:embed conditions_test.go
var source string

func init() { experiment.Document[toySettings](source) }

type toySettings struct {
	// whether the second number counts
	Both bool `name:"both" default:"no"`
	// the first number
	First int `name:"first" default:"1" max:"9"`
	// the second number
	Second int `name:"second" default:"2" when:"both is true"`
}

type toyMetrics struct {
	// the sum
	Sum float64 `name:"sum"`
	// how long it took
	Time float64 `name:"time_s" unit:"s" timing:"yes"`
}

// toy is an experiment whose trials add the numbers of sum, in ever longer times.
func toy(sum func(*toySettings) int) Conditions[toySettings, toyMetrics] {
	x := experiment.Of(experiment.Declaration[*toySettings, toyMetrics]{Name: "demo/toy", Version: 1,
		Run: func(_ context.Context, _ *experiment.Trial, s *toySettings) (*experiment.Outcome[toyMetrics], error) {
			return &experiment.Outcome[toyMetrics]{Metrics: toyMetrics{Sum: float64(sum(s))}}, nil
		}})()
	elapsed := 0.0
	return Conditions[toySettings, toyMetrics]{Of: x,
		Common: func(s *toySettings) { s.First = 4 },
		Bases:  map[string]func(*toySettings){"one": func(*toySettings) {}, "both": func(s *toySettings) { s.Both = true }},
		Others: func(s *toySettings) []Setting {
			return []Setting{Values(&s.Both, true, false), Values(&s.First, 11, 4, 5), Values(&s.Second, 3)}
		},
		Run: func(s *toySettings) (*experiment.Outcome[toyMetrics], error) {
			out, err := x.Compute(context.Background(), &experiment.Trial{}, s)
			if err == nil {
				elapsed++
				out.Metrics.Time = elapsed
			}
			return out, err
		}}
}

// declared computes the result that the conditions declare.
func declared(s *toySettings) int {
	if s.Both {
		return s.First + s.Second
	}
	return s.First
}

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name   string
		sum    func(*toySettings) int
		change func(*Conditions[toySettings, toyMetrics])
		base   string
		want   string // "" for none
	}{
		{"as declared", declared, nil, "one", ""},
		{"as declared, both", declared, nil, "both", ""},
		{"one that does something is declared inert", func(s *toySettings) int { return s.First + s.Second }, nil, "one",
			"second does nothing where both is false; it applies where both is true, but second=3 changes the result"},
		{"one that does nothing is not", func(s *toySettings) int { return s.First }, nil, "both",
			"second does something, as it is declared, but none of 1 values changes the result"},
		{"no other value but one that is refused and its own", declared, func(x *Conditions[toySettings, toyMetrics]) {
			x.Others = func(s *toySettings) []Setting {
				return []Setting{Values(&s.Both, true, false), Values(&s.First, 11, 4), Values(&s.Second, 3)}
			}
		}, "both", "there is no other value of first"},
		{"one that is held", declared, func(x *Conditions[toySettings, toyMetrics]) {
			x.Others = func(s *toySettings) []Setting {
				return []Setting{Values(&s.Both, true, false), Held(&s.First, "a reason"), Values(&s.Second, 3)}
			}
		}, "both", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := toy(c.sum)
			if c.change != nil {
				c.change(&x)
			}
			got, err := x.problemsOf(x.Bases[c.base], sightings{map[string]bool{}, map[string]bool{}}, all)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" && got != nil || c.want != "" && !slices.ContainsFunc(got,
				func(p string) bool { return strings.Contains(p, c.want) }) {
				t.Errorf("problems %q, want %q", got, c.want)
			}
		})
	}
}

func TestConditionsThatNoBaseMeets(t *testing.T) {
	for _, c := range []struct {
		name  string
		bases []string
		want  int
	}{
		{"met by one of two", []string{"one", "both"}, 0},
		{"never met", []string{"one"}, 1},
		{"always met", []string{"both"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := toy(declared)
			seen := sightings{map[string]bool{}, map[string]bool{}}
			for _, name := range c.bases {
				if _, err := x.problemsOf(x.Bases[name], seen, all); err != nil {
					t.Fatal(err)
				}
			}
			if got := x.unseen(seen); len(got) != c.want {
				t.Errorf("unseen: %q", got)
			}
		})
	}
	t.Run("all together", toy(declared).Check)
}

// all tries every setting.
func all(string) bool { return true }
