package experiment

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// settings converts between the struct of an experiment's settings and [Params].
type settings struct {
	leaves []leaf
	params []Param
}

// settingsOf reads a struct of settings. It panics on a declaration that is none.
//
// A field's type is the kind of the setting:
//
//	float64                a number
//	int                    a whole number
//	bool                   true or false
//	string                 any text
//	a Choice               one of several names
//	Or[W, float64 or int]  a number, or one of the words of W
//	[]float64              numbers
//	Points                 a count, numbers, or one of the tag's words
//	Several                a number, or several
//	SeveralOr[W]           the same, or one of the words of W
//
// and its tags are
//
//	name      the name for users
//	default   as a user writes it; without it the setting must be given
//	unit      of a number
//	min, max  the least and the largest value of a number
//	above, below  bounds that are excluded
//	infinite  "yes" where inf is a value
//	choices   names, joined by commas, where not all of a Choice can be chosen
//	words     words, joined by commas, that Points may be besides
//	when      where it does anything, such as "method is sparse" or "epsilon is not
//	          inf", several joined by " and "; see [Condition]
//	never     why it does nothing, where it never does
//	later     "yes" where trials were stored before there was this setting: with its
//	          default, keys are as if there was none
//	several   "no" where a Several, or a SeveralOr[W], is one number, and declared as such, without
//	          words, unless a struct that embeds it has "yes": experiments share settings that are
//	          several for some of them
//	doc       the documentation, where it is no comment: short ones, as tests have
func settingsOf(t reflect.Type) *settings {
	s := &settings{leaves: leavesOf(t)}
	for i := range s.leaves {
		l := &s.leaves[i]
		s.params = append(s.params, l.param())
	}
	return s
}

var (
	choiceType      = reflect.TypeFor[Choice]()
	alternativeType = reflect.TypeFor[alternative]()
	severalType     = reflect.TypeFor[several]()
	pointsType      = reflect.TypeFor[Points]()
	numbersType     = reflect.TypeFor[[]float64]()
)

// param returns the parameter that the tags, the type and the comment of a field declare.
func (l *leaf) param() Param {
	p := Param{Name: l.name, Doc: l.documentation()}
	p.Unit, _ = l.tag("unit")
	p.Infinite = l.field.Tag.Get("infinite") == "yes"
	p.Min, p.OpenMin = l.bound("min", "above")
	p.Max, p.OpenMax = l.bound("max", "below")
	switch t := l.field.Type; {
	case t.Implements(choiceType):
		p.Kind, p.Values = Text, l.choices(reflect.Zero(t).Interface().(Choice).Choices())
	case t.Implements(alternativeType):
		zero := reflect.Zero(t).Interface().(alternative)
		p.Kind, p.Words = zero.kind(), l.choices(zero.words())
	case t.Implements(severalType):
		zero := reflect.Zero(t).Interface().(several)
		p.Kind, p.Words = NumberOrNumbers, zero.words()
		if l.isSingle() {
			p.Kind, p.Words = Number, nil
		}
	case t == pointsType:
		p.Kind = CountOrNumbers
		if text, ok := l.tag("words"); ok {
			p.Words = strings.Split(text, ",")
		}
	case t == numbersType:
		p.Kind = Numbers
	case t.Kind() == reflect.Float64:
		p.Kind = Number
	case t.Kind() == reflect.Int:
		p.Kind = Integer
	case t.Kind() == reflect.Bool:
		p.Kind = Flag
	case t.Kind() == reflect.String:
		p.Kind = Text
	default:
		panic(fmt.Sprintf("experiment: no setting is a %v, as %s is", t, l.name))
	}
	if text, ok := l.tag("default"); ok {
		value, err := p.Convert(text)
		if err != nil {
			panic(fmt.Sprintf("experiment: the default of %v", err))
		}
		p.Default = value
	}
	if text, ok := l.tag("later"); ok {
		if text != "yes" || p.Default == nil {
			panic(fmt.Sprintf("experiment: %s is a later setting, which needs a default", l.name))
		}
		p.Later = true
	}
	for _, text := range l.tags("when") {
		p.When = append(p.When, conditionsIn(text)...)
	}
	for _, why := range l.tags("never") {
		p.When = append(p.When, never(why))
	}
	return p
}

