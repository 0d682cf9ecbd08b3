package compression

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/experiments/learn/infer"
	"privkern/experiments/multikernel/projectionfile"
	"privkern/experiments/page"
	"privkern/runner/experiment"
)

// persons and rows of each in the file of tests.
const persons, rowsOfPerson = 6, 12

// written is a file of rows whose inputs a and b have the place of their person, c has a value of their half of the
// persons, the class of the column kind, and d is noise.
func written(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(6, 6))
	var b strings.Builder
	b.WriteString("a,b,c,d,kind,person\n")
	for i := range persons * rowsOfPerson {
		p := i % persons
		fmt.Fprintf(&b, "%.4f,%.4f,%.4f,%.4f,k%d,p%d\n", 3*float64(p%3)+rng.NormFloat64(), 3*float64(p/3)+rng.NormFloat64(),
			2*float64(p%2)+.2*rng.NormFloat64(), rng.NormFloat64(), p%2, p)
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// keeping is a compression that keeps some of the inputs as they are.
func keeping(inputs ...int) *projectionfile.Model {
	m := &projectionfile.Model{Format: projectionfile.Format, InputNames: []string{"a", "b", "c", "d"},
		Points: projectionfile.Points{Are: projectionfile.NoPoints}, Hidden: "person", Privacy: &experiment.Privacy{}}
	k := projectionfile.Kernel{Name: "linear", Direct: true, Weight: 1, Scale: 1, Shift: make([]float64, len(inputs)),
		Coefficients: make([][]float64, 4)}
	for j := range k.Coefficients {
		k.Coefficients[j] = make([]float64, len(inputs))
	}
	for q, j := range inputs {
		k.Coefficients[j][q] = 1
		m.Columns = append(m.Columns, fmt.Sprintf("z%d", q+1))
	}
	m.Kernels = []projectionfile.Kernel{k}
	return m
}

func attacked(t *testing.T, kind Kind, m *projectionfile.Model, path string, args ...string) page.Results {
	t.Helper()
	r, err := Parse(string(kind), "file.json", m, append(args, "dataset=csv:"+path), []int64{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	out, err := r.Run(t.Context(), path, 2, func(string) { done++ })
	if err != nil {
		t.Fatal(err)
	}
	if done != r.Steps() {
		t.Errorf("%d steps of %d", done, r.Steps())
	}
	return out
}

// Persons are named where features keep them, and guessed where they do not; from the inputs they are named either way.
func TestPersons(t *testing.T) {
	path := written(t)
	for _, c := range []struct {
		name  string
		keeps int
		named bool
	}{{"the features keep them", 0, true}, {"the features are noise", 3, false}} {
		t.Run(c.name, func(t *testing.T) {
			n := attacked(t, Person, keeping(c.keeps), path, "hidden=person").(*Names)
			got := n.Features.Chosen
			if c.named != (got.Accuracy.Low > 1./persons) || n.Inputs.Chosen.Accuracy.Low < .5 || got.Accuracy.Units != persons {
				t.Errorf("from features %v, from inputs %v", got.Accuracy, n.Inputs.Chosen.Accuracy)
			}
			if got.Pooled.Of != 2*persons || n.GuessOf.Right != 1 || n.GuessOf.Of != persons || n.Splits != 2 {
				t.Errorf("pooled %+v, guess %+v", got.Pooled, n.GuessOf)
			}
			if n.Known+n.Attacked != persons*rowsOfPerson || n.Guess.Share > .2 {
				t.Errorf("%d + %d rows, guess %v", n.Known, n.Attacked, n.Guess)
			}
			text := strings.Join(n.Sentences, " ")
			if !strings.Contains(text, " of 6 when the rows of a person are pooled (guess: 1 of 6)") {
				t.Error(text)
			}
		})
	}
}

// An attribute is named of persons of whom no row is known, and without a column of persons by rows.
func TestAttribute(t *testing.T) {
	path := written(t)
	n := attacked(t, Attribute, keeping(2), path, "hidden=kind", "person=person").(*Names)
	if got := n.Features.Chosen; got.Accuracy.Share < .99 || got.Accuracy.Units > persons || got.Pooled.Share < 1 {
		t.Errorf("%+v", got)
	}
	alone := attacked(t, Attribute, keeping(3), path, "hidden=kind").(*Names)
	got := alone.Features.Chosen
	if got.Pooled != nil || got.Accuracy.Low > .5 || got.Accuracy.High < .5 || got.Accuracy.Units <= persons {
		t.Errorf("noise tells %+v", got)
	}
	if len(alone.Page().Header) != 4 || len(alone.CSV()) != 1+2*6 {
		t.Errorf("%q, %d rows", alone.Page().Header, len(alone.CSV()))
	}
}

// Inputs that the features keep are restored, and the others are guessed.
func TestReconstruction(t *testing.T) {
	path := written(t)
	n := attacked(t, Reconstruction, keeping(0, 3), path, "person=person", "rows=20").(*Inputs)
	for k, name := range n.Names {
		kept := name == "a" || name == "d"
		if e, guess := n.Chosen.Inputs[k], n.Guesses[0].Inputs[k]; kept != (e.RMS < .1*guess.RMS) || e.Units > persons {
			t.Errorf("%s: %v, guess %v", name, e, guess)
		}
	}
	if n.Attacked != 20 || n.Unit != "persons" || len(n.CSV()) != 1+5*5 {
		t.Errorf("%+v, %d rows", n, len(n.CSV()))
	}
	if text := strings.Join(n.Sentences, " "); !strings.Contains(text, "She restores a, her best by known rows") &&
		!strings.Contains(text, "She restores d, her best by known rows") {
		t.Error(text)
	}
}

// All formats are written, and equal seeds give equal results.
func TestFormats(t *testing.T) {
	path := written(t)
	shell := func(arguments []string, _ int) string { return strings.Join(arguments, " ") }
	var texts []string
	for range 2 {
		var b bytes.Buffer
		for _, f := range []page.Format{page.Text, page.Markdown, page.LaTeX, page.CSV, page.JSON} {
			if err := page.Write(&b, attacked(t, Reconstruction, keeping(0), path), f, shell, 60); err != nil {
				t.Fatal(err)
			}
		}
		texts = append(texts, b.String())
	}
	if texts[0] != texts[1] {
		t.Error("two equal attacks differ")
	}
	for _, want := range []string{"all inputs", `"kind": "reconstruction"`, "input,guess,chosen_in", `\toprule`} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("no %s in %s", want, texts[0])
		}
	}
}

// Known and attacked rows are apart: blocks of persons, whole persons, or rows; and parts do not divide them.
func TestDivide(t *testing.T) {
	d := &data{}
	for i := range persons * rowsOfPerson {
		d.hidden, d.persons = append(d.hidden, i%persons%2), append(d.persons, i%persons)
	}
	d.x = matrix(len(d.hidden))
	r := &Request{Kind: Attribute, Settings: Settings{Holdout: .5}}
	s, err := r.divide(d, stream(1)("split"))
	if err != nil {
		t.Fatal(err)
	}
	known, others := learn.Select(d.persons, s.known), learn.Select(d.persons, s.attacked)
	for _, p := range others {
		if slices.Contains(known, p) {
			t.Fatalf("person %d is known and attacked", p)
		}
	}
	// Two classes with three persons each: half of them, rounded.
	if len(infer.GroupsOf(others)) != 4 || s.folds != nil && len(s.folds) != foldParts {
		t.Errorf("%d persons are attacked", len(infer.GroupsOf(others)))
	}
	r.Kind = Person
	if s, err = r.divide(d, stream(1)("split")); err != nil {
		t.Fatal(err)
	}
	if len(s.known)+len(s.attacked) != len(d.hidden) || len(infer.GroupsOf(s.units)) != persons ||
		len(s.folds) != foldParts {
		t.Errorf("%d known, %d attacked", len(s.known), len(s.attacked))
	}
	tested := 0
	for _, f := range s.folds {
		tested += len(f.Test)
	}
	if tested != len(s.known) {
		t.Errorf("%d of %d known rows are tested", tested, len(s.known))
	}
	// A person with a single row is left out, and told.
	d.persons[0] = 99
	if s, err = r.divide(d, stream(1)("split")); err != nil || len(s.known)+len(s.attacked) != len(d.hidden)-1 ||
		!strings.Contains(strings.Join(d.notes, ""), "1 persons with a single row") {
		t.Errorf("%v, %q", err, d.notes)
	}
	d.persons = nil
	r.Kind = Attribute
	if s, err = r.divide(d, stream(1)("split")); err != nil || len(s.attacked) != len(d.hidden)/2 {
		t.Errorf("%v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	m := keeping(0)
	for want, args := range map[string][]string{
		"kind":                              {"nothing", "dataset=csv:x.csv", "hidden=a"},
		"dataset is not given":              {"person", "hidden=a"},
		"data of your own":                  {"person", "hidden=a", "dataset=har"},
		"hidden is not given":               {"attribute", "dataset=csv:x.csv"},
		"leave hidden out":                  {"reconstruction", "dataset=csv:x.csv", "hidden=a"},
		"the hidden column names":           {"person", "dataset=csv:x.csv", "hidden=a", "person=b"},
		"unknown parameter \"hiden\"":       {"person", "dataset=csv:x.csv", "hiden=a"},
		"holdout":                           {"person", "dataset=csv:x.csv", "hidden=a", "holdout=1"},
		"separator":                         {"person", "dataset=csv:x.csv", "hidden=a", "separator=abc"},
		"given twice":                       {"person", "dataset=csv:x.csv", "hidden=a", "hidden=b"},
		"rows":                              {"reconstruction", "dataset=csv:x.csv", "rows=1"},
		"there is no seed: each is a split": {"seedless", "dataset=csv:x.csv", "hidden=a"},
	} {
		seeds := []int64{0}
		if args[0] == "seedless" {
			args[0], seeds = "person", nil
		}
		_, err := Parse(args[0], "file.json", m, args[1:], seeds)
		var refused *RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	if r, err := Parse("person", "file.json", m, []string{"dataset=csv:x.csv", "person=p"}, []int64{0}); err != nil ||
		r.Settings.Hidden != "p" {
		t.Errorf("%v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	path := written(t)
	run := func(ctx context.Context, m *projectionfile.Model, args ...string) error {
		r, err := Parse("attribute", "file.json", m, append(args, "dataset=csv:"+path), []int64{0})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Run(ctx, path, 1, func(string) {})
		return err
	}
	other := keeping(0)
	other.InputNames = []string{"a", "b", "c", "e"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for want, err := range map[string]error{
		"the compression file.json has the inputs a, b, c, e": run(t.Context(), other, "hidden=kind"),
		`unknown column "sort"`:                               run(t.Context(), keeping(0), "hidden=sort"),
		"context canceled":                                    run(ctx, keeping(0), "hidden=kind"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	only := keeping(0)
	only.InputNames, only.Kernels[0].Coefficients = []string{"kind"}, [][]float64{{1}}
	if err := os.WriteFile(path, []byte("a,b,c,d,kind\n1,2,3,4,1\n2,3,4,5,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), only, "hidden=kind"); err == nil || !strings.Contains(err.Error(), "has no other input") {
		t.Errorf("%v", err)
	}
	var many strings.Builder
	many.WriteString("a,b,c,d,kind\n")
	for i := range mostClasses + 1 {
		fmt.Fprintf(&many, "1,2,3,4,%d\n", i)
	}
	if err := os.WriteFile(path, []byte(many.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), keeping(0), "hidden=kind"); err == nil || !strings.Contains(err.Error(), "1001 classes") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(path, []byte("a,b,c,d,kind\n1,2,3,4,x\n2,3,4,5,x\n,3,4,5,y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), keeping(0), "hidden=kind"); err == nil || !strings.Contains(err.Error(), "has no value") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(path, []byte("a,b,c,d,kind\n1,2,3,4,x\n2,3,4,5,x\n3,3,4,5,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), keeping(0), "hidden=kind"); err == nil || !strings.Contains(err.Error(), "of one class") {
		t.Errorf("%v", err)
	}
}

// Inputs of which each is constant in the known rows of some split, and drawn rows of a single person, are refused.
func TestRestoreRefuses(t *testing.T) {
	path := written(t)
	r := &Request{Kind: Reconstruction, Path: "file.json", Model: keeping(0), Seeds: []int64{0, 1}}
	r.Settings.Holdout, r.Settings.Rows = .5, 100
	d := &data{x: mat.NewDense(20, 4, nil)}
	for seed, column := range r.Seeds {
		s, err := r.divide(d, stream(r.Seeds[seed])("split"))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range s.attacked { // of this split alone
			d.x.Set(row, int(1-column), 1)
		}
	}
	_, err := r.restore(t.Context(), d, mat.NewDense(20, 1, nil), 1, func(string) {})
	if err == nil || !strings.Contains(err.Error(), "every input has one value") {
		t.Errorf("%v", err)
	}
	for seed := range int64(20) {
		r, err := Parse("reconstruction", "file.json", keeping(0), []string{"dataset=csv:" + path, "person=person", "rows=2"},
			[]int64{seed})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = r.Run(t.Context(), path, 1, func(string) {}); err != nil {
			if !strings.Contains(err.Error(), "rows = 2 draws rows of a single person") {
				t.Errorf("%v", err)
			}
			return
		}
	}
	t.Error("no seed draws rows of a single person")
}

func matrix(n int) *mat.Dense { return mat.NewDense(n, 1, nil) }
