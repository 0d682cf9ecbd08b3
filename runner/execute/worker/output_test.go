package worker

import (
	"strings"
	"testing"
)

// Output comes back unchanged up to a bound, and of more the beginning and the end.
func TestOutput(t *testing.T) {
	const lines = "first words\n"
	for _, c := range []struct {
		name    string
		written []string
		want    string
	}{
		{"nothing", nil, ""},
		{"lines keep their ends", []string{"\n" + lines, lines}, "\n" + lines + lines},
		{"as much as is kept", []string{strings.Repeat("a", half), strings.Repeat("b", half)},
			strings.Repeat("a", half) + strings.Repeat("b", half)},
		{"a byte more", []string{strings.Repeat("a", half), "x" + strings.Repeat("b", half)},
			strings.Repeat("a", half) + "\n[1 bytes are left out]\n" + strings.Repeat("b", half)},
		{"much more, in one piece",
			[]string{strings.Repeat("a", half) + strings.Repeat("x", 3*half) + strings.Repeat("b", half)},
			strings.Repeat("a", half) + "\n[1572864 bytes are left out]\n" + strings.Repeat("b", half)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var o output
			for _, text := range c.written {
				if n, err := o.Write([]byte(text)); n != len(text) || err != nil {
					t.Fatalf("%d of %d bytes are written: %v", n, len(text), err)
				}
			}
			if got := o.String(); got != c.want {
				t.Errorf("%d bytes instead of %d: %.40q ... %.40q", len(got), len(c.want), got, got[max(0, len(got)-40):])
			}
			o.reset()
			if got := o.String(); got != "" {
				t.Errorf("after a reset: %.40q", got)
			}
		})
	}
}
