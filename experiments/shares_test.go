package experiments

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// Descriptions are of experiments, at settings that they have, and stand on
// the page that `run bench shares` writes.
func TestShares(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "shares.md"))
	if err != nil {
		t.Fatal(err)
	}
	registry := experiment.RegistryOf(Papers())
	for _, share := range shares() {
		e, err := registry.Lookup(share.Experiment)
		if err != nil {
			t.Error(err)
			continue
		}
		given := map[string]any{}
		for _, assignment := range share.Settings {
			name, value, _ := strings.Cut(assignment, "=")
			given[name] = value
		}
		if _, err := e.Resolve(given); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		if !strings.Contains(string(page), "| "+e.Name+" |") || !strings.Contains(string(page), share.Outside) {
			t.Errorf("docs/shares.md does not have %s: %q; run bench shares --output markdown writes it", e.Name, share.Outside)
		}
	}
	if got, want := len(Shares()), len(registry.Names()); got != want {
		t.Errorf("%d shares of %d experiments", got, want)
	}
}
