package choose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"privkern/experiments/compare"
	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// Name is that of the experiment of a choice, in the ledger and in the description of a release.
const Name = "compare/choice"

// The defaults are those of least error on the tables of docs/compare.md, of which few differ by more than chance.
const (
	// DefaultShare is the share of the budget that a choice takes where a release follows, of the square of its μ.
	DefaultShare = 0.2
	// DefaultHeldOut is the share of the units by which is chosen.
	DefaultHeldOut = 0.4
)

// Options are those of a choice.
type Options struct {
	Share   float64 // of the square of the budget's μ, strictly between 0 and 1, see [DefaultShare]
	HeldOut float64 // share of the units by which is chosen, strictly between 0 and 1, see [DefaultHeldOut]
	Measure string  // a metric of comparisons with a bounded loss; empty for the first of the task
	Alone   bool    // nothing is released but the name: the choice takes all of the budget
}

// Choice is a private choice among the methods of a comparison.
type Choice struct {
	Candidates []*Candidate
	Apart      []compare.Apart // other methods of the comparison, with reasons
	Budget     *Budget
	HeldOut    float64
	// Training and Tests are how many units the parts have, when they were divided.
	Training, Tests int
	// Winner is the chosen candidate; nil before.
	Winner *Candidate

	contest *compare.Contest
	loss    *bounded
	share   float64
}

// RefusedError is a mistake in a request: no file of data is at fault.
type RefusedError = compare.RefusedError

// New settles the candidates of a choice, which are the methods that a comparison ranks, and divides the budget. Its
// errors are [*RefusedError]s.
func New(contest *compare.Contest, o Options) (*Choice, error) {
	c := &Choice{contest: contest, share: o.Share, HeldOut: o.HeldOut, Apart: slices.Clone(contest.Apart)}
	err := c.settle(o)
	if err != nil {
		return nil, &RefusedError{Err: err}
	}
	return c, nil
}

// settle checks the request, and fills in the rest.
func (c *Choice) settle(o Options) (err error) {
	if n := len(c.contest.Epsilons); n != 1 {
		return fmt.Errorf("epsilon: there are %d; a choice spends one, which is chosen before", n)
	}
	if o.Alone {
		c.share = 1
	} else if !(o.Share > 0 && o.Share < 1) {
		return fmt.Errorf("share = %g: a number between 0 and 1 is required, so that something is left for the release",
			o.Share)
	}
	if !(o.HeldOut > 0 && o.HeldOut < 1) {
		return fmt.Errorf("held out = %g: a number between 0 and 1 is required", o.HeldOut)
	}
	if c.contest.AddsRemoves() {
		return errors.New("neighbours=add-remove is for judging: a release refuses it, and a choice as well")
	}
	if c.loss, err = lossOf(c.contest.Task, o.Measure); err != nil {
		return err
	}
	c.enter()
	if len(c.Candidates) == 0 {
		return fmt.Errorf("there is nothing to choose from:\n  %s", strings.Join(c.reasons(), "\n  "))
	}
	if len(c.Candidates) == 1 {
		return fmt.Errorf("%s is the only candidate, and there is nothing to choose: release it by run trial",
			c.Candidates[0].Experiment)
	}
	whole := experiment.SettingsIn[mechanism.Budget](c.Candidates[0].params)
	c.Budget, err = Split(whole.Epsilon, whole.Delta, c.share, len(c.Candidates))
	return err
}

// enter fills in the candidates, and the methods that are none.
func (c *Choice) enter() {
	known, not := planners(), apart()
	for _, e := range c.contest.Entries {
		if e.Role != compare.Private {
			continue
		}
		reason := not[e.Experiment]
		if !c.contest.Ranked(e) {
			reason = fmt.Sprintf("it protects less, %ss alone", strings.TrimSuffix(e.Protects, "s"))
		}
		params, err := c.contest.ReleaseParams(e, c.contest.Epsilons[0])
		if reason == "" && err != nil {
			reason = err.Error()
		}
		if reason != "" {
			c.Apart = append(c.Apart, compare.Apart{Experiment: e.Experiment, Reason: reason})
			continue
		}
		c.Candidates = append(c.Candidates, &Candidate{Entry: e, planner: known[e.Experiment], params: params})
	}
}

