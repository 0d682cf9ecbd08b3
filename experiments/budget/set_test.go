package budget

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

func value[T any](x T) *T { return &x }

func TestSet(t *testing.T) {
	base := func(t *testing.T) *Ledger {
		l := limited(t, 1)
		book(t, l, spend(0.5, 0, 0))
		row := spend(0.2, 1e-4, 0.05)
		row.Data, row.Units = data(1), []string{experiment.UnitRow, experiment.UnitOutput}
		book(t, l, row)
		if _, err := l.Set(Change{Account: "2", Label: value("dose study")}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Set(
			Change{Account: "patients", Unit: "row", Epsilon: value(2.0), Delta: value(1e-5), Create: true},
		); err != nil {
			t.Fatal(err)
		}
		return l // 1: data(0) output; 2, 3: data(1) row, output; 4: patients row
	}
	for _, c := range []struct {
		name   string
		change Change
		number int
		want   Limit
		over   bool
	}{
		{"by number", Change{Account: "3", Epsilon: value(4.0)}, 3, Limit{4, 1e-3}, false},
		{"without a name", Change{Account: "data-1", Delta: value(0.01)}, 1, Limit{1, 0.01}, false},
		{"by label and unit", Change{Account: "dose study", Unit: "output", Epsilon: value(4.0),
			Delta: value(1e-4)}, 3, Limit{4, 1e-4}, false},
		{"by name", Change{Account: "patients", Epsilon: value(3.0)}, 4, Limit{3, 1e-5}, false},
		{"below what is spent", Change{Account: "1", Epsilon: value(0.25)}, 1, Limit{0.25, 1e-3}, true},
		{"below what mu is spent", Change{Account: "2", Epsilon: value(0.01)}, 2, Limit{0.01, 1e-3}, true},
		{"little below what mu is spent", Change{Account: "2", Epsilon: value(0.07)}, 2, Limit{0.07, 1e-3}, true},
		{"other unit of a name", Change{Account: "patients", Unit: "output", Epsilon: value(1.0),
			Delta: value(1e-6), Create: true}, 5, Limit{1, 1e-6}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := base(t)
			reports, err := l.Set(c.change)
			if err != nil || len(reports) != 1 {
				t.Fatal(reports, err)
			}
			r := reports[0]
			if r.Number != c.number || r.Limit.Epsilon != c.want.Epsilon || r.Limit.Delta != c.want.Delta ||
				r.Over != c.over {
				t.Errorf("%+v", r)
			}
			if c.over {
				again := spend(1e-9, 0, 0)
				if c.number == 2 {
					again.Data, again.Units = data(1), []string{experiment.UnitRow}
				}
				if e := refused(t, l.book(again, "")); e.Left.Epsilon != 0 {
					t.Errorf("%+v", e)
				}
			}
		})
	}
	for _, c := range []struct {
		name   string
		change Change
		want   string
	}{
		{"unknown", Change{Account: "patient", Epsilon: value(1.0)}, `did you mean "patients"`},
		{"digest", Change{Account: data(0), Epsilon: value(1.0)}, "unknown account"},
		{"number 0", Change{Account: "0", Epsilon: value(1.0)}, "unknown account"},
		{"empty", Change{Account: "", Epsilon: value(1.0)}, "unknown account"},
		{"two units", Change{Account: "dose study", Epsilon: value(1.0)}, "--unit"},
		{"no such unit", Change{Account: "patients", Unit: "output", Epsilon: value(1.0)},
			"no account of unit output, only of row"},
		{"misspelt unit", Change{Account: "patients", Unit: "rows", Epsilon: value(1.0)}, `did you mean "row"`},
		{"nothing", Change{Account: "1"}, "nothing to change"},
		{"epsilon 0", Change{Account: "1", Epsilon: value(0.0)}, "is required"},
		{"negative epsilon", Change{Account: "1", Epsilon: value(-1.0)}, "is required"},
		{"NaN epsilon", Change{Account: "1", Epsilon: value(math.NaN())}, "is required"},
		{"infinite epsilon", Change{Account: "1", Epsilon: value(math.Inf(1))}, "is required"},
		{"delta 0", Change{Account: "1", Delta: value(0.0)}, "is required"},
		{"delta 1", Change{Account: "1", Delta: value(1.0)}, "is required"},
		{"label of others", Change{Account: "1", Label: value("dose study")}, "names data-2 already"},
		{"label is a name", Change{Account: "1", Label: value("patients")}, "names patients already"},
		{"label is a number", Change{Account: "1", Label: value("12")}, "number"},
		{"label of data without a name", Change{Account: "1", Label: value("data-7")}, "without a name"},
		{"label is not printable", Change{Account: "1", Label: value("a\tb")}, "printable"},
		{"there already", Change{Account: "patients", Unit: "row", Epsilon: value(1.0), Delta: value(1e-6),
			Create: true}, "leave out --create"},
		{"there already, of one unit", Change{Account: "patients", Epsilon: value(1.0), Delta: value(1e-6),
			Create: true}, "of the others with --unit"},
		{"new without a limit", Change{Account: "new", Create: true}, "--epsilon"},
		{"new without delta", Change{Account: "new", Unit: "row", Epsilon: value(1.0), Create: true}, "--delta"},
		{"new number", Change{Account: "7", Unit: "row", Epsilon: value(1.0), Delta: value(1e-6), Create: true},
			"first release"},
		{"new label", Change{Account: "dose-study", Unit: "row", Label: value("dose study"), Epsilon: value(1.0),
			Delta: value(1e-6), Create: true}, "already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := base(t)
			before, err := os.ReadFile(l.path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = l.Set(c.change)
			var argument *ArgumentError
			var unknown *experiment.UnknownError
			if !errors.As(err, &argument) && !errors.As(err, &unknown) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
			if after, err := os.ReadFile(l.path); err != nil || string(after) != string(before) {
				t.Errorf("the ledger was changed: %v", err)
			}
		})
	}
}

