// Package text formats parts of messages, records and scripts: counted nouns, ranges,
// sentences, and words of command lines.
package text

import (
	"fmt"
	"slices"
	"strconv"
)

// Count returns "1 trial", "2 trials" for the noun "trial", which must take an s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Times returns "once", "twice", "3 times".
func Times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// Ranges returns numbers in ascending order without duplicates, neighbours as a range: "0..4", "7".
func Ranges(numbers []int64) []string {
	return Runs(slices.Compact(slices.Sorted(slices.Values(numbers))))
}

// Runs is Ranges of numbers in the order that they have.
func Runs(numbers []int64) []string {
	var out []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		part := strconv.FormatInt(numbers[i], 10)
		if j > i {
			part += ".." + strconv.FormatInt(numbers[j], 10)
		}
		out = append(out, part)
		i = j + 1
	}
	return out
}
