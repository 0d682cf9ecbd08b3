package engine

import (
	"gorgonia.org/gorgonia"

	"privkern/graphs/op"
)

// The operations of package op as formulas. Shapes and errors are those of the
// operation that the comment names.
//
// All of them take batches: operands with leading dimensions, [batch…, n, m] or, for a
// scalar, [batch…], as [Builder.Tensor] declares them; operands without are shared by all
// members. See [op.Op.Batch] for the rules, and package batch for members of several sizes.

// Cholesky is [op.Cholesky]: L of A = L Lᵀ, n×n. It fails in the run where A is not
// positive definite.
func (b *Builder) Cholesky(a *gorgonia.Node) *gorgonia.Node { return b.Apply(op.Cholesky(), a) }

// CholeskyShifted is [op.CholeskyShifted]: L of A + sI = L Lᵀ for a scalar s.
func (b *Builder) CholeskyShifted(a, s *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.CholeskyShifted(), a, s)
}

// CholeskySolve is [op.CholeskySolve]: (L Lᵀ)⁻¹B, n×m.
func (b *Builder) CholeskySolve(l, rhs *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.CholeskySolve(), l, rhs)
}

// TriangularSolve is [op.TriangularSolve]: L⁻¹B, n×m.
func (b *Builder) TriangularSolve(l, rhs *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.TriangularSolve(), l, rhs)
}

// CholeskyLogDet is [op.CholeskyLogDet]: log|L Lᵀ|, a scalar.
func (b *Builder) CholeskyLogDet(l *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.CholeskyLogDet(), l)
}

// ReciprocalCondition is [op.ReciprocalCondition]: about 1/cond(A) for A = L Lᵀ,
// a scalar.
func (b *Builder) ReciprocalCondition(a, l *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.ReciprocalCondition(), a, l)
}

// Solve is [op.Solve]: A⁻¹B, n×m, differentiable. All of A's Solve, LogDet and Inverse have one factor.
func (b *Builder) Solve(a, rhs *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.Solve(), a, b.Cholesky(a), rhs)
}

// LogDet is [op.LogDet]: log|A|, a scalar, differentiable.
func (b *Builder) LogDet(a *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.LogDet(), a, b.Cholesky(a))
}

// Inverse is [op.Inverse]: A⁻¹, n×n.
func (b *Builder) Inverse(a *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.Inverse(), a, b.Cholesky(a))
}

// AddDiagonal is [op.AddDiagonal]: A + sI, n×n, for a scalar s, differentiable.
func (b *Builder) AddDiagonal(a, s *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.AddDiagonal(), a, s)
}

// RidgeSolve is [op.RidgeSolve]: (K + λI)⁻¹T, n×m, for a scalar λ.
// K is positive semidefinite, λ > 0.
func (b *Builder) RidgeSolve(k, lambda, targets *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.RidgeSolve(), k, lambda, targets)
}

// RidgeNorm is [op.RidgeNorm]: ‖B' + b mᵀ‖²_F for [B' b], a scalar.
func (b *Builder) RidgeNorm(solutions, mean *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.RidgeNorm(), solutions, mean)
}

// RidgeGramNorm is [op.RidgeGramNorm]: tr((K+λI)⁻¹ G (K+λI)⁻¹), a scalar.
func (b *Builder) RidgeGramNorm(k, lambda, gram *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.RidgeGramNorm(), k, lambda, gram)
}

// Eigen is [op.Eigen]: eigenvalues and eigenvectors, (n+1)×n. Eigenvalues ascend; each
// column below one is its vector.
func (b *Builder) Eigen(a *gorgonia.Node) *gorgonia.Node { return b.Apply(op.Eigen(), a) }

// Eigenvalues is [op.Eigenvalues]: the first row of an Eigen, 1×n.
func (b *Builder) Eigenvalues(eigen *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.Eigenvalues(), eigen)
}

// LargestEigen is [op.LargestEigen]: the k largest eigenvalues, each before its
// vector, k×(n+1). They descend, unlike those of Eigen.
func (b *Builder) LargestEigen(k int, a *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.LargestEigen(k), a)
}

// LeadingEigen is [op.LeadingEigen]: approximations of the k largest eigenvalues in some
// steps, each before a bound of its error and its eigenvector in a row (k×(n+2)).
func (b *Builder) LeadingEigen(k, steps int, a *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.LeadingEigen(k, steps), a)
}

// LeftSingular is [op.LeftSingular]: singular values of an m×n matrix in descending order, each
// before its left vector, min(m, n)×(m+1).
func (b *Builder) LeftSingular(a *gorgonia.Node) *gorgonia.Node { return b.Apply(op.LeftSingular(), a) }

// PSDPart is [op.PSDPart]: V max(W, 0) Vᵀ, n×n, for A and its Eigen.
func (b *Builder) PSDPart(a, eigen *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.PSDPart(), a, eigen)
}

