package kernels

import (
	"strings"
	"testing"
)

// Axes that follow one another are one; those of length 1 are none.
func TestNewView(t *testing.T) {
	for _, c := range []struct {
		name             string
		lengths, strides []int
		want             View
	}{
		{"rows one after another", []int{3, 4}, []int{4, 1}, View{D0: 12, S0: 1}},
		{"a transpose", []int{4, 3}, []int{1, 4}, View{D0: 3, S0: 4, D1: 4, S1: 1}},
		{"a part of the columns", []int{3, 2}, []int{4, 1}, View{D0: 2, S0: 1, D1: 3, S1: 4}},
		{"an axis of length 1 between", []int{3, 1, 4}, []int{4, 100, 1}, View{D0: 12, S0: 1}},
		{"a repeated element", []int{3, 2}, []int{1, 0}, View{D0: 2, S0: 0, D1: 3, S1: 1}},
		{"one element", []int{1, 1}, []int{7, 7}, View{}},
		{"no axes", nil, nil, View{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := NewView(5, c.lengths, c.strides)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			want.Offset = 5
			for _, d := range []*int{&want.D0, &want.D1, &want.D2, &want.D3, &want.D4, &want.D5, &want.D6} {
				*d = max(1, *d)
			}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
	lengths, strides := make([]int, 9), make([]int, 9)
	for i := range lengths {
		lengths[i], strides[i] = 2, i+1 // none follows another
	}
	if _, err := NewView(0, lengths, strides); err == nil || !strings.Contains(err.Error(), "kernels know 8 axes") {
		t.Errorf("nine axes: %v", err)
	}
}
