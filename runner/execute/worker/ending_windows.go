package worker

import (
	"syscall"

	"golang.org/x/sys/windows"

	"privkern/runner/execute/trial"
)

// systemEndings are the endings of Windows, which has no signals: the exit status tells
// how a process ended. The Task Manager and taskkill end one with status 1; this
// program prints a message before it exits with 1.
var systemEndings = []ending{
	{status: errorStatus, silent: true, predicate: "was ended from outside (exit status 1 without a word)"},
	{status: int(windows.STATUS_CONTROL_C_EXIT), predicate: "was ended from outside (STATUS_CONTROL_C_EXIT)"},
	{status: int(windows.STATUS_NO_MEMORY), predicate: "ran out of memory (STATUS_NO_MEMORY)", advice: trial.MemoryAdvice},
	{status: int(windows.STATUS_COMMITMENT_LIMIT), predicate: "ran out of memory (STATUS_COMMITMENT_LIMIT)",
		advice: trial.MemoryAdvice},
}

// signalName is empty: no process of Windows ends by a signal.
func signalName(syscall.Signal) string { return "" }
