package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// planned is a release of this project with made-up data: the audited code is the one that
// makes a user's release, from the rows that were read to the published numbers.
type planned struct {
	experiment *experiment.Experiment
	given      map[string]any // the settings, without the file of the data
	file       string         // the data set's file
	content    string
	plan       func(context.Context, *experiment.Trial) (*release.Plan, error)

	mu   sync.Mutex
	free []*release.Plan // one for each worker: a plan is used by one at a time
}

// newPlanned finds the experiment among those of a paper.
func newPlanned(paper experiment.Paper, name, file, content string, given map[string]any,
	plan func(context.Context, *experiment.Trial) (*release.Plan, error)) (*planned, error) {
	i := slices.IndexFunc(paper.Experiments, func(e *experiment.Experiment) bool { return e.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no experiment %s", name)
	}
	return &planned{experiment: paper.Experiments[i], given: given, file: file, content: content, plan: plan}, nil
}

// make plans the release, from a file that is written for it.
func (p *planned) make(ctx context.Context) (plan *release.Plan, err error) {
	folder, err := os.MkdirTemp("", "privkern-audit-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, p.file)
	if err := os.WriteFile(path, []byte(p.content), 0o600); err != nil {
		return nil, err
	}
	params, err := p.experiment.Resolve(p.given)
	if err != nil {
		return nil, err
	}
	opened, err := engine.Opener("cpu", "float64", 1) // as long as the plan is: it is kept for the whole audit
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.Close())
		}
	}()
	return p.plan(ctx, &experiment.Trial{
		Identity: experiment.Identity{Params: params, Backend: "cpu", DType: "float64"}, Engine: opened, Workers: 1,
		Secure: true,
		Dataset: func(name string) string {
			if _, own := dataset.FilePath(name); own {
				return path
			}
			return folder
		},
		Progress: func(int, int, string) {},
		Stream: func(purpose string) *rand.Rand {
			h := fnv.New64a()
			_, _ = h.Write([]byte(purpose))
			return rand.New(rand.NewPCG(h.Sum64(), 0))
		},
	})
}

// take returns a plan that nobody else uses.
func (p *planned) take(ctx context.Context) (*release.Plan, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		plan := p.free[n-1]
		p.free = p.free[:n-1]
		return plan, nil
	}
	return p.make(ctx)
}

func (p *planned) give(plan *release.Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, plan)
}

// rows returns a copy of the private rows and the spending of a release of them.
func (p *planned) rows(ctx context.Context) (*mat.Dense, experiment.Spending, error) {
	plan, err := p.take(ctx)
	if err != nil {
		return nil, experiment.Spending{}, err
	}
	defer p.give(plan)
	return mat.DenseCopyOf(plan.Private), plan.Spending, nil
}

