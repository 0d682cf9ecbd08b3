// Package attack tells by trying how much of its rows a fit discloses: membership inference with shadow models.
//
// # The game
//
// All units of a table, rows or persons, are in pairs, and of each pair a fair coin puts one into the training rows and
// the other one aside: a trial of a method with the setting membership ([privkern/experiments/method.CommonPairs]). The
// adversary has the model, all units and the pairs, and fits on other draws of the same table (shadow models); she has
// to name the members. Members and others have one distribution and one number, so that only the model tells them
// apart, and to turn a coin substitutes one unit: the guarantees of this program, which are for the substitution of a
// unit, bound her findings.
//
// With canaries the game is about pairs of rows that are added to be found, and all rows of the table are trained on.
//
// # Attacks
//
// A unit that a fit knows well is taken for a member: by the confidence of the fit in its outputs alone (threshold), by
// how far that is above its mean over a few shadow models (calibrated), or
// by comparison with shadow models that were trained on it or not (the likelihood-ratio attack LiRA; Carlini, Chien,
// Nasr, Song, Terzis and Tramèr, "Membership inference attacks from first principles", S&P 2022). The statistic of a
// unit is taken to be normal over models, about the median of those with the unit and of those without it. The online
// attack has the ratio of both densities, Algorithm 1; the offline attack has the tail of the second one alone, as it
// would for a unit that no shadow model was trained on.
//
// # Intervals
//
// Guesses about one model depend on each other. So rates and their intervals are those of independent models, the
// targets, which are no shadows; and thresholds are those of shadow models, each by the others.
//
// Bounds of ε hold without any model of dependence (Steinke, Nasr and Jagielski, "Privacy auditing with one
// (1) training run", NeurIPS 2023; see [Proved]).
package attack
