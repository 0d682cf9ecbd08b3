package text_test

import (
	"slices"
	"strings"
	"testing"

	"privkern/runner/text"
)

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int64{
		"": nil, "7": {7}, "0..4": {4, 3, 2, 1, 0}, "0, 2, 4": {0, 2, 4}, "0..1, 5..7": {5, 0, 6, 1, 7, 7},
	} {
		given := slices.Clone(numbers)
		if got := strings.Join(text.Ranges(given), ", "); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
		if !slices.Equal(given, numbers) {
			t.Errorf("%v became %v", numbers, given)
		}
	}
}
