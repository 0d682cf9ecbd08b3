package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"privkern/runner/experiment"
	"privkern/runner/plan/search"
)

// Search is the search of a block as it is written.
type Search struct {
	Method    string         `json:"method"`
	Budget    int            `json:"budget"`
	Metric    string         `json:"metric"`
	Direction string         `json:"direction,omitempty"`
	Space     map[string]any `json:"space"`
	Batch     int            `json:"batch,omitempty"`
	Seed      int64          `json:"seed,omitempty"`
	Fidelity  map[string]any `json:"fidelity,omitempty"`
	Eta       float64        `json:"eta,omitempty"`
}

var (
	searchKeys = []string{"method", "budget", "metric", "direction", "space", "batch", "seed", "fidelity", "eta"}
	directions = []string{"maximise", "minimise"}
)

// searched is a search that has been read, with the places of its parts.
type searched struct {
	search.Spec
	at    *token.Token
	parts map[string]ast.Node
	axes  []axis // of space, by name and place
}

// search reads the search of a block.
func (r *reader) search(b *block, at *token.Token, n ast.Node) error {
	s := &searched{at: at, parts: map[string]ast.Node{}, Spec: search.Spec{Experiment: b.exp}}
	b.search = s
	err := r.each(n, "search", searchKeys, func(key string, _ *token.Token, v ast.Node) error {
		s.parts[key] = v
		return nil
	})
	if err != nil {
		return err
	}
	for _, need := range []string{"method", "budget", "metric", "space"} {
		if s.parts[need] == nil {
			return r.errorAt(at, fmt.Errorf("the search has no %s", need))
		}
	}
	for _, part := range []func(*searched) error{r.searchMethod, r.searchMetric, r.searchNumbers, r.searchSpace,
		r.searchFidelity} {
		if err := part(s); err != nil {
			return err
		}
	}
	if err := s.Check(); err != nil {
		return r.errorAt(s.parts["budget"].GetToken(), err)
	}
	return nil
}

// oneOf reads a part that is one of some names.
func (r *reader) oneOf(s *searched, key string, names []string) (string, error) {
	text, err := r.text(s.parts[key], key)
	if err == nil && !slices.Contains(names, text) {
		err = r.errorAt(s.parts[key].GetToken(), experiment.Unknown(key, text, names))
	}
	return text, err
}

func (r *reader) searchMethod(s *searched) error {
	method, err := r.oneOf(s, "method", search.Methods())
	s.Method = search.Method(method)
	if err != nil {
		return err
	}
	for _, key := range []string{"fidelity", "eta"} {
		if n := s.parts[key]; n != nil && s.Method != search.Halving {
			return r.errorAt(n.GetToken(), fmt.Errorf("%s is for the method halving, and this one is %s", key, method))
		}
	}
	if n := s.parts["batch"]; n != nil && s.Method == search.Halving {
		return r.errorAt(n.GetToken(), errors.New("the rounds of a halving are its levels: leave batch out"))
	}
	return nil
}

// searchMetric reads the metric and its direction.
func (r *reader) searchMetric(s *searched) error {
	var err error
	if s.Metric, err = r.text(s.parts["metric"], "metric"); err != nil {
		return err
	}
	at := slices.IndexFunc(s.Experiment.Metrics, func(m experiment.Metric) bool { return m.Covers(s.Metric) })
	if at < 0 {
		var known []string
		for _, m := range s.Experiment.Metrics {
			known = append(known, m.Name)
		}
		return r.errorAt(s.parts["metric"].GetToken(),
			fmt.Errorf("%s: %w", s.Experiment.Name, experiment.Unknown("metric", s.Metric, known)))
	}
	direction := directionOf(s.Experiment.Metrics[at])
	if s.parts["direction"] != nil {
		if direction, err = r.oneOf(s, "direction", directions); err != nil {
			return err
		}
	}
	if direction == "" {
		return r.errorAt(s.parts["metric"].GetToken(),
			fmt.Errorf("whether a large or a small %s is good is not known; add direction: %s", s.Metric,
				strings.Join(directions, " or direction: ")))
	}
	s.Minimise = direction == "minimise"
	return nil
}

// directionOf returns the direction in which a metric is good, empty where that is not known.
func directionOf(m experiment.Metric) string {
	return map[string]string{"high": directions[0], "low": directions[1]}[m.Best]
}

