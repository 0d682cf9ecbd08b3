// Package dataset knows the public data sets that experiments read: where they come
// from, how their files are checked, where they are found on this machine, how they are
// fetched, and how their formats are read.
//
// On disk every set has one folder inside a root folder, named after it unless
// [Set].Folder says otherwise: ROOT/kung/Howell1.csv. A [Locator] looks through several
// roots. A file is used only if its SHA-256 is the one registered here; other data under
// the same name are an error, never a substitute. Data that cannot be published are
// supplied by the user ([Set].Supplied); they are identified by the SHA-256 of what is
// there.
//
// Readers return numbers in the units and in the order of the file: scaling, clipping
// and splitting belong to experiments, because they decide on what is private. A reader
// knows the numbers of rows and columns that a set has and refuses a file with others,
// names the file and the line of what it cannot read, and believes no size in a header
// beyond what is there.
//
// A user's own data are files anywhere, which names such as "csv:PATH" stand for: they are
// found and hashed here, and read by package table.
package dataset
