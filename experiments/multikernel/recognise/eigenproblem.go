package recognise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/experiments/multikernel/kernellist"
	"privkern/graphs/discriminant"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/runner/experiment"
)

var eigenproblem = experiment.Of(experiment.Declaration[*EigenproblemSettings, EigenproblemMetrics]{
	Name:    "multikernel/eigenproblem",
	Version: 1,
	Summary: "Eq. (8) solved as it is printed, with its singular matrix, beside its solution on the range",
	Source:  "Chanyaswad, Chang and Kung 2017, Eq. (8)",
	Datasets: func(s *EigenproblemSettings) []string {
		if s.Dataset == HARSurrogate {
			return nil
		}
		return []string{experiment.NameOf(s.Dataset)}
	},
	StandIn: func(s *EigenproblemSettings) string { return surrogateStandIn(s.Dataset) },
	Check: func(s *EigenproblemSettings) error {
		_, err := kernellist.ParseOne(s.Kernel)
		return err
	},
	Memory: func(s *EigenproblemSettings) int64 { return eigenproblemMemory(s.Samples) },
	Run:    runEigenproblem,
})

// Steps of a trial.
const eigenproblemSteps = 3

func runEigenproblem(ctx context.Context, t *experiment.Trial,
	s *EigenproblemSettings) (*experiment.Outcome[EigenproblemMetrics], error) {
	named, err := kernellist.ParseOne(s.Kernel)
	if err != nil {
		return nil, err
	}
	all, err := harSamples(t, s.Dataset)
	if err != nil {
		return nil, err
	}
	train, test, err := drawn(all, s.Samples, s.Features, t.Stream("subset"))
	if err != nil {
		return nil, err
	}
	e := engine.Of(t.Engine)
	p, err := discriminant.Fit(ctx, e, named.Kernel, train.X, train.Utility, s.options())
	if err != nil {
		return nil, err
	}
	projected, err := p.Project(ctx, e, test.X)
	if err != nil {
		return nil, err
	}
	score := func(of, at *mat.Dense) (float64, error) {
		normalise(of, at)
		m, err := learn.TrainSVM(of, train.Utility, learn.SVMOptions{C: s.C})
		if err != nil {
			return 0, err
		}
		return 100 * learn.Accuracy(m.Predict(at), test.Utility), nil
	}
	out := &experiment.Outcome[EigenproblemMetrics]{Privacy: claimedPrivacy()}
	m := &out.Metrics
	if m.Range, err = score(mat.DenseCopyOf(p.Features), mat.DenseCopyOf(projected)); err != nil {
		return nil, err
	}
	t.Progress(1, eigenproblemSteps, "solved on the range")
	kernels, err := centredKernels(ctx, e, named.Kernel, train.X, test.X)
	if err != nil {
		return nil, err
	}
	solution, err := kernels.solveAsPrinted(train.Utility, s.options())
	if err != nil {
		return nil, err
	}
	t.Progress(2, eigenproblemSteps, "solved as printed")
	if m.Printed, err = score(solution.train, solution.test); err != nil {
		return nil, err
	}
	t.Progress(eigenproblemSteps, eigenproblemSteps, "activities recognised")
	m.Rank, m.Largest, m.LargestRange = solution.rank, solution.largest, p.Power[0]
	m.Loss = m.Range - m.Printed
	out.Warnings = e.Warnings()
	return out, nil
}

// drawn draws samples to train on and, of the others, as many as half of them to test on,
// and some of the columns.
func drawn(all Samples, samples, features int, rng *rand.Rand) (train, test Samples, err error) {
	n, columns := all.X.Dims()
	if need := samples + samples/2; need > n || features > columns {
		return train, test, fmt.Errorf("%d samples and half as many to test on, of %d features: there are %d of %d",
			samples, features, n, columns)
	}
	rows, of := rng.Perm(n), rng.Perm(columns)[:features]
	slices.Sort(of)
	part := func(rows []int) Samples {
		out := all.take(rows)
		x := mat.NewDense(len(rows), features, nil)
		for i := range rows {
			for j, column := range of {
				x.Set(i, j, out.X.At(i, column))
			}
		}
		out.X = x
		return out
	}
	return part(rows[:samples]), part(rows[samples : samples+samples/2]), nil
}

// normalise scales features so that the compressive kernel has trace one (Eq. 17).
func normalise(train, test *mat.Dense) {
	if norm := mat.Norm(train, 2); norm > 0 {
		train.Scale(1/norm, train)
		test.Scale(1/norm, test)
	}
}

// kernelPair holds centred kernel matrices: K̄ (N×N) of training samples, and of test
// samples with them (T×N), centred with the means of K.
type kernelPair struct{ train, test *mat.Dense }