// searchNumbers reads the numbers of a search.
func (r *reader) searchNumbers(s *searched) error {
	whole := func(key string, least int64, to *int64) error {
		n := s.parts[key]
		if n == nil {
			return nil
		}
		v, err := strconv.ParseInt(n.GetToken().Value, 10, 64)
		if _, number := n.(*ast.IntegerNode); !number || err != nil || v < least {
			return r.errorAt(n.GetToken(), fmt.Errorf("%s is %s; it must be a whole number from %d up", key,
				n.GetToken().Value, least))
		}
		*to = v
		return nil
	}
	var budget, batch int64
	if err := errors.Join(whole("budget", 1, &budget), whole("batch", 1, &batch), whole("seed", 0, &s.Seed)); err != nil {
		return err
	}
	if budget > MaxTrials {
		return r.errorAt(s.parts["budget"].GetToken(), fmt.Errorf("budget is %d; it may be %d at most", budget, MaxTrials))
	}
	s.Budget, s.Batch, s.Eta = int(budget), int(min(batch, budget)), search.DefaultEta
	if n := s.parts["eta"]; n != nil {
		v, err := strconv.ParseFloat(n.GetToken().Value, 64)
		if err != nil || !(v > 1) || math.IsInf(v, 0) {
			return r.errorAt(n.GetToken(), fmt.Errorf("eta is %s; it must be a number above 1: of the settings of a level "+
				"1/eta stay at the next", n.GetToken().Value))
		}
		s.Eta = v
	}
	return nil
}

// interval matches log(a, b), linear(a, b) and a..b.
var interval = regexp.MustCompile(`^\s*(?:(linear|log)\s*\(([^,()]+),([^,()]+)\)|([^,()]+?)\.\.([^,()]+))\s*$`)

// searchSpace reads the dimensions of the space.
func (r *reader) searchSpace(s *searched) error {
	b, n := &block{exp: s.Experiment}, s.parts["space"]
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) == 0 {
		return r.errorAt(n.GetToken(), errors.New("the space is empty: there is nothing to choose"))
	}
	return r.each(joined(n), "space", nil, func(name string, at *token.Token, v ast.Node) error {
		p, err := s.Experiment.Param(name)
		if err != nil {
			return r.errorAt(at, fmt.Errorf("%s: %w", s.Experiment.Name, err))
		}
		var d *search.Dimension
		switch node := v.(type) {
		case *ast.SequenceNode:
			a, err := r.axis(b, name, at, v)
			if err == nil {
				err = r.once(a)
			}
			if err != nil {
				return err
			}
			d = &search.Dimension{Param: p}
			for _, value := range a.values {
				d.Values = append(d.Values, value.v)
			}
		case *ast.StringNode:
			if d, err = dimension(p, node.Value); err != nil {
				return r.errorAt(v.GetToken(), err)
			}
		default:
			return r.errorAt(v.GetToken(), notDimension(p))
		}
		s.Space, s.axes = append(s.Space, d), append(s.axes, axis{name: name, at: at})
		return nil
	})
}

func notDimension(p *experiment.Param) error {
	return fmt.Errorf("parameter %q: a space has log(a, b), linear(a, b), a range a..b of whole numbers, or a list of "+
		"values; a single value goes under params", p.Name)
}

// dimension reads an interval.
func dimension(p *experiment.Param, text string) (*search.Dimension, error) {
	m := interval.FindStringSubmatch(text)
	if m == nil {
		return nil, notDimension(p)
	}
	scale, first, last := search.Scale(m[1]), m[2], m[3]
	if m[1] == "" {
		scale, first, last = search.Linear, m[4], m[5]
	}
	low, errLow := strconv.ParseFloat(strings.TrimSpace(first), 64)
	high, errHigh := strconv.ParseFloat(strings.TrimSpace(last), 64)
	if errLow != nil || errHigh != nil {
		return nil, fmt.Errorf("parameter %q: the bounds of %s must be numbers", p.Name, strings.TrimSpace(text))
	}
	d, err := search.Interval(p, scale, low, high)
	if err == nil && m[1] == "" {
		if low != math.Trunc(low) || high != math.Trunc(high) {
			return nil, fmt.Errorf("parameter %q: %s is a range of whole numbers; for others write linear(a, b)", p.Name,
				strings.TrimSpace(text))
		}
		d.Whole = true
	}
	return d, err
}

// joined undoes that YAML splits log(1, 100) within braces at the comma, into "log(1" and the key "100)" without a
// value.
func joined(n ast.Node) ast.Node {
	m, ok := n.(*ast.MappingNode)
	if !ok || !m.IsFlowStyle {
		return n
	}
	var members []*ast.MappingValueNode
	for _, v := range m.Values {
		_, empty := v.Value.(*ast.NullNode)
		if key := v.Key.GetToken().Value; empty && strings.HasSuffix(key, ")") && len(members) > 0 {
			last := *members[len(members)-1]
			if s, ok := last.Value.(*ast.StringNode); ok && strings.Contains(s.Value, "(") && !strings.Contains(s.Value, ")") {
				whole := *s
				whole.Value += ", " + key
				last.Value = &whole
				members[len(members)-1] = &last
				continue
			}
		}
		members = append(members, v)
	}
	whole := *m
	whole.Values = members
	return &whole
}

