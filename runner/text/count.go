// Package text writes the words that messages, records and scripts are made of:
// numbers of things, sentences, and words of command lines.
package text

import "fmt"

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
