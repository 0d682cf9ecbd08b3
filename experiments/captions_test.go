package experiments

import (
	"regexp"
	"testing"
)

// lightness are words for how light something is: on a dark page drawings are turned over.
var lightness = regexp.MustCompile(`(?i)\b(white|black|(light|dark)(er|est)?)\b`)

// pictures are figures of pictures, which stay as they are.
var pictures = map[string]bool{"kahm/figure9": true}

func TestCaptionsHoldOnDarkPages(t *testing.T) {
	for _, paper := range Papers() {
		for _, f := range paper.Figures {
			if word := lightness.FindString(f.Title + " " + f.Caption); word != "" && !pictures[f.Name] {
				t.Errorf("the caption of %s says %q, which is another on a dark page", f.Name, word)
			}
		}
	}
}
