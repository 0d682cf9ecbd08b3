package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// Set describes a data set.
type Set struct {
	Name     string // of the set and of its folder
	Title    string
	Source   string // where the publisher describes it
	Licence  string
	Citation string
	Files    []File
	// Archives are what Files that name one are unpacked from.
	Archives []Archive
	Notes    []string // what a user should know about the content
	// Supplied says how to make the files of a set that the user supplies. No
	// sizes and SHA-256 can be registered for them: they are those of what is
	// found. Empty for a set with public addresses.
	Supplied string
}

// File is one file of a set.
type File struct {
	Path   string // relative to the set's folder, with slashes
	Size   int64
	SHA256 string // hexadecimal
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
	Name   string // file name; the suffix .zip, .tar or .tar.gz tells the format
	Size   int64
	SHA256 string
	URLs   []string
}

// sets are the registered data sets, by name.
var sets = []Set{freiburgSet, freiburgFeaturesSet, hmeqSet, kungSet, mnistSet, stressSet}

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

// UnknownError says that no data set of that name is registered.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	names := make([]string, len(sets))
	for i, s := range sets {
		names[i] = s.Name
	}
	return fmt.Sprintf("unknown data set %q; known: %s", e.Name, strings.Join(names, ", "))
}

// TotalSize is the sum of the sizes of the set's files, in bytes; 0 for a set
// that the user supplies, unless [Locator.Resolve] found it.
func (s *Set) TotalSize() (total int64) {
	for _, f := range s.Files {
		total += f.Size
	}
	return total
}
