package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// unclaimed lists, with reasons, the numbers of a paper that its ledger lacks, and the
// numbers of the ledger that the text lacks.
type unclaimed struct {
	Paper    string        `yaml:"paper"`
	Reasons  []reasonEntry `yaml:"reasons"`
	Restored []restored    `yaml:"restored"`
}

// restored are numbers, separated by blanks, that entries print in their original form
// where the text is defective.
type restored struct {
	Numbers string `yaml:"numbers"`
	Reason  string `yaml:"reason"`
}

type reasonEntry struct {
	Reason string  `yaml:"reason"`
	Of     []quote `yaml:"of"`
}

// quote is a part of a line of a text, and the numbers in it that a reason applies to,
// separated by blanks.
type quote struct {
	Numbers string `yaml:"numbers"`
	In      string `yaml:"in"`
}

// readUnclaimed reads a list strictly. The list of a paper without the file is empty.
func readUnclaimed(path, paper string) (unclaimed, error) {
	u := unclaimed{Paper: paper}
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return u, nil
	} else if err != nil {
		return u, err
	}
	if err := yaml.NewDecoder(bytes.NewReader(raw), yaml.Strict()).Decode(&u); err != nil {
		return u, fmt.Errorf("%s: %w", path, err)
	}
	if u.Paper != paper {
		return u, fmt.Errorf("%s: it is the list of %q", path, u.Paper)
	}
	for _, r := range u.Restored {
		if r.Reason == "" || r.Numbers == "" {
			return u, fmt.Errorf("%s: restored numbers need a reason", path)
		}
	}
	for _, r := range u.Reasons {
		if r.Reason == "" {
			return u, fmt.Errorf("%s: numbers without a reason", path)
		}
		for _, q := range r.Of {
			if q.Numbers == "" || len(q.In) < len(q.Numbers) {
				return u, fmt.Errorf("%s: %q in %q: numbers, and the words around them, are needed", path, q.Numbers, q.In)
			}
		}
	}
	return u, nil
}

// unprinted returns the numbers of entries that neither the text nor the list has, and
// the numbers that the list restores without need.
func (u unclaimed) unprinted(c claimed, numbers []number) (strange, stale []string) {
	there := map[string]bool{}
	for _, n := range numbers {
		there[n.key()] = true
	}
	for _, r := range u.Restored {
		for _, text := range strings.Fields(r.Numbers) {
			key := (number{text: text}).key()
			if _, prints := c.prints[key]; !prints || there[key] {
				stale = append(stale, fmt.Sprintf("%s, restored (%s)", text, r.Reason))
			}
			there[key] = true
		}
	}
	for key := range c.prints {
		if !there[key] {
			strange = append(strange, key)
		}
	}
	slices.Sort(strange)
	return strange, stale
}

// find returns the reasons of listed numbers of a text by their index in numbers, and the
// list's numbers that the text lacks. A quote applies to every line that has it; each of
// its numbers is the first in the quote that has no reason yet.
func (u unclaimed) find(t text, numbers []number) (reasons map[int]string, stale []string) {
	reasons = map[int]string{}
	byLine := map[int][]int{}
	for i, n := range numbers {
		byLine[n.line] = append(byLine[n.line], i)
	}
	for _, r := range u.Reasons {
		for _, q := range r.Of {
			found := map[int]bool{} // indices of the quote's numbers
			for at, line := range t.lines {
				for _, start := range occurrences(line, q.In) {
					for k, wanted := range strings.Fields(q.Numbers) {
						for _, i := range byLine[at+1] {
							n := numbers[i]
							inside := start <= n.start && n.end <= start+len(q.In)
							if inside && reasons[i] == "" && strings.ReplaceAll(n.text, " ", "") == wanted {
								reasons[i] = r.Reason
								found[k] = true
								break
							}
						}
					}
				}
			}
			for k, wanted := range strings.Fields(q.Numbers) {
				if !found[k] {
					stale = append(stale, fmt.Sprintf("%s in %q (%s)", wanted, q.In, r.Reason))
				}
			}
		}
	}
	return reasons, stale
}

// occurrences returns the offsets of the words in a line.
func occurrences(line, words string) []int {
	var out []int
	for from := 0; ; {
		i := strings.Index(line[from:], words)
		if i < 0 {
			return out
		}
		out = append(out, from+i)
		from += i + len(words)
	}
}
