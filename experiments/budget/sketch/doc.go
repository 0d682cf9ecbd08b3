// Package sketch recognises data of the same people: after rows were corrected, added, removed or
// shuffled, columns rescaled, renamed, added or left out, and files written in another format.
//
// # Sketches
//
// A table is taken as a set of rows, and a few sets of its columns are chosen: single columns,
// pairs, all columns, all but one, and, of wide tables, the values of a row with the least hashes. Of each
// set the values are hashed, the sum over its columns so that their order has no part, and a sample of
// at most 1024 distinct ones is kept: those whose hash begins with a number of zero bits, so that
// samples of two tables are of the same part of all possible values. What is kept is an HMAC with
// the ledger's key.
//
// Numbers are compared as float32, which other formats may hold, whole ones exactly; truth values are 0
// and 1, dates are days. Where few single columns tell people apart, the sets are kept a second
// time with the numbers of each column brought to the range from 0 to 1, which stays when
// columns are written in other units as long as their least and largest values do.
//
// # Columns that tell people apart
//
// Two samples of one population share values although they share nobody: ages, doses, numbers of
// rows. A set of columns is used only where that is rare, by three measures:
//
//   - The columns could take 20 times as many values as they do. For a column that number is
//     the number of points of the grid, linear or logarithmic, on which its numbers lie; or, where it is
//     less, the inverse of the chance that two rows have the same value; for a set the product, without
//     columns that another determines. Columns that number the rows, or name them one by one, are left out.
//   - 85 of 100 values belong to one row alone: by Good, "The population frequencies of species and
//     the estimation of population parameters", Biometrika 40, 1953, the rest is about the chance
//     that somebody else has a value of the table.
//   - Where a column has more than 100 grid points for each value (less those that Chao's
//     estimate of unseen values leaves: Scandinavian Journal of Statistics 11, 1984), rows that are equal
//     count once, so that persons with several equal rows are recognised.
//
// # Matches
//
// Tables are of the same people if, for some set of columns of each, they share at least 3 values, and
// [Share], 30 %, of the smaller one's; and more than strangers would: with c the share expected of them, as
// measured above, and m values, at least 1.5cm + 4√(cm), or nine tenths of m.
//
// Not recognised are tables of few low numbers and categories alone, a part of a table with less than
// about 500th of its rows, tables of a dozen rows with half of them in common, pictures of another size, and tables of
// few coarse columns: two of numbers with one decimal and one of two classes from about 30 rows only, five doses and
// numbers with one decimal never for certain. The path of the file, its persons, or a person's word then decide.
package sketch
