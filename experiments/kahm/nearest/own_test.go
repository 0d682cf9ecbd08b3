package nearest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// ownRows returns a file of 20 rows of each of three separate classes, with a party and another
// label.
func ownRows() string {
	var b strings.Builder
	b.WriteString("site,a,b,c,other,kind\n")
	for i := range 60 {
		x, class := float64(i), i%3
		value := func(k float64) float64 { return 2 + 3*float64(class) + math.Sin(k*x) }
		fmt.Fprintf(&b, "%s,%.3f,%.3f,%.3f,%d,%s\n", []string{"north", "south"}[i/3%2], value(1.3), value(2.1), value(3.7),
			i%2, []string{"red", "green", "blue"}[class])
	}
	return b.String()
}

// ownFile writes rows to a file, and returns the options of a trial on them.
func ownFile(t *testing.T, rows string) trialtest.Options {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	return trialtest.Options{Seed: 3, File: path}
}

// ownPeople are the rows of ten persons with six of them each, who have rows of all classes with both parties.
func ownPeople() string {
	lines := strings.Split(strings.TrimSpace(ownRows()), "\n")
	for i, line := range lines {
		if lines[i] = line + fmt.Sprint(",", (i-1)%10); i == 0 {
			lines[i] = line + ",who"
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// onOwn sets the settings of trials on the rows.
func onOwn(s *ClassifierSettings) {
	s.Dataset, s.Inputs, s.Output, s.N, s.Layers = "csv:rows.csv", "a+b+c", "kind", 2, 2
	s.Low, s.High = experiment.SeveralOf[method.None](0), experiment.SeveralOf[method.None](10)
}

// Separate classes are told apart, and strong noise hides them.
func TestOwnRows(t *testing.T) {
	o := ownFile(t, ownRows())
	m := trialtest.Compute(t, o, Classifier(), onOwn).Metrics
	if m.Accuracy < .99 || *m.BalancedAccuracy != m.Accuracy || *m.AUC < .99 {
		t.Errorf("accuracy %g, balanced %g, AUC %g of classes that are apart", m.Accuracy, *m.BalancedAccuracy, *m.AUC)
	}
	if *m.LogLoss > .1 || math.Abs(*m.LogLossTrivial-math.Log(3)) > 1e-12 {
		t.Errorf("a loss of %g, and %g of shares, of classes that are apart", *m.LogLoss, *m.LogLossTrivial)
	}
	for what, got := range map[string][2]float64{
		"majority": {*m.AccuracyMajority, 1. / 3}, "classes": {*m.Classes, 3}, "inputs": {*m.Inputs, 3},
		"training rows": {*m.TrainRows, 48}, "test rows": {*m.TestRows, 12}, "dropped": {*m.DroppedRows, 0},
		"clipped": {*m.ClippedFraction, 0},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %g, want %g", what, got[0], got[1])
		}
	}
	out := trialtest.Compute(t, o, Classifier(), onOwn, func(s *ClassifierSettings) { s.Data, s.Epsilon = wide.Noisy, .1 })
	if m := out.Metrics; m.Accuracy > .8 || *m.LogLoss < .5 || *m.LogLoss > 1.5**m.LogLossTrivial {
		t.Errorf("accuracy %g and a loss of %g with noise of ten times the range", m.Accuracy, *m.LogLoss)
	}
	if want := "(0.3, 0)-DP"; !strings.HasPrefix(out.Privacy.Guarantee, want[:4]) ||
		!strings.Contains(out.Privacy.Notes[0], "changed by at most 1 of its public range has (0.1, 0)-DP") {
		t.Errorf("%+v; want %s", out.Privacy, want)
	}
}

// Where a class has one training row there are no probabilities, which is a warning.
func TestFewOwnRows(t *testing.T) {
	out := trialtest.Compute(t, ownFile(t, "a,b,c,kind\n1,2,3,x\n2,3,4,x\n4,1,1,y\n4,3,1,y\n"), Classifier(), onOwn)
	if m := out.Metrics; m.LogLoss != nil || math.Abs(*m.LogLossTrivial-math.Ln2) > 1e-15 || m.AUC == nil {
		t.Errorf("%+v", m.ScoreMetrics)
	}
	const want = "there is no log_loss: of the rows that are trained on, a part is held out to fit probabilities: class"
	if !strings.Contains(strings.Join(out.Warnings, "\n"), want) {
		t.Errorf("warnings %q", out.Warnings)
	}
}

// Without a public range there is no guarantee, which is a warning; so is an input with one
// value.
func TestOwnRowsWithoutRange(t *testing.T) {
	out := trialtest.Compute(t, ownFile(t, ownRows()), Classifier(), onOwn, func(s *ClassifierSettings) {
		s.Low, s.High = experiment.SeveralOr[method.None]{IsWord: true}, experiment.SeveralOr[method.None]{IsWord: true}
		s.Data, s.Epsilon = wide.Noisy, 50
	})
	if out.Privacy.Guarantee != "" || !strings.Contains(out.Privacy.Notes[0], "ranges of the inputs are read off") {
		t.Errorf("%+v", out.Privacy)
	}
	if !strings.Contains(strings.Join(out.Warnings, "\n"), "low and high are not given") {
		t.Errorf("warnings %q", out.Warnings)
	}
}

// Suspect results are warnings.
func TestSuspicionsOfOwnRows(t *testing.T) {
	out := trialtest.Compute(t, ownFile(t, ownRows()), Classifier(), onOwn, func(s *ClassifierSettings) {
		s.Output, s.High, s.Inputs = "other", experiment.SeveralOf[method.None](4), "a+b+c"
		s.Holdout, s.N, s.Layers = .95, 3, 3
	})
	all := strings.Join(out.Warnings, "\n")
	for _, want := range []string{"beyond the range of their input", "fewer than n + 1 = 4 training rows",
		"that of answering always with the largest class"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among the warnings %s", want, all)
		}
	}
}

// Constant inputs are named, up to five of them.
func TestConstantInputs(t *testing.T) {
	rows := strings.ReplaceAll(strings.ReplaceAll(ownRows(), "\nnorth,", "\n1,1,1,1,1,1,1,"), "\nsouth,",
		"\n1,1,1,1,1,1,1,")
	rows = strings.Replace(rows, "site,", "k1,k2,k3,k4,k5,k6,k7,", 1)
	out := trialtest.Compute(t, ownFile(t, rows), Classifier(), onOwn, func(s *ClassifierSettings) {
		s.Inputs = "a+b+c+k1+k2+k3+k4+k5+k6+k7"
	})
	all := strings.Join(out.Warnings, "\n")
	if strings.Count(all, "has the same value in all rows") != 5 ||
		!strings.Contains(all, "2 more inputs have one value in all rows, or nearly all") {
		t.Errorf("warnings %s", all)
	}
}

func TestOwnRowsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		rows   string
		change func(*ClassifierSettings)
		want   string
	}{
		"a class of one row": {ownRows() + "north,1,1,1,0,violet\n", nil, `class "violet" has one row`},
		"one class of two that are named": {"a,b,c,kind\n1,2,3,x\n2,3,4,x\n1,1,1,x\n", func(s *ClassifierSettings) {
			s.Output = "kind[y|x]"
		}, `all 3 rows are of one class, "x"`},
		"one class": {"a,b,c,kind\n1,2,3,x\n2,3,4,x\n1,1,1,x\n", nil, `all 3 rows are of one class, "x"`},
		"directions": {"", func(s *ClassifierSettings) { s.N = 4 },
			"n = 4: the data have only 3 inputs; use n=3 or less"},
		"directions of one input": {"", func(s *ClassifierSettings) { s.Inputs = "a" },
			"the data have only 1 input; use n=1 or less"},
		"layers":          {"", func(s *ClassifierSettings) { s.Layers = 3 }, "a machine has at most n = 2 layers"},
		"constant inputs": {"a,b,c,kind\n1,2,3,x\n1,2,3,y\n1,2,3,x\n1,2,3,y\n", nil, "every input has the same value"},
		"one end": {"", func(s *ClassifierSettings) { s.High = experiment.SeveralOr[method.None]{IsWord: true} },
			"a public range has both ends"},
		"ends exchanged": {"", func(s *ClassifierSettings) { s.High = experiment.SeveralOf[method.None](0) },
			"low must be below high"},
		"too few ends": {"", func(s *ClassifierSettings) { s.High = experiment.SeveralOf[method.None](10, 20) },
			"high = [10,20]: these are 2 numbers for 3 inputs (a, b, c)"},
		"adjacency": {"", func(s *ClassifierSettings) { s.Data, s.Epsilon, s.D = wide.Noisy, 1, 2 },
			"it is a share of the public range"},
		"other data":   {"", func(s *ClassifierSettings) { s.Dataset = "mnst" }, `dataset = "mnst"`},
		"no output":    {"", func(s *ClassifierSettings) { s.Output = "" }, "output is not given"},
		"one test row": {"a,b,c,kind\n1,2,3,x\n2,3,4,x\n4,1,1,y\n4,3,1,y\n", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.rows == "" {
				c.rows = ownRows()
			}
			if c.change == nil {
				c.change = func(*ClassifierSettings) {}
			}
			_, err := trialtest.Try(t, ownFile(t, c.rows), Classifier(), onOwn, c.change)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			trialtest.Refuses(t, err, c.want)
		})
	}
}

