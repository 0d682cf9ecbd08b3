package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privkern/runner/store/disk"
	"privkern/runner/text"
)

// script is the batch script of an array job.
type script struct {
	title       string // of the sweep
	options     []Option
	environment []string // NAME=value
	program     string
	work        []string // arguments of `run work` after the folder and the part
	dir         string   // the output folder
	only        string   // the value of --only; "" where the plan is not divided into timed and untimed trials
	first       int      // the part, among those of the kind, that task 0 runs
	parts       int      // of the kind
}

// text returns the script. Everything in it is absolute, so that it can be submitted
// again by hand, from anywhere.
func (s script) text() string {
	var b strings.Builder
	title := strings.Join(strings.Fields(s.title), " ")
	if title == "" {
		title = filepath.Base(s.dir)
	}
	trials := "the plan"
	if s.only != "" {
		trials = "the plan's " + s.only + " trials"
	}
	fmt.Fprintf(&b, "#!/bin/bash\n# %s: the %d parts of %s in\n# %s\n", title, s.parts, trials, s.dir)
	for _, o := range s.options {
		b.WriteString(o.directive() + "\n")
	}
	fmt.Fprintf(&b, "\n# Part i of n is the trials i, i+n, i+2n, ... of %s.\npart=$((SLURM_ARRAY_TASK_ID + %d))\n", trials,
		s.first)
	fmt.Fprintf(&b, `echo "part $part of %d: task ${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID} on $(hostname), `+
		"$(date -u +%%FT%%TZ)\"\n\n", s.parts)
	for _, v := range s.environment {
		name, value, _ := strings.Cut(v, "=")
		fmt.Fprintf(&b, "export %s=%s\n", name, text.Quote(value))
	}
	// Where tasks are not confined to their cores, a task would see all of its
	// node's.
	b.WriteString("export GOMAXPROCS=${SLURM_CPUS_ON_NODE:-1}\n")
	fmt.Fprintf(&b, "exec %s work %s --shard \"$part/%d\"", text.Quote(s.program), text.Quote(s.dir), s.parts)
	if s.only != "" {
		fmt.Fprintf(&b, " --only %s", s.only)
	}
	for _, arg := range s.work {
		b.WriteString(" " + text.Quote(arg))
	}
	b.WriteByte('\n')
	return b.String()
}

// ranges writes rising numbers as ranges, such as "0-2,5".
func ranges(numbers []int) string {
	var out []byte
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Append(out, numbers[i])
		if j > i {
			out = fmt.Appendf(out, "-%d", numbers[j])
		}
		i = j + 1
	}
	return string(out)
}

// logPath returns the path of a task's log.
func logPath(dir string, t task) string { return filepath.Join(dir, folder, t.String()+".log") }

// submit submits rising parts as array jobs within the limit. Where a job is refused,
// rest counts the parts that are left.
func (w *watch) submit(ctx context.Context, parts []int) (rest int, err error) {
	limit := w.Chunk
	if limit == 0 {
		limit = DefaultChunk
	}
	for len(parts) > 0 {
		base := (parts[0] - 1) / limit * limit
		end := base + limit // the last part that a job with this base may have
		if parts[0] <= w.untimed() {
			end = min(end, w.untimed())
		}
		n, _ := slices.BinarySearch(parts, end+1)
		if err := w.submitJob(ctx, base, parts[:n]); err != nil {
			return len(parts), err
		}
		parts = parts[n:]
	}
	return 0, nil
}

// submitJob submits one array job for parts of one kind.
func (w *watch) submitJob(ctx context.Context, base int, parts []int) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	if strings.ContainsAny(w.dir+cwd, "\"\\\n") {
		return fmt.Errorf("batch scripts cannot name folders with a quote, a backslash or a line break: %q, %q", w.dir, cwd)
	}
	indexes := make([]int, len(parts))
	for i, part := range parts {
		indexes[i] = part - base - 1
	}
	array := ranges(indexes)
	if w.MaxRunning > 0 {
		array += fmt.Sprintf("%%%d", w.MaxRunning)
	}
	logs := strings.ReplaceAll(filepath.Join(w.dir, folder), "%", "%%") + "/%A_%a.log"
	name := w.jobName
	name.base = base
	s := script{
		title: w.plan.Title, environment: w.Environment, program: w.Program, work: w.Work, dir: w.dir,
		first: base + 1, parts: w.parts,
		options: []Option{{"job-name", name.String()}, {"array", array}, {"output", logs},
			{"open-mode", "truncate"}, {"chdir", cwd}, {"no-requeue", ""}},
	}
	given, alone := w.Options, ""
	switch {
	case w.timed == 0:
	case parts[0] > w.untimed():
		s.only, s.first, s.parts = "timed", s.first-w.untimed(), w.timed
		given, alone = exclusive(given), " of timed trials, each alone on its node,"
	default:
		s.only, s.parts = "untimed", w.untimed()
	}
	s.options = append(s.options, given...)
	if w.MaxRunning > 0 && len(w.live) > 0 {
		// The limit is that of an array job: so one follows upon another.
		s.options = after(s.options, w.live[len(w.live)-1])
	}
	path := filepath.Join(w.dir, folder, name.String()+".sh")
	if err := disk.WriteFile(disk.System, path, []byte(s.text())); err != nil {
		return err
	}
	job, err := submit(ctx, path, s.options)
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	w.live = append(w.live, job)
	for i, part := range parts {
		w.last[part] = task{job: job, index: indexes[i]}
		w.tries[part]++
		delete(w.lostSince, part)
	}
	w.Observer.Notice(fmt.Sprintf("submitted %s%s as job %s", text.Count(len(parts), "task"), alone, job), false)
	return nil
}

// exclusive returns the options of a job that has its nodes to itself.
func exclusive(options []Option) []Option {
	out := slices.DeleteFunc(slices.Clone(options), func(o Option) bool {
		return o.Name == "exclusive" || o.Name == "oversubscribe" || o.Name == "share"
	})
	return append(out, Option{"exclusive", ""})
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
