package table

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

//go:embed reading.go
var readingSource string

func init() { experiment.Document[Reading](readingSource) }

// Reading are the settings by which files are read: the data, and files of points that a trial reads
// besides. Every method on a user's own data has them.
type Reading struct {
	// texts that count as missing, joined by commas, such as ?,-999, besides empty ones, NA and NaN; of your own
	// data
	Missing string `name:"missing" default:"" later:"yes" when:"dataset is csv:* or parquet:* or npy:*"`
	// mark before the decimals of a number: . or ,
	Decimal Decimal `name:"decimal" default:"." later:"yes" when:"dataset is csv:*"`
	// character between values: auto, which is the comma, semicolon or tab that the header has most of, or one of
	// comma, semicolon, tab, space, or the character itself
	Separator string `name:"separator" default:"auto" later:"yes" when:"dataset is csv:*"`
	// encoding of the text, such as latin1, windows-1252, utf-16le or shift_jis: the names of the WHATWG
	Encoding string `name:"encoding" default:"utf-8" later:"yes" when:"dataset is csv:* or npy:*"`
	// whether the first row has the names of the columns; no: they are x1, x2, ...
	Header Header `name:"header" default:"yes" later:"yes" when:"dataset is csv:*"`
	// character that begins lines which are passed over, such as #
	Comment string `name:"comment" default:"" later:"yes" when:"dataset is csv:*"`
	// form of dates besides 2024-01-31, in the directives of strftime, such as %d/%m/%Y or %m/%d/%Y %I:%M %p; of
	// times of day alone, such as %H:%M, the value is a share of the day
	Dates string `name:"dates" default:"iso" later:"yes" when:"dataset is csv:*"`
}

// Decimal is the mark before the decimals of a number.
type Decimal int

// The decimal marks.
const (
	pointMark Decimal = iota
	commaMark
)

// Choices are the marks.
func (Decimal) Choices() []string { return []string{".", ","} }

// Header is whether the first row has names.
type Header int

// The kinds of first rows.
const (
	withNames Header = iota
	withoutNames
)

// Choices are the words.
func (Header) Choices() []string { return []string{"yes", "no"} }

// Words that are the defaults of settings, and one of an encoding.
const (
	auto      = "auto"
	iso       = "iso"
	utf8Name  = "utf-8"
	utf32Name = "utf-32"
	utf7Name  = "utf-7"
)

// separators are the words for characters that are hard to type.
var separators = map[string]rune{"comma": ',', "semicolon": ';', "tab": '\t', `\t`: '\t', "space": ' '}

// In returns the settings that have an effect for data of a name: all for comma-separated values, and none for
// pictures and data that are not the user's.
func (r Reading) In(name string) Reading {
	switch dataset.OwnKind(name) {
	case dataset.OwnCSV:
		return r
	case dataset.OwnNPY:
		return Reading{Missing: r.Missing, Encoding: r.Encoding}
	case dataset.OwnParquet:
		return Reading{Missing: r.Missing}
	}
	return Reading{}
}

// Unusual are the settings that differ from their defaults, each as name=value.
func (r Reading) Unusual() []string {
	var out []string
	usual := experiment.SettingValues(*experiment.SettingsIn[Reading](nil))
	values := experiment.SettingValues(r.complete())
	for _, name := range []string{"separator", "decimal", "encoding", "header", "comment", "missing", "dates"} {
		if text := experiment.FormatValue(values[name]); text != experiment.FormatValue(usual[name]) {
			out = append(out, name+"="+text)
		}
	}
	return out
}

// complete returns the settings with words for those that are empty.
func (r Reading) complete() Reading {
	usual := *experiment.SettingsIn[Reading](nil)
	for _, s := range [][2]*string{{&r.Separator, &usual.Separator}, {&r.Encoding, &usual.Encoding},
		{&r.Dates, &usual.Dates}} {
		if *s[0] == "" {
			*s[0] = *s[1]
		}
	}
	return r
}

// layout returns the settings that decide which values a file has, and not how they are understood.
func (r Reading) layout() Reading {
	return Reading{Separator: r.Separator, Encoding: r.Encoding, Header: r.Header, Comment: r.Comment}
}

// Valid refuses settings that read no file.
func (r Reading) Valid() error {
	_, err := r.form()
	return err
}

// form holds the settings, ready for use.
type form struct {
	plain   bool // cells are as with the defaults
	comma   rune // 0: that of the header
	comment rune // 0: none
	point   byte // before decimals
	unnamed bool // the first row has values
	missing []string
	dates   *dateForm         // nil: those of dateLayouts alone
	coding  encoding.Encoding // nil: UTF-8
	name    string            // of the encoding
}

// usual is the form of the defaults.
var usual = form{plain: true, point: '.', name: utf8Name}

