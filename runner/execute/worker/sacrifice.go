package worker

import (
	"os"
	"strconv"
	"strings"
)

// sacrificeScore is how much more readily Linux ends a worker than other
// programs; see proc_pid_oom_score_adj(5). It is half of the whole scale.
const sacrificeScore = 500

// Sacrifice offers this process to the kernel, where that has to end one for want
// of memory: a worker's trial is run again, but who would run the runner?
func Sacrifice() {
	const path = "/proc/self/oom_score_adj"
	raw, err := os.ReadFile(path)
	if err != nil {
		return // another operating system
	}
	if score, err := strconv.Atoi(strings.TrimSpace(string(raw))); err == nil && score < sacrificeScore {
		// Where it cannot be written, the kernel chooses as it likes.
		_ = os.WriteFile(path, []byte(strconv.Itoa(sacrificeScore)), 0o600)
	}
}
