// Package multikernel reproduces T. Chanyaswad, J. M. Chang and S. Y. Kung, "A
// compressive multi-kernel method for privacy-preserving machine learning"
// (IJCNN 2017): kernels are compressed to the few directions that distinguish
// activities, and the compressive kernels are combined, so that a
// classifier recognises the activity and not the person.
//
// Package graphs/discriminant computes the compression and the weights. A
// compressive kernel is kept as a factor of five columns, and a support vector
// machine on the combined kernel is a linear one on at most twenty explicit
// features; see package recognise.
//
// # Protection
//
// Nothing is guaranteed: there is no noise and no ε. The paper calls people
// protected because a support vector machine with its settings names them no
// better than by chance. Kernels of trace one have entries of about 1/N, so with
// a small C such a machine of twenty classes answers with one class, and its 5 %
// do not measure the disclosure by the features. A reader of the test kernel has
// the features, and better adversaries recognise the person in them.
//
// # Errata
//
// The ledger lists the paper's mistakes. These decide the computation:
//
//   - Eq. (7) prints ρ for ρ' in the numerator.
//   - The right matrix of Eq. (8), K̄² + ρK̄, is singular: K̄ has the constant in
//     its kernel. The problem is solved on the range of K̄; the experiment
//     multikernel/eigenproblem shows the result of a general solver for the print.
//   - The sigmoid kernel is indefinite. K̄ + ρI must be positive definite, or the
//     kernel is refused.
//   - Eq. (20): the second A of K̂_B lacks its subscript; the inverse is the
//     pseudo-inverse on the range of K̂. The matrix is not symmetric, and the sum
//     of its singular values is not its trace, nor is it that of Eq. (18)'s.
//   - Eq. (21) means the scores divided by their Euclidean norm.
//   - The alignment of several classes takes one-hot labels, not their numbers.
//   - Eq. (26) always selects a single kernel.
package multikernel
