// Package compression attacks the compression of a file on the rows of a table: what do its features tell of a person,
// of an attribute, or of the inputs themselves?
//
// # The game
//
// The adversary has the file and all columns of a part of the rows, which are known, and of the other rows the features
// alone. Each seed is another division:
//
//   - to name a person, the rows of each are cut into blocks of neighbours in the file, and some of the blocks are
//     attacked: neighbours are alike, and only those at the ends of a block may have known ones;
//   - to name an attribute of somebody, the attacked rows are those of persons of whom no row is known, so that nobody
//     is recognised; where no column names persons, rows are divided at random;
//   - to restore inputs likewise.
//
// Packages infer and reconstruct have the adversaries. The same is done with the inputs in place of features: the
// difference is what the compression hides.
package compression
