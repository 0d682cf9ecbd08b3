package dataset

import (
	_ "embed"
	"fmt"
	"strings"

	"privkern/experiments/dataset/readers"
)

// harSet holds the files of UCI HAR with its features and labels.
var harSet = Set{
	Name:   "har",
	Title:  "UCI HAR: 10299 windows of 30 people and 6 activities, 561 features",
	Source: "https://archive.ics.uci.edu/dataset/240/human+activity+recognition+using+smartphones",
	Licence: "CC BY 4.0 on the publisher's page; the README of the data asks for the citation " +
		"and prohibits commercial use",
	Citation: "D. Anguita, A. Ghio, L. Oneto, X. Parra, J. L. Reyes-Ortiz, A Public Domain Dataset for Human Activity " +
		"Recognition Using Smartphones, ESANN 2013",
	Files: []File{
		harFile(File{Path: "X_train.txt", Size: 66006256, GitBlob: "b06f3e4c7cddf435f2f2b102b4824f51ee8a6298"}, "train"),
		harFile(File{Path: "y_train.txt", Size: 14704,
			SHA256: "415b3357e2e2d5e70a45c781947c6bdd80e0410a579d862eedcd6bbce3c694ef"}, "train"),
		harFile(File{Path: "subject_train.txt", Size: 20152,
			SHA256: "66e1e2fbe9b396fa5155f531dc3348c803f503be663e2318772d49947db9153a"}, "train"),
		harFile(File{Path: "X_test.txt", Size: 26458166, GitBlob: "f3c01cbd355e0000229bce4e38156ee338fa6b08"}, "test"),
		harFile(File{Path: "y_test.txt", Size: 5894,
			SHA256: "2a94cb53ca46b956c1b2aebd4a09a72badd8a8e9ea9cdfe9f31b3306a08666bb"}, "test"),
		harFile(File{Path: "subject_test.txt", Size: 7934,
			SHA256: "63b8c577f4a85431c06bd87f6384608c90a9f72f05c7956dd21255dc63515c07"}, "test"),
	},
	Archives: []Archive{{
		Name:   harArchive,
		Size:   60999314,
		SHA256: "2045e435c955214b38145fb5fa00776c72814f01b203fec405152dac7d5bfeb0",
		URLs:   []string{"https://archive.ics.uci.edu/ml/machine-learning-databases/00240/UCI%20HAR%20Dataset.zip"},
		Within: "human+activity+recognition+using+smartphones.zip",
	}, {
		Name:   "human+activity+recognition+using+smartphones.zip",
		Size:   61005872,
		SHA256: "c00b803081a5c797cd5e4b83700a9810b38d53d9d84e01917e090e1fdbc81031",
		URLs:   []string{"https://archive.ics.uci.edu/static/public/240/human+activity+recognition+using+smartphones.zip"},
	}},
	Notes: []string{
		"the six files lie in one folder, without the publisher's train and test; each may be compressed, as X_train.txt.gz",
		"half of every window is in the next one: a random split leaks",
	},
}

const harArchive = "UCI HAR Dataset.zip"

func harFile(f File, part string) File {
	f.Compressed = true
	f.Archive, f.Member = harArchive, "UCI HAR Dataset/"+part+"/"+f.Path
	return f
}

// harReconstructedSet are not the published features, and are named so wherever
// they are used.
var harReconstructedSet = Set{
	Name:   "har-reconstructed",
	Folder: "har/reconstructed",
	Title: "UCI HAR, reconstructed: 6531 windows of 20 people and 6 activities, 561 features " +
		"recomputed from the recordings",
	Source:   "recomputed from the recordings of " + haptSource,
	Licence:  "CC BY 4.0, that of the recordings",
	Citation: haptCitation,
	Files: []File{{
		Path:   readers.HARReconstructedFile,
		Size:   12390159,
		SHA256: "0d69681fd9cb1dc706f27494937d5756cc39a48208494d284e4467673181241f",
		Made:   "ae922aca60997fee081dd4f805a4b55ae0a87d4abe20921832535353e06c3024",
	}},
	StandIn: "the published features",
	Supplied: readers.HARReconstructedFile + " is made from recordings by: run data fetch hapt, then run data make " +
		"har-reconstructed; the published features come with: run data fetch har",
	Notes: []string{
		"not the published features: each was rescaled to fit the published means of 180 groups; of 561, 543 fit with R² " +
			"above 0.8 and 9 below 0.5",
		"half of every window is in the next one: a random split leaks",
		"the features of the file that run data make writes differ from those of the other one in the last bit of a " +
			"float32, in 1336 of 3663891 places",
	},
}

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
