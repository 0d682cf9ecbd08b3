package experiments

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every experiment has a share, with what stays outside, at settings that it has, and a row of
// the page that `run bench shares` writes.
func TestShares(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "shares.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := Shares()
	var named []string
	for _, s := range all {
		named = append(named, s.Experiment)
	}
	var listed []string
	for _, p := range Papers() {
		for _, e := range p.Experiments {
			listed = append(listed, e.Name)
			i := slices.Index(named, e.Name)
			if i < 0 {
				continue
			}
			given := map[string]any{}
			for _, assignment := range all[i].Settings {
				name, value, _ := strings.Cut(assignment, "=")
				given[name] = value
			}
			if _, err := e.Resolve(given); err != nil {
				t.Errorf("%s: %v", e.Name, err)
			}
			if !strings.Contains(string(page), "| "+e.Name+" |") || !strings.Contains(string(page), all[i].Outside) {
				t.Errorf("docs/shares.md does not say of %s: %q; run bench shares --output markdown writes it", e.Name,
					all[i].Outside)
			}
		}
	}
	if !slices.Equal(named, listed) {
		t.Errorf("shares of\n%q, the experiments are\n%q", named, listed)
	}
}
