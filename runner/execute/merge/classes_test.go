package merge_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"privkern/runner/execute/merge"
	"privkern/runner/store/disk"
)

// TestClasses unites folders of several BLAS classes: a difference is a conflict among
// results of one class, and reported among others.
func TestClasses(t *testing.T) {
	p := makePlan(t, 2)
	for _, c := range []struct {
		name     string
		from     [][]string
		want     []string // of the united folder
		report   string
		conflict bool
	}{
		{"one class", [][]string{{"ok 1 MKL"}, {"", "ok 2 MKL"}}, []string{"ok 1", "ok 2"},
			"mkl-1.0-zen; 0 trials apart", false},
		{"parts of two classes", [][]string{{"ok 1 MKL"}, {"", "ok 2 OpenBLAS"}}, []string{"ok 1", "ok 2"},
			"mkl-1.0-zen (1 trial), openblas-1.0-zen (1 trial); 0 trials apart", false},
		{"the same results of two classes", [][]string{{"ok 1 MKL", "ok 2 MKL"}, {"", "ok 2 OpenBLAS"}},
			[]string{"ok 1", "ok 2"},
			"mkl-1.0-zen; 0 trials apart", false},
		{"results that are apart", [][]string{{"ok 1 MKL", "ok 2 MKL"}, {"ok 1.001 OpenBLAS", "ok 2.000004 OpenBLAS"}},
			[]string{"ok 1", "ok 2"}, "mkl-1.0-zen; 2 trials apart by 0.001 (y)", false},
		{"one class and apart", [][]string{{"ok 1 MKL"}, {"ok 1.001 MKL"}}, nil, "", true},
		{"apart in the other class", [][]string{{"ok 1 MKL"}, {"ok 1.001 OpenBLAS"}, {"ok 1.002 OpenBLAS"}}, nil, "", true},
		{"the same in the other class", [][]string{{"ok 1 MKL"}, {"ok 1.001 OpenBLAS"}, {"ok 1.001 OpenBLAS"}},
			[]string{"ok 1", ""},
			"mkl-1.0-zen; 1 trials apart by 0.001 (y)", false},
		{"unknown kernels", [][]string{{"ok 1 MKL"}, {"ok 1.001"}}, nil, "", true},
		{"a failure is of no class", [][]string{{"failed"}, {"", "ok 2 MKL"}}, []string{"failed", "ok 2"},
			"mkl-1.0-zen; 0 trials apart", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var from []string
			for _, records := range c.from {
				from = append(from, folder(t, p, records...))
			}
			into := filepath.Join(t.TempDir(), "into")
			r, err := merge.Folders(disk.System, into, from, "", registry)
			if c.conflict {
				if !errors.Is(err, merge.ErrConflicts) || len(r.Conflicts) != 1 {
					t.Errorf("%+v, %v", r, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("%s; %d trials apart", r.Classes, r.Rounded.Trials)
			if n := r.Rounded; n.Trials > 0 {
				got += fmt.Sprintf(" by %.1g (%s)", n.Most, n.Metric)
			}
			if got != c.report {
				t.Errorf("got  %s\nwant %s", got, c.report)
			}
			if got := show(t, into, p); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
