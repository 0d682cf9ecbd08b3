// Package readers reads the files of the public data sets.
//
// Readers return numbers in the units and in the order of the file: scaling, clipping and splitting
// belong to experiments, because they decide what is private. A reader knows the numbers of rows and
// columns of its set and refuses a file with others, names the file and the line of an unreadable
// value, and trusts no size in a header beyond the size of the file.
package readers
