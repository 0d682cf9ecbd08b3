package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Mutant is one wrong line.
type Mutant struct {
	Name     string
	File     string // from the root of the repository
	Old, New string // Old stands exactly once in File
	Package  string // whose tests notice, as ./folder
	Tests    string // which of them, a regular expression for -run; "" for all
	Env      string // added to their environment, as NAME=VALUE; may be ""
	Device   bool   // runs on the simulated CUDA device only
}

// named reports whether the name has one of the words; no words choose all.
func (m Mutant) named(words []string) bool {
	for _, w := range words {
		if strings.Contains(m.Name, w) {
			return true
		}
	}
	return len(words) == 0
}

// mutated returns the text of the file with the wrong line.
func (m Mutant) mutated(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return nil, err
	}
	switch n := bytes.Count(text, []byte(m.Old)); {
	case n != 1:
		return nil, fmt.Errorf("%s: %s has its line %d times; it must stand there once:\n%s", m.Name, m.File, n, m.Old)
	case m.Old == m.New:
		return nil, fmt.Errorf("%s: the mutant is the line itself", m.Name)
	}
	return bytes.Replace(text, []byte(m.Old), []byte(m.New), 1), nil
}

// fingerprint is the SHA-256 of the nearest causes of the mutant's death: its text, its
// package, and the package and tests that are to notice it.
func (m Mutant) fingerprint(root string) (string, error) {
	text, err := m.mutated(root)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n", m.Package, m.Tests, m.Env, text)
	tests := 0
	for _, folder := range []string{filepath.Dir(m.File), m.Package} {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.go")) // sorted
		if err != nil {
			return "", err
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") && folder == m.Package {
				tests++
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s\n%s\n", filepath.Base(name), text)
		}
	}
	if tests == 0 {
		return "", fmt.Errorf("%s: %s has no tests", m.Name, m.Package)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// seenFile holds the fingerprint of each mutant that was seen to die, by name.
const seenFile = "tests/mutants/seen.json"

func readSeen(path string) (map[string]string, error) {
	seen := map[string]string{}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return seen, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &seen)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return seen, nil
}

// writeSeen forgets mutants that the list does not have any more.
func writeSeen(path string, seen map[string]string) error {
	out := map[string]string{}
	for _, m := range mutants {
		if text, ok := seen[m.Name]; ok {
			out[m.Name] = text
		}
	}
	raw, err := json.MarshalIndent(out, "", " ") // keys are sorted
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}
