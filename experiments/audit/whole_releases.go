package audit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// Whole is everything that one release publishes: files, both output streams, warnings.
type Whole struct {
	Parts []Part
	// Private holds texts that must occur nowhere, in addition to paths and digests: the
	// path of the data, a digest of it, a value of it.
	Private []string
}

// Part is one of the things that a release publishes.
type Part struct {
	Name  string // such as "release.csv" or "stderr"
	Bytes []byte
	// Noisy matches the texts whose numbers may differ between releases: the values
	// of noisy numbers and nothing else. Only the numbers in a match are free, the
	// text around them is not. Nil: no number may differ.
	Noisy *regexp.Regexp
	// Digest matches texts with a digest that is public, such as one of settings.
	Digest *regexp.Regexp
}

var (
	number = regexp.MustCompile(`[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?`)
	digest = regexp.MustCompile(`\b[0-9a-fA-F]{32,128}\b`)
	path   = regexp.MustCompile(`(^|[\s"'=:(,])(/[A-Za-z0-9._-]+){2,}|[A-Za-z]:\\[A-Za-z0-9._\\-]+`)
)

// comparedReleases is the number of releases of each data set that are compared.
const comparedReleases = 5

// TestWhole compares several releases of two neighbouring data sets, all of them
// with the first: they have equal parts, and the parts are equal but for the digits
// of noisy numbers. Numbers of rows and columns, fields and their order, metadata,
// messages and warnings are equal then, and so are sizes but for those digits.
// No part holds a path, a digest or a private text of the subject.
func TestWhole(pair Pair, entropy func(second bool, i int) *rand.ChaCha8) ([]string, error) {
	var found []string
	var reference Whole
	seen := map[string]bool{}
	add := func(text string) {
		if !seen[text] {
			seen[text] = true
			found = append(found, text)
		}
	}
	for i := range comparedReleases {
		for _, second := range []bool{false, true} {
			w, err := pair.Whole(second, entropy(second, i))
			if err != nil {
				return nil, err
			}
			if reference.Parts == nil {
				reference = w
			}
			for _, text := range w.leaks() {
				add(text)
			}
			if text := reference.differs(w); text != "" {
				who := "data set 1"
				if second {
					who = "data set 2"
				}
				add(fmt.Sprintf("a release of %s differs: %s", who, text))
			}
		}
	}
	return found, nil
}

// leaks returns the parts with texts that no release may hold.
func (w Whole) leaks() []string {
	var found []string
	for _, p := range w.Parts {
		text := p.Bytes
		if p.Digest != nil {
			text = p.Digest.ReplaceAll(text, nil)
		}
		if digest.Match(text) {
			found = append(found, p.Name+" holds a digest")
		}
		if path.Match(text) {
			found = append(found, p.Name+" holds a path")
		}
		for _, private := range w.Private {
			if private != "" && bytes.Contains(p.Bytes, []byte(private)) {
				found = append(found, p.Name+" holds something private")
			}
		}
	}
	return found
}

// differs returns the first difference of two releases apart from the digits of noisy numbers.
func (w Whole) differs(o Whole) string {
	names := func(w Whole) (out []string) {
		for _, p := range w.Parts {
			out = append(out, p.Name)
		}
		return out
	}
	if a, b := names(w), names(o); !slices.Equal(a, b) {
		return fmt.Sprintf("it has the parts %s and not %s", strings.Join(b, ", "), strings.Join(a, ", "))
	}
	for i, p := range w.Parts {
		a, b := p.skeleton(), o.Parts[i].skeleton()
		if bytes.Equal(a, b) {
			continue
		}
		la, lb := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
		if len(la) != len(lb) {
			return fmt.Sprintf("%s has %d lines and not %d", p.Name, len(lb), len(la))
		}
		for k := range la {
			if !bytes.Equal(la[k], lb[k]) {
				return fmt.Sprintf("%s, line %d, is %q and not %q", p.Name, k+1, clip(lb[k]), clip(la[k]))
			}
		}
	}
	return ""
}

func clip(text []byte) []byte {
	if len(text) > 80 {
		return append(slices.Clone(text[:80]), "..."...)
	}
	return text
}

// skeleton is the part with # in place of each noisy number.
func (p Part) skeleton() []byte {
	if p.Noisy == nil {
		return p.Bytes
	}
	return p.Noisy.ReplaceAllFunc(p.Bytes, func(match []byte) []byte {
		return number.ReplaceAllLiteral(match, []byte("#"))
	})
}
