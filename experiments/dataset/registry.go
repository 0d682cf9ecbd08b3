package dataset

import (
	"slices"

	"privkern/runner/experiment"
)

// Set describes a data set.
type Set struct {
	Name     string
	Folder   string // relative to a root, with slashes; Name where empty
	Title    string
	Source   string // where the publisher describes it
	Licence  string
	Citation string
	Files    []File
	// Archives are unpacked to get the Files that name one.
	Archives []Archive
	Notes    []string // remarks for the user about the content
	// StandIn names the data of the paper that the set replaces; it is empty for the paper's own
	// data. Results computed on a stand-in have no verdict against the print.
	StandIn string
	// Supplied explains how to get the files of a set that the user supplies. Where no SHA-256 can
	// be registered for them, that of the found files is used. It is empty for a set with public
	// addresses.
	Supplied string
}

// File is one file of a set.
type File struct {
	Path   string // relative to the set's folder, with slashes
	Size   int64  // 0 where it is not known
	SHA256 string // hexadecimal
	// GitBlob is the id of the content as a git blob, in hexadecimal, of a file
	// whose SHA-256 is not known: the SHA-1 of "blob SIZE\0" and the content.
	// Against an adversary it is weaker; the archive that such a file comes
	// from has a SHA-256.
	GitBlob string
	// Made is the SHA-256 of the file as "run data make" writes it, where another
	// way to the same content gave SHA256. A file that is either counts.
	Made string
	// Compressed lets the file lie there as Path.gz too. Size and SHA256 are of
	// its content, so that it is the same file in either form.
	Compressed bool
	// URLs are public addresses of the file, tried in this order; empty where
	// the file comes out of an archive.
	URLs []string
	// Archive names the Archive that contains the file, and Member its path
	// in there.
	Archive, Member string
}

// Archive is a file that others are unpacked from.
type Archive struct {
	Name   string // file name; the suffix .zip, .tar or .tar.gz decides the format
	Size   int64
	SHA256 string
	URLs   []string
	// Within names the archive that this one is packed in; it is unpacked from
	// there where none of the URLs helps.
	Within string
}

// sets are the registered data sets, by name.
var sets = []Set{freiburgSet, freiburgFeaturesSet, haptSet, harSet, harReconstructedSet, hmeqSet, kungSet, mhealthSet,
	mhealth6Set, mnistSet, stressSet}

// All returns the registered sets in the order of their names.
func All() []Set { return slices.Clone(sets) }

// Lookup returns the set of that name, or an *[UnknownError].
func Lookup(name string) (Set, error) {
	for _, s := range sets {
		if s.Name == name {
			return s, nil
		}
	}
	return Set{}, &UnknownError{Name: name}
}

// StandIn returns the remark of the first of the named sets that replaces the paper's data; it is
// empty where none does. An unregistered name refers to a user's own data.
func StandIn(names ...string) string {
	for _, name := range names {
		switch s, err := Lookup(name); {
		case err != nil:
			return name + " in the place of the paper's data"
		case s.StandIn != "":
			return name + " in the place of " + s.StandIn
		}
	}
	return ""
}

// UnknownError reports a name without a registered data set.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	names := make([]string, len(sets))
	for i, s := range sets {
		names[i] = s.Name
	}
	return experiment.Unknown("data set", e.Name, names).Error()
}

// TotalSize is the sum of the sizes of the set's files, in bytes; 0 where the
// size of one is not known, as those of a user's own files are not until
// [Locator.Resolve] found them.
func (s *Set) TotalSize() (total int64) {
	for _, f := range s.Files {
		if f.Size == 0 {
			return 0
		}
		total += f.Size
	}
	return total
}

// FolderIn returns the folder of the set below a root.
func (s *Set) FolderIn(root string) (string, error) {
	if s.Folder == "" {
		return localPath(root, s.Name)
	}
	return localPath(root, s.Folder)
}

// Registered reports whether the content of every file is known, so that a set can be verified.
func (s *Set) Registered() bool {
	return !slices.ContainsFunc(s.Files, func(f File) bool { return f.identity().sum() == "" })
}
