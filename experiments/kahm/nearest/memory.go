package nearest

import (
	"os"

	"privkern/experiments/dataset"
)

const (
	numberBytes = 8
	// ownCopies is how many times the numbers of a file are in memory: as read, as scaled, as
	// divided, with noise, and in machines.
	ownCopies = 13
)

// ownMemory estimates what machines of the user's own rows take, in bytes; 0 where their
// files are not there.
func ownMemory(name string) int64 {
	numbers, err := ownNumbers(name)
	if err != nil {
		return 0
	}
	return process + 20<<20 + numbers*numberBytes*ownCopies
}

// ownNumbers estimates the numbers in the user's data by the sizes of files, of which a
// number takes about as much as is written here.
func ownNumbers(name string) (int64, error) {
	path, _ := dataset.FilePath(name)
	if dataset.OwnKind(name) == dataset.OwnImages {
		pictures, err := dataset.ListPictures(path, path)
		if err != nil {
			return 0, err
		}
		width, height, err := dataset.SizeOfPictures(name)
		return int64(len(pictures)) * int64(width) * int64(height), err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if dataset.OwnKind(name) == dataset.OwnCSV {
		return info.Size() / 6, nil
	}
	return info.Size() / 4, nil // float32
}
