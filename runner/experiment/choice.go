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

// Or is a setting that is a number or, where IsWord is set, one of the words of W:
// "full" for a rank, say.
type Or[W Choice, T int | float64] struct {
	IsWord bool
	Word   W
	Number T
}

// NumberOr returns the setting that is a number.
func NumberOr[W Choice, T int | float64](n T) Or[W, T] { return Or[W, T]{Number: n} }

// Is says whether the setting is the word.
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

// alternative is what every Or is, whatever its word and its number are.
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