// searchFidelity reads the setting whose levels a halving climbs.
func (r *reader) searchFidelity(s *searched) error {
	n := s.parts["fidelity"]
	if n == nil {
		if s.Method == search.Halving {
			return r.errorAt(s.at, errors.New("halving needs fidelity: {NAME: [...]}, a setting with levels from cheap to dear"))
		}
		return nil
	}
	return r.each(n, "fidelity", nil, func(name string, at *token.Token, v ast.Node) error {
		if s.Fidelity != "" {
			return r.errorAt(at, errors.New("fidelity names one setting"))
		}
		a, err := r.axis(&block{exp: s.Experiment}, name, at, v)
		if err == nil {
			err = r.once(a)
		}
		if err != nil {
			return err
		}
		if len(a.values) < 2 {
			return r.errorAt(v.GetToken(), fmt.Errorf("fidelity needs two levels of %s at least", name))
		}
		s.Fidelity, s.axes = name, append(s.axes, a)
		for _, value := range a.values {
			s.Levels = append(s.Levels, value.v)
		}
		return nil
	})
}

// checkSearch refuses a search with a product or in company, and settings that are given twice.
func (r *reader) checkSearch(b *block, blocks int) error {
	if b.search == nil {
		return nil
	}
	s := b.search
	if blocks > 1 {
		return r.errorAt(s.at, errors.New("a search has its file for itself: its rounds are appended to the plan; put the "+
			"other experiments into another file"))
	}
	if len(b.sweep)+len(b.zip)+len(b.cases) > 0 {
		return r.errorAt(s.at, errors.New("a search chooses the settings: sweep, zip and cases do not combine with it; put "+
			"their values into its space"))
	}
	return r.searchTwice(b)
}

// searchTwice refuses a setting that the search and something else decide.
func (r *reader) searchTwice(b *block) error {
	seen := map[string]string{} // where
	for _, a := range b.params {
		seen[a.name] = "under params"
		if a.from != "" {
			seen[a.name] = "by the command line (" + a.from + ")"
		}
	}
	for _, a := range b.search.axes {
		if where := seen[a.name]; where != "" {
			return r.errorAt(a.at, fmt.Errorf("parameter %q is given in the search and %s", a.name, where))
		}
		seen[a.name] = "as its fidelity"
	}
	return nil
}

// searchProgram refuses a program that this machine does not have, and settings that it does not get.
func (r *reader) searchProgram(b *block) error {
	if b.program == nil {
		return nil
	}
	for _, a := range b.search.axes {
		if err := r.checkUsed(b.program, a.name, a.at); err != nil {
			return err
		}
	}
	return r.runnable(b.program)
}

// searchBlock expands a block with a search into the settings of its first round.
func (x *expander) searchBlock(b *block) error {
	r, s := x.sweep.reader, &b.search.Spec
	if len(b.sweep) > 0 { // from the command line
		return r.errorAt(b.search.at, fmt.Errorf("the search chooses the settings, and %s has several values",
			b.sweep[0].name))
	}
	if err := r.searchTwice(b); err != nil { // the command line may have given one
		return err
	}
	if err := r.searchProgram(b); err != nil {
		return err
	}
	s.Fixed, s.Seeds = map[string]any{}, b.seeds
	for _, a := range b.params {
		s.Fixed[a.name] = a.values[0].v
	}
	if s.Budget > MaxTrials/len(s.Seeds) {
		return r.errorAt(b.search.at, fmt.Errorf("the search has more than %d trials", MaxTrials))
	}
	if d, why := s.Useless(); why != nil {
		return r.errorAt(b.search.axes[slices.Index(s.Space, d)].at, why)
	}
	round, err := s.Next(context.Background(), nil, nil)
	if err == nil && b.program != nil && len(round) > 0 {
		err = b.program.missingPlace(round[0]) // all have the same settings
	}
	if err != nil {
		return r.errorAt(b.search.parts["space"].GetToken(), err)
	}
	uses := newUses(b)
	for _, params := range round {
		for _, seed := range s.SeedsOf(params) {
			x.out.Settings = append(x.out.Settings, Assignment{Experiment: b.exp, Params: params, Seed: seed})
		}
		uses.count(params, s.Fixed, len(b.seeds))
	}
	x.out.Search = s
	return uses.judge(r, x.out)
}
