package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"

	"privkern/runner/experiment"
)

// Argument is a parsed name=value argument with its effect in a sweep.
type Argument struct {
	Text string
	// Inert is the reason why the parameter has no effect in any setting; nil where it has
	// one.
	Inert *experiment.Inert
	// Varies reports that it has several values.
	Varies bool
}

// use records how a parameter with conditions is given in a block, and whether it
// has an effect.
type use struct {
	name, from string
	at         *token.Token
	given      bool
	first      string   // value
	varies     bool     // there is another one
	applies    bool     // in one setting at least
	where      []string // why not in others, each reason once
}

// maxReasons is how many reasons a message has.
const maxReasons = 3

// uses are the parameters with conditions of a block.
type uses struct {
	block *block
	of    []*use
	// Of the settings in which one of the parameters that vary does nothing.
	inert    int // trials
	distinct map[identity]int
	trials   int
}

func newUses(b *block) *uses {
	u := &uses{block: b, distinct: map[identity]int{}}
	axes := slices.Concat(b.params, b.sweep, b.zip)
	for _, c := range b.cases {
		axes = append(axes, c...)
	}
	for _, a := range axes {
		p, err := b.exp.Param(a.name)
		if err != nil || p.When == nil || slices.ContainsFunc(u.of, func(x *use) bool { return x.name == a.name }) {
			continue
		}
		u.of = append(u.of, &use{name: a.name, from: a.from, at: a.at})
	}
	return u
}

// count takes a setting of the given number of trials into account.
func (u *uses) count(params experiment.Params, given map[string]any, trials int) {
	if trials == 0 { // merged with others
		return
	}
	u.trials += trials
	inert := map[string]bool{}
	for _, x := range u.of {
		why := u.block.exp.Inert(x.name, params)
		if why != nil {
			inert[x.name] = true
		}
		v, ok := given[x.name]
		if !ok {
			continue
		}
		text := experiment.FormatValue(v)
		switch {
		case !x.given:
			x.given, x.first = true, text
		case x.first != text:
			x.varies = true
		}
		switch {
		case why == nil:
			x.applies = true
		case len(x.where) <= maxReasons && !slices.Contains(x.where, why.Where):
			x.where = append(x.where, why.Where)
		}
	}
	if len(inert) == 0 {
		return
	}
	u.inert += trials
	u.distinct[identityOf(u.block.exp, params, func(name string) bool { return !inert[name] })] = trials
}

// why puts the reasons together.
func (u *uses) why(x *use) *experiment.Inert {
	where := x.where
	if len(where) > maxReasons {
		where = append(slices.Clone(where[:maxReasons]), "...")
	}
	return &experiment.Inert{Param: x.name, Where: strings.Join(where, " or "), Applies: u.block.exp.Applies(x.name)}
}

// judge refuses a parameter that varies without effect, and warns of others without
// effect. A parameter from the command line may have an effect in another sweep.
func (u *uses) judge(r *reader, out *Expansion) error {
	var partly []string
	for _, x := range u.of {
		why := u.why(x)
		switch {
		case !x.given:
		case x.from != "":
			argument := Argument{Text: x.from, Varies: x.varies}
			if !x.applies {
				argument.Inert = why
			}
			out.Arguments = append(out.Arguments, argument)
		case !x.applies && x.varies:
			return r.errorAt(x.at, fmt.Errorf("%s: %w", u.block.exp.Name, Varies(why)))
		case !x.applies:
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s: %s=%s: %s", r.place(x.at), x.name, x.first, why))
		}
		if x.varies && x.where != nil {
			partly = append(partly, why.String())
		}
	}
	repeats := u.inert
	for _, trials := range u.distinct {
		repeats -= trials
	}
	if repeats > 0 && partly != nil {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s: %d of %d trials repeat the computation of another: %s. "+
			"Explicit cases leave such trials out", r.place(u.block.at), repeats, u.trials, strings.Join(partly, "; ")))
	}
	return nil
}

// Varies is the mistake of a sweep over a parameter that does nothing.
func Varies(why *experiment.Inert) error {
	return fmt.Errorf("%s. A sweep over it repeats one computation: leave it out, or choose settings to which it "+
		"applies", why)
}

// place writes a place as errors do.
func (r *reader) place(at *token.Token) string {
	if at == nil || at.Position == nil {
		return r.path
	}
	return fmt.Sprintf("%s:%d:%d", r.path, at.Position.Line, at.Position.Column)
}
