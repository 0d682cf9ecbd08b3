// Package method is the interface of a method on a user's own data.
//
// A method states its task, its settings and its unit of protection, and brings its
// mathematics as a [Learner]: it is prepared for rows, fits some of them with noise or
// without, predicts others, and states the guarantee of a release. The rest, which all
// methods share, is here: the checks of names, columns and ranges, the rows as they are read,
// the splits, the scores compared with those without noise and without inputs, the warnings,
// the notes of a record, and the plan of a release with its cost.
//
// [Of] makes the experiment of a [Method]. Its file holds the settings, the metrics that
// follow from public numbers, and the functions that call the method's programs.
package method
