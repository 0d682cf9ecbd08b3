package recognise

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/runner/experiment"
)

// Grids of the adversaries. γ is per feature of variance one.
var (
	adversaryPenalties  = []float64{1, 10, 100}
	adversaryGammas     = []float64{.5, 2}
	adversaryNeighbours = []int{1, 3, 9, 27}
)

const (
	adversaryFolds = 3
	adversaryTrees = 300
)

// Disclosed holds the adversaries' accuracies for the privacy labels of test samples, in per cent.
type Disclosed struct {
	SVM        float64 // an RBF machine, its C and γ cross-validated
	Activity   float64 // the same, over the test samples of a privacy class in a utility class
	Person     float64 // the same, over all test samples of a privacy class
	Neighbours float64 // nearest neighbours, their number cross-validated
	Forest     float64 // a random forest
}

// Strongest is the largest of those that judge single samples.
func (d Disclosed) Strongest() float64 { return max(d.SVM, d.Neighbours, d.Forest) }

// adversary recognises people from compressed features.
type adversary struct {
	*experiment.Trial
	ctx      context.Context
	searches int // cap on the iterations of a support vector machine
	// number of training samples that a support vector machine learns from at most; 0: all
	machineRows int
	// Features with every column scaled to mean zero and variance one over the training
	// samples: directions in which people differ count as much as those in which activities
	// do.
	scaledTrain, scaledTest *mat.Dense
	train, test             Samples
	step                    func(what string)
	disclosed               Disclosed
}

// Disclose trains adversaries on the features of the training samples and their privacy labels, and
// has them name the labels of the test samples. Test samples with equal utility labels are judged
// together. Step is called as each adversary is done.
func Disclose(ctx context.Context, t *experiment.Trial, f *Features, train, test Samples, step func(what string),
) (Disclosed, error) {
	return newAdversary(ctx, t, f, train, test, step).disclose()
}

func newAdversary(ctx context.Context, t *experiment.Trial, f *Features, train, test Samples, step func(what string),
) *adversary {
	a := &adversary{Trial: t, ctx: ctx, searches: learn.SVMIterations, machineRows: f.MachineRows, train: train,
		test: test, step: step, scaledTrain: mat.DenseCopyOf(f.Train), scaledTest: mat.DenseCopyOf(f.Test)}
	standardise(a.scaledTrain, a.scaledTest)
	return a
}

// disclose runs the attacks one after the other.
func (a *adversary) disclose() (Disclosed, error) {
	for _, attack := range []func() error{a.machine, a.neighbours, a.forest} {
		if err := a.ctx.Err(); err != nil {
			return Disclosed{}, err
		}
		if err := attack(); err != nil {
			return Disclosed{}, fmt.Errorf("adversary: %w", err)
		}
	}
	return a.disclosed, nil
}

// machine recognises people by an RBF machine. A program computes the kernel of all
// training samples once for each γ, in float64; the searches read their rows from it.
func (a *adversary) machine() error {
	train, test, labels := a.scaledTrain, a.scaledTest, a.train.Privacy
	if rows := DrawnRows(labels, a.machineRows, a.Stream("rows of machines")); rows != nil {
		train, labels = learn.SelectRows(train, rows), learn.Select(labels, rows)
	}
	samples, columns := train.Dims()
	if tested, _ := test.Dims(); a.machineRows > 0 || max(samples, tested) > mostMatrix {
		return a.largeMachine(train, test, labels)
	}
	e := engine.Of(a.Engine)
	var best struct {
		accuracy float64
		kernel   kernel.Kernel
		gram     *mat.Dense // N×N
		c        float64
	}
	best.accuracy = -1
	for _, g := range adversaryGammas {
		rbf := kernel.RBF(g / float64(columns))
		gram, err := rbf.Matrix64(a.ctx, e, train, train)
		if err != nil {
			return err
		}
		// Equal names give equal streams: all γ see the same folds.
		choice, err := learn.CrossValidateC(learn.RowNumbers(0, samples), labels, adversaryPenalties,
			adversaryFolds, a.Stream("cross-validation of an adversary"),
			learn.SVMOptions{Kernel: learn.MatrixKernel(gram), Iterations: a.searches})
		if err != nil {
			return err
		}
		for i, c := range adversaryPenalties {
			if c == choice.C && choice.Accuracy[i] > best.accuracy {
				best.accuracy, best.kernel, best.gram, best.c = choice.Accuracy[i], rbf, gram, c
			}
		}
	}
	cross, err := best.kernel.Matrix64(a.ctx, e, test, train)
	if err != nil {
		return err
	}
	m, err := learn.TrainSVM(learn.RowNumbers(0, samples), labels, learn.SVMOptions{C: best.c,
		Kernel: learn.MatrixKernel(best.gram, cross), Iterations: a.searches})
	if err != nil {
		return err
	}
	tested, _ := test.Dims()
	a.decide(m, learn.RowNumbers(samples, tested))
	return nil
}