func (r Reading) form() (*form, error) {
	f := usual
	if r == (Reading{}) {
		return &f, nil
	}
	r = r.complete()
	if r.Separator != auto {
		f.comma = separators[r.Separator]
		if only, size := utf8.DecodeRuneInString(r.Separator); f.comma == 0 && size == len(r.Separator) {
			f.comma = only
		}
		if strings.ContainsRune("\x00\r\n\"\ufffd", f.comma) {
			return nil, fmt.Errorf("separator = %q: it is auto, comma, semicolon, tab, space, or one character that is no "+
				"quotation mark", r.Separator)
		}
	}
	if r.Comment != "" {
		only, size := utf8.DecodeRuneInString(r.Comment)
		if f.comment = only; size < len(r.Comment) || strings.ContainsRune("\r\n\"\ufffd", only) {
			return nil, fmt.Errorf("comment = %q: it is one character, such as #, that is no quotation mark", r.Comment)
		}
		if f.comment == f.comma {
			return nil, fmt.Errorf("comment = %q: it is the separator, too", r.Comment)
		}
	}
	f.unnamed = r.Header == withoutNames
	if r.Decimal == commaMark {
		f.point = ','
	}
	for text := range strings.SplitSeq(r.Missing, ",") {
		if text = strings.TrimSpace(text); text != "" {
			f.missing = append(f.missing, text)
		}
	}
	var err error
	if r.Dates != iso {
		if f.dates, err = directives(r.Dates); err != nil {
			return nil, err
		}
	}
	if coding, err := htmlindex.Get(r.Encoding); err != nil {
		return nil, fmt.Errorf("encoding = %q: it is none of the WHATWG's names, such as utf-8, latin1, windows-1252, "+
			"utf-16le, shift_jis, gb18030", r.Encoding)
	} else if f.name, err = htmlindex.Name(coding); err != nil || f.name == "replacement" {
		return nil, fmt.Errorf("encoding = %q: texts of it cannot be read", r.Encoding)
	} else if f.name != utf8Name {
		f.coding = coding
	}
	f.plain = f.point == '.' && f.missing == nil && f.dates == nil
	return &f, nil
}

// cell infers the type of a text.
func (f *form) cell(text string) cell {
	if f.plain {
		return textCell(text)
	}
	text = strings.TrimSpace(text)
	if slices.Contains(f.missing, text) {
		return cell{}
	}
	if f.dates != nil && text != "" {
		if v, ok := f.dates.parse(text); ok {
			return cell{kind: date, value: v, text: text}
		}
	}
	if f.point == '.' || !strings.ContainsAny(text, ".,") || !strings.ContainsRune("0123456789+-,.", rune(text[0])) ||
		looksLikeDate(text) {
		return textCell(text)
	}
	swapped := textCell(decimalComma.Replace(text))
	switch swapped.kind {
	case number:
		swapped.text = text
		return swapped
	case broken:
		swapped.text = text
		if swapped.want == decimalPoint {
			swapped.want = "a number with a decimal comma"
		}
		return swapped
	}
	return textCell(text)
}

// decimalComma exchanges the marks of numbers.
var decimalComma = strings.NewReplacer(",", ".", ".", ",")

// word is the cell of a text that is taken as it stands.
func (f *form) word(text string) cell {
	if text = strings.TrimSpace(text); isMissing(text) || slices.Contains(f.missing, text) {
		return cell{}
	}
	return cell{kind: word, text: text}
}

// bytes is the cell of a text of bytes in an array, which ends at zero bytes.
func (f *form) bytes(b []byte) cell {
	text := strings.TrimRight(string(b), "\x00")
	if f.coding != nil {
		if decoded, err := f.coding.NewDecoder().String(text); err == nil {
			text = decoded
		}
	}
	return textOf(text)
}

// typed is the cell of a value with a type, which is missing where its text counts as that, and refused where it is
// no text.
func (f *form) typed(c cell) cell {
	if c.kind == word {
		c = f.clean(c)
	}
	if f.missing == nil || c.kind == missing || !slices.Contains(f.missing, c.asText().text) {
		return c
	}
	return cell{}
}

// foul begins the expected form of a text that is none.
const foul = "a text "

// clean refuses a text that was not decoded, or has characters that no text has.
func (f *form) clean(c cell) cell {
	if c.kind != word {
		return c
	}
	switch {
	case !utf8.ValidString(c.text) && f.coding == nil:
		c.kind, c.want = broken, foul+"in UTF-8; encoding= reads another, such as encoding=latin1"
	case !utf8.ValidString(c.text), f.coding != nil && strings.ContainsRune(c.text, utf8.RuneError):
		c.kind, c.want = broken, foul+"in "+f.name+"; encoding= reads another"
	case strings.IndexByte(c.text, 0) >= 0:
		c.kind, c.want = broken, foul+"without a zero byte"
	case strings.IndexByte(c.text, '\r') >= 0:
		c.kind, c.want = broken, foul+"without a carriage return: lines end with a line feed, or with both"
	}
	return c
}

// marks are the byte order marks, of which a longer one comes before its beginning.
var marks = []struct{ bytes, encoding string }{
	{"\xef\xbb\xbf", utf8Name}, {"\xff\xfe\x00\x00", utf32Name}, {"\x00\x00\xfe\xff", utf32Name},
	{"\xff\xfe", "utf-16le"}, {"\xfe\xff", "utf-16be"}, {"\x84\x31\x95\x33", "gb18030"},
	{"+/v8", utf7Name}, {"+/v9", utf7Name}, {"+/v+", utf7Name}, {"+/v/", utf7Name},
}

// unread are the encodings with a mark that no setting reads.
var unread = []string{utf32Name, utf7Name}

// checkMark refuses the start of a file that has the mark of another encoding.
func (f *form) checkMark(head []byte) error {
	for _, m := range marks {
		switch {
		case !bytes.HasPrefix(head, []byte(m.bytes)):
			continue
		case m.encoding == f.name:
		case slices.Contains(unread, m.encoding):
			return fmt.Errorf("the text is in %s; save it as UTF-8", strings.ToUpper(m.encoding))
		default:
			return fmt.Errorf("the text is in %s, as its first bytes tell; read it with encoding=%s",
				strings.ToUpper(m.encoding),
				m.encoding)
		}
		return nil
	}
	return nil
}