// WeightedGram is [op.WeightedGram]: C diag(w) Cᵀ, p×p, for w of n×1.
func (b *Builder) WeightedGram(c, w *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.WeightedGram(), c, w)
}

// QuadraticForms is [op.QuadraticForms]: c_jᵀ G c_j for the columns of C, n×1.
func (b *Builder) QuadraticForms(c, g *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.QuadraticForms(), c, g)
}

// ColumnNorms is [op.ColumnNorms]: the squared Euclidean norms of the columns of X, n×1.
func (b *Builder) ColumnNorms(x *gorgonia.Node) *gorgonia.Node { return b.Apply(op.ColumnNorms(), x) }

// IdentityPlusGram is [op.IdentityPlusGram]: I + XᵀX, m×m.
func (b *Builder) IdentityPlusGram(x *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.IdentityPlusGram(), x)
}

// ColumnGram is [op.Scatter] over the columns: s XᵀX, p×p.
func (b *Builder) ColumnGram(s float64, x *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.Scatter(s, false), x)
}

// RowGram is [op.Scatter] over the rows: s XXᵀ, n×n.
func (b *Builder) RowGram(s float64, x *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.Scatter(s, true), x)
}

// RowMeans is [op.RowMeans]: the mean of each row, n×1.
func (b *Builder) RowMeans(a *gorgonia.Node) *gorgonia.Node { return b.Apply(op.RowMeans(), a) }

// CentreSymmetric is [op.CentreSymmetric]: CKC with C = I − 11ᵀ/n, n×n, from K
// and its row means.
func (b *Builder) CentreSymmetric(k, means *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.CentreSymmetric(), k, means)
}

// Trace is [op.Trace], a scalar.
func (b *Builder) Trace(a *gorgonia.Node) *gorgonia.Node { return b.Apply(op.Trace(), a) }

// ScaleRows is [op.ScaleRows]: diag(s) X, n×m, for s of n×1.
func (b *Builder) ScaleRows(s, x *gorgonia.Node) *gorgonia.Node { return b.Apply(op.ScaleRows(), s, x) }

// SubtractRow is [op.SubtractRow]: X − 1r, n×m, for r of 1×m, which each member of a batch may
// have its own of. For single matrices there is [Builder.SubRow], which has a derivative.
func (b *Builder) SubtractRow(x, r *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.SubtractRow(), x, r)
}

// MatrixProduct is [op.MatrixProduct]: AB, n×m, for members of a batch, see [Builder.Mul].
func (b *Builder) MatrixProduct(x, y *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.MatrixProduct(), x, y)
}

// ScaledBy is [op.ScaledBy]: sX, n×m, for a scalar s, which each member of a batch has its
// own of.
func (b *Builder) ScaledBy(x, s *gorgonia.Node) *gorgonia.Node { return b.Apply(op.ScaledBy(), x, s) }

// RowDistance is [op.RowDistance]: ‖a_i − c_i‖ over the columns from the given
// one on, q×1.
func (b *Builder) RowDistance(from int, a, c *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.RowDistance(from), a, c)
}

// LogisticScale is [op.LogisticScale]: √(nW) at f, N×1.
func (b *Builder) LogisticScale(f, count *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.LogisticScale(), f, count)
}

// NewtonTarget is [op.NewtonTarget]: nWf + (Y + n)/2 − nπ, N×m.
func (b *Builder) NewtonTarget(f, count, labels *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.NewtonTarget(), f, count, labels)
}

// IdentityPlusScaled is [op.IdentityPlusScaled]: I + diag(s) K diag(s), n×n.
func (b *Builder) IdentityPlusScaled(k, s *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.IdentityPlusScaled(), k, s)
}

// AffineHull is [op.AffineHull]: points of the affine hull for the queries Z,
// q×c.
func (b *Builder) AffineHull(z, x, w, solutions *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.AffineHull(), z, x, w, solutions)
}

// Leading is [op.Leading]: A with the rows and columns from count on replaced by those of
// d·I, n×n.
func (b *Builder) Leading(d float64, a, count *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.Leading(d), a, count)
}

// NearestCentres is [op.NearestCentres]: the assignment of points to the nearest of k centres,
// n×3S for the centres (S·k×d) of S starts, by direct distances or by products.
func (b *Builder) NearestCentres(k int, direct bool, x, centres, labels, count *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.NearestCentres(k, direct), x, centres, labels, count)
}

// RefillClusters is [op.RefillClusters]: the labels of an assignment, n×S, with a point in each
// of k clusters.
func (b *Builder) RefillClusters(k int, assignment, count *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.RefillClusters(k), assignment, count)
}

// ClusterMeans is [op.ClusterMeans]: the means of the points with each of k labels, S·k×d.
func (b *Builder) ClusterMeans(k int, x, labels, count *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.ClusterMeans(k), x, labels, count)
}