// decide judges a machine by test samples that are row numbers.
func (a *adversary) decide(m *learn.SVM, numbers *mat.Dense) {
	decisions := m.Decisions(numbers)
	a.disclosed.Person = a.pooled(m, decisions, func(int) int { return 0 })
	a.disclosed.Activity = a.pooled(m, decisions, func(i int) int { return a.test.Utility[i] })
	a.disclosed.SVM = a.score(m.Vote(decisions), "adversary: support vector machine")
}

// pooled returns the share, in per cent, of groups of test samples whose person the
// machine names from its decisions about all of them. A group is of one person, and of one part.
func (a *adversary) pooled(m *learn.SVM, decisions *mat.Dense, part func(i int) int) float64 {
	type key struct{ person, part int }
	place := map[key]int{}
	var groups [][]int
	var people []int
	for i, person := range a.test.Privacy {
		k := key{person, part(i)}
		g, seen := place[k]
		if !seen {
			g = len(groups)
			place[k], groups, people = g, append(groups, nil), append(people, person)
		}
		groups[g] = append(groups[g], i)
	}
	return 100 * learn.Accuracy(m.VoteTogether(decisions, groups), people)
}

func (a *adversary) neighbours() error {
	train, test := a.scaledTrain, a.scaledTest
	parts, err := learn.StratifiedFolds(a.train.Privacy, adversaryFolds, a.Stream("cross-validation of an adversary"))
	if err != nil {
		return err
	}
	e := engine.Of(a.Engine)
	sums := make([]float64, len(adversaryNeighbours))
	for _, part := range parts {
		var ks []int // in increasing order: those that there are samples for come first
		for _, k := range adversaryNeighbours {
			if k <= len(part.Train) {
				ks = append(ks, k)
			}
		}
		predicted, err := learn.NearestNeighbours(a.ctx, e, learn.SelectRows(train, part.Train),
			learn.Select(a.train.Privacy, part.Train), learn.SelectRows(train, part.Test), ks...)
		if err != nil {
			return err
		}
		for i := range ks {
			sums[i] += learn.Accuracy(predicted[i], learn.Select(a.train.Privacy, part.Test))
		}
	}
	chosen := adversaryNeighbours[slices.Index(sums, slices.Max(sums))]
	predicted, err := learn.NearestNeighbours(a.ctx, e, train, a.train.Privacy, test, chosen)
	if err != nil {
		return err
	}
	a.disclosed.Neighbours = a.score(predicted[0], "adversary: nearest neighbours")
	return nil
}

func (a *adversary) forest() error {
	train, test := a.scaledTrain, a.scaledTest
	forest, err := learn.TrainForest(train, a.train.Privacy, a.Stream("forest of an adversary"),
		learn.ForestOptions{Trees: adversaryTrees, Workers: a.Workers})
	if err != nil {
		return err
	}
	a.disclosed.Forest = a.score(forest.Predict(test), "adversary: random forest")
	return nil
}

// score returns the share of people that are named, in per cent, and reports that an
// adversary is done.
func (a *adversary) score(predicted []int, what string) float64 {
	a.step(what)
	return 100 * learn.Accuracy(predicted, a.test.Privacy)
}
