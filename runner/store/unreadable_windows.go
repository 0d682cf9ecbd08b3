package store

import "golang.org/x/sys/windows"

// fileErrors are errors that concern a single file. Reading a folder is an invalid function or
// an invalid handle.
var fileErrors = []error{windows.ERROR_INVALID_FUNCTION, windows.ERROR_INVALID_HANDLE, windows.ERROR_ACCESS_DENIED,
	windows.ERROR_CRC, windows.ERROR_IO_DEVICE, windows.ERROR_FILE_CORRUPT, windows.ERROR_CANT_RESOLVE_FILENAME}
