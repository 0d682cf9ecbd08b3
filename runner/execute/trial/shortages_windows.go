package trial

import "golang.org/x/sys/windows"

var shortages = []shortage{
	{windows.ERROR_NOT_ENOUGH_MEMORY, "memory", MemoryAdvice},
	{windows.ERROR_OUTOFMEMORY, "memory", MemoryAdvice},
	{windows.ERROR_COMMITMENT_LIMIT, "memory", MemoryAdvice},
	{windows.ERROR_NO_SYSTEM_RESOURCES, "resources of the system", "run fewer trials at a time (--jobs 1)"},
	{windows.ERROR_MAX_THRDS_REACHED, "threads", "run fewer trials at a time (--jobs 1)"},
	{windows.ERROR_TOO_MANY_OPEN_FILES, "open files of a process", "run fewer trials at a time (--jobs 1)"},
	{windows.ERROR_DISK_FULL, "space on a disk", diskAdvice},
	{windows.ERROR_HANDLE_DISK_FULL, "space on a disk", diskAdvice},
	{windows.ERROR_DISK_QUOTA_EXCEEDED, "space within a quota", diskAdvice},
	{windows.ERROR_CRC, "a disk that can be read and written", filesAdvice},
	{windows.ERROR_IO_DEVICE, "a disk that can be read and written", filesAdvice},
	{windows.ERROR_NETNAME_DELETED, "a file server that has its files", filesAdvice},
}