// isSingle reports whether a setting of several numbers is one number in this experiment.
func (l *leaf) isSingle() bool {
	text, ok := l.tag("several")
	if ok && text != "no" && text != "yes" {
		panic(fmt.Sprintf("experiment: several of %s is %q; it is yes or no", l.name, text))
	}
	return text == "no"
}

// bound reads the inclusive or the exclusive bound.
func (l *leaf) bound(inclusive, exclusive string) (bound *float64, open bool) {
	for _, key := range []string{inclusive, exclusive} {
		if text, ok := l.tag(key); ok {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				panic(fmt.Sprintf("experiment: the bound of %s: %v", l.name, err))
			}
			return &v, key == exclusive
		}
	}
	return nil, false
}

// choices returns the choices of the tag, which must be among all.
func (l *leaf) choices(all []string) []string {
	text, ok := l.tag("choices")
	if !ok {
		return all
	}
	chosen := strings.Split(text, ",")
	known := map[string]bool{}
	for _, c := range all {
		known[c] = true
	}
	for _, c := range chosen {
		if !known[c] {
			panic(fmt.Sprintf("experiment: %q is no choice of %s", c, l.name))
		}
	}
	return chosen
}

// decode sets the fields of a struct of settings, to which v is a pointer.
func (s *settings) decode(p Params, v reflect.Value) {
	for i := range s.leaves {
		l := &s.leaves[i]
		field, value := v.Elem().FieldByIndex(l.index), p[l.name]
		if value == nil && s.params[i].Later {
			value = s.params[i].Default
		}
		switch {
		case field.Type().Implements(choiceType):
			setChoice(field, value.(string))
		case field.Type().Implements(alternativeType), field.Type().Implements(severalType):
			field.Addr().Interface().(interface{ set(any) }).set(value)
		default:
			field.Set(reflect.ValueOf(value).Convert(field.Type()))
		}
	}
}

// encode returns the settings of a struct.
func (s *settings) encode(v reflect.Value) Params {
	p := make(Params, len(s.leaves))
	for i := range s.leaves {
		l := &s.leaves[i]
		switch value := v.FieldByIndex(l.index).Interface().(type) {
		case Choice:
			p[l.name] = NameOf(value)
		case alternative:
			p[l.name] = value.value()
		case several:
			p[l.name] = value.value()
		default:
			p[l.name] = value
		}
	}
	return p
}

// SettingValues returns the settings that a struct holds, by name: of a part of an
// experiment's, such as hyper-parameters that a release publishes.
func SettingValues(part any) Params {
	v := reflect.ValueOf(part)
	return settingsOf(v.Type()).encode(v)
}

// SettingsIn returns the struct that [SettingValues] were taken of. It panics where a
// value is missing.
func SettingsIn[S any](values Params) *S {
	s := new(S)
	settingsOf(reflect.TypeFor[S]()).decode(values, reflect.ValueOf(s))
	return s
}

// nameOf returns the name of the leaf that a pointer points to, in the struct to
// which v is a pointer. It panics on any other pointer.
func nameOf(leaves []leaf, v reflect.Value, field any) string {
	for i := range leaves {
		if v.Elem().FieldByIndex(leaves[i].index).Addr().Interface() == field {
			return leaves[i].name
		}
	}
	panic(fmt.Sprintf("experiment: a %T that is no setting and no metric of %v", field, v.Elem().Type()))
}

// ReadSettings returns the struct of settings that texts name=value give, and defaults. Settings that have no
// default must be given.
func ReadSettings[S any](args []string) (*S, error) {
	declared := settingsOf(reflect.TypeFor[S]())
	e := &Experiment{Params: declared.params}
	values := Params{}
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		p, err := e.Param(name)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, fmt.Errorf("%s has no value; write %[1]s=VALUE", name)
		case values[name] != nil:
			return nil, fmt.Errorf("%s is given twice", name)
		}
		if values[name], err = p.Convert(text); err != nil {
			return nil, err
		}
	}
	for i := range declared.params {
		p := &declared.params[i]
		if values[p.Name] == nil {
			if values[p.Name] = p.Default; p.Default == nil {
				return nil, fmt.Errorf("%s is not given", p.Name)
			}
		}
	}
	s := new(S)
	declared.decode(values, reflect.ValueOf(s))
	return s, nil
}
