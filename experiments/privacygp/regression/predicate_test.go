package regression

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// journeys is a file with columns that are no inputs; the seventh row has no speed.
const journeys = "time,place,kind,speed,seen,late,radius\n" +
	"0,a,car,3.25,2024-01-08,no,1\n" +
	"1,b,car,71.125,2024-01-09,no,3\n" +
	"2,a,bus,12.375,2024-01-10 13:45:00,yes,2\n" +
	"3,b,bus,40.625,2024-01-11,no,5\n" +
	"4,a,tram,12.375,2024-01-12,yes,4\n" +
	"5,b,tram,40.875,2024-01-13,no,1\n" +
	"6,a,car,,2024-01-14,no,0\n" +
	"7,b,car,9.75,2024-01-15,no,2\n"

func onJourneys(t *testing.T, sensitive string, changes ...func(*Settings)) func(*Settings) {
	path := csv(t, journeys)
	return func(s *Settings) {
		s.Dataset, s.Inputs, s.Output, s.Sensitive, s.Folds = "csv:"+path, "time", "radius", sensitive, 2
		known("2", 4, 0.1)(s)
		for _, change := range changes {
			change(s)
		}
	}
}

// A predicate selects the rows for which it holds, of any column but the output.
func TestPredicates(t *testing.T) {
	for _, c := range []struct {
		sensitive string
		inputs    string // "" for time
		want      []int  // times of the hidden rows
		err       string
	}{
		{sensitive: "speed > 40", want: []int{1, 3, 5}},
		{sensitive: "speed>=40.875", want: []int{1, 5}},
		{sensitive: "speed < 12.375", want: []int{0, 7}},
		{sensitive: "speed <= 12.375", want: []int{0, 2, 4, 7}},
		{sensitive: "speed = 12.375", want: []int{2, 4}},
		{sensitive: "speed == 1.2375e1", want: []int{2, 4}},
		{sensitive: "speed != 12.375", want: []int{0, 1, 3, 5, 7}},
		{sensitive: "speed > 40 and time < 4", want: []int{1, 3}},
		{sensitive: "speed > 40 and kind = car, rows:2, time:7", err: "rows cannot be named by their numbers"},
		{sensitive: "speed > 40 and kind = car, time:7", want: []int{1, 7}},
		{sensitive: "time >= 5", want: []int{5, 6, 7}},
		{sensitive: "kind = bus", want: []int{2, 3}},
		{sensitive: "kind=bus", want: []int{2, 3}},
		{sensitive: "kind != car", want: []int{2, 3, 4, 5}},
		{sensitive: "late = yes", want: []int{2, 4}},
		{sensitive: "late = 0 and time > 4", want: []int{5, 6, 7}},
		{sensitive: "seen > 2024-01-10 13:00:00 and seen < 2024-01-12", want: []int{2, 3}},
		{sensitive: "kind = bus", inputs: "time+kind[car|bus|tram]", want: []int{2, 3}},
		{sensitive: "kind=bus:1", inputs: "time+kind[car|bus|tram]", want: []int{2, 3}},
		{sensitive: "place != a and speed > 9", inputs: "time+place", want: []int{1, 3, 5, 7}},

		{sensitive: "seen > 2024-01-10 13:00:00 and seen < 2024-01-12", inputs: "time+seen", want: []int{2, 3}},
		{sensitive: "late = yes", inputs: "time+late", want: []int{2, 4}},
		{sensitive: "seen > 3", inputs: "time+seen", err: `the column seen holds dates, and "3" is none`},
		{sensitive: "late > 3", inputs: "time+late", err: `the column late holds truth values, and "3" is none`},

		{sensitive: "speed > 100",
			err: "speed > 100 holds for none of the 7 rows (speed lies between 3.25 and 71.125): nothing"},
		{sensitive: "speed > 40 and kind = bus and late = yes", err: "holds for none of the 7 rows (speed lies"},
		{sensitive: "kind = bus and late = true and time > 4",
			err: "holds for none of the 8 rows (time lies between 0 and 7)"},
		{sensitive: "speed > fast",
			err: `speed > fast: the column speed holds numbers, and "fast" is none: compare it with a number`},
		{sensitive: "speed > 2024-01-01", err: "compare it with a number such as 3"},
		{sensitive: "speed > nan", err: `"nan" means a missing value`},
		{sensitive: "speed > inf", err: `"inf" is no value, expected a finite number`},
		{sensitive: "speed > 2,5", err: `"5" is no set of places`},
		{sensitive: "time > late", err: `the column time holds numbers, and "late" is none`},
		{sensitive: "seen > 3",
			err: `the column seen holds dates, and "3" is none: compare it with a date such as 2024-01-31`},
		{sensitive: "late > 3", err: `the column late holds truth values, and "3" is none: compare it with yes or no`},
		{sensitive: "kind > bus",
			err: "kind > bus: the column kind holds texts, such as bus, which have no order: compare it by = or !="},
		{sensitive: "kind = buss", err: `kind = buss: unknown value of kind "buss"; did you mean "bus"?`},
		{sensitive: "kind=buss:1", inputs: "time+kind[car|bus|tram]", err: `unknown input "kind=buss"`},
		{sensitive: "kind < bus", inputs: "time+kind[car|bus|tram]", err: "which have no order"},
	} {
		t.Run(c.sensitive+" "+c.inputs, func(t *testing.T) {
			s := Experiment().With(onJourneys(t, c.sensitive, func(s *Settings) {
				if c.inputs != "" {
					s.Inputs = c.inputs
				}
			}))
			tr := trialtest.New(t, trialtest.Options{})
			_, err := Experiment().Resolved(s)
			var p *prepared
			if err == nil {
				p, err = prepare(t.Context(), tr, s)
			}
			if c.err != "" {
				trialtest.Refuses(t, err, c.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, row := range slices.Sorted(maps.Keys(p.rows.hidden)) {
				got = append(got, int(p.rows.x.At(row, 0)))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("rows at %v, want %v", got, c.want)
			}
			if places, _ := p.rows.places.Dims(); places != len(c.want) {
				t.Errorf("%d places for %d rows", places, len(c.want))
			}
		})
	}
}

// A text that could be both is a box where its input is there or inputs are not known, and a
// predicate elsewhere.
func TestBoxOrPredicate(t *testing.T) {
	for _, c := range []struct {
		text   string
		inputs []string
		want   bool
	}{
		{"kind=b:1", []string{"kind"}, false}, {"kind=b:1", []string{"kind=a", "kind=b"}, false},
		{"kind=c:1", []string{"kind=a", "kind=b"}, false}, {"kind=b:1", nil, false}, {"kind=b:1", []string{"x"}, true},
		{"seen > 2024-01-08 13:45:00", []string{"x"}, true}, {"speed > 3", nil, true}, {"x:1..2", []string{"x"}, false},
		{"rows:1", []string{"x"}, false},
	} {
		s, err := parseSensitive(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.terms[0].isPredicate(c.inputs); got != c.want {
			t.Errorf("%s with the inputs %v: %v, want %v", c.text, c.inputs, got, c.want)
		}
	}
}

// With inputs=* a text that may also be a box is understood when the inputs are known. The
// output is refused in it even so, for a trial as for an export.
func TestAmbiguousPredicateOnTheOutput(t *testing.T) {
	path := csv(t, "x,w\n0,2024-01-08 13:45:00\n1,2024-01-08 15:45:00\n2,2024-01-09 13:45:00\n3,2024-01-07\n")
	s := Experiment().With(func(s *Settings) {
		s.Dataset, s.Inputs, s.Output, s.Sensitive = "csv:"+path, "*", "w", "w > 2024-01-08 14:45:00"
		s.Mean, s.Resolution, s.Folds = number(19700), experiment.NumberOr[automatic](1.0), 2
		known("2", 4, 0.1)(s)
	})
	if _, err := Experiment().Resolved(s); err != nil {
		t.Fatal(err) // it may be a box
	}
	const want = "w is the output, and the covariance of the noise, which is handed over, shows which rows are sensitive"
	_, err := export(t.Context(), trialtest.New(t, trialtest.Options{}), s)
	trialtest.Refuses(t, err, want)
	_, err = run(t.Context(), trialtest.New(t, trialtest.Options{}), s)
	trialtest.Refuses(t, err, want)

	s.Sensitive = "x:1..2" // a column of that name is used
	if _, err := export(t.Context(), trialtest.New(t, trialtest.Options{}), s); err != nil {
		t.Fatal(err)
	}
}

// Columns of predicates are looked for when a plan is made, with the others.
func TestColumnsOfPredicates(t *testing.T) {
	s := Experiment().With(onJourneys(t, "speed > 40 and time < 4, spede > 3, time:1..2"))
	tables := s.tables()
	if want := []string{"time", "radius", "speed", "spede"}; len(tables) != 1 || !slices.Equal(tables[0].Columns, want) {
		t.Errorf("%+v, want the columns %v", tables, want)
	}
	err := tables[0].Check(strings.TrimPrefix(s.Dataset, "csv:"))
	trialtest.Refuses(t, err, `unknown column "spede"; did you mean "speed"?`)
}

// The record states that places were chosen by a column, and an export does not hold it.
func TestPredicateIsStated(t *testing.T) {
	out := trialtest.Compute(t, trialtest.Options{}, Experiment(), onJourneys(t, "speed > 40,time > 6"))
	const want = "sensitive places are the inputs of the rows for which speed > 40, or for which time > 6; what is in " +
		"speed is not handed over, but for which rows this holds is seen in the covariance of the noise and in the list of " +
		"the sensitive places"
	if !slices.Contains(out.Privacy.Notes, want) {
		t.Errorf("%q", out.Privacy.Notes)
	}
	if all := strings.Join(out.Warnings, "\n"); !strings.Contains(all,
		"1 of 8 rows have no value in an input, the output or speed and were left out") {
		t.Errorf("%q", all)
	}
	if m := out.Metrics; m.DroppedRows != 1 || m.SensitiveRows != 4 || m.VarianceMin < m.Tolerance*(1-1e-5) {
		t.Errorf("%+v", m)
	}
	out = trialtest.Compute(t, trialtest.Options{}, Experiment(), onJourneys(t, "speed > 40 and kind != tram,late = yes",
		func(s *Settings) { s.Noise = uniform }))
	const several = "; what is in speed, kind and late is not handed over, but for which rows this holds is seen in the " +
		"list of the sensitive places"
	if !slices.ContainsFunc(out.Privacy.Notes, func(note string) bool { return strings.HasSuffix(note, several) }) {
		t.Errorf("%q", out.Privacy.Notes)
	}
	if all := strings.Join(out.Warnings, "\n"); !strings.Contains(all,
		"no value in an input, the output, speed, kind or late and were left out") {
		t.Errorf("%q", all)
	}
	r, err := export(t.Context(), trialtest.New(t, trialtest.Options{}), Experiment().With(onJourneys(t, "speed > 40",
		func(s *Settings) { s.Mean, s.Resolution = number(2), experiment.NumberOr[automatic](1.0) })))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []float64{71.125, 40.625, 12.375, 3.25} {
		if strings.Contains(string(text), fmt.Sprint(value)) {
			t.Errorf("the export holds the speed %g: %s", value, text)
		}
	}
}

// An export of which every row is sensitive is written with a warning.
func TestEveryRowIsSelected(t *testing.T) {
	r, err := export(t.Context(), trialtest.New(t, trialtest.Options{}), Experiment().With(onJourneys(t, "speed > 0",
		func(s *Settings) { s.Mean, s.Resolution = number(2), experiment.NumberOr[automatic](1.0) })))
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(r.Warnings, "\n"); !strings.Contains(all, "every row is sensitive: no place is left") {
		t.Errorf("%q", all)
	}
}
