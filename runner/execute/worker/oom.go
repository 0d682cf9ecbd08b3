package worker

import (
	"os"
	"strconv"
	"strings"
)

// oomScore is the adjustment of a worker's OOM score, half of the whole scale; see
// proc_pid_oom_score_adj(5).
const oomScore = 500

// PreferOOMKill makes this process the first that Linux kills when memory runs out,
// because a worker's trial can run again, and a runner cannot.
func PreferOOMKill() {
	const path = "/proc/self/oom_score_adj"
	raw, err := os.ReadFile(path)
	if err != nil {
		return // another operating system
	}
	if score, err := strconv.Atoi(strings.TrimSpace(string(raw))); err == nil && score < oomScore {
		// Where it cannot be written, the default order holds.
		_ = os.WriteFile(path, []byte(strconv.Itoa(oomScore)), 0o600)
	}
}
