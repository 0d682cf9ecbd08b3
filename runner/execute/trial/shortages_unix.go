//go:build unix

package trial

import "syscall"

var shortages = []shortage{
	{syscall.ENOMEM, "memory", MemoryAdvice},
	{syscall.EAGAIN, "processes or threads", ThreadsAdvice},
	{syscall.EMFILE, "open files of a process", FilesAdvice},
	{syscall.ENFILE, "open files of all processes", FilesAdvice},
	{syscall.ENOSPC, "space on a disk", diskAdvice},
	{syscall.EDQUOT, "space within a quota", diskAdvice},
	{syscall.EIO, "a disk that can be read and written", filesAdvice},
	{syscall.ESTALE, "a file server that has its files", filesAdvice},
}
