// Package stats releases statistics of the columns of a user's own data with differential privacy:
// counts, quantiles, means, and ranges that may be given to other methods as public.
//
// # The queries
//
// A protected unit is a row or, where a column names persons, all rows of one person, at most m (m = 1
// for a row); a neighbour substitutes it. Every query of a column is a mechanism of its own with the same
// ε₀, on rows in which missing values are marked:
//
//   - Values: how many rows have one. A unit has from 0 to m, so that it moves the number by at most m,
//     to which Laplace noise is added. With persons the number of rows is private, and is released alike.
//
//   - Scale, where no range is given: how many units have their first value in each of 121 intervals, the
//     powers of two from 2⁻²⁰ to 2⁴⁰ of either sign and those around zero. A unit is in one, so that two
//     numbers move by 1, each of which has Laplace noise of scale 2/ε₀: the loss is ε₀/2 twice. It is
//     the worst for k rows, too, where it is kε₀/2 twice: their changes are v with |v_j| ≤ k and
//     Σ|v_j| ≤ 2k, a polytope whose extreme points have two numbers moved by k; and with the density p
//     of the noise, ∫ min(p(x), e^ε p(x−v)) dx is log-concave in v (Prékopa 1973, since the integrand is
//     in (x, v)), so that the hockey-stick divergence, one less that, is largest at an extreme point.
//     The range is found from these numbers alone ([rangeOf]).
//
//   - Quantiles: the exponential mechanism chooses a point c of a grid over the range (Smith,
//     "Privacy-preserving statistical estimation with optimal convergence rates", STOC 2011, Section 4)
//     by the utility
//
//     u(c) = −max(0, L(c) − q(L(c) + U(c) + E(c)), q(L(c) + U(c) + E(c)) − L(c) − E(c))
//
//     of L values below c, E at c and U above. For values that are not at c it is minus the number of
//     ranks that lie between c and the q-quantile. A row contributes to L − q(L+U+E) one of 1−q, −q and 0,
//     so that substituting it moves this by at most 1, likewise the other term, and so their largest:
//     the sensitivity of a unit is m.
//
//   - Mean: the sum of the values less the middle of the range, clipped to half its width h, with Laplace
//     noise for the sensitivity 2hm, over the noisy number of values. The range is a public one, or that
//     which is computed from the quantiles.
//
// Ranges and grids of later queries depend on earlier outputs alone: the composition is adaptive, which
// all sums of privacy losses allow. Everything else is post-processing.
//
// # Composition
//
// K queries of ε₀ = ε/K are ε-differentially private. Where δ > 0 is given, ε₀ is the largest for which
// the composed privacy loss is (ε, δ), if that is larger.
package stats
