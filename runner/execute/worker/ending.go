package worker

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"

	"privkern/runner/execute/trial"
	"privkern/runner/text"
)

// exitState is how a process ended.
type exitState struct {
	Signal syscall.Signal // that ended it; 0 where it exited
	Status int            // with which it exited
	Output string         // of the process
}

// exitStateOf returns the ending of a process that is over.
func exitStateOf(state *os.ProcessState, output string) exitState {
	e := exitState{Status: state.ExitCode(), Output: output}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal()
	}
	return e
}

// Exit statuses of the Go runtime and of the dynamic loader, and that of this
// program for an error.
const (
	runtimeStatus = 2
	loaderStatus  = 127
	errorStatus   = 1
)

// ending is an end that the machine has caused. It holds for a signal, or for an
// exit status with a line of output.
type ending struct {
	signal    syscall.Signal
	status    int
	line      *regexp.Regexp
	silent    bool   // it holds only where nothing was printed
	predicate string // predicate of the sentence about the process
	advice    string
	// refused is true where any trial meets the same end; see [trial.Trouble].
	refused bool
}

// machineEndings is the table of the ends that the machine has caused, with those of
// the operating system. Everything else is the process's own: other statuses, panics,
// faults, failed assertions.
var machineEndings = append(systemEndings, []ending{
	{signal: syscall.SIGKILL, predicate: "was killed (SIGKILL), perhaps for want of memory", advice: trial.MemoryAdvice},
	{signal: syscall.SIGTERM, predicate: "was ended from outside (SIGTERM)"},
	{signal: syscall.SIGINT, predicate: "was ended from outside (SIGINT)"},
	{signal: syscall.SIGHUP, predicate: "was ended from outside (SIGHUP)"},
	{status: runtimeStatus, line: regexp.MustCompile(`^SIGQUIT: quit`), predicate: "was ended from outside (SIGQUIT)"},

	// The Go runtime.
	{status: runtimeStatus, line: regexp.MustCompile(`^runtime: out of memory: |^fatal error: (runtime: )?(out of ` +
		`memory|cannot allocate memory)`),
		predicate: "ran out of memory", advice: trial.MemoryAdvice},
	{status: runtimeStatus, line: regexp.MustCompile(`^fatal error: (failed to reserve|failed to allocate|runtime: ` +
		`cannot (reserve|map|allocate)|too many address space collisions)`),
		predicate: "ran out of memory", advice: trial.MemoryAdvice},
	{status: runtimeStatus, line: regexp.MustCompile(`^runtime: failed to create new OS thread |^fatal error: newosproc`),
		predicate: "could not start a thread", advice: trial.ThreadsAdvice, refused: true},
	{status: runtimeStatus, line: regexp.MustCompile(`^runtime/cgo: pthread_create failed: `),
		predicate: "could not start a thread", advice: trial.ThreadsAdvice, refused: true},
	{signal: syscall.SIGABRT, line: regexp.MustCompile(`^runtime/cgo: pthread_create failed: `),
		predicate: "could not start a thread", advice: trial.ThreadsAdvice, refused: true},
	{status: runtimeStatus, line: regexp.MustCompile(`^runtime: \w+ failed with (23|24)$`), // ENFILE, EMFILE
		predicate: "could not open what it needs", advice: trial.FilesAdvice, refused: true},

	// Libraries, and this program at its start.
	{status: errorStatus, line: regexp.MustCompile(`^OpenBLAS( error)?: .*(Memory allocation still ` +
		`failed|pthread_create failed)|^OpenBLAS blas_thread_init: pthread_create failed`),
		predicate: "ran out of memory or threads", advice: trial.MemoryAdvice},
	{signal: syscall.SIGABRT, line: regexp.MustCompile(`std::bad_alloc`), predicate: "ran out of memory",
		advice: trial.MemoryAdvice},
	{status: runtimeStatus, line: regexp.MustCompile(`std::bad_alloc`), predicate: "ran out of memory",
		advice: trial.MemoryAdvice},
	{status: loaderStatus, line: regexp.MustCompile(`error while loading shared libraries: .*(failed to map ` +
		`segment|[Cc]annot allocate|cannot create)`),
		predicate: "could not load its libraries into the memory", advice: trial.MemoryAdvice},
	{status: loaderStatus, line: regexp.MustCompile(`error while loading shared libraries: .*Too many open files`),
		predicate: "could not open its libraries", advice: trial.FilesAdvice, refused: true},
	{status: errorStatus, line: regexp.MustCompile(`^run: .*cannot allocate memory$`), predicate: "ran out of memory",
		advice: trial.MemoryAdvice},
	{status: errorStatus, line: regexp.MustCompile(`^run: .*(too many open files|too many open files in system)$`),
		predicate: "could not open what it needs", advice: trial.FilesAdvice, refused: true},
}...)

// trouble describes the ending of the process, which subject names, in a sentence, and
// reports whether the machine caused it.
func (e exitState) trouble(subject string) *trial.Trouble {
	for _, row := range machineEndings {
		if row.signal != e.Signal || row.signal == 0 && row.status != e.Status || row.silent && e.Output != "" {
			continue
		}
		words := ""
		if row.line != nil {
			if words = e.find(row.line); words == "" {
				continue
			}
			words = ": " + words
		}
		return &trial.Trouble{Machine: true, Refused: row.refused, Reason: subject + " " + row.predicate + words,
			Advice: row.advice, Output: e.Output}
	}
	how := fmt.Sprintf("ended with exit status %d", e.Status)
	if e.Signal != 0 {
		how = fmt.Sprintf("was ended by %s (%v)", signalName(e.Signal), e.Signal)
	}
	if words := e.lastWords(); words != "" {
		how += ": " + words
	}
	return &trial.Trouble{Reason: subject + " " + how, Output: e.Output}
}

// find returns the first line of the output that matches, as words of a sentence.
func (e exitState) find(pattern *regexp.Regexp) string {
	for line := range strings.Lines(e.Output) {
		if line = strings.TrimRight(line, "\r\n"); pattern.MatchString(line) {
			return words(line)
		}
	}
	return ""
}

// reason matches the line with the reason of an end by the Go runtime, which stacks
// follow.
var reason = regexp.MustCompile(`^(panic|fatal error|SIG[A-Z]+): `)

// lastWords returns the line with the reason, or the last one.
func (e exitState) lastWords() string {
	if found := e.find(reason); found != "" {
		return found
	}
	lines := strings.Split(strings.TrimSpace(e.Output), "\n")
	return words(lines[len(lines)-1])
}

// maxWords is how many characters of a line go into a sentence.
const maxWords = 200

func words(line string) string {
	sentence := text.Sentence(line)
	if runes := []rune(sentence); len(runes) > maxWords {
		return string(runes[:maxWords]) + "..."
	}
	return sentence
}
