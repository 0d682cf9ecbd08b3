package slurm

import (
	"fmt"
	"path/filepath"
	"strings"

	"privkern/runner/text"
)

// script is a batch script for an array job; task k runs the k-th of the parts.
type script struct {
	name        string // of the job
	title       string // of the sweep
	parts       []int  // counted from 1
	kind        kind   // of all of them
	options     []Option
	environment []string // NAME=value
	program     string
	work        []string // arguments of `run work` besides the folder and the part
	dir         string   // the output folder
}

// text returns the script. Everything in it is absolute: it can be submitted
// again by hand, from anywhere.
func (s script) text() string {
	var b strings.Builder
	title := strings.Join(strings.Fields(s.title), " ")
	if title == "" {
		title = filepath.Base(s.dir)
	}
	trials := "the plan"
	if s.kind.only != "" {
		trials = "the plan's " + s.kind.only + " trials"
	}
	fmt.Fprintf(&b, "#!/bin/bash\n# %s: %d of the %d parts of %s in\n# %s\n", title, len(s.parts),
		s.kind.parts, trials, s.dir)
	for _, o := range s.options {
		b.WriteString(o.directive() + "\n")
	}
	fmt.Fprintf(&b, "\n# Part i of n is the trials i, i+n, i+2n, ... of %s.\nparts=(", trials)
	for i, part := range s.parts {
		switch {
		case i > 0 && i%20 == 0:
			b.WriteString("\n  ")
		case i > 0:
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, part-s.kind.before)
	}
	fmt.Fprintf(&b, `)
part=${parts[$SLURM_ARRAY_TASK_ID]}
echo "part $part of %d: task ${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID} on $(hostname), $(date -u +%%FT%%TZ)"

`, s.kind.parts)
	for _, v := range s.environment {
		name, value, _ := strings.Cut(v, "=")
		fmt.Fprintf(&b, "export %s=%s\n", name, text.Quote(value))
	}
	// Where tasks are not confined to their cores, a task would see all of its
	// node's.
	b.WriteString("export GOMAXPROCS=${SLURM_CPUS_ON_NODE:-1}\n")
	fmt.Fprintf(&b, "exec %s work %s --shard \"$part/%d\"", text.Quote(s.program), text.Quote(s.dir), s.kind.parts)
	if s.kind.only != "" {
		fmt.Fprintf(&b, " --only %s", s.kind.only)
	}
	for _, arg := range s.work {
		b.WriteString(" " + text.Quote(arg))
	}
	b.WriteByte('\n')
	return b.String()
}

// array returns the option for an array of the given number of tasks, of which at most
// running run at a time (0: any number).
func array(tasks, running int) Option {
	value := fmt.Sprintf("0-%d", tasks-1)
	if running > 0 {
		value += fmt.Sprintf("%%%d", running)
	}
	return Option{"array", value}
}

// logPattern is the path of the tasks' logs as sbatch takes it.
func logPattern(dir string, number int) string {
	return strings.ReplaceAll(filepath.Join(dir, folder, fmt.Sprintf("%03d-", number)), "%", "%%") + "%a.log"
}

// logPath is the path of a task's log.
func logPath(dir string, number, index int) string {
	return filepath.Join(dir, folder, fmt.Sprintf("%03d-%d.log", number, index))
}
