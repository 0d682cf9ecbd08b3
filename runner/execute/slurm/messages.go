package slurm

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privkern/runner/text"
)

// jobNames returns "job 12" or "jobs 12, 13".
func jobNames(jobs []string) string {
	if len(jobs) == 1 {
		return "job " + jobs[0]
	}
	return "jobs " + strings.Join(jobs, ", ")
}

func theyGoOn(jobs []string) string {
	verb := " go on"
	if len(jobs) == 1 {
		verb = " goes on"
	}
	return jobNames(jobs) + verb + "; the same command attaches again, `scancel " + strings.Join(jobs, " ") + "` cancels"
}

// queueText returns the numbers of tasks that run and wait, with the most frequent
// reason for waiting.
func queueText(running, waiting int, reasons map[string]int) string {
	text := fmt.Sprintf("%d running", running)
	if waiting == 0 {
		return text
	}
	why := ""
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		if reason != "None" && reason != "" && (why == "" || reasons[reason] > reasons[why]) {
			why = reason
		}
	}
	text += fmt.Sprintf(", %d waiting", waiting)
	if why != "" {
		text += " (" + why + ")"
	}
	return text
}

// partNames returns "part 2 of 3" or "parts 1-2,7 of 9".
func partNames(parts []int, of int) string {
	noun := "part"
	if len(parts) > 1 {
		noun = "parts"
	}
	return fmt.Sprintf("%s %s of %d", noun, ranges(parts), of)
}

// lost returns the message about lost tasks and the states in which they ended.
func lost(parts []int, states map[string]int, of int) string {
	var how []string
	for _, s := range slices.Sorted(maps.Keys(states)) {
		if len(states) == 1 {
			how = append(how, s)
		} else {
			how = append(how, fmt.Sprintf("%d %s", states[s], s))
		}
	}
	return fmt.Sprintf("%s lost (%s), submitted again: %s", text.Count(len(parts), "task"),
		strings.Join(how, ", "), partNames(parts, of))
}

// advice maps the state of a task that is lost again and again to a remedy.
var advice = map[string]string{
	"OUT_OF_MEMORY": "give a task more memory (--slurm mem=16G), or use a smaller setting",
	"TIMEOUT":       "give a task more time (--slurm time=4:00:00), or fewer trials (--trials-per-task)",
	"DEADLINE":      "give the job a later deadline (--slurm deadline)",
	"PREEMPTED": "use a partition or a quality of service whose jobs are not preempted (--slurm partition, " +
		"--slurm qos)",
}

// maxReported limits the lost parts that are reported in full.
const maxReported = 5

// report reports parts that were lost too often.
func (w *watch) report(parts []int) {
	for i, part := range parts {
		if i == maxReported {
			w.Observer.Notice(fmt.Sprintf("%d more parts were lost, too", len(parts)-maxReported), true)
			return
		}
		t := w.last[part]
		path := logPath(w.dir, t)
		message := fmt.Sprintf("%s of part %d of %d without a result: its task was lost %s, last as %s (%s)",
			text.Count(w.left[part], "trial"), part, w.parts, text.Times(w.tries[part]), t, t.state)
		if remedy := advice[t.state]; remedy != "" {
			message += "; " + remedy
		}
		tail, err := logEnd(path)
		switch {
		case err != nil:
			message += fmt.Sprintf("; its log cannot be read (%v): is the folder on a file system that all nodes see?", err)
		case tail == "":
			message += fmt.Sprintf("; its log is empty: %s", path)
		default:
			message += fmt.Sprintf("; the end of %s:\n    %s", filepath.Join(w.store.Dir(), folder, filepath.Base(path)),
				strings.ReplaceAll(tail, "\n", "\n    "))
		}
		w.Observer.Notice(message, true)
	}
}

// logEnd returns the last lines of a file.
func logEnd(path string) (string, error) {
	const size, lines = 4096, 8
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	raw = raw[max(0, len(raw)-size):]
	all := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(raw), "?")), "\n")
	return strings.TrimSpace(strings.Join(all[max(0, len(all)-lines):], "\n")), nil
}
