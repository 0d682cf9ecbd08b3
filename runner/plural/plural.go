// Package plural writes numbers of things.
package plural

import "fmt"

// Count returns "1 trial", "2 trials" for the noun "trial", which must take an s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