func centredKernels(ctx context.Context, e *engine.Engine, k kernel.Kernel, train, test *mat.Dense,
) (kernelPair, error) {
	gram, err := k.Matrix64(ctx, e, train, train)
	if err != nil {
		return kernelPair{}, err
	}
	cross, err := k.Matrix64(ctx, e, test, train)
	if err != nil {
		return kernelPair{}, err
	}
	n, _ := gram.Dims()
	means, total := make([]float64, n), 0.0 // of the columns of K, and of all of it
	for j := range n {
		means[j] = mat.Sum(gram.ColView(j)) / float64(n)
		total += means[j] / float64(n)
	}
	for _, a := range []*mat.Dense{cross, gram} {
		rows, _ := a.Dims()
		for i := range rows {
			row := a.RawRowView(i)
			mean := mat.Sum(a.RowView(i)) / float64(n)
			for j := range row {
				row[j] += total - mean - means[j]
			}
		}
	}
	return kernelPair{gram, cross}, nil
}

// printedSolution is the solution of a general solver.
type printedSolution struct {
	train, test *mat.Dense // features
	rank        float64    // of K̄
	largest     float64    // the largest real part of the eigenvalues
}

// solveAsPrinted solves (K_B + ρ'K̄) a = λ (K̄² + ρK̄) a as an eigenproblem of (K̄² + ρK̄)⁻¹(K_B +
// ρ'K̄), by LU factors and the QR algorithm, the method to which solvers of generalised
// eigenproblems fall back where the right matrix is not positive definite. K̄ is centred, so that
// the right matrix is singular: where K̄ has a rank far below N, rounding alone makes the
// eigenvalues of its null space, which are 0/0.
func (k kernelPair) solveAsPrinted(labels []int, o discriminant.Options) (*printedSolution, error) {
	n, _ := k.train.Dims()
	between := betweenScatter(k.train, labels)
	var left, right, ridge mat.Dense
	left.Scale(o.SignalRidge, k.train)
	left.Add(&left, between)
	right.Mul(k.train, k.train)
	ridge.Scale(o.Ridge, k.train)
	right.Add(&right, &ridge)
	var quotient mat.Dense
	// A condition number is all the failure there is for a matrix that rounding keeps regular.
	var condition mat.Condition
	if err := quotient.Solve(&right, &left); err != nil && !errors.As(err, &condition) {
		return nil, fmt.Errorf("(K̄² + ρK̄)⁻¹(K_B + ρ'K̄): %w", err)
	}
	var eigen mat.Eigen
	if !eigen.Factorize(&quotient, mat.EigenRight) {
		return nil, errors.New("the QR algorithm finds no eigenvalues of (K̄² + ρK̄)⁻¹(K_B + ρ'K̄)")
	}
	values := eigen.Values(nil)
	order := learn.AllRows(n)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(real(values[j]), real(values[i])) })
	var vectors mat.CDense
	eigen.VectorsTo(&vectors)
	a := mat.NewDense(n, o.Components, nil)
	for q := range o.Components {
		v := mat.NewVecDense(n, nil)
		for i := range n {
			v.SetVec(i, real(vectors.At(i, order[q])))
		}
		var image mat.VecDense
		image.MulVec(&right, v)
		if length := math.Sqrt(math.Abs(mat.Dot(v, &image))); length > 0 { // aᵀ(K̄² + ρK̄)a = 1
			v.ScaleVec(1/length, v)
		}
		a.SetCol(q, v.RawVector().Data)
	}
	out := &printedSolution{train: new(mat.Dense), test: new(mat.Dense), largest: real(values[order[0]])}
	out.train.Mul(k.train, a)
	out.test.Mul(k.test, a)
	var svd mat.SVD
	if !svd.Factorize(k.train, mat.SVDNone) {
		return nil, errors.New("the singular values of K̄ are not found")
	}
	out.rank = float64(svd.Rank(rankCutoff))
	return out, nil
}

// rankCutoff is the share of the largest singular value that counts as zero.
const rankCutoff = 1e-12

// betweenScatter is K_B (N×N, Eq. 10) of a centred kernel.
func betweenScatter(k *mat.Dense, labels []int) *mat.Dense {
	n, _ := k.Dims()
	out := mat.NewDense(n, n, nil)
	for _, l := range Distinct(labels) {
		mean, count := mat.NewVecDense(n, nil), 0.0
		for i, label := range labels {
			if label == l {
				mean.AddVec(mean, k.RowView(i))
				count++
			}
		}
		mean.ScaleVec(1/count, mean)
		out.RankOne(out, count, mean, mean) // the mean of all rows is zero
	}
	return out
}
