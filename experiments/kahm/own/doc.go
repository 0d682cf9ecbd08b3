// Package own builds affine hull machines from the user's own rows: features, tables or pictures
// with a class each, and a party where several hold them. It reads the rows, scales every input
// to [0, 1] by its public range, splits them for judging, and plans a release.
//
// # The protection by a release
//
// An input x with the public range [l, h] becomes u = (min(max(x, l), h) − l)/(h − l).
// Laplace noise of scale d/ε on u is (ε, 0)-differentially private for one entry that
// changes by at most the share d of its range (Definition 10; Algorithm 1 without its atom
// of entries that stay as they are). All of the p entries of a row move by at most 1 each,
// and so, by the sum of magnitudes, the same noise is (pε/d, 0)-differentially private for a
// whole row that is replaced by any other of its class. The budget books this amount.
//
// Classes, and so the number of rows of each, are public; the order of the rows is not:
// they are released in the order of their noisy values.
package own
