package nearest

import (
	"os"
	"path/filepath"
	"strings"
)

// ownMemory estimates what machines of the user's own rows take, in bytes; 0 where their
// files are not there.
func ownMemory(dataset string) int64 {
	kind, path, _ := strings.Cut(dataset, ":")
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	size := info.Size()
	if info.IsDir() {
		size = 0
		files, err := filepath.Glob(filepath.Join(path, "*", "*"))
		if err != nil {
			return 0
		}
		size = int64(len(files)) * pixels * numberBytes
	}
	// A number has 8 bytes in memory, and in a file of its kind about
	of := map[string]int64{"csv": 7, "parquet": 4, "npy": 4}[kind]
	if of == 0 {
		of = numberBytes
	}
	return process + 20<<20 + size/of*numberBytes*ownCopies
}

const (
	numberBytes = 8
	// ownCopies is how many times the numbers of a file are in memory: as read, as scaled, as
	// divided, with noise, and in machines.
	ownCopies = 13
)
