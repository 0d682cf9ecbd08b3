package nearest

import (
	"bufio"
	"os"
	"strings"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/readers"
	"privkern/experiments/dataset/table"
	"privkern/experiments/kahm/wide"
)

const (
	numberBytes = 8
	// ownCopies is the number of copies of the numbers of a file: as read, as scaled, as
	// divided, with noise, and in machines.
	ownCopies = 13
	// ownRoom is the memory of batches of machines of a thousand rows. For 5,000×10,
	// 5,000×100 and 20,000×20 numbers, original and fabricated, 143 to 199 MiB were measured.
	ownRoom = 90 << 20
	// kernelCopies is the number of N×N matrices of a machine of N rows at a time.
	kernelCopies = 3
	machineRows  = 1000
)

// ownMemory estimates the bytes that machines of the user's own rows take; 0 where their
// files do not exist. Where the number of machines is given, one may have all rows of a
// class, and in the worst case all rows are of that class.
func ownMemory(name string, p *wide.Pipeline) int64 {
	rows, columns, err := ownShape(name)
	if err != nil {
		return 0
	}
	bytes := process + ownRoom + rows*columns*numberBytes*ownCopies
	if p.Branches.IsWord {
		return bytes
	}
	if m := rows / int64(p.Branches.Number); m > machineRows {
		bytes += m * m * numberBytes * kernelCopies
	}
	return bytes
}

// ownShape estimates the rows and columns of the user's data by the sizes of files and by
// the header of a table.
func ownShape(name string) (rows, columns int64, err error) {
	path, _ := dataset.FilePath(name)
	if dataset.OwnKind(name) == dataset.OwnImages {
		pictures, err := dataset.ListPictures(path, path)
		if err != nil {
			return 0, 0, err
		}
		width, height, err := dataset.SizeOfPictures(name)
		return int64(len(pictures)), int64(width) * int64(height), err
	}
	if dataset.OwnKind(name) == dataset.OwnSet {
		n, p, err := table.Spec{Dataset: name, Inputs: table.Every}.Size()
		return int64(n), int64(p), err
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	// A number takes 6 bytes or more as a text, and 4 as a float32.
	const textBytes, floatBytes = 6, 4
	switch dataset.OwnKind(name) {
	case dataset.OwnCSV:
		header, _ := bufio.NewReader(f).ReadString('\n') // without a line break, the whole file
		columns := int64(1 + strings.Count(header, ",") + strings.Count(header, ";") + strings.Count(header, "\t"))
		return info.Size() / textBytes / columns, columns, nil
	case dataset.OwnNPY:
		header, _, err := readers.NPYHeader(f)
		if shape := header.Descr.Shape; err == nil && len(shape) == 2 {
			return int64(shape[0]), int64(shape[1]), nil
		}
	}
	return info.Size() / floatBytes, 1, nil
}
