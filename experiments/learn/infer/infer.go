package infer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/graphs/engine"
)

// Problem is to name the classes of test rows.
type Problem struct {
	Train  *mat.Dense // N×d
	Labels []int      // N
	// Folds are parts of the training rows in which adversaries are tuned; nil draws three with a share of every class.
	Folds []learn.Fold
	Test  *mat.Dense // M×d
	Truth []int      // M
	// Groups are of test rows that are known to be of one class, and named together.
	Groups [][]int
}

// Means are those with which adversaries compute.
type Means struct {
	Engine  *engine.Engine
	Workers int
	Stream  func(purpose string) *rand.Rand
	Step    func(what string) // is called as each adversary is done
}

// Finding are the answers of an adversary.
type Finding struct {
	Adversary string
	Validated float64 // its accuracy there
	Untuned   string  // settings at an end of their ladders, in words; "" for none
	Skipped   string  // the reason why there is nothing else; "" where there is
	Right     []bool  // of each test row
	Pooled    []bool  // of each group
}

// Findings are those of all adversaries.
type Findings struct {
	All    []*Finding
	Chosen *Finding // with the best cross-validated accuracy, the first of equals
}

// The adversaries.
const (
	Machine    = "support vector machine"
	Neighbours = "nearest neighbours"
	Forest     = "random forest"
	Boosted    = "boosted trees"
	Network    = "network"
)

// Adversaries are the names of all, in their order.
var Adversaries = []string{Machine, Neighbours, Forest, Boosted, Network}

const (
	// parts is the number of parts in which adversaries are tuned.
	parts = 3
	// enough is the number of rows that are named while an adversary is tuned, beyond which parts are left out: the
	// standard error of a share is 1.3 % at most.
	enough = 1500
)

// answers are those about some rows.
type answers interface {
	// together names the class of rows that belong together, for each group of them, by its number.
	together(groups [][]int) []int
}

// kind is an adversary of some kind.
type kind interface {
	// tune sets the settings.
	tune(ctx context.Context) (*peak, error)
	// answer has the answers of a fit with these settings to all training rows about the rows of x (M×d).
	answer(ctx context.Context, x *mat.Dense) (answers, error)
}

// room are the training rows and parts of them, in which adversaries are tuned.
type room struct {
	Means
	x       *mat.Dense // standardised
	labels  []int      // from 0
	classes int
	folds   []learn.Fold
}

// stream is a random stream of a kind, for a purpose.
func (r *room) stream(of, purpose string) *rand.Rand { return r.Stream(purpose + ": " + of) }

// validate returns the share of rows that are named by fits to the other parts. fit has the answers of a fit to the
// training rows of a part about its test rows.
func (r *room) validate(ctx context.Context, fit func(f learn.Fold) (answers, error)) (float64, error) {
	right, all := 0.0, 0.0
	for _, f := range r.folds {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		a, err := fit(f)
		if err != nil {
			return 0, err
		}
		got := a.together(single(len(f.Test)))
		for i, row := range f.Test {
			if all++; got[i] == r.labels[row] {
				right++
			}
		}
	}
	return right / all, nil
}

// Run has all adversaries learn from the training rows and name the classes of the test rows.
func Run(ctx context.Context, by Means, p *Problem) (*Findings, error) {
	classes := slices.Compact(slices.Sorted(slices.Values(p.Labels)))
	number := func(labels []int) []int { // −1 for a class without training rows, which nobody names
		out := make([]int, len(labels))
		for i, l := range labels {
			var known bool
			if out[i], known = slices.BinarySearch(classes, l); !known {
				out[i] = -1
			}
		}
		return out
	}
	if len(classes) < 2 {
		return nil, errors.New("adversaries: the training rows are of one class; at least two are required")
	}
	train, test := mat.DenseCopyOf(p.Train), mat.DenseCopyOf(p.Test)
	scaling := learn.ScalingOf(train)
	scaling.Apply(train)
	scaling.Apply(test)
	r := &room{Means: by, x: train, labels: number(p.Labels), classes: len(classes)}
	if err := r.divide(p.Folds); err != nil {
		return nil, err
	}
	truth := number(p.Truth)
	out := &Findings{}
	for _, name := range Adversaries {
		f, err := r.attack(ctx, name, test, truth, p.Groups)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out.All = append(out.All, f)
		if f.Skipped == "" && (out.Chosen == nil || f.Validated > out.Chosen.Validated) {
			out.Chosen = f
		}
		by.Step("adversary: " + name)
	}
	return out, nil
}

