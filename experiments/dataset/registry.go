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
}

// File is one file of a set.
type File struct {
	Path   string // relative to the set's folder, with slashes
	Size   int64
	SHA256 string // hexadecimal
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
var sets = []Set{
	{
		Name:     "kung",
		Title:    "Howell !Kung San census: height, weight, age and sex of 544 people of the Dobe area",
		Source:   "https://github.com/rmcelreath/rethinking (data/Howell1.csv); collected by Nancy Howell, https://tspace.library.utoronto.ca/handle/1807/10395",
		Licence:  "distributed with the R package rethinking, GPL (>= 3); no separate licence for the data",
		Citation: "N. Howell, Demography of the Dobe !Kung, Academic Press, 1979; R. McElreath, Statistical Rethinking, CRC Press, 2016",
		Files: []File{{
			Path:   "Howell1.csv",
			Size:   12205,
			SHA256: "768d2fb53d44490b35260903f58955548b26f587e7afaf4e00b2603715279bbd",
			URLs: []string{
				"https://raw.githubusercontent.com/rmcelreath/rethinking/master/data/Howell1.csv",
				"https://raw.githubusercontent.com/rmcelreath/rethinking/ac1b3b2cda83f3e14096e2d997a6e30ad109eeee/data/Howell1.csv",
			},
		}},
		Notes: []string{"544 rows, of which 287 are females; experiments use the females, in the order of the file"},
	},
}

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

// TotalSize is the sum of the sizes of the set's files, in bytes.
func (s *Set) TotalSize() (total int64) {
	for _, f := range s.Files {
		total += f.Size
	}
	return total
}
