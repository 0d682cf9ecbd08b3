package command

import (
	"os"

	"privkern/runner/experiment"
)

// usage returns the processor time of the program. Its peak memory is unknown: Windows has
// it no longer when the process is over.
func (p *process) usage() experiment.Usage {
	state := p.cmd.ProcessState
	return experiment.Usage{CPU: state.UserTime() + state.SystemTime()}
}

// outsideSignal returns none: Windows has no signals.
func outsideSignal(*os.ProcessState) string { return "" }