// attack has one adversary learn and name.
func (r *room) attack(ctx context.Context, name string, test *mat.Dense, truth []int, groups [][]int) (*Finding,
	error) {
	k, skipped := r.kind(name)
	if skipped != "" {
		return &Finding{Adversary: name, Skipped: skipped}, nil
	}
	top, err := k.tune(ctx)
	if err != nil {
		return nil, err
	}
	a, err := k.answer(ctx, test)
	if err != nil {
		return nil, err
	}
	f := &Finding{Adversary: name, Validated: top.score, Untuned: strings.Join(top.edges, ", ")}
	named := func(groups [][]int) []bool {
		right := make([]bool, len(groups))
		for g, class := range a.together(groups) {
			right[g] = class == truth[groups[g][0]]
		}
		return right
	}
	f.Right, f.Pooled = named(single(len(truth))), named(groups)
	return f, nil
}

// kind returns the adversary of a name, or the reason why it is left out.
func (r *room) kind(name string) (_ kind, skipped string) {
	switch name {
	case Machine:
		return &machine{room: r}, ""
	case Neighbours:
		return r.neighbours(), ""
	case Forest:
		return r.forest(), ""
	case Boosted:
		return &boosted{room: r}, r.tooMany()
	}
	return &network{room: r}, r.tooMany()
}

// mostWork bounds rows times columns times classes of adversaries that compute something for each of them, in every one
// of a hundred rounds.
const mostWork = 1 << 25

// tooMany is the reason why such adversaries are left out; "" where they are not.
func (r *room) tooMany() string {
	if n, d := r.x.Dims(); n*d > mostWork/r.classes {
		return fmt.Sprintf("%d rows with %d columns of %d classes would take it very long", n, d, r.classes)
	}
	return ""
}

// divide sets the parts, as many as there are enough rows in. Of a class with a single row in the training rows of a
// part nothing is learnt, and a part without two classes is left out.
func (r *room) divide(folds []learn.Fold) error {
	if folds == nil {
		var err error
		folds, err = learn.StratifiedFolds(r.labels, min(parts, len(r.labels)), r.Stream("cross-validation of an adversary"))
		if err != nil {
			return fmt.Errorf("adversaries: %w", err)
		}
	}
	tested := 0
	for _, f := range folds {
		if tested >= enough {
			break
		}
		counts := make([]int, r.classes)
		for _, row := range f.Train {
			counts[r.labels[row]]++
		}
		usable := 0
		for _, n := range counts {
			if n > 1 {
				usable++
			}
		}
		kept := slices.DeleteFunc(slices.Clone(f.Train), func(row int) bool { return counts[r.labels[row]] == 1 })
		if usable > 1 && len(f.Test) > 0 {
			r.folds = append(r.folds, learn.Fold{Train: kept, Test: f.Test})
			tested += len(f.Test)
		}
	}
	if r.folds == nil {
		return errors.New("adversaries: no part of the training rows has two rows of two classes to learn from; more rows " +
			"of each class are required")
	}
	return nil
}

// single is each of n rows as a group of its own.
func single(n int) [][]int {
	out := make([][]int, n)
	for i := range out {
		out[i] = []int{i}
	}
	return out
}

// GroupsOf returns the rows with equal keys, in the order of the first of each.
func GroupsOf(keys ...[]int) [][]int {
	place := map[string]int{}
	var groups [][]int
	for i := range keys[0] {
		key := make([]int, len(keys))
		for k := range keys {
			key[k] = keys[k][i]
		}
		text := fmt.Sprint(key)
		g, seen := place[text]
		if !seen {
			g = len(groups)
			place[text], groups = g, append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}
