// Package ground has the parts that all baselines share: methods of others for a user's own data, which stand next to
// those of the five papers in comparisons, at the same unit and the same (ε, δ).
//
// A baseline is an [Algorithm]: it learns of its rows by sums over them alone ([Sums]), each of which is calibrated to
// the norm of the vector that one row adds ([Query]). The same code judges it, with seeded noise, and releases it: then
// the vector of each row is computed in float64 from that row alone, clipped, rounded to a grid and added in whole
// numbers, and the noise is exact (package release). Its result is a [Body], the numbers of a [File] that run predict
// reads.
//
// # Neighbours
//
// Under substitution one row is replaced by any other, and a sum moves by the diameter of the set of vectors, twice
// their norm unless a query knows better. Under addition and removal it moves by the norm. A unit of m rows, those of a
// person, moves it m times as far. An empty place, of a person with fewer rows or of an invalid row, adds nothing,
// which is one of the vectors.
//
// Inputs are brought to [−1, 1] by their public ranges, and clipped to these, before anything else.
package ground
