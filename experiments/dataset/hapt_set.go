package dataset

import (
	_ "embed"
	"fmt"
	"strings"
)

// haptSet is the recordings of UCI HAPT, which "har-reconstructed" is made of.
var haptSet = Set{
	Name:     "hapt",
	Title:    "UCI HAPT: 61 recordings of 30 people, acceleration and rate of turn at 50 Hz, with labels",
	Source:   haptSource,
	Licence:  "CC BY 4.0",
	Citation: haptCitation,
	Files:    haptFiles(haptContent),
	Archives: []Archive{{
		Name:   haptArchive,
		Size:   79596192,
		SHA256: "4ac4ae064227c07045a99551876b54d204837e995e298b6488559e209b3deb09",
		URLs:   []string{"https://archive.ics.uci.edu/static/public/341/" + haptArchive},
	}},
	Notes: []string{
		"the 123 files of the publisher's folder RawData lie in one folder; each may be compressed, as labels.txt.gz",
		"no experiment reads it: har-reconstructed is made of it",
	},
}

const (
	haptSource = "https://archive.ics.uci.edu/dataset/341/" +
		"smartphone+based+recognition+of+human+activities+and+postural+transitions"
	haptCitation = "J. L. Reyes-Ortiz, L. Oneto, A. Samà, X. Parra, D. Anguita, Transition-Aware Human Activity " +
		"Recognition Using Smartphones, Neurocomputing 171, 2016"
	haptArchive = "smartphone+based+recognition+of+human+activities+and+postural+transitions.zip"
)

// haptContent has the SHA-256, the size in bytes and the name of each file.
//
//go:embed hapt.files
var haptContent string

// haptFiles panics on a line that is not "SHA256 SIZE NAME": the lines are the program's
// own.
func haptFiles(content string) []File {
	var files []File
	for line := range strings.Lines(content) {
		f := File{Compressed: true, Archive: haptArchive}
		if _, err := fmt.Sscanf(line, "%s %d %s\n", &f.SHA256, &f.Size, &f.Path); err != nil {
			panic(fmt.Sprintf("hapt.files: %q: %v", line, err))
		}
		f.Member = "RawData/" + f.Path
		files = append(files, f)
	}
	return files
}
