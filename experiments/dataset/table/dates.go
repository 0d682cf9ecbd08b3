package table

import (
	"fmt"
	"strings"
	"time"
)

// directive is a part of the form of a date: a directive of strftime, or characters that stand for themselves.
type directive struct {
	code    byte   // of strftime; 0 for characters
	literal string // where code is 0
}

// dateCodes are the directives, without those that stand for several.
const dateCodes = "YymdeHIMSfpbBaAjz"

// severalCodes are directives that stand for several.
var severalCodes = strings.NewReplacer("%F", "%Y-%m-%d", "%T", "%H:%M:%S", "%D", "%m/%d/%y", "%R", "%H:%M",
	"%h", "%b")

// dateForm is the form of dates.
type dateForm struct {
	parts []directive
	least int // digits of a number that may have one or two: two where nothing stands between numbers
}

// directives takes the form of dates apart. The directives are those of strftime (IEEE Std 1003.1), and %f for
// decimals of seconds, as Python has it.
func directives(text string) (*dateForm, error) {
	refuse := func(why string) (*dateForm, error) {
		return nil, fmt.Errorf("dates = %q: %s; it is iso, or a form such as %%d/%%m/%%Y or %%m/%%d/%%Y %%I:%%M %%p", text,
			why)
	}
	out := &dateForm{least: 2}
	seen := map[byte]bool{}
	for rest := severalCodes.Replace(text); rest != ""; {
		switch code := strings.IndexByte(rest, '%'); {
		case code > 0:
			if out.parts != nil {
				out.least = 1
			}
			out.parts, rest = append(out.parts, directive{literal: rest[:code]}), rest[code:]
		case code < 0:
			out.parts, rest = append(out.parts, directive{literal: rest}), ""
		case strings.HasPrefix(rest, "%%"):
			if out.parts != nil {
				out.least = 1
			}
			out.parts, rest = append(out.parts, directive{literal: "%"}), rest[2:]
		case len(rest) < 2 || strings.IndexByte(dateCodes, rest[1]) < 0:
			return refuse(fmt.Sprintf("%.2q is none of the directives that are read, %s", rest, dateCodes))
		case seen[rest[1]]:
			return refuse(fmt.Sprintf("%.2s is there twice", rest))
		default:
			seen[rest[1]] = true
			out.parts, rest = append(out.parts, directive{code: rest[1]}), rest[2:]
		}
	}
	has := func(codes string) bool {
		return strings.ContainsFunc(codes, func(c rune) bool { return seen[byte(c)] })
	}
	day, clock := has("Yy") && (has("mbB") && has("de") || has("j")), has("HI") && !has("YymbBdej")
	switch {
	case !day && !clock:
		return refuse("it has a year with a month and a day, or a time of day alone")
	case clock && out.least > 1:
		return refuse("a number could be meant")
	case has("I") && !has("p"):
		return refuse("%I is an hour of twelve, which needs %p")
	}
	return out, nil
}

// parse reads a text, as days since 1970-01-01 or as a share of the day.
func (f *dateForm) parse(text string) (value float64, ok bool) {
	p := dateParser{rest: text, least: f.least, year: 1970, month: 1, day: 1}
	for _, d := range f.parts {
		if !p.take(d) {
			return 0, false
		}
	}
	if p.rest != "" {
		return 0, false
	}
	if p.twelve {
		if p.hour < 1 || p.hour > 12 {
			return 0, false
		}
		p.hour %= 12
		if p.afternoon {
			p.hour += 12
		}
	}
	if p.ofYear > 0 {
		p.month, p.day = 1, p.ofYear
	}
	t := time.Date(p.year, time.Month(p.month), p.day, p.hour, p.minute, p.second, p.nano, time.UTC)
	if p.ofYear > 0 && t.Year() != p.year || p.ofYear == 0 && int(t.Month()) != p.month {
		return 0, false // 31 June
	}
	return days(t.Add(-time.Duration(p.offset) * time.Second)), true
}

