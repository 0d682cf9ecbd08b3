package tables

import (
	"slices"
	"testing"
)

func TestJoinAlike(t *testing.T) {
	for _, c := range []struct {
		name       string
		have, want []string
	}{
		{"nothing", nil, nil},
		{"one", []string{"a norm of 1.5"}, []string{"a norm of 1.5"}},
		{"the same", []string{"a norm of 1.5", "a norm of 1.5"}, []string{"a norm of 1.5"}},
		{"a range, in no order", []string{"by 1.52 nats", "other", "by 10 nats", "by 1.9 nats"},
			[]string{"by 1.52 to 10 nats", "other"}},
		{"one number of two", []string{"580 of 5960 loans", "12 of 5960 loans"}, []string{"12 to 580 of 5960 loans"}},
		{"numbers of names", []string{"float32 on 2 images", "float64 on 3 images"},
			[]string{"float32 on 2 images", "float64 on 3 images"}},
		{"exponents", []string{"gap 1e-8", "gap 3.5e-9"}, []string{"gap 3.5e-9 to 1e-8"}},
		{"negative", []string{"ended at -1", "ended at -2"}, []string{"ended at -1", "ended at -2"}},
		{"other words", []string{"1 step", "2 steps"}, []string{"1 step", "2 steps"}},
		{"more numbers", []string{"rows 1", "rows 1, 2"}, []string{"rows 1", "rows 1, 2"}},
		{"equal values", []string{"at 1.0", "at 1"}, []string{"at 1.0"}},
	} {
		if got := JoinAlike(c.have); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}
