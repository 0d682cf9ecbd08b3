// Package table reads the user's own data under all methods: rows of numbers,
// booleans, dates and categories, of which an experiment names the columns.
//
// The type of a column is that of its values: all are numbers; all are true and false,
// or yes and no, in any case (1 and 0); all are dates (2020-12-31, 2020-12-31 13:45:00
// or RFC 3339; days since 1970-01-01); or none is a number or a date, which makes them
// categories. Anything between is an error that says where. A category among the inputs
// becomes a column of 0 and 1 a level. Levels that are written beside the name,
// colour[red|green|blue], are public, and make a category of whatever the column holds;
// otherwise they are those of the data ([Data.Private]).
//
// A value is missing where it is empty, NA or NaN, in any case. Rows without a value in
// a column that is used are left out and counted.
//
// Types of columns, and which values are missing, are taken as public.
package table
