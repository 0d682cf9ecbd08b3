package own

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"privkern/experiments/kahm/machinefile"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/method"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// CheckExport refuses data with a guarantee, which are released instead.
func (s *Publishing) CheckExport() error {
	if s.Kind != wide.Original {
		return fmt.Errorf("data = %s: what has noise has a guarantee, and is released: --rng secure --release FILE; an "+
			"export is of data=original", experiment.NameOf(s.Kind))
	}
	return nil
}

// Export returns the classifier of the unprotected rows.
func (s *Publishing) Export(ctx context.Context, t *experiment.Trial) (*experiment.Release, error) {
	if err := s.CheckExport(); err != nil {
		return nil, err
	}
	r, err := s.Load(t, s.Dataset, "")
	if err != nil {
		return nil, err
	}
	if err := s.checkNames(r); err != nil {
		return nil, err
	}
	r.dropEmptyClasses()
	if err := r.CheckDirections(s.Pipeline); err != nil {
		return nil, err
	}
	if len(r.Constant) == len(r.Names) {
		return nil, errors.New("every input has the same value in all rows: there is nothing to tell classes apart by")
	}
	all := make([]int, len(r.Labels))
	for i := range all {
		all[i] = i
	}
	ranges, err := s.Ranges(s.Dataset, r, all)
	if err != nil {
		return nil, err
	}
	e := engine.Of(t.Engine)
	b, err := wide.NewLaplaceBuilder(t, e, s.Kind, s.Pipeline)
	if err != nil {
		return nil, err
	}
	x, _ := scaled(r, ranges)
	parts, err := b.Parts(ctx, sourcesOf(r, x, func([]int) {}))
	if err != nil {
		return nil, err
	}
	privacy := &experiment.Privacy{
		Unit:      fmt.Sprintf("one row: all of its inputs (%d)", len(r.Names)),
		Mechanism: "none",
		Notes:     []string{"data=fabricated or noisy with a finite epsilon can be released with a guarantee"},
	}
	privacy.Withdraw("the file holds the rows themselves, brought to [0, 1] by their ranges: whoever has it has them")
	m := s.model(r, ranges, parts, privacy)
	m.About = "A classifier by the nearest kernel affine hull machine, of the rows themselves: it protects nobody. run " +
		"predict THIS_FILE --at x.csv classifies. Samples are in [0, 1]: inputs are brought there by low and high."
	return &experiment.Release{Model: m, Privacy: privacy, Warnings: slices.Clone(e.Warnings())}, nil
}

// checkNames refuses inputs that have the name of a column of predictions.
func (s *Publishing) checkNames(r *Rows) error {
	return method.CheckNames(s.Inputs, r.Names, func(name string) bool {
		return slices.Contains(machinefile.Reserved, name)
	})
}
