package cli

import (
	"cmp"
	"errors"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments/attack/compression"
	"privkern/experiments/multikernel/projectionfile"
	"privkern/experiments/page"
	"privkern/runner/execute/progress"
	"privkern/runner/text"
)

// defaultDivisions are the seeds of an attack on a compression that names none.
const defaultDivisions = "0..4"

// attackCompression attacks the compression of a file, of kind attribute, person or reconstruction, on the rows that
// arguments name.
func (a *app) attackCompression(cmd *cobra.Command, o *runOptions, path string, m *projectionfile.Model,
	args []string) error {
	given := *o
	given.seeds = cmp.Or(o.seeds, defaultDivisions)
	_, seeds, format, err := given.validate(cmd)
	if err != nil {
		return err
	}
	kind, others := "", []string(nil)
	for _, arg := range args {
		if text, ok := strings.CutPrefix(arg, "kind="); ok {
			kind = text
		} else {
			others = append(others, arg)
		}
	}
	r, err := compression.Parse(kind, path, m, others, seeds)
	var refused *compression.RefusedError
	if errors.As(err, &refused) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	data := a.datasets().Get(r.Settings.Dataset)
	if data.Err != nil {
		return data.Err
	}
	watched := progress.Watch(a.progressOptions(), "attack "+path)
	done := 0
	results, err := r.Run(cmd.Context(), data.Folder, runtime.GOMAXPROCS(0), func(what string) {
		done++
		watched.Inner(done, r.Steps(), what)
	})
	watched.Close()
	if errors.As(err, &refused) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	return page.Write(a.out, results, page.Format(format), text.Command, min(page.Width, columns(a.out)))
}
