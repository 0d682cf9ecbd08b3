// Package dataset holds the public data sets that experiments read: their sources, the checks of
// their files, their places on this machine, their download and the readers of their formats.
//
// On disk every set has one folder inside a root folder, named after it unless [Set].Folder gives
// another name: ROOT/kung/Howell1.csv. A [Locator] searches several roots. A file is used only if
// its SHA-256 is the registered one; other data under the same name are an error, never a
// substitute. Data that cannot be published are supplied by the user ([Set].Supplied) and
// identified by the SHA-256 of the files found.
//
// A user's own data are files anywhere, referred to by names such as "csv:PATH". They are found and
// hashed here, and read by package table.
package dataset
