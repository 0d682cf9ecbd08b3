package tradeoff

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/multikernel/recognise"
)

// Rows of a cell are divided for themselves, and every row is tested once.
func TestDivide(t *testing.T) {
	who := []int{0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 1, 0}
	what := []int{0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0}
	groups := []int{0, 0, 1, 1, 2, 3, 3, 4, 2, 5, 5, 6}
	for _, c := range []struct {
		name   string
		d      division
		groups []int
		test   [][]int // of each fold; nil where it is drawn
	}{
		{"the last are held out", division{folds: 1, share: .4}, nil, [][]int{{3, 8, 10, 11}}},
		{"a cell of one row is trained on", division{folds: 1, share: .9}, nil, [][]int{{1, 2, 3, 6, 7, 8, 10, 11}}},
		{"blocks of neighbours", division{folds: 2}, nil, [][]int{{0, 1, 2, 5, 6, 8}, {3, 4, 7, 9, 10, 11}}},
		{"groups", division{folds: 1, share: .3}, groups, [][]int{{9, 10, 11}}},
		{"folds of groups", division{folds: 2}, groups, [][]int{{0, 1, 2, 3, 5, 6, 7}, {4, 8, 9, 10, 11}}},
		{"drawn", division{folds: 3, how: recognise.SplitRandom}, nil, nil},
		{"drawn groups", division{folds: 2, how: recognise.SplitRandom}, groups, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			trial := trialtest.New(t, trialtest.Options{Seed: 3})
			folds := c.d.divide([][]int{who, what}, c.groups, trial.Stream("split"))
			seen := map[int]int{}
			for i, f := range folds {
				if c.test != nil && !slices.Equal(f.Test, c.test[i]) {
					t.Errorf("fold %d tests on %v, want %v", i, f.Test, c.test[i])
				}
				if all := slices.Sorted(slices.Values(slices.Concat(f.Train, f.Test))); len(all) != len(who) ||
					len(slices.Compact(all)) != len(who) {
					t.Errorf("fold %d has the rows %v", i, all)
				}
				for _, row := range f.Test {
					seen[row]++
					for _, other := range f.Train {
						if c.groups != nil && groups[row] == groups[other] {
							t.Errorf("fold %d has group %d on both sides", i, groups[row])
						}
					}
				}
			}
			if c.d.folds > 1 && len(seen) != len(who) {
				t.Errorf("%d of %d rows are tested on", len(seen), len(who))
			}
		})
	}
}

// Combinations are told apart, and numbered without gaps.
func TestCombinations(t *testing.T) {
	a := column{labels: []int{0, 1, 1, 0, 2}, classes: []string{"a", "b", "c"}}
	b := column{labels: []int{4, 4, 0, 4, 0}, classes: []string{"v", "w", "x", "y", "z"}}
	joint, count := combinations([]column{a, b})
	if want := []int{0, 2, 1, 0, 3}; !slices.Equal(joint, want) || count != 4 {
		t.Errorf("%v of %d, want %v of 4", joint, count, want)
	}
}

func TestMetricNames(t *testing.T) {
	got := metricNames([]column{{column: "Heart rate"}, {column: "heart_rate"}, {column: "é2"}})
	if want := []string{"heart_rate", "heart_rate_2", "_2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBaseline(t *testing.T) {
	// 1 and 2 are equally frequent: the first is the answer.
	if got := baseline([]int{2, 1, 2, 1, 0}, []int{1, 2, 1, 0}); got != 50 {
		t.Errorf("%g %%, want 50", got)
	}
}

// One landmark of the data is warned of, and the rest are taken.
func TestLandmarkOfTheData(t *testing.T) {
	file := ownFile(t)
	marks := "d,c,b,a\n" + reversedInputs(t, file)[7] + "\n0,0,0,0\n1,-1,1,0\n-1,1,0,1\n"
	out := trialtest.Compute(t, trialtest.Options{}, Learn(), own(file),
		func(s *Settings) { s.Landmarks = "csv:" + write(t, marks) })
	if !slices.ContainsFunc(out.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "1 of the 4 landmarks are rows of the data")
	}) {
		t.Errorf("warnings %q", out.Warnings)
	}
}

// The names of classes are values of the data: an export that fails names none and counts no
// rows of one, which a trial for judging does.
func TestFailuresOfExportsNameNoClass(t *testing.T) {
	file := ownFile(t)
	for _, c := range []struct {
		name     string
		change   func(*Settings)
		judged   string
		exported string // the whole error
	}{
		{"a class of one row", func(s *Settings) { s.Utility = "rare" },
			`utility = rare: only 1 of the rows are of the class "r", and at least 4 are needed`,
			"utility = rare: too few of the rows are of one of the classes, and at least 4 are needed: 3 to train on and one " +
				"to test on; leave its rows out, or join it with another class; a trial without --export names it"},
		{"a class that is in one group", func(s *Settings) { s.Group, s.Gamma = "size", crossValidated },
			`the class "k1" of kind has 0 rows to train on (rows with one size stay together)`,
			"choosing gamma and rho in 3 parts of the training rows: a class of kind has too few rows to train on (rows with " +
				"one size stay together); at least 3 are needed; a trial without --export names it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := trialtest.Try(t, trialtest.Options{}, Learn(), own(file), c.change)
			trialtest.Refuses(t, err, c.judged)
			forOthers := trialtest.New(t, trialtest.Options{})
			forOthers.Entropy = strings.NewReader("")
			_, err = export(t.Context(), forOthers, Learn().With(own(file), c.change))
			if err == nil || err.Error() != c.exported {
				t.Errorf("%v; it should say %q", err, c.exported)
			}
		})
	}
}

