package released

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/attack"
	"privkern/experiments/compare"
	"privkern/experiments/method"
	"privkern/experiments/model"
	obfuscated "privkern/experiments/privacygp/modelfile"
	"privkern/runner/experiment"
)

// File is a predictive model as an adversary meets it.
type File struct {
	*model.Model
	of model.Envelope
}

// NewFile returns the file of a model.
func NewFile(m *model.Model) *File { return &File{m, m.Envelope()} }

// publicInputs reports whether the guarantee of the file is for outputs of rows whose inputs are public.
func (f *File) publicInputs() bool {
	return f.Format == obfuscated.Format || slices.ContainsFunc(compare.Candidates(), func(c compare.Candidate) bool {
		return c.Protects == experiment.UnitOutput && c.Experiment == path.Dir(f.Format)
	})
}

// Check refuses settings that are wrong, and kinds of attacks for which the file has no secret.
func (f *File) Check(s *Settings) error {
	if err := f.kind(s); err != nil {
		return err
	}
	return s.check()
}

// kind refuses kinds of attacks for which the file has no secret, and settings of others.
func (f *File) kind(s *Settings) error {
	const outputs = "the guarantee of %s protects outputs of rows whose inputs are public: %s; kind=reconstruction " +
		"restores outputs"
	at := f.Files[0].Path
	switch {
	case f.of.Withheld:
		return fmt.Errorf("%s predicts nothing", at)
	case s.Kind == Person:
		return fmt.Errorf("kind = person: %s is a predictive model, which has no row of a person to be linked with; "+
			"kind=membership person=COLUMN tells whether persons are in it", at)
	case f.publicInputs() && s.Kind == Membership:
		return fmt.Errorf(outputs, at, "that a row is there is no secret")
	case f.publicInputs() && s.Kind == Attribute:
		return fmt.Errorf(outputs, at, "no input is hidden")
	case s.Kind == Reconstruction && s.Hidden != "":
		return fmt.Errorf("hidden = %s: a model of this kind has no features of rows; reconstruction is of outputs, and "+
			"kind=attribute restores an input", s.Hidden)
	case s.Kind != Attribute && s.Hidden != "":
		return fmt.Errorf("hidden = %s: it is for kind=attribute", s.Hidden)
	case s.Kind == Attribute && s.Hidden == "":
		return errors.New("hidden is not given: kind=attribute restores an input from the others and the output, " +
			"hidden=COLUMN")
	case s.Shadows != 0 && (s.Kind != Membership || s.Person != ""):
		return fmt.Errorf("shadows = %d: shadow models are for kind=membership of rows", s.Shadows)
	case s.Shadows != 0 && s.Shadows < attack.FewestShadows:
		return fmt.Errorf("shadows = %d: LiRA compares with %d shadow models at least", s.Shadows, attack.FewestShadows)
	case s.Kind != Membership && s.Person != "":
		return fmt.Errorf("person = %s: it is for kind=membership; other kinds are of rows", s.Person)
	}
	return nil
}

// predict predicts at the rows of x (P×d): means in the unit of the output, or scores of classes, with their
// probabilities where the file has them.
func (f *File) predict(ctx context.Context, x *mat.Dense) (*method.Prediction, error) {
	if s, ok := f.Files[0].Payload.(model.Scorer); ok {
		scores, err := f.Scores(ctx, s, x)
		return &method.Prediction{Scores: scores}, err
	}
	p, err := f.Predict(ctx, x)
	if err != nil {
		return nil, err
	}
	column := func(j int) []float64 {
		out := make([]float64, len(p.Rows))
		for i, row := range p.Rows {
			out[i] = row[j]
		}
		return out
	}
	if f.of.Classes == nil {
		return &method.Prediction{Mean: column(0)}, nil
	}
	out := &method.Prediction{}
	for c := range f.of.Classes {
		out.Probabilities = append(out.Probabilities, column(c))
	}
	out.Scores = out.Probabilities
	return out, nil
}
