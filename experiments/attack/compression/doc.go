// Package compression attacks the compression of a file on the rows of a table: from features adversaries infer
// persons, attributes and the inputs themselves.
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
// Packages infer and reconstruct have the adversaries. They attack the inputs, too: a compression hides as much as
// they then do better.
package compression
