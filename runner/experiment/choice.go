package experiment

import (
	"fmt"
	"reflect"
)

// Choice is a setting that has one of several values with names. Its type is an
// integer whose constants count from 0 in the order of the names:
//
//	type Method int
//
//	const (
//		Standard Method = iota
//		Sparse
//	)
//
//	func (Method) Choices() []string { return []string{"standard", "sparse"} }
//
// A value that there is not does not compile, where a misspelt text would be
// another value.
type Choice interface{ Choices() []string }

// NameOf returns the name of a choice's value, as settings, keys and records have
// it. It panics on a value that is none of the choices.
func NameOf(c Choice) string {
	return c.Choices()[reflect.ValueOf(c).Int()]
}

// Or is a setting that is a number or, where IsWord is set, one of the words of W,
// such as "full" for a rank.
type Or[W Choice, T int | float64] struct {
	IsWord bool
	Word   W
	Number T
}

// NumberOr returns the setting that is a number.
func NumberOr[W Choice, T int | float64](n T) Or[W, T] { return Or[W, T]{Number: n} }

// Is reports whether the setting is the word.
func (o Or[W, T]) Is(w W) bool { return o.IsWord && NameOf(o.Word) == NameOf(w) }

// String writes the setting as a user does.
func (o Or[W, T]) String() string { return FormatValue(o.value()) }

func (o Or[W, T]) words() []string { return o.Word.Choices() }

func (o Or[W, T]) value() any {
	if o.IsWord {
		return NameOf(o.Word)
	}
	return o.Number
}

func (o Or[W, T]) kind() ParamKind {
	if reflect.TypeFor[T]().Kind() == reflect.Int {
		return Integer
	}
	return Number
}

func (o *Or[W, T]) set(v any) {
	*o = Or[W, T]{}
	word, ok := v.(string)
	if !ok {
		o.Number = v.(T)
		return
	}
	o.IsWord = true
	setChoice(reflect.ValueOf(&o.Word).Elem(), word)
}

// alternative is the interface of Or for all words and numbers.
type alternative interface {
	words() []string
	value() any
	kind() ParamKind
}

// setChoice gives a choice the value of a name that is one of its choices.
func setChoice(v reflect.Value, name string) {
	for i, choice := range v.Interface().(Choice).Choices() {
		if choice == name {
			v.SetInt(int64(i))
			return
		}
	}
	panic(fmt.Sprintf("experiment: %q is no %v", name, v.Type()))
}

// Several is a setting that is one number for all of something, such as the inputs of a
// model, or one for each. One number has the text, and so the key, that a setting of a
// single number has.
type Several []float64

// For returns the numbers for n of them; ok is false where they are neither one nor n.
func (s Several) For(n int) (values []float64, ok bool) {
	if len(s) != 1 && len(s) != n {
		return nil, false
	}
	values = make([]float64, n)
	for i := range values {
		values[i] = s[i%len(s)]
	}
	return values, true
}

// String writes the setting as a user does.
func (s Several) String() string { return FormatValue(s.value()) }

func (s Several) words() []string { return nil }

func (s Several) value() any {
	if len(s) == 1 {
		return s[0]
	}
	return []float64(s)
}

func (s *Several) set(v any) {
	if one, ok := v.(float64); ok {
		*s = Several{one}
		return
	}
	*s = v.([]float64)
}

// SeveralOr is [Several] or, where IsWord is set, one of the words of W.
type SeveralOr[W Choice] struct {
	IsWord  bool
	Word    W
	Numbers Several
}

// SeveralOf returns the setting that is numbers.
func SeveralOf[W Choice](numbers ...float64) SeveralOr[W] { return SeveralOr[W]{Numbers: numbers} }

// Is reports whether the setting is the word.
func (o SeveralOr[W]) Is(w W) bool { return o.IsWord && NameOf(o.Word) == NameOf(w) }

// String writes the setting as a user does.
func (o SeveralOr[W]) String() string { return FormatValue(o.value()) }

func (o SeveralOr[W]) words() []string { return o.Word.Choices() }

func (o SeveralOr[W]) value() any {
	if o.IsWord {
		return NameOf(o.Word)
	}
	return o.Numbers.value()
}

func (o *SeveralOr[W]) set(v any) {
	*o = SeveralOr[W]{}
	if word, ok := v.(string); ok {
		o.IsWord = true
		setChoice(reflect.ValueOf(&o.Word).Elem(), word)
		return
	}
	o.Numbers.set(v)
}

// several is the interface of settings of one number or more.
type several interface {
	words() []string
	value() any
	severalNumbers()
}

func (Several) severalNumbers()      {}
func (SeveralOr[W]) severalNumbers() {}
