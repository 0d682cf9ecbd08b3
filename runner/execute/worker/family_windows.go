package worker

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// messagesVar is the environment variable with the handle for messages, so that
// standard output is free for libraries.
const messagesVar = "PRIVKERN_MESSAGES"

// openMessages opens, in a worker, the file that [startFamily] has passed; nil where
// there is none.
func openMessages() *os.File {
	handle, err := strconv.ParseUint(os.Getenv(messagesVar), 10, strconv.IntSize)
	if err != nil {
		return nil
	}
	// A process that a trial starts must not hold the pipe, whose end marks the end of
	// the worker.
	_ = os.Unsetenv(messagesVar)
	syscall.CloseOnExec(syscall.Handle(handle))
	return os.NewFile(uintptr(handle), "messages")
}

// family is a worker with all that it has started: a job object of its own, whose end
// is that of all in it. So they end with the runner too, which alone has it open.
type family struct{ job windows.Handle }

// startFamily starts a worker, which writes its messages to the file. The worker
// starts nothing before it has a trial, so that all that it starts is in the job.
func startFamily(cmd *exec.Cmd, messages *os.File) (family, error) {
	handle := messages.Fd()
	err := windows.SetHandleInformation(windows.Handle(handle), windows.HANDLE_FLAG_INHERIT,
		windows.HANDLE_FLAG_INHERIT)
	if err != nil {
		return family{}, os.NewSyscallError("SetHandleInformation", err)
	}
	cmd.Env = append(cmd.Env, messagesVar+"="+strconv.FormatUint(uint64(handle), 10))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		// A group of its own keeps the console's Ctrl-C from the worker: the runner decides
		// how it ends.
		CreationFlags:              windows.CREATE_NEW_PROCESS_GROUP,
		AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(handle)},
	}
	f, err := newFamily()
	if err != nil {
		return family{}, err
	}
	if err := cmd.Start(); err != nil {
		f.close()
		return family{}, err
	}
	if err := f.add(cmd.Process.Pid); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		f.close()
		return family{}, err
	}
	return f, nil
}

// newFamily makes a job object without processes.
func newFamily() (family, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return family{}, os.NewSyscallError("CreateJobObject", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return family{}, os.NewSyscallError("SetInformationJobObject", err)
	}
	return family{job}, nil
}

// add takes a process, which has not been waited for, into the family.
func (f family) add(pid int) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	defer func() { _ = windows.CloseHandle(process) }()
	return os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(f.job, process))
}

// kill kills them all.
func (f family) kill() error { return windows.TerminateJobObject(f.job, errorStatus) }

// close closes the job object, which ends the rest of the family.
func (f family) close() { _ = windows.CloseHandle(f.job) }
