package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/runner"
	"privkern/runner/plan"
	"privkern/tests/program"
)

// sweepFile recognises the text of a sweep file among others.
var sweepFile = regexp.MustCompile(`(?m)^(experiment: |runs:$)`)

// helpExamples returns the sweep files in the help of sweep files: the indented blocks.
func helpExamples(t *testing.T) []string {
	t.Helper()
	help, err := program.Command(t, "help", "sweep-files").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for part := range strings.SplitSeq(string(help), "\n\n") {
		text := strings.ReplaceAll("\n"+part, "\n  ", "\n")
		if strings.HasPrefix(part, "  ") && sweepFile.MatchString(text) {
			all = append(all, text)
		}
	}
	return all
}

// The sweep files in help texts and pages are read and expanded as they stand.
func TestExamplesOfSweepFiles(t *testing.T) {
	help := helpExamples(t)
	if len(help) != 3 {
		t.Errorf("the help has %d sweep files", len(help))
	}
	examples := map[string][]string{"run help sweep-files": help}
	pages, err := filepath.Glob(filepath.Join(program.Root(t), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	for _, page := range append(pages, filepath.Join(program.Root(t), "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range block.FindAllStringSubmatch(string(text), -1) {
			if sweepFile.MatchString(m[1]) {
				examples[filepath.Base(page)] = append(examples[filepath.Base(page)], m[1])
			}
		}
	}
	for _, page := range []string{"sweeps.md", "README.md"} {
		if len(examples[page]) == 0 {
			t.Errorf("%s has no sweep file", page)
		}
	}
	c := runner.NewCatalogue(experiments.Papers())
	for place, texts := range examples {
		t.Run(place, func(t *testing.T) {
			for _, text := range texts {
				file := filepath.Join(t.TempDir(), "example.yaml")
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				wrong := strings.Contains(text, "epsilom") // one shows the message of a mistake
				d, err := plan.ReadSweeps(c.Book, []string{file}, nil, nil, "")
				if (err != nil) != wrong {
					t.Errorf("%v in\n%s", err, text)
				}
				if err == nil && len(d.Settings) == 0 {
					t.Errorf("no trials from\n%s", text)
				}
			}
		})
	}
}
