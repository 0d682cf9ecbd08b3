package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// Condition holds for the values of other parameters with which a parameter has an
// effect: the inducing inputs of a sparse method have none for another method.
type Condition struct {
	// Params are the parameters that decide.
	Params []string
	// Words complete "it applies where", such as "method is sparse".
	Words string
	// Holds decides. Where it is nil the parameter never has an effect, and Words
	// give the reason.
	Holds func(Params) bool

	// values are those of is and isNot. The conditions of their parameter are taken
	// over: steps of a solver do nothing either where no solver is used.
	values []string
}

// is is the condition that a parameter has one of the values, as [FormatValue]
// writes them. A trailing "*" stands for any ending: "csv:*" is any file.
func is(param string, values ...string) Condition {
	return Condition{
		Params: []string{param}, Words: param + " is " + strings.Join(values, " or "), values: values,
		Holds: func(p Params) bool { return matches(p[param], values) },
	}
}

// isNot is the condition that a parameter has none of the values.
func isNot(param string, values ...string) Condition {
	return Condition{
		Params: []string{param}, Words: param + " is not " + strings.Join(values, " or "), values: values,
		Holds: func(p Params) bool { return !matches(p[param], values) },
	}
}

// never is the condition of a parameter without effect, with the reason. Such a
// parameter stays because the keys of trials have it.
func never(words string) Condition { return Condition{Words: words} }

func matches(value any, patterns []string) bool {
	text := FormatValue(value)
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		prefix, any := strings.CutSuffix(pattern, "*")
		return text == pattern || any && strings.HasPrefix(text, prefix)
	})
}

// Inert is the reason why a parameter has no effect in a trial.
type Inert struct {
	Param string
	// Where has the settings that decide, such as "method is standard"; empty for a
	// parameter that never does anything.
	Where string
	// Applies describes the settings with which it has one, as [Experiment.Applies] does.
	Applies string
}

func (i *Inert) String() string {
	s := i.Param + " does nothing"
	if i.Where != "" {
		s += " where " + i.Where
	}
	return s + "; it applies " + i.Applies
}

// Inert returns why the parameter of that name does nothing in a trial with these
// parameters; nil where it does something, or is unknown.
func (e *Experiment) Inert(name string, p Params) *Inert {
	where, inert := e.undone(name, p)
	if !inert {
		return nil
	}
	return &Inert{Param: name, Where: where, Applies: e.Applies(name)}
}

// undone reports whether a parameter has no effect, and the settings that decide so.
func (e *Experiment) undone(name string, p Params) (where string, inert bool) {
	q, err := e.Param(name)
	if err != nil {
		return "", false
	}
	p = e.Whole(p)
	for _, c := range q.When {
		if c.values != nil {
			if where, inert := e.undone(c.Params[0], p); inert {
				return where, true
			}
		}
		if c.Holds == nil || !c.Holds(p) {
			settings := make([]string, len(c.Params))
			for i, decides := range c.Params {
				settings[i] = decides + " is " + FormatValue(p[decides])
			}
			return strings.Join(settings, " and "), true
		}
	}
	return "", false
}

// Applies describes where a parameter has an effect: "where method is sparse", or
// "nowhere" with the reason; empty for everywhere.
func (e *Experiment) Applies(name string) string {
	var all []string
	nowhere := e.gatherWords(name, &all)
	switch {
	case nowhere != "":
		return "nowhere: " + nowhere
	case all == nil:
		return ""
	}
	return "where " + strings.Join(all, " and ")
}

// gatherWords adds the words of a parameter's conditions, and of the conditions of the
// parameters that decide, each once. It returns the reason of a condition that never holds.
func (e *Experiment) gatherWords(name string, all *[]string) (nowhere string) {
	q, err := e.Param(name)
	if err != nil {
		return ""
	}
	for _, c := range q.When {
		if c.Holds == nil {
			return c.Words
		}
		if !slices.Contains(*all, c.Words) {
			*all = append(*all, c.Words)
		}
		if c.values == nil {
			continue
		}
		if nowhere := e.gatherWords(c.Params[0], all); nowhere != "" {
			return nowhere
		}
	}
	return ""
}

// Active returns the parameters that do something in a trial: two trials of one
// seed with equal ones are the same computation.
func (e *Experiment) Active(p Params) Params {
	out := make(Params, len(p))
	for name, value := range p {
		if _, inert := e.undone(name, p); !inert {
			out[name] = value
		}
	}
	return out
}

// validateConditions refuses conditions on parameters or values that there are
// not, and parameters that decide about themselves.
func (e *Experiment) validateConditions(p *Param, above []string) error {
	if slices.Contains(above, p.Name) {
		return fmt.Errorf("%s: whether %q applies is decided by itself", e.Name, p.Name)
	}
	for _, c := range p.When {
		if c.Words == "" || (c.Holds == nil) != (len(c.Params) == 0) {
			return fmt.Errorf("%s: parameter %q has a condition without words, or without what decides", e.Name, p.Name)
		}
		for _, name := range c.Params {
			q, err := e.Param(name)
			if err != nil {
				return fmt.Errorf("%s: the condition of parameter %q: %w", e.Name, p.Name, err)
			}
			for _, v := range c.values {
				if strings.HasSuffix(v, "*") {
					continue
				}
				if _, err := q.Convert(v); err != nil {
					return fmt.Errorf("%s: the condition of parameter %q: %w", e.Name, p.Name, err)
				}
			}
			if err := e.validateConditions(q, append(slices.Clip(above), p.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// isCount is the value in a condition on a parameter that is a count or numbers.
const isCount = "a count"

// conditionsIn reads the text of a tag: conditions joined by " and ", each of them
// "name is value", "name is not value", with several values joined by " or ", or
// "name is a count".
func conditionsIn(text string) []Condition {
	var out []Condition
	for part := range strings.SplitSeq(text, " and ") {
		name, values, ok := strings.Cut(part, " is ")
		if !ok {
			panic(fmt.Sprintf("experiment: %q is no condition", part))
		}
		if values == isCount {
			out = append(out, Condition{Params: []string{name}, Words: part, Holds: func(p Params) bool {
				points, ok := p[name].(Points)
				return ok && points.IsCount()
			}})
			continue
		}
		if others, not := strings.CutPrefix(values, "not "); not {
			out = append(out, isNot(name, strings.Split(others, " or ")...))
			continue
		}
		out = append(out, is(name, strings.Split(values, " or ")...))
	}
	return out
}
