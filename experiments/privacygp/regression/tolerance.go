package regression

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// noColumn is the word for tolerances that are not in a column of the file.
const noColumn = "none"

// hasColumn reports whether the file of places has the tolerances.
func (s *Settings) hasColumn() bool {
	return s.Requirement == byTolerance && table.Is(s.Sensitive) && s.XiColumn != noColumn
}

// parts returns the terms of the setting as they are written.
func (s *sensitive) parts() []string {
	out := make([]string, len(s.terms))
	for i, t := range s.terms {
		out[i] = t.text
	}
	return out
}

// tolerances returns the tolerances of the parts of sensitive.
func (s *Settings) tolerances(parts []string) ([]float64, error) {
	if s.Requirement == byKernel {
		return slices.Repeat([]float64{s.HVariance}, len(parts)), nil
	}
	xi, ok := s.Xi.For(len(parts))
	if ok {
		return xi, nil
	}
	have := "one part, " + parts[0]
	if len(parts) > 1 {
		have = fmt.Sprintf("%d parts, %s", len(parts), strings.Join(parts, " and "))
	}
	return nil, fmt.Errorf("xi = %v: these are %d tolerances, and sensitive has %s: give one for all places, or one "+
		"for each part between commas", s.Xi, len(s.Xi), have)
}

// checkXi refuses tolerances that no places can have. wanted is nil where the places are not
// understood.
func (s *Settings) checkXi(wanted *sensitive) []error {
	if s.Requirement == byKernel {
		return s.checkH()
	}
	var errs []error
	if s.hasColumn() {
		if slices.Contains(s.inputNames(), s.XiColumn) {
			errs = append(errs, fmt.Errorf("xi_column = %s: it is one of the inputs; give the column with the tolerances",
				s.XiColumn))
		}
		if base, _, _ := strings.Cut(s.XiColumn, "="); s.isOutput(s.XiColumn) || s.isOutput(base) { // or a level of it
			errs = append(errs, fmt.Errorf("xi_column = %s: it is the output, and tolerances are handed over as they are: "+
				"whoever sees them would know the outputs that they hide; give a column of tolerances that are known without "+
				"the outputs", s.XiColumn))
		}
		if s.Noise == uniform {
			errs = append(errs, fmt.Errorf("xi_column = %s: noise = uniform protects every place by one tolerance: give one by "+
				"xi, or use weak or strong", s.XiColumn))
		}
		return errs
	}
	if s.XiColumn != noColumn {
		errs = append(errs, fmt.Errorf("xi_column = %s: it is a column of a file of places, and sensitive = %s names none: "+
			"give the tolerances by xi, one for each part between commas", s.XiColumn, s.Sensitive))
	}
	if wanted != nil && wanted.file == "" {
		if _, err := s.tolerances(wanted.parts()); err != nil {
			errs = append(errs, err)
		}
	}
	if s.Noise == uniform && len(s.Xi) > 1 {
		errs = append(errs, fmt.Errorf("xi = %v: noise = uniform protects every place by one tolerance: give one, or use "+
			"weak or strong", s.Xi))
	}
	process, _, known := s.variances()
	for _, xi := range s.Xi {
		if s.XiUnit == ofOutput && !known {
			continue
		}
		if err := s.checkBelowPrior(xi, process); err != nil {
			return append(errs, err)
		}
	}
	return errs
}

// toleranceName returns the setting of the variance to be kept, or a name for it.
func (s *Settings) toleranceName() string {
	switch {
	case s.Requirement == byKernel:
		return "h_variance"
	case s.hasColumn():
		return "tolerance in the column " + s.XiColumn
	}
	return "xi"
}

// checkBelowPrior refuses a tolerance of the settings that no noise reaches.
func (s *Settings) checkBelowPrior(xi, variance float64) error {
	return s.checkBelow(s.toleranceName()+" = "+experiment.FormatNumber(xi), xi, variance)
}

// checkBelow refuses a tolerance, in the unit of the setting, that no noise reaches. called names it,
// with its value or without.
func (s *Settings) checkBelow(called string, xi, variance float64) error {
	switch {
	case s.XiUnit == ofPrior && xi >= 1:
		return fmt.Errorf("%s: it must be below 1, the prior variance: no noise raises the predictive variance to it", called)
	case s.XiUnit == ofOutput && xi >= variance:
		return fmt.Errorf("%s is not below the prior variance of the output, %.6g: without any data its variance is no "+
			"larger, so that there is nothing to do but to leave the data out; take a smaller %s", called, variance,
			s.toleranceName())
	}
	return nil
}

// shares returns the tolerances of the places (γ) over the prior variance.
func (r *rows) shares(s *Settings, variance float64) ([]float64, error) {
	for i, v := range r.listed {
		called := fmt.Sprintf("tolerance in row %d (counted from 1) of the column %s", i+1, s.XiColumn)
		if !r.forOthers { // the column may be the wrong one
			called += " = " + experiment.FormatNumber(v)
		}
		if err := s.checkBelow(called, v, variance); err != nil {
			return nil, fmt.Errorf("sensitive = %s: %w", s.Sensitive, err)
		}
	}
	out := slices.Clone(r.xi)
	for i, v := range out {
		if err := s.checkBelowPrior(v, variance); err != nil {
			return nil, err
		}
		if s.XiUnit == ofOutput {
			out[i] = v / variance
		}
	}
	return out, nil
}

// readPlaces reads the file of places, with the column of tolerances where there is one.
// Rows with equal places are one place, of the largest tolerance.
func (r *rows) readPlaces(t *experiment.Trial, s *Settings) error {
	columns, d := r.names, len(r.names)
	if s.hasColumn() {
		columns = append(slices.Clone(columns), s.XiColumn)
	}
	read, err := table.LoadPoints(t, s.Sensitive, s.Reading.In(s.Dataset), columns)
	if err != nil {
		return err
	}
	n, _ := read.Dims()
	xi, ok := s.Xi.For(n)
	switch {
	case s.Requirement == byKernel:
		xi = slices.Repeat([]float64{s.HVariance}, n)
	case s.hasColumn():
		if xi = mat.Col(nil, d, read); slices.Min(xi) < 0 {
			i := slices.IndexFunc(xi, func(v float64) bool { return v < 0 })
			value := fmt.Sprintf("%g", xi[i])
			if r.forOthers {
				value = "negative"
			}
			return fmt.Errorf("sensitive = %s: in row %d (counted from 1) the tolerance %s is %s, and no variance is negative",
				s.Sensitive, i+1, s.XiColumn, value)
		}
		r.listed = xi
	case !ok:
		return fmt.Errorf("xi = %v: these are %d tolerances for %d rows of places: give one for all, one for each, or a "+
			"column of the file by xi_column", s.Xi, len(s.Xi), n)
	}
	r.places, r.xi = distinct(mat.DenseCopyOf(read.Slice(0, n, 0, d)), xi)
	return nil
}

// same reports whether all tolerances are equal.
func same(xi []float64) bool { return slices.Min(xi) == slices.Max(xi) }
