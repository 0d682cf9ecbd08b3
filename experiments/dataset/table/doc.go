// Package table reads the user's own data for all methods: rows of numbers, booleans, dates and
// categories, from the columns that an experiment names.
//
// The type of a column is that of its values: all are numbers; all are true and false, or yes and
// no, in any case (1 and 0); all are dates (2020-12-31, 2020-12-31 13:45:00 or RFC 3339; days since
// 1970-01-01); or none is a number or a date, which makes them categories. Any mixture is an error
// with its place. A category among the inputs becomes a column of 0 and 1 for each level. Levels
// that follow the name, colour[red|green|blue], are public and make any column a category;
// otherwise the levels are those of the data ([Data.Private]).
//
// A value is missing where it is empty, NA or NaN, in any case. Rows without a value in a used
// column are left out and counted.
//
// Types of columns and the places of missing values are assumed to be public.
package table
