package experiment

import "reflect"

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

// Is says whether the setting is the word.
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

// several is what every setting of one number or more is.
type several interface {
	words() []string
	value() any
	severalNumbers()
}

func (Several) severalNumbers()      {}
func (SeveralOr[W]) severalNumbers() {}