// The classifier of two parties with classes of their own is as accurate as that of all rows.
func TestFederationOfOwnRows(t *testing.T) {
	onParties := func(s *FederatedSettings) {
		s.Dataset, s.Inputs, s.Output, s.Party, s.N, s.Layers = "csv:rows.csv", "a+b+c", "kind", "site", 2, 2
		s.Low, s.High = experiment.SeveralOf[method.None](0), experiment.SeveralOf[method.None](10)
		s.Epsilon = 100
	}
	m := trialtest.Compute(t, ownFile(t, ownRows()), Federated(), onParties).Metrics
	if m.Accuracy < .9 || *m.AccuracyCentralised < .9 || *m.Parties != 2 || m.Branches != 6 || m.MissingClasses != 0 ||
		*m.AUC < .9 || *m.LogLoss > .3 || math.Abs(*m.LogLossTrivial-math.Log(3)) > 1e-12 {
		t.Errorf("%+v, %g parties", m, *m.Parties)
	}
	rows := strings.ReplaceAll(ownRows(), "south", "north")
	rows += "west,8,8,8,0,blue\nwest,8.1,8,8,0,blue\nwest,8.2,8.1,8,0,blue\n" +
		"west,8.3,8,8,0,blue\n"
	m = trialtest.Compute(t, ownFile(t, rows), Federated(), onParties).Metrics
	if m.MissingClasses != 2 || m.Accuracy < .99 {
		t.Errorf("a party with one class: %+v", m)
	}
	_, err := trialtest.Try(t, ownFile(t, strings.ReplaceAll(ownRows(), "south", "north")), Federated(), onParties)
	trialtest.Refuses(t, err, `all rows are of one party, "north"`)
	_, err = trialtest.Try(t, ownFile(t, ownRows()), Federated(), onParties, func(s *FederatedSettings) { s.Party = "" })
	trialtest.Refuses(t, err, "party is not given")
	_, err = trialtest.Try(t, ownFile(t, ownRows()), Federated(), onParties,
		func(s *FederatedSettings) { s.Party = "kind" })
	trialtest.Refuses(t, err, "party = kind: it is the output, too")
}

