package commands

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"privkern/tests/program"
	"privkern/tests/tier"
)

// The page on adding an experiment adds one: its files and changes, applied to a copy of the
// repository, and its commands make an experiment that passes the repository's tests.
func TestAddingAnExperiment(t *testing.T) {
	tier.Gate(t, "it builds a copy of the repository")
	root := copyOfRepository(t)
	for _, b := range readBlocks(t, filepath.Join(root, "docs", "experiments.md")) {
		kind, argument, _ := strings.Cut(b.note, ": ")
		file := filepath.Join(root, argument)
		switch {
		case kind == "file":
			writeFile(t, file, b.text)
		case kind == "change":
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, file, change(t, string(text), b.text))
		case b.language == "sh" && strings.Contains(b.text, "./experiments/demo"):
			cmd := exec.Command("bash", "-euc", b.text)
			cmd.Dir = root
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("docs/experiments.md:%d: %v\n%s", b.line, err, out)
			} else if !strings.Contains(string(out), "Table 1: the mean of 100 uniform numbers") {
				t.Errorf("the table is not printed:\n%s", out)
			}
		}
	}
}

// copyOfRepository copies the files of the repository that git does not ignore, and returns the
// folder of the copy.
func copyOfRepository(t *testing.T) string {
	t.Helper()
	root, to := program.Root(t), t.TempDir()
	list := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.Trim(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, and not yet from the index
		}
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(to, name), string(text))
	}
	return to
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// change applies a diff to a text: hunks without numbers of lines, each of lines that the text has
// once, with others added.
func change(t *testing.T, text, diff string) string {
	t.Helper()
	for hunk := range strings.SplitSeq(diff, "@@\n") {
		var was, now strings.Builder
		for line := range strings.Lines(hunk) {
			if line[0] == ' ' {
				was.WriteString(line[1:])
			}
			now.WriteString(line[1:])
		}
		if strings.Count(text, was.String()) != 1 {
			t.Fatalf("the text does not have once:\n%s", was.String())
		}
		text = strings.Replace(text, was.String(), now.String(), 1)
	}
	return text
}
