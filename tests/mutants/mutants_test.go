package main

import (
	"os"
	"path/filepath"
	"testing"
)

const root = "../.."

// A line that has changed takes its mutant with it: the list is mended then.
func TestEveryMutantChangesOneLine(t *testing.T) {
	if len(mutants) < 350 {
		t.Errorf("%d mutants", len(mutants))
	}
	names := map[string]bool{}
	for _, m := range mutants {
		t.Run(m.Name, func(t *testing.T) {
			if names[m.Name] {
				t.Error("there are two of this name")
			}
			names[m.Name] = true
			if _, err := m.fingerprint(root); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFingerprint(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := Mutant{Name: "a", File: "a.go", Old: "1 + x", New: "2 + x", Package: "."}
	of := func() string {
		t.Helper()
		sum, err := m.fingerprint(dir)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	write("a.go", "y := 1 + x")
	if _, err := m.fingerprint(dir); err == nil {
		t.Error("a package without tests is taken")
	}
	write("a_test.go", "one")
	first := of()
	write("a.go", "y := 1 + x // the sum")
	second := of()
	write("a_test.go", "another")
	third := of()
	if first == second || second == third {
		t.Error("a changed file or test leaves the fingerprint")
	}
	for _, text := range []string{"", "y := 1 + x; z := 1 + x"} {
		write("a.go", text)
		if _, err := m.fingerprint(dir); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// Tests that a pattern names must have passed, or a mutant could not die of them.
func TestPasses(t *testing.T) {
	const output = `=== RUN   TestBand
=== RUN   TestBand/wide
    --- PASS: TestBand/wide (0.00s)
    --- FAIL: TestBand/close (0.00s)
--- PASS: TestBand (0.00s)
--- SKIP: TestLock (0.00s)
PASS
`
	for pattern, want := range map[string]bool{
		"": true, "Band": true, "Other|Band": true, "TestBand$": true, "Band/wide": true, "Lock|Band/wi": true,
		"Lock": false, "Band/close": false, "Other|Lock/Band": false, "Band/wide/more": false,
	} {
		t.Run(pattern, func(t *testing.T) {
			if passes(output, pattern) != want {
				t.Errorf("want %v", want)
			}
		})
	}
}

func TestSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen.json")
	name := mutants[0].Name
	if seen, err := readSeen(path); err != nil || len(seen) != 0 {
		t.Errorf("a file that is not there: %v, %v", seen, err)
	}
	if err := writeSeen(path, map[string]string{name: "sum", "one that was": "old"}); err != nil {
		t.Fatal(err)
	}
	if seen, err := readSeen(path); err != nil || len(seen) != 1 || seen[name] != "sum" {
		t.Errorf("%v, %v", seen, err)
	}
}
