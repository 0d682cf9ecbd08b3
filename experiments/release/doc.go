// Package release is the layer through which everything leaves that has a
// guarantee of differential privacy: noisy predictions, models, choices. It draws
// noise exactly, calibrates it to the computed query, and books its budget
// before the first bit of noise is drawn.
//
// # Why noise in floating point is not enough
//
// The proof that Gaussian noise gives (ε, δ) is about real numbers. A program
// that adds a float64 of noise to a float64 query returns numbers from a set that
// depends on the query: the possible values of the noise are gaps apart, the sum is
// rounded, and an observer who knows all rows but one can test which query the
// published digits are possible for (Mironov, "On significance of the least
// significant bits for differential privacy", CCS 2012; Jin, McMurtry, Rubinstein
// and Ohrimenko, "Are we there yet? Timing and floating-point attacks on
// differential privacy systems", S&P 2022). Noise from math/rand/v2 has about 2^39
// values, and a single release reveals the missing row. The proof here
// holds for the printed digits.
//
// # The mechanism, in real numbers
//
// Let f(D) be a query of R coordinates, D and D' neighbours, and
// ‖f(D) − f(D')‖ ≤ Δ. Let X = f(D) + σN, N standard normal and σ = Δ·factor with
// the factor of a calibration. X is (ε, δ)-differentially private. So is every
// function of X alone and of public values (post-processing); rounding to a public
// grid, round(X/g)·g, is one. The published grid points therefore have the same
// guarantee, and everything computed from them by any program, in floating point or
// not, has it as well. It remains to show that the program's grid points are
// those of the real-valued mechanism, for a query whose sensitivity is bounded as
// it is computed.
//
// # Noise
//
// A normal number is drawn as sign, whole part and fraction by comparisons of
// uniform numbers (Karney, "Sampling exactly from the normal distribution", ACM
// TOMS 42, 2016, Algorithm N), an exponential one by von Neumann's comparisons
// (1951), and coins of probability exp(−γ) likewise (Canonne, Kamath and Steinke,
// "The discrete Gaussian for differential privacy", NeurIPS 2020, Algorithm 1).
// The digits of a uniform number are drawn when a comparison asks for them: with
// fair bits every event has its exact probability, and the fraction that is left is a
// real number of which any number of digits can be drawn.
//
// The sum f̂ + σN is then rounded in whole numbers. The grid's unit g is a power of
// two, from σ/2000 to σ/1000; f̂ is rounded to g·2^-32 and σ is a multiple of g·2^-20,
// so that the sum of f̂ and the digits known of σN is a whole number of units
// g·2^-52. If all real numbers with these digits round to one multiple of g, that is
// the result; if not (once in two million draws), further digits are drawn. No
// rounding takes part that the real-valued mechanism does not have.
//
// # Sensitivity of the computed query
//
// The query f̂ is computed in float64, so it is not f. With |f̂ − f| ≤ η for every data
// set, ‖f̂(D) − f̂(D')‖ ≤ Δ + 2η by the triangle inequality, even where the errors depend
// on the data. [Query].Change is Δ, [Query].Error is η, and the rounding to g·2^-32 is added
// to it; [Linear] bounds η for a product with a public matrix. The bounds are
// themselves computed in floating point, and made larger by more than that can cost
// ([Up]); so is the factor of a calibration (mechanism.SafeFactor), by more than its
// measured error.
//
// These kinds of queries are released:
//
//   - A public matrix times clipped private numbers ([Linear]). The coordinates are
//     whitened, so that their noise is independent, and Δ is the largest norm of a
//     column of the whitened matrix that is applied: no certificate of a solver is
//     believed. Rank, inducing inputs and designs come from public inputs.
//   - Sums over rows ([Sums]). A row's contribution is computed from that row
//     alone, rounded to a grid and added in whole numbers, so that neither the order
//     nor other rows change the contribution: errors of a floating-point sum, which depend
//     on all rows, do not arise.
//   - Choices ([Source.Choose]). The error of the utilities is added to their
//     sensitivity, and ε is lowered by the rounding of an exponent.
//   - Labels, each answered at random ([Source.Respond]), without any rounding.
//
// # Assumptions
//
// The entropy source gives independent fair bits. The operator is trusted: errors
// that stop a release are the operator's to read. The running time, which depends on
// the draws and on the data, is outside of the guarantee. δ is not the probability
// that ε-privacy fails.
package release