// Rows of a person are on one side of a split, at most so many of them are used, and those with invalid values stay.
func TestOwnPersons(t *testing.T) {
	noisy := func(s *ClassifierSettings) {
		onOwn(s)
		s.Data, s.Epsilon, s.Person = wide.Noisy, 2, method.Person{Person: "who", RowsPerPerson: 5}
	}
	out := trialtest.Compute(t, ownFile(t, ownPeople()), Classifier(), noisy)
	m, unit := out.Metrics, "one person (who) with at most 5 rows: all inputs (3) of each, replaced by any others; "+
		"their classes stay"
	if *m.TrainRows != 40 || *m.TestRows != 10 || *m.DroppedRows != 0 || out.Privacy.Unit != unit ||
		out.Privacy.Guarantee != "(30, 0)-DP" {
		t.Errorf("%g and %g rows, %+v", *m.TrainRows, *m.TestRows, out.Privacy)
	}
	rows := ownPeople() + "north,-inf,2,2,0,red,0\nnorth,NA,7,7,0,violet,3\nnorth,7,7,7,0,,4\n"
	clamped := trialtest.Compute(t, ownFile(t, rows), Classifier(), noisy, func(s *ClassifierSettings) {
		s.Output, s.Invalid.Invalid, s.RowsPerPerson = "kind[green|red|blue]", method.Clamp, 9
	})
	if used := *clamped.Metrics.TrainRows + *clamped.Metrics.TestRows; used != 63 || *clamped.Metrics.DroppedRows != 0 {
		t.Errorf("%g rows of 63 are used", used)
	}
	all := slices.Concat(out.Warnings, clamped.Warnings)
	for _, text := range []string{
		"10 of 60 rows are more than rows_per_person=5 of their persons (who), and were left out by a draw",
		"computed but suspect: 1 of 63 rows have no value in an input, which counts as the low end of its range",
		"computed but suspect: 2 of 63 rows have none of the classes or parties that are named, and count as the first one",
	} {
		if !slices.Contains(all, text) {
			t.Errorf("%q is not among %q", text, all)
		}
	}
	_, err := trialtest.Try(t, ownFile(t, ownPeople()), Classifier(), onOwn, func(s *ClassifierSettings) {
		s.Person.Person = "kind"
	})
	trialtest.Refuses(t, err, `the column "kind" is to be two things at once`)
	federated := trialtest.Compute(t, ownFile(t, ownPeople()), Federated(), func(s *FederatedSettings) {
		s.Dataset, s.Inputs, s.Output, s.Party, s.N, s.Layers = "csv:rows.csv", "a+b+c", "kind", "site", 2, 2
		s.Low, s.High = experiment.SeveralOf[method.None](0), experiment.SeveralOf[method.None](10)
		s.Person = method.Person{Person: "who", RowsPerPerson: 5}
	})
	if !strings.Contains(strings.Join(federated.Privacy.Notes, "\n"), "a person may have rows with several parties") ||
		*federated.Metrics.TrainRows != 40 {
		t.Errorf("%+v", federated.Privacy)
	}
}

