package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// axis is a ladder of values of a setting, in increasing order.
type axis struct {
	name   string
	values []float64
	starts []int // places at which climbs may begin
	// bottom and top report that there is nothing beyond the first and the last value.
	bottom, top bool
}

// place has the number of a value on each axis.
type place []int

// peak is the place at which a climb ends.
type peak struct {
	values []float64 // of the axes
	score  float64
	edges  []string // values at ends of their axes, in words
}

// errBeyond is wrapped by the error of a place that cannot be computed: it is beyond the end of an axis.
var errBeyond = errors.New("it cannot be computed")

// climb goes from the best of all combinations of starts to a better neighbour, which differs by a step on one axis,
// until none is better. Axes that come first are exhausted first.
func climb(ctx context.Context, axes []axis, score func(values []float64) (float64, error)) (*peak, error) {
	c := &climber{axes: axes, score: score, scores: map[string]float64{}}
	at, best, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	for moved := true; moved; {
		moved = false
		for i := 0; i < len(axes) && !moved; i++ {
			for _, step := range []int{1, -1} {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				next := slices.Clone(at)
				next[i] += step
				s, err := c.at(next)
				if err != nil && !errors.Is(err, errBeyond) {
					return nil, err
				}
				if err == nil && s > best {
					at, best, moved = next, s, true
					break
				}
			}
		}
	}
	return c.peak(at, best), nil
}

// begin returns the best combination of starts, the first of equals.
func (c *climber) begin(ctx context.Context) (at place, best float64, err error) {
	all := []place{{}}
	for _, a := range c.axes {
		var longer []place
		for _, p := range all {
			for _, s := range a.starts {
				longer = append(longer, append(slices.Clone(p), s))
			}
		}
		all = longer
	}
	for _, p := range all {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		s, err := c.at(p)
		if err != nil {
			return nil, 0, err
		}
		if at == nil || s > best {
			at, best = p, s
		}
	}
	return at, best, nil
}

// climber keeps the scores of places.
type climber struct {
	axes   []axis
	score  func(values []float64) (float64, error)
	scores map[string]float64 // −∞ of those that are beyond
}

func (c *climber) values(at place) []float64 {
	out := make([]float64, len(at))
	for i, k := range at {
		out[i] = c.axes[i].values[k]
	}
	return out
}

// at returns the score at a place, with an error that wraps errBeyond where there is none.
func (c *climber) at(at place) (float64, error) {
	for i, k := range at {
		if k < 0 || k >= len(c.axes[i].values) {
			return 0, errBeyond
		}
	}
	key := fmt.Sprint(at)
	s, known := c.scores[key]
	if !known {
		var err error
		if s, err = c.score(c.values(at)); errors.Is(err, errBeyond) && len(c.scores) > 0 {
			s = math.Inf(-1)
		} else if err != nil {
			return 0, err // also where a climb begins
		}
		c.scores[key] = s
	}
	if math.IsInf(s, -1) {
		return 0, errBeyond
	}
	return s, nil
}

// peak describes the place at which a climb has ended.
func (c *climber) peak(at place, score float64) *peak {
	out := &peak{values: c.values(at), score: score}
	for i, a := range c.axes {
		for step, natural := range map[int]bool{1: a.top, -1: a.bottom} {
			next := slices.Clone(at)
			next[i] += step
			inside := next[i] >= 0 && next[i] < len(a.values)
			if _, err := c.at(next); err == nil || !inside && natural {
				continue
			}
			which := "largest"
			if step < 0 {
				which = "smallest"
			}
			out.edges = append(out.edges, fmt.Sprintf("%s = %.3g is the %s that was tried", a.name, a.values[at[i]], which))
		}
	}
	slices.Sort(out.edges)
	return out
}
