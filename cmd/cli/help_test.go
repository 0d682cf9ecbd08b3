package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// The help of every command has an example and fits into 100 columns.
func TestHelp(t *testing.T) {
	root := silent(t).root(nil)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		if c.Hidden {
			return
		}
		t.Run(c.CommandPath(), func(t *testing.T) {
			if c.Runnable() && c.Example == "" {
				t.Error("no example")
			}
			for line := range strings.Lines(c.Long + "\n" + c.UsageString()) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 100 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
	visit(root)
}