// reasons are why methods are no candidates.
func (c *Choice) reasons() (out []string) {
	for _, a := range c.Apart {
		out = append(out, a.Experiment+": "+a.Reason)
	}
	return out
}

// Whose names the protected units: rows or persons.
func (c *Choice) Whose() string {
	if c.contest.Unit == experiment.UnitPerson {
		return "persons"
	}
	return "rows"
}

// of returns the declarations and values of the settings that describe the choice: those of its own, those that the
// command line gives to candidates, and those by which the data are read.
func (c *Choice) of() (list []experiment.Param, values experiment.Params) {
	text := func(name, doc, value string) {
		list = append(list, experiment.Param{Name: name, Kind: experiment.Text, Doc: doc})
		values[name] = value
	}
	number := func(name, doc string, value float64) {
		list = append(list, experiment.Param{Name: name, Kind: experiment.Number, Doc: doc})
		values[name] = value
	}
	values = experiment.Params{}
	reading := experiment.SettingValues(table.Reading{})
	for _, candidate := range c.Candidates {
		for _, p := range candidate.Definition.Params {
			_, reads := reading[p.Name]
			_, there := values[p.Name]
			value, set := candidate.params[p.Name]
			if set && !there && (reads || p.Name == "inputs" || c.contest.Text(p.Name) != "") {
				list, values[p.Name] = append(list, p), value
			}
		}
	}
	var names []string
	for _, candidate := range c.Candidates {
		names = append(names, candidate.Experiment)
	}
	number("epsilon", "of the whole", c.contest.Epsilons[0])
	text("unit", "the protected unit", c.contest.Unit)
	text("methods", "the candidates", strings.Join(names, ","))
	text("measure", "the metric whose loss decides", c.loss.measure)
	number("share", "of the square of the budget's mu that the choice takes", c.share)
	number("held_out", "share of the units by which is chosen", c.HeldOut)
	return list, values
}

// ofData are settings of the data and their public ranges: they are chosen for no method.
var ofData = []string{"dataset", "inputs", "output", "low", "high", "input_low", "input_high", "delta", "person",
	"rows_per_person", "invalid", "neighbours"}

// Defaults reports whether the methods are all that there are and have their defaults, which were found on other data:
// all that is given are the data, which are no registered ones, and the budget.
func (c *Choice) Defaults() bool {
	if _, registered := dataset.SetName(c.contest.Text("dataset")); registered || c.contest.Methods != nil {
		return false
	}
	reading := experiment.SettingValues(table.Reading{})
	return !slices.ContainsFunc(c.contest.Given, func(s compare.Setting) bool {
		_, reads := reading[s.Name]
		return !reads && !slices.Contains(ofData, s.Name)
	})
}

// Experiment returns the experiment whose release is the choice with the release after it, and its settings.
func (c *Choice) Experiment() (*experiment.Experiment, experiment.Params) {
	list, values := c.of()
	e := &experiment.Experiment{Params: list}
	e.Name, e.Version = Name, 1
	e.Summary = "private choice among methods by a bounded loss on rows that are held out, and release of the chosen one"
	e.Source = "McSherry and Talwar 2007"
	e.Written = experiment.FormModel
	e.Datasets = func(experiment.Params) []string { return c.datasets() }
	e.Memory = func(experiment.Params) int64 { return c.memory() }
	e.Release = func(ctx context.Context, t *experiment.Trial, _ experiment.Params) (*experiment.Release, error) {
		p, err := c.prepare(ctx, t)
		if err != nil {
			return nil, err
		}
		return p.plan().Run(ctx, t)
	}
	return e, values
}

// datasets are those that the candidates read.
func (c *Choice) datasets() (out []string) {
	for _, candidate := range c.Candidates {
		for _, name := range candidate.Definition.Datasets(candidate.params) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// memory is that of the candidate that needs most.
func (c *Choice) memory() (most int64) {
	for _, candidate := range c.Candidates {
		if candidate.Definition.Memory != nil {
			most = max(most, candidate.Definition.Memory(candidate.params))
		}
	}
	return most
}
