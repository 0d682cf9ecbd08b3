package table

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// resembles describes a text that is meant for a number, a date or a time in a form that is not read, with the
// setting or the change that makes it one: "looks like a percentage: ..."; empty for others.
func resembles(text string) string {
	const longest = 40
	if text = strings.TrimSpace(text); text == "" || len(text) > longest || !strings.ContainsAny(text, "0123456789") {
		return ""
	}
	unsigned, minus := strings.CutPrefix(text, "\u2212")
	if !minus {
		unsigned, minus = strings.CutPrefix(text, "\u2013")
	}
	switch {
	case minus && isFigure(unsigned):
		return "looks like a number with a typographic minus: write - for it"
	case strings.HasSuffix(text, "%") && isFigure(strings.TrimSuffix(text, "%")):
		return "looks like a percentage: leave the sign out"
	case isAmount(text):
		return "looks like an amount of money: leave the sign out"
	}
	if forms := dateForms(text); forms != nil {
		what := "a date"
		if !strings.ContainsAny(forms[0], "Yy") {
			what = "a time of day"
		}
		return "looks like " + what + ": dates='" + strings.Join(forms, "' or dates='") + "' reads it"
	}
	if !isFigure(text) || strings.Trim(text, "0123456789.+-") == "" {
		return ""
	}
	if whole, decimals, one := strings.Cut(text, ","); one && strings.Trim(whole, "0123456789+-") == "" &&
		strings.Trim(decimals, "0123456789") == "" {
		return "looks like a number with a decimal comma or a thousands separator: decimal=, reads the former; leave the " +
			"latter out"
	}
	return "looks like a number with a thousands separator: leave it out"
}

// isFigure reports whether a text is digits with marks that group them, perhaps with a sign.
func isFigure(text string) bool {
	text = strings.TrimLeft(strings.TrimSpace(text), "+-\u2212")
	return text != "" && strings.Trim(text, "0123456789.,' \u00a0\u202f\u2019") == "" &&
		strings.ContainsAny(text[:1], "0123456789.")
}

// isAmount reports whether a text is a figure with a sign of money, or with brackets, as bookkeepers write negative
// ones.
func isAmount(text string) bool {
	inner := text
	if strings.HasPrefix(inner, "(") && strings.HasSuffix(inner, ")") {
		inner = inner[1 : len(inner)-1]
	}
	inner = strings.TrimLeft(inner, "+-\u2212 ")
	for _, code := range []string{"US$", "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR"} {
		inner = strings.TrimSuffix(strings.TrimPrefix(inner, code), code)
	}
	inner = strings.TrimFunc(inner, func(c rune) bool { return unicode.Is(unicode.Sc, c) || c == ' ' })
	return inner != text && len(inner) > 0 && inner != strings.TrimLeft(text, "+-\u2212 ") && isFigure(inner)
}

// knownForms are forms of dates and times that are recognised.
var knownForms = sync.OnceValue(func() map[string]*dateForm {
	out := map[string]*dateForm{}
	times := []string{"%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p"}
	for _, form := range times {
		out[form], _ = directives(form) // these are right
	}
	for _, day := range []string{"%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y", "%Y.%m.%d", "%d-%m-%Y", "%m-%d-%Y",
		"%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d %b %Y", "%b %d, %Y", "%b %d %Y", "%d-%b-%Y", "%d-%b-%y", "%Y-%m-%d"} {
		out[day], _ = directives(day)
		for _, clock := range times {
			out[day+" "+clock], _ = directives(day + " " + clock)
		}
	}
	for _, form := range []string{"%Y-%m-%d %H:%M:%S%z", "%Y-%m-%d %H:%M:%S.%f%z", "%Y-%m-%d %H:%M:%S %z",
		"%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M"} {
		out[form], _ = directives(form)
	}
	return out
})

// dateForms are the forms in which a text is a date or a time, sorted; several where day and month could be
// exchanged.
func dateForms(text string) []string {
	if !strings.ContainsAny(text, "/.:- ") || strings.Trim(text, "0123456789.+-") == "" && strings.Count(text, ".") == 1 {
		return nil
	}
	var out []string
	for name, form := range knownForms() {
		if _, ok := form.parse(text); ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// alike completes a message by how a text looks.
func alike(text string) string {
	if how := resembles(text); how != "" {
		return " (it " + how + ")"
	}
	return ""
}
