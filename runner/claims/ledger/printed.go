package ledger

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Number is a number as a paper prints it.
type Number struct {
	Value float64
	// Uncertainty is the number after ±; nil where none is printed.
	Uncertainty *float64
	// Rounding is half a unit of the last printed digit.
	Rounding float64
	// Relation is Less, LessEqual, Greater or GreaterEqual for a printed
	// bound, Equal for a value (also for "≈ 3").
	Relation Relation
	// Percent is true when a % sign follows. The value is as printed: 5 for
	// "5.00 %".
	Percent bool
}

// number matches "13.3", ".9867", "1,600", "1.2e-3", "1.2×10^-3", "1.2·10⁻³".
const number = `([+\-−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+))` +
	`(?:[eE]([+\-−]?\d+)|\s*[×·x*]\s*10(?:\^\{?([+\-−]?\d+)\}?|([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)))?`

var (
	printedForm = regexp.MustCompile(`^\s*(<=|>=|≤|≥|<|>|≈|~|∼)?\s*` + number +
		`(?:\s*(?:±|\+/-|\+-)\s*` + number + `)?\s*(%)?\s*$`)
	superscripts = strings.NewReplacer("⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5",
		"⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9", "⁺", "+", "⁻", "-")
)

// ParsePrinted reads a printed number: a value, perhaps with its uncertainty
// ("13.3 ± 3.2"), a sign for a bound ("< 0.0018"), a per cent
// sign, a power of ten ("1.2e-3", "1.2 × 10⁻³"), thousands ("1,600").
func ParsePrinted(text string) (Number, error) {
	m := printedForm.FindStringSubmatch(text)
	if m == nil {
		return Number{}, fmt.Errorf("%q does not read as a number; give value, uncertainty and rounding explicitly", text)
	}
	p := Number{Relation: Equal, Percent: m[10] != ""}
	switch m[1] {
	case "<", ">":
		p.Relation = Relation(m[1])
	case "<=", "≤":
		p.Relation = LessEqual
	case ">=", "≥":
		p.Relation = GreaterEqual
	}
	var err error
	if p.Value, p.Rounding, err = digits(m[2:6]); err != nil {
		return Number{}, fmt.Errorf("%q: %w", text, err)
	}
	if m[6] != "" {
		u, _, err := digits(m[6:10])
		if err != nil {
			return Number{}, fmt.Errorf("%q: %w", text, err)
		}
		if u < 0 {
			return Number{}, fmt.Errorf("%q: a negative uncertainty", text)
		}
		p.Uncertainty = &u
	}
	return p, nil
}

// digits reads the groups of number: mantissa, and the exponent in one of three
// notations. It returns the value and half a unit of its last digit.
func digits(m []string) (value, half float64, err error) {
	mantissa := strings.ReplaceAll(strings.ReplaceAll(m[0], "−", "-"), ",", "")
	exponent := 0
	for _, e := range []string{m[1], m[2], superscripts.Replace(m[3])} {
		if e == "" {
			continue
		}
		if exponent, err = strconv.Atoi(strings.ReplaceAll(e, "−", "-")); err != nil {
			return 0, 0, fmt.Errorf("exponent %q out of range", e)
		}
	}
	value, err = strconv.ParseFloat(fmt.Sprintf("%se%d", mantissa, exponent), 64)
	if err != nil {
		return 0, 0, fmt.Errorf("%s × 10^%d is out of range", mantissa, exponent)
	}
	decimals := 0
	if _, after, ok := strings.Cut(mantissa, "."); ok {
		decimals = len(after)
	}
	half, err = strconv.ParseFloat(fmt.Sprintf("5e%d", exponent-decimals-1), 64)
	if err != nil || half == 0 {
		return 0, 0, fmt.Errorf("%s × 10^%d is out of range", mantissa, exponent)
	}
	return value, half, nil
}
