package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"privkern/runner/store/disk"
	"privkern/runner/text"
)

// askLimit finds out how many tasks an array job has at most.
func (w *watch) askLimit(ctx context.Context) error {
	if w.limit > 0 {
		return nil
	}
	limit, err := arrayLimit(ctx)
	if err != nil {
		return err
	}
	if w.Chunk > limit {
		return fmt.Errorf("--array-chunk is %d; this site allows array jobs of at most %s (MaxArraySize)", w.Chunk,
			text.Count(limit, "task"))
	}
	w.limit = min(limit, DefaultChunk)
	if w.Chunk > 0 {
		w.limit = w.Chunk
	}
	return nil
}

// submit submits parts as array jobs within the site's limit. Where one is not
// taken, rest counts the parts that are left.
func (w *watch) submit(ctx context.Context, parts []int) (rest int, err error) {
	rest = len(parts)
	if err := w.askLimit(ctx); err != nil {
		return rest, err
	}
	untimed, _ := slices.BinarySearch(parts, w.journal.Parts-w.journal.TimedParts+1)
	for _, alike := range [][]int{parts[:untimed], parts[untimed:]} {
		for chunk := range slices.Chunk(alike, w.limit) {
			if err := w.submitJob(ctx, chunk); err != nil {
				return rest, err
			}
			rest -= len(chunk)
		}
	}
	return 0, nil
}

// submitJob submits one array job, for parts of one kind. The journal has its entry
// before Slurm has the job, so that a runner killed between the two finds it again.
func (w *watch) submitJob(ctx context.Context, parts []int) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	if strings.ContainsAny(w.dir+cwd, "\"\\\n") {
		return fmt.Errorf("batch scripts cannot name folders with a quote, a backslash or a line break: %q, %q", w.dir, cwd)
	}
	s := w.journal.next(parts)
	options := []Option{
		{"job-name", s.Name}, array(len(parts), w.MaxRunning), {"output", logPattern(w.dir, s.Number)},
		{"open-mode", "truncate"},
		{"chdir", cwd}, {"no-requeue", ""},
	}
	of := w.journal.kindOf(parts[0])
	if of.only == "timed" {
		options = append(options, exclusive(w.Options)...)
	} else {
		options = append(options, w.Options...)
	}
	if w.MaxRunning > 0 && len(w.live) > 0 {
		// The limit is one of an array job: so one follows upon another.
		options = after(options, w.live[len(w.live)-1])
	}
	source := script{
		name: s.Name, title: w.plan.Title, parts: parts, kind: of, options: options, environment: w.Environment,
		program: w.Program, work: w.Work, dir: w.dir,
	}.text()
	path := filepath.Join(w.dir, s.Script)
	if err := disk.WriteFile(disk.System, path, []byte(source)); err != nil {
		return err
	}
	s.Submitted = time.Now().UTC().Truncate(time.Second)
	w.journal.Submissions = append(w.journal.Submissions, s)
	if err := w.journal.write(w.dir); err != nil {
		return err
	}
	mine := &w.journal.Submissions[len(w.journal.Submissions)-1]
	if mine.Job, err = submit(ctx, path, options); err != nil {
		// Without an answer it may be there; then it is found by its name.
		if !errors.Is(err, errNoAnswer) {
			w.journal.Submissions = w.journal.Submissions[:len(w.journal.Submissions)-1]
		}
		return errors.Join(err, w.journal.write(w.dir))
	}
	w.live = append(w.live, mine.Job)
	alone := ""
	if of.only == "timed" {
		alone = " of timed trials, each alone on its node,"
	}
	w.Observer.Notice(fmt.Sprintf("submitted %s%s as job %s", text.Count(len(parts), "task"), alone, mine.Job), false)
	return w.journal.write(w.dir)
}

// after makes a job wait for the end of another.
func after(options []Option, job string) []Option {
	value := "afterany:" + job
	for i, o := range options {
		if o.Name == "dependency" {
			options[i].Value = value + "," + o.Value
			return options
		}
	}
	return append(options, Option{"dependency", value})
}
