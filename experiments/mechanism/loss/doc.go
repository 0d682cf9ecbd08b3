// Package loss accounts for the privacy loss of releases that compose several mechanisms.
//
//   - [Epsilon] is the ε of a composition at a δ, and [Group] that for several rows of one person.
//   - [Book] returns the [Booked] of a release: the amounts by which it enters the sums over many
//     releases. [Stated] returns those of a release of which only (ε, δ) is known.
//   - [PureGDP] returns the Gaussian mechanism that stands for any pure one.
//
// # Pairs that dominate
//
// For distributions P and Q of the outputs on neighbouring data, δ(ε) is the hockey-stick divergence
// sup P(S) − e^ε Q(S), for every real ε. A pair dominates a mechanism whose δ is nowhere above that of
// the pair, for all neighbours. The product of pairs dominates the composition of mechanisms that they
// dominate, each of which may be chosen after the outputs of those before it (Zhu, Dong and Wang, "Optimal accounting
// of differential privacy via characteristic function", AISTATS 2022, Theorem 10). These are used:
//
//   - Gaussian noise: N(μ, 1) and N(0, 1). The product of several is that of √(Σμ²).
//   - Laplace noise on one coordinate: δ(ε) = 1 − e^((ε−ε₀)/2) for |ε| ≤ ε₀.
//   - A choice by the exponential mechanism of ε₀: its loss log(P/Q) takes values in an interval [t − ε₀, t] that
//     depends on the data (Durfee and Rogers 2019; Dong, Durfee and Rogers, "Optimal differential privacy composition
//     for exponential mechanisms", ICML 2020). Of all with one t, the answers at random with losses t and t − ε₀ have
//     the largest δ(ε) = (1 − e^(t−ε₀))(1 − e^(ε−t))/(1 − e^−ε₀). The largest of these over t, at t = (ε+ε₀)/2, is
//     (1 − e^((ε−ε₀)/2))²/(1 − e^−ε₀): convex and falling in e^ε, 1 at 0 and at least 1 − e^ε, and so the δ of a pair
//     (Zhu et al. 2022, Proposition 8), which dominates every choice.
//   - Randomised response of ε₀, as any ε₀-differentially private mechanism: the losses ε₀ and −ε₀, with the
//     probabilities e^ε₀ and 1 over 1 + e^ε₀, and so δ(ε) = (e^ε₀ − e^ε)/(1 + e^ε₀) for |ε| ≤ ε₀ (Kairouz, Oh and
//     Viswanath 2015, Theorem 3.1).
//   - Gaussian noise on a Poisson sample: (1−q) N(0, 1) + q N(μ, 1) and N(0, 1) where neighbours lack a
//     unit, and the same in the other order where they have one more (Zhu et al. 2022, Theorem 11).
//   - The same where a unit is replaced: (1−q) N(0, 1) + q N(μ/2, 1) and (1−q) N(0, 1) + q N(−μ/2, 1), with the proof
//     at substitutedPair.
//
// # The grid
//
// The loss L = log(P/Q) under P gives δ(ε) = E max(0, 1 − e^(ε−L)). It is moved to the multiples of a spacing h: the
// probability of a loss between two is distributed to both so that the probabilities under P and Q are kept.
// That draws chords of the convex function δ of e^ε ("connect the dots": Doroshenko, Ghazi, Kamath, Kumar and
// Manurangsi, "Connect the dots: tighter discrete approximations of privacy loss distributions", PETS 2022), so the
// pair of the grid dominates. The probability of losses too large for the grid counts as unbounded, and adds to δ;
// that of losses too small moves up.
//
// # Composition
//
// Losses of a product add, and their probabilities are convolved by a fast Fourier transform, on probabilities that
// are tilted: p(x) e^(θx) divided by its sum e^K. A tilt commutes with the convolution, and lets the losses near
// an ε be the likely ones, so that the errors of the transform are small against the δ there, however small that is.
// Four errors are bounded and added to δ:
//
//   - Losses above the window, by Chernoff's bound exp(K(τ) − τb) at several τ. Losses that the cyclic
//     convolution wraps into the window only add to it.
//   - The transform: with relative error η in the Euclidean norm for each (Higham, "Accuracy and stability of
//     numerical algorithms", 2002, Theorem 24.2; η = 4e-15 log₂ N covers twiddle factors of an error of 2e-15), a
//     product of powers nᵢ has at most Σ nᵢ η ‖pᵢ‖ + η, as all of the transforms are at most 1. δ is a sum with
//     weights e^(−θmh)(1 − e^(−mh)) for the m-th multiple above ε, and so by Cauchy's inequality takes no more than
//     this times (min(N, 1/(e^(2θh) − 1)))^½, as little as the tilt allows.
//   - Rounding of each probability, 1e-12 of it, in the n-th power of the composition.
//   - Rounding of sums, all of which have positive terms.
//
// Between multiples the curve is the chord, in e^ε.
//
// A composition of mechanisms with these ρ is Σρ-concentrated, and has the ε of that (Canonne, Kamath and Steinke
// 2020) where it is less: of many choices, whose ρ is ε²/8 for every interval of losses, while the pair above has the
// losses of all intervals at once.
//
// # What is booked
//
// A release with the pairs (P, Q) is a post-processing of the mechanism M that with probability δ₀ reveals all and
// else adds Gaussian noise of μ if, for both orders of the hypotheses and every ε ≥ 0,
//
//	δ(ε) ≤ δ₀ + (1 − δ₀) G(ε),
//
// where G is that of N(μ, 1) and N(0, 1): the right side is the δ of M; for ε < 0 both sides follow from the other
// order by δ(−ε; P, Q) = 1 − e^−ε + e^−ε δ(ε; Q, P); and a pair whose δ is nowhere larger is a post-processing of the
// other (Blackwell; Dong, Roth and Su 2022, Theorem 2.10 of arXiv:1905.02383). So outside of an event of probability
// δ₀, under either hypothesis, the release is μ-GDP, and over releases probabilities of these events and the μ² add.
// The inequality is examined at all ε (see covered), and where δ(ε) ≤ δ₀ it holds.
//
// Without a δ₀, μ² is the sum of those of the mechanisms. ρ is the sum of those of the mechanisms as well.
package loss
