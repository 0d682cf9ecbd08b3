// Package compare answers which private method suits a user's table: it lists the methods ([Candidates]), makes the
// trials of a comparison ([New]), and judges their results ([Contest.Judge]).
//
// # A fair comparison
//
// All methods have one protected unit, one (ε, δ), one neighbouring relation (substitution), and the same splits:
// a trial has one split, whose test rows follow from its seed and the number of rows alone
// ([privkern/experiments/method.CommonSplit]). The settings of the command line go to every method that declares
// them; others have their defaults. What protects less than the unit that is asked for stands in a block of its own,
// and is not ranked with what protects it.
//
// # What can be told apart
//
// The splits of a table overlap in their training rows, so that their scores depend on each other, and the variance of
// a mean over k of them is more than S²/k. Methods are distinguished by the corrected resampled t-test: with the
// differences of two methods on the same splits, their mean m and their variance S²,
//
//	t = m / √((1/k + n₂/n₁) S²)
//
// has Student's distribution with k−1 degrees of freedom, approximately, for n₁ training and n₂ test rows (Nadeau and
// Bengio 2003, Machine Learning 52, Section 3). The best method of a block is compared with each of the others at an
// ε; their p-values are adjusted by Holm's procedure (1979, Scandinavian Journal of Statistics 6), which holds the
// probability of any wrong distinction at 5 % for any dependence of them. The best one was chosen by the same
// scores, for which no correction is made: a small p-value between the first and the second is a little too small.
//
// # What looking costs
//
// Scores are computed from private rows, without noise: they are for the operator, as all judging is.
package compare
