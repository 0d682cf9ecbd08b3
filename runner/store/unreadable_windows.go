package store

import "golang.org/x/sys/windows"

// fileErrors are about the one file that is read. A folder is an invalid function, or
// an invalid handle.
var fileErrors = []error{windows.ERROR_INVALID_FUNCTION, windows.ERROR_INVALID_HANDLE, windows.ERROR_ACCESS_DENIED,
	windows.ERROR_CRC, windows.ERROR_IO_DEVICE, windows.ERROR_FILE_CORRUPT, windows.ERROR_CANT_RESOLVE_FILENAME}
