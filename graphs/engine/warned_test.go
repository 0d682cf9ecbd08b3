package engine

import (
	"errors"
	"slices"
	"testing"
)

// Warned returns the warnings of a function, whether or not the engine has them before, and
// whether or not the function fails.
func TestWarned(t *testing.T) {
	e, err := Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	e.Warn("a")
	failed := errors.New("failed")
	given, err := e.Warned(func() error {
		e.Warn("c")
		e.Warn("a")
		return failed
	})
	if !errors.Is(err, failed) || !slices.Equal(given, []string{"a", "c"}) {
		t.Errorf("%q, %v", given, err)
	}
	if all := e.Warnings(); !slices.Equal(all, []string{"a", "c"}) {
		t.Errorf("the engine has %q", all)
	}
	if given, err = e.Warned(func() error { return nil }); err != nil || len(given) > 0 {
		t.Errorf("%q, %v", given, err)
	}
}
