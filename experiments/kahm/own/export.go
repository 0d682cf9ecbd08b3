package own

import (
	"context"
	"fmt"
	"slices"

	"privkern/experiments/kahm/wide"
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
	r, err := s.read(t)
	if err != nil {
		return nil, err
	}
	if err := r.checkConstant(); err != nil {
		return nil, err
	}
	ranges, err := s.rangesOf(s.Dataset, r, r.all())
	if err != nil {
		return nil, err
	}
	e := engine.Of(t.Engine)
	b, err := wide.NewBuilder(t, e, s.Kind, s.Pure())
	if err != nil {
		return nil, err
	}
	x, _ := scaled(r.X, ranges)
	parts, err := b.Parts(ctx, r.sources(x, r.all(), 0))
	if err != nil {
		return nil, err
	}
	privacy := &experiment.Privacy{
		Unit:      fmt.Sprintf("one row: all of its inputs (%d)", len(r.Names)),
		Mechanism: "none",
		Notes:     []string{"data=fabricated or noisy with a finite epsilon can be released with a guarantee"},
	}
	privacy.Withdraw("the file holds the rows themselves, brought to [0, 1] by their ranges: whoever has it has them")
	m, err := s.model(ctx, e, r, ranges, parts)
	if err != nil {
		return nil, err
	}
	m.Privacy = privacy
	m.About = "A classifier by the nearest kernel affine hull machine, of the rows themselves: it protects nobody. run " +
		"predict THIS_FILE --at x.csv classifies. Samples are in [0, 1]: inputs are brought there by low and high."
	return &experiment.Release{Model: m, Privacy: privacy, Warnings: slices.Clone(e.Warnings())}, nil
}