// release releases the rows and returns the draws of its noise.
func (p *planned) release(ctx context.Context, private *mat.Dense, source *release.Source) (
	*experiment.Release, []release.Draw, error) {
	plan, err := p.take(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer p.give(plan)
	var draws []release.Draw
	source.Trace(&draws)
	out, err := plan.With(ctx, source, private)
	return out, draws, err
}

// queries returns the numbers to which a release of the rows adds noise, one after the
// other, and the scales of the noise.
func (p *planned) queries(ctx context.Context, private *mat.Dense) (query, scale []float64, err error) {
	_, draws, err := p.release(ctx, private, release.Unbooked(rand.NewChaCha8([32]byte{2})))
	for _, d := range draws {
		query = append(query, d.Query...)
		scale = append(scale, slices.Repeat([]float64{d.Noise.Scale()}, len(d.Query))...)
	}
	return query, scale, err
}

// pair returns the neighbours first and second. Where the queries do not depend on earlier
// outputs, the likelihood ratio is an increasing function of the
// part of the release along their difference in units of the noise.
func (p *planned) pair(ctx context.Context, name string, first, second *mat.Dense, adaptive bool) (Pair, error) {
	a, scale, err := p.queries(ctx, first)
	if err != nil {
		return Pair{}, err
	}
	b, _, err := p.queries(ctx, second)
	if err != nil {
		return Pair{}, err
	}
	if len(a) != len(b) {
		return Pair{}, fmt.Errorf("%s: %d and %d noisy numbers", name, len(a), len(b))
	}
	weights := make([]float64, len(a))
	for i := range a {
		weights[i] = (b[i] - a[i]) / scale[i] / scale[i]
	}
	follows := func(ctx context.Context) (string, error) {
		if text, err := p.follows(ctx, first, second); text != "" || err != nil {
			return text, err
		}
		return p.follows(ctx, second, first)
	}
	draw := func(useSecond bool, entropy *rand.ChaCha8) (Output, error) {
		_, draws, err := p.release(ctx, either(useSecond, first, second), release.Unbooked(entropy))
		if err != nil {
			return Output{}, err
		}
		out := outputOf(draws, len(weights))
		if !adaptive && len(out.Published) == len(weights) {
			out.HasStatistic = true
			for i, v := range out.Published {
				out.Statistic += weights[i] * v
			}
		}
		return out, nil
	}
	return Pair{Name: name, apart: distance(a, b, scale), Follows: follows, Draw: draw}, nil
}

// laplace returns the neighbours first and second of a release with Laplace noise, with the logarithm of the likelihood
// ratio as the statistic.
func (p *planned) laplace(ctx context.Context, name string, first, second *mat.Dense) (Pair, error) {
	pair, err := p.pair(ctx, name, first, second, true)
	if err != nil {
		return Pair{}, err
	}
	from, scale, err := p.queries(ctx, first)
	if err != nil {
		return Pair{}, err
	}
	to, _, err := p.queries(ctx, second)
	if err != nil {
		return Pair{}, err
	}
	draw := pair.Draw
	pair.Draw = func(useSecond bool, entropy *rand.ChaCha8) (Output, error) {
		out, err := draw(useSecond, entropy)
		if err != nil || len(out.Published) != len(from) {
			return out, err
		}
		out.HasStatistic = true
		for i, v := range out.Published {
			out.Statistic += (math.Abs(v-from[i]) - math.Abs(v-to[i])) / scale[i]
		}
		return out, nil
	}
	return pair, nil
}

// outputOf returns the numbers, the noise and the grids of draws of size numbers.
func outputOf(draws []release.Draw, size int) Output {
	room := make([]float64, 4*size)
	out := Output{
		Published: room[:0:size], Noise: room[size : size : 2*size],
		Grid: room[2*size : 2*size : 3*size], Scale: room[3*size : 3*size],
	}
	for _, d := range draws {
		scale, grid := d.Noise.Scale(), d.Noise.Grid()
		out.NoiseGrid = max(out.NoiseGrid, grid/scale)
		for i, v := range d.Output {
			out.Published = append(out.Published, v)
			out.Noise = append(out.Noise, (v-d.Query[i])/scale)
			out.Grid = append(out.Grid, grid)
			out.Scale = append(out.Scale, scale)
		}
	}
	return out
}

// worst returns the number of the neighbours whose queries are the farthest apart, in units of
// the noise, among n pairs of sets of rows. A pair of nil is left out.
func (p *planned) worst(ctx context.Context, n int, neighbours func(i int) (first, second *mat.Dense)) (int, error) {
	var failed error
	index, _ := WorstOf(n, func(i int) float64 {
		first, second := neighbours(i)
		if first == nil {
			return 0
		}
		a, scale, errA := p.queries(ctx, first)
		b, _, errB := p.queries(ctx, second)
		if err := errors.Join(errA, errB); err != nil {
			failed = err
		}
		return distance(a, b, scale)
	})
	return index, failed
}

// worstRow replaces the first row by the two rows, between the corners low and high, whose
// queries are the farthest apart; round, if not nil, brings a row to one that there can be.
func (p *planned) worstRow(ctx context.Context, low, high []float64, round func([]float64) []float64) (
	Pair, experiment.Spending, error) {
	pairs, spending, err := p.worstRows(ctx, 1, low, high, round)
	if err != nil {
		return Pair{}, spending, err
	}
	return pairs[0], spending, nil
}

// worstRows is [planned.worstRow] of the first count rows, those of one person: all of them are
// replaced by equal rows, which move sums the farthest. Of a person there is a second pair, who has
// count rows or none.
func (p *planned) worstRows(ctx context.Context, count int, low, high []float64, round func([]float64) []float64) (
	pairs []Pair, spending experiment.Spending, err error) {
	rows, spending, err := p.rows(ctx)
	if err != nil {
		return nil, spending, err
	}
	if round == nil {
		round = func(row []float64) []float64 { return row }
	}
	all := func(row []float64) *mat.Dense {
		out := rows
		for i := range count {
			out = replaced(out, i, row...)
		}
		return out
	}
	var failed error
	// The far input, where a row moves nothing, is part of the box.
	a, b, _, err := Worst(low, high, func(a, b []float64) float64 {
		if failed != nil {
			return math.NaN()
		}
		q, scale, errQ := p.queries(ctx, all(round(a)))
		r, _, errR := p.queries(ctx, all(round(b)))
		failed = errors.Join(errQ, errR)
		return distance(q, r, scale)
	})
	if err := errors.Join(failed, err); err != nil {
		return nil, spending, err
	}
	a, b = round(a), round(b)
	times := ""
	if count > 1 {
		times = fmt.Sprintf("%d times ", count)
	}
	add := func(name string, first, second []float64) {
		pair, errP := p.pair(ctx, name, all(first), all(second), false)
		pairs, err = append(pairs, pair), errors.Join(err, errP)
	}
	add(fmt.Sprintf("%s(%s) in place of (%s)", times, list(b), list(a)), a, b)
	if count > 1 {
		add(fmt.Sprintf("no rows in place of %s(%s)", times, list(a)), a, slices.Repeat([]float64{math.NaN()}, len(a)))
	}
	return pairs, spending, err
}

// list writes numbers with three digits.
func list(x []float64) string {
	var text []string
	for _, v := range x {
		text = append(text, fmt.Sprintf("%.3g", v))
	}
	return strings.Join(text, ", ")
}

// request is the release of the planned file and of another file.
func (p *planned) request(other string, table, record *regexp.Regexp) *Request {
	return &Request{Experiment: p.experiment.Name, Given: p.given, File: p.file, Contents: [2]string{p.content, other},
		Table: table, Record: record}
}

// gaussian is a subject whose releases are Gaussian mechanisms, all alike.
func (p *planned) gaussian(unit string, spending experiment.Spending, pairs ...Pair) Subject {
	l := spending.Losses[0]
	return Subject{
		Unit: unit, Claim: mechanism.Guarantee{Epsilon: spending.Epsilon, Delta: spending.Delta},
		Law: Gaussian, Sigma: 1 / (l.Size * math.Sqrt(float64(l.Times))), Pairs: pairs,
	}
}

// replaced is a copy of the rows with another row in the place i.
func replaced(rows *mat.Dense, i int, row ...float64) *mat.Dense {
	out := mat.DenseCopyOf(rows)
	out.SetRow(i, row)
	return out
}

// follows reports a release that depends on more than its noisy numbers, and "" for none: a
// release of the first rows is made, and one of the second rows with the same noisy numbers.
// They are equal to the last byte, or something private has a part in the post-processing.
func (p *planned) follows(ctx context.Context, first, second *mat.Dense) (string, error) {
	reference, draws, err := p.release(ctx, first, release.Unbooked(rand.NewChaCha8([32]byte{5})))
	if err != nil {
		return "", err
	}
	var outputs []float64
	for _, d := range draws {
		outputs = append(outputs, d.Output...)
	}
	again, draws, err := p.release(ctx, second, release.Replay(outputs))
	if err != nil {
		return "", err
	}
	found := 0
	for _, d := range draws {
		found += len(d.Output)
	}
	if found != len(outputs) {
		return fmt.Sprintf("%d noisy numbers and %d", len(outputs), found), nil
	}
	a, errA := json.Marshal(reference)
	b, errB := json.Marshal(again)
	if errA != nil || errB != nil {
		return "", fmt.Errorf("a release: %w, %w", errA, errB)
	}
	if bytes.Equal(a, b) {
		return "", nil
	}
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return fmt.Sprintf("equal noisy numbers give %s and %s", clip(a[max(0, at-20):]), clip(b[max(0, at-20):])), nil
}