// Errors before or when the data are read name the column.
func TestBadInput(t *testing.T) {
	file := ownFile(t)
	for _, c := range []struct {
		name   string
		change func(*Settings)
		want   string
	}{
		{"no data", func(s *Settings) { s.Dataset = "own.csv" }, "or your own data"},
		{"utility is privacy", func(s *Settings) { s.Privacy = "kind" }, "privacy = kind: it is the utility, too"},
		{"an input is utility", func(s *Settings) { s.Inputs = "a+kind" }, `the column "kind" is one of the inputs`},
		{"a utility twice", func(s *Settings) { s.Utility = "kind+kind" }, "two things at once"},
		{"an empty utility", func(s *Settings) { s.Utility = "kind+" }, "utility = "},
		{"no privacy", func(s *Settings) { s.Privacy = "" }, "privacy is not given"},
		{"a group of all", func(s *Settings) { s.Group = "who" }, "group = who: it is the privacy column"},
		{"an unknown column", func(s *Settings) { s.Utility = "knid" }, `did you mean "kind"?`},
		{"one class", func(s *Settings) { s.Utility = "same" }, "utility = same: all 96 rows are of one class"},
		{"a class of one row", func(s *Settings) { s.Utility = "rare" }, `only 1 of the rows are of the class "r"`},
		{"a private class of one row", func(s *Settings) { s.Privacy = "rare" }, "privacy = rare: only 1 of the rows"},
		{"too many components", func(s *Settings) { s.Components.IsWord, s.Components.Number = false, 3 },
			"components = 3: 3 (combinations of) utility classes have 2 directions"},
		{"more than rows differ in", func(s *Settings) {
			s.Components.IsWord, s.Components.Number, s.Projection, s.Kernels = false, 5, pca, "linear"
		}, "differ in 4 directions only"},
		{"constant inputs", func(s *Settings) { s.Inputs = "one" }, "every input has the same value"},
		{"an unknown kernel", func(s *Settings) { s.Kernels = "rfb:1" }, `did you mean "rbf"?`},
		{"an unknown method", func(s *Settings) { s.Method = "single:rbf:7" }, "method single: unknown kernel"},
		{"a grid twice", func(s *Settings) { s.Gamma, s.GammaGrid = crossValidated, []float64{1, 1} },
			"gamma_grid: 1 is not"},
		{"a grid too short", func(s *Settings) {
			s.Gamma, s.GammaGrid, s.Kernels = crossValidated, []float64{1}, "rbf:1+linear+rbf:2"
		}, "2 of them are rbf with some gamma, and gamma_grid has 1 values"},
		{"landmarks that are the data", func(s *Settings) { s.Landmarks = s.Dataset }, "landmarks are public rows"},
		{"landmarks that are the data by another path", func(s *Settings) {
			s.Landmarks = "csv:" + filepath.Dir(file) + "/./" + filepath.Base(file)
		}, "all 96 of them are rows of the data"},
		{"landmarks that are a part of the data", func(s *Settings) {
			s.Landmarks = "csv:" + write(t, "d,c,b,a\n"+strings.Join(reversedInputs(t, file)[3:5], "\n")+"\n")
		}, "all 2 of them are rows of the data"},
		{"landmarks without a form", func(s *Settings) { s.Landmarks = "x.csv" }, "landmarks = "},
		{"landmarks of other columns", func(s *Settings) { s.Landmarks = "csv:" + write(t, "a,b,c\n1,2,3\n") },
			`unknown column "d"`},
		{"landmarks and drawn rows", func(s *Settings) { s.Landmarks, s.Nystrom = "csv:marks.csv", 5 },
			"nystrom = 5: landmarks are given"},
		{"more drawn rows than there are", func(s *Settings) { s.Nystrom = 73 },
			"nystrom = 73: there are 72 rows to train on; take at most 72"},
		{"a ρ' that hides all", func(s *Settings) { s.RhoPrime = 20 }, "take rho_prime=0.1"},
		{"more components than a linear kernel has", func(s *Settings) { s.Utility, s.Inputs = "kind+size", "a" },
			"components=1"},
		{"groups of all rows", func(s *Settings) { s.Group = "same" }, "to train on"},
		{"too many folds", func(s *Settings) { s.Folds, s.Group = 2, "size" },
			"to train on (rows with one size stay together)"},
		{"dates", func(s *Settings) { s.Utility = "date" }, "a date, which is no class"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := trialtest.Try(t, trialtest.Options{Workers: 2}, Learn(), own(file), c.change)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	t.Run("own data without columns", func(t *testing.T) {
		_, err := Learn().Resolve(map[string]any{"dataset": "csv:x.csv", "utility": "kind"})
		if err == nil || !strings.Contains(err.Error(), "utility and privacy must be given") {
			t.Errorf("%v", err)
		}
	})
}

// The scores of a column have no better direction, for it is that of a utility, or the private one.
func TestDirections(t *testing.T) {
	for _, m := range Learn().Experiment.Metrics {
		for _, name := range []string{"auc_person", "balanced_percent_person", "log_loss_person"} {
			if m.Covers(name) && m.Best != "" {
				t.Errorf("%s: %s is better", m.Name, m.Best)
			}
		}
	}
}
