package budget_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"privkern/experiments/budget"
	reader "privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// table writes a table of n rows, from a number on, and returns it as data.
func table(t *testing.T, name string, from, n int) budget.Data {
	t.Helper()
	text := "place,height,weight\n"
	for i := from; i < from+n; i++ {
		text += fmt.Sprintf("%d.%04d,%d.%d,%d\n", i, i*i%9973, 150+i*7%50, i%10, 40+i*i%61)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := budget.DataOf("csv:"+path, path, reader.Reading{}, "")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// numbered registers an export that says how many there were before it.
func numbered(l *budget.Ledger, d budget.Data) (before int, err error) {
	err = l.Register(experiment.Spending{}, d, func(earlier []json.RawMessage) (json.RawMessage, error) {
		before = len(earlier)
		return json.Marshal(map[string]int{"before": before})
	})
	return before, err
}

// Exports are kept with their data, and of several at once each sees those before it.
func TestRegister(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget.json")
	l, err := budget.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	d, other := table(t, "one.csv", 0, 40), table(t, "other.csv", 1000, 40)
	const together = 8
	seen := make([]bool, together)
	var mu sync.Mutex
	var group sync.WaitGroup
	for range together {
		group.Go(func() {
			again, err := budget.Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			before, err := numbered(again, d)
			mu.Lock()
			defer mu.Unlock()
			if err != nil || seen[before] {
				t.Errorf("after %d: %v", before, err)
			}
			seen[before] = true
		})
	}
	group.Wait()
	if before, err := numbered(l, other); before != 0 || err != nil {
		t.Errorf("%d exports of other data, %v", before, err)
	}
	// The same rows and more, elsewhere.
	if before, err := numbered(l, table(t, "grown.csv", 0, 50)); before != together || err != nil {
		t.Errorf("%d exports of grown data, %v", before, err)
	}
	// A refusal and a repetition leave the ledger as it is.
	refusal := errors.New("too much")
	for _, want := range []error{refusal, nil} {
		err := l.Register(experiment.Spending{}, d, func(earlier []json.RawMessage) (json.RawMessage, error) {
			if len(earlier) != together+1 {
				t.Errorf("%d exports", len(earlier))
			}
			return nil, want
		})
		if !errors.Is(err, want) {
			t.Errorf("%v", err)
		}
	}
}

// Secrets are those of a ledger and a text. They stay when releases and exports come, and nobody
// else may read the file that they follow from.
func TestSecret(t *testing.T) {
	folder := t.TempDir()
	secret := func(name, text string) string {
		l, err := budget.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.Secret([]byte(text))
		if err != nil || len(s) != 32 {
			t.Fatalf("%d bytes, %v", len(s), err)
		}
		return string(s)
	}
	first := secret("a", "noise")
	l, err := budget.Open(filepath.Join(folder, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := numbered(l, table(t, "one.csv", 0, 40)); err != nil {
		t.Fatal(err)
	}
	if secret("a", "noise") != first || secret("a", "nose") == first || secret("b", "noise") == first {
		t.Error("secrets of other texts or ledgers are the same, or one has changed")
	}
	if info, err := os.Stat(filepath.Join(folder, "a")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A ledger that cannot be used gives no secret and registers nothing.
func TestRegisterWithoutLedger(t *testing.T) {
	d := table(t, "one.csv", 0, 40)
	for name, content := range map[string]string{
		"torn": `{"schema": 2`, "newer": `{"schema": 99, "sha256": ""}`, "empty": "",
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := budget.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var file *budget.FileError
		if _, err := l.Secret(nil); !errors.As(err, &file) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := numbered(l, d); !errors.As(err, &file) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if raw, err := os.ReadFile(path); err != nil || string(raw) != content {
			t.Errorf("%s was changed: %q, %v", name, raw, err)
		}
	}
}