// A limit that is set for a name in advance holds for every unit, and each is there by name.
func TestEveryUnitOpenedInAdvance(t *testing.T) {
	for _, unit := range experiment.Units() {
		t.Run(unit, func(t *testing.T) {
			l := open(t)
			all := Change{Account: "patients", Epsilon: value(1.0), Delta: value(1e-5), Create: true}
			if reports, err := l.Set(all); err != nil || len(reports) != len(experiment.Units()) {
				t.Fatal(reports, err)
			}
			s := spend(1.5, 0, 0)
			s.Units = []string{unit}
			refused(t, l.book(s, "patients"))
			reports, err := l.Set(Change{Account: "patients", Unit: unit, Epsilon: value(2.0)})
			if err != nil || len(reports) != 1 || reports[0].Unit != unit {
				t.Fatal(reports, err)
			}
			if err := l.book(s, "patients"); err != nil {
				t.Fatal(err)
			}
			reports, err = l.Set(Change{Account: "patients", Label: value("dose study")})
			if err != nil || len(reports) != len(experiment.Units()) {
				t.Fatal(reports, err)
			}
			for _, r := range reports {
				if r.Label != "dose study" {
					t.Errorf("%+v has no label", r)
				}
			}
		})
	}
}

// An account that was opened in advance takes the bookings of its name.
func TestOpenedInAdvance(t *testing.T) {
	l := open(t)
	if _, err := l.Set(
		Change{Account: "patients", Unit: "output", Epsilon: value(1.0), Delta: value(1e-5), Label: value("all"),
			Create: true},
	); err != nil {
		t.Fatal(err)
	}
	s := spend(0.6, 0, 0)
	for i, rows := range []int{1000, 1200} { // data of a name may grow
		s.Rows, s.Data = rows, data(byte(i))
		s.Units = []string{experiment.UnitRow, experiment.UnitOutput}
		err := l.book(s, "patients")
		if i == 0 && err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			refused(t, err)
		}
	}
	state, err := l.Read()
	if err != nil || len(state.Accounts) != 2 || state.Accounts[0].Rows != 1000 ||
		state.Sources[0].Label != "all" || len(state.Sources) != 1 {
		t.Errorf("%+v, %v", state, err)
	}
}

func TestSetDefault(t *testing.T) {
	l := open(t)
	for _, c := range []struct {
		name           string
		epsilon, delta *float64
		want           Limit
		ok             bool
	}{
		{"epsilon", value(3.0), nil, Limit{3, 0}, true},
		{"delta", nil, value(1e-6), Limit{3, 1e-6}, true},
		{"delta is automatic", nil, value(0.0), Limit{3, 0}, true},
		{"nothing", nil, nil, Limit{}, false},
		{"NaN", value(math.NaN()), nil, Limit{}, false},
		{"delta 1", nil, value(1.0), Limit{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := l.SetDefault(c.epsilon, c.delta)
			if (err == nil) != c.ok || c.ok && got != c.want {
				t.Errorf("%+v, %v", got, err)
			}
			if s, err := l.Read(); c.ok && (err != nil || s.NewLimit() != c.want) {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	book(t, l, spend(1, 1e-5, 0.2))
	if _, err := l.SetDefault(value(9.0), nil); err != nil {
		t.Fatal(err)
	}
	if r := report(t, l); r.Limit.Epsilon != 3 || r.Limit.Delta != 1e-6 {
		t.Errorf("an account that is there has another limit: %+v", r.Limit)
	}
}
