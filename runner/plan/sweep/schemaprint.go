package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// printWidth is the number of columns that a list or a nested object may take in one line.
const printWidth = 120

// printJSON lays out a JSON text in lines. A value that fits into a line stands in one, and so
// does an object of scalars of any length. The order of members is kept.
func printJSON(raw []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := readValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one JSON value")
	}
	var b strings.Builder
	v.print(&b, "", 0)
	b.WriteByte('\n')
	return []byte(b.String()), nil
}

// jsonValue is a JSON value: a scalar, or the members of an object or a list.
type jsonValue struct {
	scalar  string // as it is written; empty for an object or a list
	object  bool
	members []jsonMember
}

// jsonMember is a member of an object, or, without a name, of a list.
type jsonMember struct {
	name  string // quoted, with the colon and a blank
	value *jsonValue
}

func readValue(d *json.Decoder) (*jsonValue, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	delimiter, nested := token.(json.Delim)
	if !nested {
		raw, err := json.Marshal(token)
		return &jsonValue{scalar: string(raw)}, err
	}
	v := &jsonValue{object: delimiter == '{'}
	for d.More() {
		var m jsonMember
		if v.object {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			quoted, err := json.Marshal(name)
			if err != nil {
				return nil, err
			}
			m.name = string(quoted) + ": "
		}
		if m.value, err = readValue(d); err != nil {
			return nil, err
		}
		v.members = append(v.members, m)
	}
	_, err = d.Token() // the closing bracket
	return v, err
}

// line is the value in one line.
func (v *jsonValue) line() string {
	if v.scalar != "" {
		return v.scalar
	}
	parts := make([]string, len(v.members))
	for i, m := range v.members {
		parts[i] = m.name + m.value.line()
	}
	open, end := v.brackets()
	return open + strings.Join(parts, ", ") + end
}

func (v *jsonValue) brackets() (open, end string) {
	if v.object {
		return "{", "}"
	}
	return "[", "]"
}

// flat reports whether the value is an object of scalars.
func (v *jsonValue) flat() bool {
	for _, m := range v.members {
		if m.value.scalar == "" {
			return false
		}
	}
	return v.object
}

// print writes the value behind used columns of a line that is indented by indent.
func (v *jsonValue) print(b *strings.Builder, indent string, used int) {
	line := v.line()
	if v.scalar != "" || v.flat() || used+len(line)+len(",") <= printWidth {
		b.WriteString(line)
		return
	}
	open, end := v.brackets()
	b.WriteString(open)
	inner := indent + "  "
	for i, m := range v.members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + inner + m.name)
		m.value.print(b, inner, len(inner)+len(m.name))
	}
	b.WriteString("\n" + indent + end)
}
