package dataset

import (
	"context"
	"fmt"
	"os"
	"sync"
)

// describe fills in the size and SHA-256 of a file that the user supplied.
func (f *File) describe(ctx context.Context, folder string) error {
	path, err := localPath(folder, f.Path)
	if err != nil {
		return err
	}
	file, err := openData(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // opened for reading only
	info, err := file.Stat()
	switch {
	case err != nil:
		return fmt.Errorf("data file %s: %w", path, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("data file %s: it is not a regular file; put the file itself there", path)
	case info.Size() == 0:
		return fmt.Errorf("data file %s: it is empty", path)
	}
	f.Size = info.Size()
	f.SHA256, err = suppliedDigests.get(ctx, path, file, info)
	return err
}

// fileState distinguishes a changed file from an unchanged one without reading it.
type fileState struct {
	path    string
	size    int64
	changed int64 // Unix time, ns
}

// digestMemory keeps the SHA-256 of files that may be large and are asked for
// again and again within one process.
type digestMemory struct {
	mu    sync.Mutex
	known map[fileState]string
}

var suppliedDigests = digestMemory{known: map[fileState]string{}}

func (m *digestMemory) get(ctx context.Context, path string, file *os.File, info os.FileInfo) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock() // also keeps two callers from reading the same file
	state := fileState{path, info.Size(), info.ModTime().UnixNano()}
	if sha, ok := m.known[state]; ok {
		return sha, nil
	}
	sha, _, err := digest(ctx, file)
	if err != nil {
		return "", fmt.Errorf("data file %s: %w", path, err)
	}
	m.known[state] = sha
	return sha, nil
}