// dateParser reads the parts of a date.
type dateParser struct {
	rest                               string
	least                              int // digits, see dateForm
	year, month, day, ofYear           int
	hour, minute, second, nano, offset int
	twelve, afternoon                  bool
}

// take reads a part.
func (p *dateParser) take(d directive) (ok bool) {
	switch d.code {
	case 0:
		p.rest, ok = strings.CutPrefix(p.rest, d.literal)
		return ok
	case 'Y':
		return p.digits(&p.year, 4, 4, 1, 9999)
	case 'y': // as POSIX has it: 69 to 99 are of the twentieth century
		ok = p.digits(&p.year, 2, 2, 0, 99)
		if p.year += 2000; p.year >= 2069 {
			p.year -= 100
		}
		return ok
	case 'm':
		return p.digits(&p.month, p.least, 2, 1, 12)
	case 'd', 'e':
		p.rest = strings.TrimPrefix(p.rest, " ")
		return p.digits(&p.day, p.least, 2, 1, 31)
	case 'j':
		return p.digits(&p.ofYear, 1, 3, 1, 366)
	case 'H':
		return p.digits(&p.hour, p.least, 2, 0, 23)
	case 'I':
		p.twelve = true
		return p.digits(&p.hour, p.least, 2, 1, 12)
	case 'M':
		return p.digits(&p.minute, p.least, 2, 0, 59)
	case 'S':
		return p.digits(&p.second, p.least, 2, 0, 59)
	case 'f':
		return p.fraction()
	case 'p':
		i, ok := p.name("am", "pm")
		p.afternoon = i == 1
		return ok
	case 'b', 'B':
		var names []string
		for m := time.January; m <= time.December; m++ {
			names = append(names, m.String())
		}
		i, ok := p.name(names...)
		p.month = i + 1
		return ok
	case 'a', 'A': // which day of the week it is follows from the date
		var names []string
		for d := time.Sunday; d <= time.Saturday; d++ {
			names = append(names, d.String())
		}
		_, ok := p.name(names...)
		return ok
	}
	return p.zone()
}

// digits reads a number of so many digits between bounds.
func (p *dateParser) digits(into *int, fewest, most, low, high int) bool {
	n, v := 0, 0
	for n < most && n < len(p.rest) && '0' <= p.rest[n] && p.rest[n] <= '9' {
		v, n = 10*v+int(p.rest[n]-'0'), n+1
	}
	p.rest, *into = p.rest[n:], v
	return n >= fewest && low <= v && v <= high
}

// fraction reads decimals of a second.
func (p *dateParser) fraction() bool {
	const most = 9
	before := len(p.rest)
	if !p.digits(&p.nano, 1, most, 0, 1e9) {
		return false
	}
	for range most - (before - len(p.rest)) {
		p.nano *= 10
	}
	return true
}

// name reads one of several names, or its first three letters, in any case.
func (p *dateParser) name(names ...string) (int, bool) {
	const short = 3
	for i, name := range names {
		for _, n := range []int{len(name), min(short, len(name))} {
			if len(p.rest) >= n && strings.EqualFold(p.rest[:n], name[:n]) {
				p.rest = p.rest[n:]
				return i, true
			}
		}
	}
	return 0, false
}

// zone reads Z, +01:00, +0100 or, at the end, +01.
func (p *dateParser) zone() bool {
	if rest, ok := strings.CutPrefix(p.rest, "Z"); ok {
		p.rest = rest
		return true
	}
	if p.rest == "" || !strings.Contains("+-", p.rest[:1]) {
		return false
	}
	sign := 1
	if p.rest[0] == '-' {
		sign = -1
	}
	p.rest = p.rest[1:]
	var hours, minutes int
	if !p.digits(&hours, 2, 2, 0, 23) {
		return false
	}
	if p.rest != "" { // ISO 8601 has hours alone, too
		p.rest = strings.TrimPrefix(p.rest, ":")
		if !p.digits(&minutes, 2, 2, 0, 59) {
			return false
		}
	}
	p.offset = sign * 60 * (60*hours + minutes)
	return true
}
