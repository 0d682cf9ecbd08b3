// Package choose makes a private choice among the methods of a comparison, and the release of the chosen one, within
// one (ε, δ).
//
// # The mechanism
//
// n units, rows or persons, are divided at random into a part B of [Options].HeldOut of them and a part A of the
// others. Each of k candidates is trained on A with exact noise, by the code of its release. The losses of each at the
// rows of B, in [0, 1] and functions of one row and the trained candidates, are added up in whole numbers, and a
// candidate is drawn by the exponential mechanism of ε₁ (McSherry and Talwar 2007) with exact probabilities
// ([release.Source.Choose]). It is released from all rows. The candidates that were trained on A and the sums of losses
// do not leave.
//
// # Its guarantee
//
// The division depends on n and on random bits alone, so let it be fixed, and the neighbouring data differ in one unit.
//
//   - It is in A. B is the same, and the choice a function of the trained candidates and of B: post-processing of the
//     former, which together are μ₁-Gaussian differentially private (GDP), as Σᵢμᵢ² ≤ μ₁² (Dong, Roth and Su,
//     "Gaussian differential privacy", JRSS B 84, 2022, Corollary 3.3).
//   - It is in B. The trained candidates have the same distribution. Given these, a sum of losses moves by at most m,
//     the most rows of a unit, which is the sensitivity that the exponential mechanism has. ε₁ is such that its choice
//     is μ₁-GDP (package loss: privkern/experiments/mechanism/loss).
//
// In both cases the chosen name is μ₁-GDP: parallel composition (McSherry, "Privacy integrated queries", SIGMOD 2009,
// Theorem 4), here with the second part asked after the first. For each name the release from all rows is μ₂-GDP, so
// that both together are μ-GDP with μ² = μ₁² + μ₂² (Dong et al. 2022, Theorem 3.2, which is adaptive), and μ is the
// largest with which that implies (ε, δ). A candidate has the μᵢ of the mechanisms that its release composes.
//
// With a division that is fixed this holds for the unit at a place of the list. It holds for data without an order,
// too: where persons are numbered by their first rows, or invalid rows leave empty places at the end, a substitution
// may move others. Let D' be D with x' in the place of x. Divisions of D and of D' that treat all others alike, and x'
// as x, are equally likely, and for each pair of them the trade-off function is at least G_μ. That of a mixture with
// the same weights, in which it is even seen which division was drawn, is at least G_μ as well, since G_μ is convex.
package choose