// A setting has no effect exactly where its declaration states it.
func TestWhereSettingsOfOwnDataApply(t *testing.T) {
	o := ownFile(t, ownPeople()+"north,,3,3,0,red,3\n")
	noise := func(s *ClassifierSettings) { s.Data, s.Epsilon = wide.Noisy, 20 }
	digits := func(s *ClassifierSettings) {
		s.N, s.Layers, s.Branches, s.Score.Score = 4, 2, machines(3), false
	}
	inert.Conditions[ClassifierSettings, TrialMetrics]{
		Of: Classifier(),
		Bases: map[string]func(*ClassifierSettings){
			"own": onOwn,
			"own, persons": func(s *ClassifierSettings) {
				onOwn(s)
				s.Person = method.Person{Person: "who", RowsPerPerson: 4}
			},
			"own, with noise":   func(s *ClassifierSettings) { onOwn(s); noise(s) },
			"digits, noise":     func(s *ClassifierSettings) { digits(s); noise(s) },
			"digits, no number": digits,
		},
		Others: func(s *ClassifierSettings) []inert.Setting {
			held := slices.DeleteFunc(heldNames(s), func(i any) bool { return i == &s.Delta || i == &s.D })
			var all []inert.Setting
			for _, field := range held {
				all = append(all, inert.Held(field, "other tests have it"))
			}
			return append(all, inert.Values(&s.Delta, .2), inert.Values(&s.D, .5),
				inert.Values(&s.Inputs, "a+b", "b+c"), inert.Values(&s.Output, "other"), inert.Values(&s.Holdout, .5),
				inert.Values(&s.SplitSource, method.CommonSplits),
				inert.Values(&s.Person.Person, "who", method.NoColumn), inert.Values(&s.RowsPerPerson, 3),
				inert.Values(&s.Invalid.Invalid, method.Clamp),
				inert.Values(&s.Low, experiment.SeveralOf[method.None](-5)),
				inert.Values(&s.High, experiment.SeveralOf[method.None](30)))
		},
		Run: func(s *ClassifierSettings) (*experiment.Outcome[TrialMetrics], error) {
			if s.isOwn() {
				return Classifier().Compute(t.Context(), trialtest.New(t, o), s)
			}
			return classifiedWithDistances(t, s)
		},
	}.Check(t)
}

// heldNames returns the settings that other tests vary.
func heldNames(s *ClassifierSettings) []any {
	return []any{&s.Dataset, &s.Train, &s.Test, &s.Pixels, &s.Data, &s.Epsilon, &s.Delta, &s.D, &s.N, &s.Layers,
		&s.Branches, &s.Lambda, &s.Variant, &s.Clusters, &s.Starts, &s.Smoothing, &s.Score.Score, &s.Points, &s.Grid,
		&s.Membership}
}

// The estimate of memory follows from the size of a file and from the rows that a machine may
// have; for a missing file it is 0.
func TestMemoryOfOwnRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte("a;b;c;label\n"+strings.Repeat("1.25;2.5;1e5;x\n", 40_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Classifier().With(func(s *ClassifierSettings) { s.Dataset = "csv:" + path })
	auto := memory(&s.Images, &s.Pipeline)
	numbers := (auto - process - ownRoom) / ownCopies / numberBytes
	if numbers < 80_000 || numbers > 200_000 {
		t.Errorf("%d numbers of 600,000 bytes in four columns", numbers)
	}
	s.Branches = machines(2)
	if one := memory(&s.Images, &s.Pipeline); one < auto+numbers/8*numbers/8*numberBytes {
		t.Errorf("%d bytes with two machines a class, %d with one for 1000 rows", one, auto)
	}
	s.Branches = machines(1000)
	if many := memory(&s.Images, &s.Pipeline); many != auto {
		t.Errorf("%d bytes with many machines, want %d", many, auto)
	}
	s.Dataset = "csv:" + path + "x"
	if got := memory(&s.Images, &s.Pipeline); got != 0 {
		t.Errorf("%d bytes of a file that is not there", got)
	}
}
