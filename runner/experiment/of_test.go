package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// model is an experiment whose outcome shows its settings.
func model() *Definition[modelSettings, modelMetrics] {
	return Of(Declaration[*modelSettings, modelMetrics]{
		Name: "demo/model", Version: 1,
		Datasets: func(s *modelSettings) []string { return []string{s.File} },
		Check: func(s *modelSettings) error {
			if s.Rank.Number > 100 {
				return errors.New("the rank is too large")
			}
			return nil
		},
		Complete: func(s *modelSettings, given func(any) bool) error {
			if !given(&s.Delta) {
				s.Delta = 1e-6
			}
			return nil
		},
		Rules: []Rule[*modelSettings]{{
			To:        func(s *modelSettings) []any { return []any{&s.Strict} },
			DecidedBy: func(s *modelSettings) []any { return []any{&s.Rank, &s.Epsilon} },
			Words:     "rank is above epsilon",
			Holds:     func(s *modelSettings) bool { return float64(s.Rank.Number) > s.Epsilon },
		}},
		Run: func(_ context.Context, t *Trial, s *modelSettings) (*Outcome[modelMetrics], error) {
			out := &Outcome[modelMetrics]{Warnings: []string{t.Experiment}}
			out.Metrics.RMSE = s.Delta
			out.Metrics.Share = map[string]float64{NameOf(s.Method): 1}
			if s.Method == sparse {
				out.Metrics.SD = new(2.0)
			}
			return out, nil
		},
	})()
}

func TestParamsOfAStruct(t *testing.T) {
	for i, want := range []Param{
		{Name: "method", Kind: Text, Default: "standard", Doc: "how heights are predicted",
			Values: []string{"standard", "sparse"}},
		{Name: "epsilon", Kind: Number, Default: 2.0, Doc: "privacy parameter; inf adds no noise", Min: Bound(0),
			OpenMin: true, Infinite: true},
		{Name: "delta", Kind: Number, Default: 1e-4, Doc: "privacy parameter; csv: it must be given", Min: Bound(0),
			OpenMin: true, Max: Bound(1), OpenMax: true},
		{Name: "rank", Kind: Integer, Default: "full", Doc: "public directions that are released", Words: []string{"full"},
			Min: Bound(1), Max: Bound(2000)},
		{Name: "inducing", Kind: CountOrNumbers, Default: Points{Count: 5}, Unit: "years", Doc: "inducing inputs"},
		{Name: "low", Kind: Number, Default: 0.0, Doc: "lower end of their grid"},
		{Name: "ages", Kind: Numbers, Default: []float64{0, 10, 20}, Doc: "ages"},
		{Name: "solver_steps", Kind: Integer, Default: 2000, Doc: "number of Newton steps", Min: Bound(1), Max: Bound(5000)},
		{Name: "strict", Kind: Flag, Default: false, Doc: "whether the model is strict"},
		{Name: "file", Kind: Text, Doc: "the file"},
	} {
		t.Run(want.Name, func(t *testing.T) {
			got := model().Params[i]
			got.When = nil
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestWhereSettingsApply(t *testing.T) {
	for name, want := range map[string]string{
		"method":       "",
		"epsilon":      "where method is sparse",
		"delta":        "where epsilon is not inf and method is sparse",
		"inducing":     "where method is sparse",
		"low":          "where inducing is a count",
		"solver_steps": "nowhere: unread",
		"strict":       "where rank is above epsilon",
	} {
		t.Run(name, func(t *testing.T) {
			if got := model().Applies(name); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	m := model()
	for _, c := range []struct {
		name, param string
		change      func(*modelSettings)
		inert       bool
	}{
		{"a rule that holds", "strict", func(s *modelSettings) { s.Rank = NumberOr[full](7) }, false},
		{"a rule that does not", "strict", func(s *modelSettings) { s.Rank = NumberOr[full](2) }, true},
		{"a count", "low", func(*modelSettings) {}, false},
		{"a list", "low", func(s *modelSettings) { s.Inducing = Points{Values: []float64{1}} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := m.Resolved(m.With(func(s *modelSettings) { s.File = "f"; c.change(s) }))
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Inert(c.param, p); (got != nil) != c.inert {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestSettingsOfParams(t *testing.T) {
	m := model()
	p, err := m.Resolve(map[string]any{"file": "x", "method": "sparse", "rank": "7", "inducing": "[1,2]", "strict": "yes",
		"epsilon": "inf", "solver_steps": 3})
	if err != nil {
		t.Fatal(err)
	}
	want := modelSettings{Method: sparse, budget: budget{math.Inf(1), 1e-6}, Rank: NumberOr[full](7),
		Inducing: Points{Values: []float64{1, 2}}, Ages: []float64{0, 10, 20}, solver: solver{3}, Strict: true, File: "x"}
	if got := *m.Settings(p); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got, err := m.Resolved(&want); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("back: %+v, %v", got, err)
	}
	if got := m.Datasets(p); !slices.Equal(got, []string{"x"}) {
		t.Errorf("data sets %q", got)
	}
	if _, err := m.Resolve(map[string]any{"file": "x", "method": "wild"}); err == nil {
		t.Error("a choice that the experiment does not offer was taken")
	}
	if _, err := m.Resolve(map[string]any{"file": "x", "rank": 101}); err == nil ||
		!strings.Contains(err.Error(), "too large") {
		t.Errorf("Check: %v", err)
	}
	if s := m.Defaults(); !s.Rank.Is(fullRank) || s.Rank.String() != "full" || s.Steps != 2000 {
		t.Errorf("defaults %+v", s)
	}
}

func TestOutcome(t *testing.T) {
	m := model()
	for _, c := range []struct {
		name   string
		method method
		want   map[string]float64
	}{
		{"what is not set is not reported", standard, map[string]float64{"rmse_cm": 1e-4, "share_standard": 1}},
		{"what is set", sparse, map[string]float64{"rmse_cm": 1e-4, "sd_cm": 2, "share_sparse": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := m.With(func(s *modelSettings) { s.File = "f"; s.Method = c.method })
			p, err := m.Resolved(s)
			if err != nil {
				t.Fatal(err)
			}
			r, err := m.Run(t.Context(), &Trial{Identity: Identity{Experiment: m.Name}}, p)
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(r.Metrics, c.want) {
				t.Errorf("got %v, want %v", r.Metrics, c.want)
			}
			out, err := m.Compute(t.Context(), &Trial{}, s)
			if err != nil || fmt.Sprint(out.Warnings) != "[demo/model]" || !maps.Equal(m.result(out).Metrics, c.want) {
				t.Errorf("computed: %+v, %v", out, err)
			}
		})
	}
}

func TestMetricsOfAStruct(t *testing.T) {
	m := model()
	want := []Metric{{Name: "rmse_cm", Unit: "cm", Doc: "error"}, {Name: "sd_cm", Unit: "cm", Doc: "standard deviation"},
		{Name: "share_*", Doc: "probability_25: share of 25"},
		{Name: "share_of_all_*", Doc: "share_of_all_25: share of 25 among all"},
		{Name: "build_s", Unit: "s", Doc: "wall time", Timing: true}}
	if !reflect.DeepEqual(m.Metrics, want) {
		t.Errorf("got %+v", m.Metrics)
	}
	values := map[string]float64{"rmse_cm": 1, "sd_cm": 2, "share_3": 3, "share_of_all_4": 4, "of another version": 5}
	got := m.Values(values)
	if got.RMSE != 1 || *got.SD != 2 || got.Share["3"] != 3 || got.ShareOfAll["4"] != 4 ||
		got.Build != nil || len(got.Share) != 1 {
		t.Errorf("got %+v", got)
	}
	delete(values, "of another version")
	if back := MetricValues(*got); !maps.Equal(back, values) {
		t.Errorf("back: %v", back)
	}
}

// A part of an experiment's settings has their names alone.
func TestSettingValues(t *testing.T) {
	values := SettingValues(budget{Epsilon: 3, Delta: 1e-5})
	if want := (Params{"epsilon": 3.0, "delta": 1e-5}); !maps.Equal(values, want) {
		t.Errorf("%v, want %v", values, want)
	}
	values["rank"] = "full"
	if got := *SettingsIn[budget](values); got != (budget{Epsilon: 3, Delta: 1e-5}) {
		t.Errorf("back: %+v", got)
	}
}

func TestObservations(t *testing.T) {
	m := model()
	s := m.With(func(s *modelSettings) { s.Method = sparse; s.Inducing = Points{Count: 3} })
	one := Observation{Identity: Identity{Experiment: m.Name, Params: SettingValues(*s), Seed: 4},
		Metrics: MetricValues(modelMetrics{RMSE: 2}), Series: map[string]Series{"a": nil}}
	other := one
	other.Experiment = "demo/other"
	among := m.Among([]Observation{other, one})
	if len(among) != 1 || among[0].Seed != 4 || among[0].Metrics.RMSE != 2 || !reflect.DeepEqual(among[0].Settings, s) {
		t.Errorf("%+v", among)
	}
	matches := m.Matches(func(s *modelSettings) bool { return s.Method == sparse })
	if !matches(one.Experiment, one.Params) || matches(other.Experiment, one.Params) ||
		!m.Matches(nil)(one.Experiment, nil) {
		t.Error("Matches")
	}
	one.Params = maps.Clone(one.Params)
	one.Params["method"] = "standard"
	if matches(one.Experiment, one.Params) {
		t.Error("settings that do not match do")
	}
}

func TestMetricName(t *testing.T) {
	m := model()
	if got := m.MetricName(func(m *modelMetrics) any { return &m.SD }); got != "sd_cm" {
		t.Errorf("metric %q", got)
	}
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "no setting and no metric") {
			t.Errorf("a pointer elsewhere: %q", got)
		}
	}()
	m.MetricName(func(*modelMetrics) any { return new(float64) })
}

type noDocumentation struct{ Steps int }

type misspeltDefault struct {
	solver `default:"stepps: 3"`
}

type wrongDefault struct {
	solver `default:"steps: none"`
}

type wrongChoices struct {
	// how
	Method method `name:"method" default:"standard" choices:"standard,sprase"`
}

type wrongCondition struct {
	// how
	Method method `name:"method" default:"standard" when:"steps"`
}

type documentedByTag struct {
	Steps int `name:"steps" default:"1" doc:"how many"`
}

func TestDocumentationInATag(t *testing.T) {
	if got := settingsOf(reflect.TypeFor[documentedByTag]()).params[0].Doc; got != "how many" {
		t.Errorf("%q", got)
	}
}

type wrongKind struct {
	// how
	Method float32 `name:"method" default:"1"`
}

type noFamily struct {
	// how
	Share float64 `name:"share_*"`
}

type noMetric struct {
	// how
	Share int `name:"share"`
}

type noDirection struct {
	// how
	Share float64 `name:"share" best:"higher"`
}

type noResult struct {
	// how
	Share float64 `name:"share" result:"true"`
}

type directed struct {
	// how
	Share float64 `name:"share" best:"high" result:"yes"`
	// how long
	Time float64 `name:"time_s" best:"low"`
}

type redirected struct {
	directed `result:"share: no" best:"time_s: high"`
}

func TestDirectionsOfMetrics(t *testing.T) {
	Document[directed]("package experiment\ntype directed struct {\n\t// how\n\tShare, Time float64\n}")
	for _, c := range []struct {
		name string
		of   reflect.Type
		want []Metric
	}{
		{"tags", reflect.TypeFor[directed](), []Metric{
			{Name: "share", Doc: "how", Best: HighIsBest, Result: true}, {Name: "time_s", Doc: "how", Best: LowIsBest}}},
		{"changed by the embedding struct", reflect.TypeFor[redirected](), []Metric{
			{Name: "share", Doc: "how", Best: HighIsBest}, {Name: "time_s", Doc: "how", Best: HighIsBest}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := metricsOf(c.of).list; !slices.Equal(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestWrongDeclarations(t *testing.T) {
	Document[misspeltDefault](`package experiment
type wrongChoices struct {
	// how
	Method method
}
type wrongCondition struct {
	// how
	Method method
}
type wrongKind struct {
	// how
	Method float32
}
type noFamily struct {
	// how
	Share float64
}
type noMetric struct {
	// how
	Share int
}
type noDirection struct {
	// how
	Share float64
}
type noResult struct {
	// how
	Share float64
}`)
	for _, c := range []struct {
		name, want string
		declare    func()
	}{
		{"no name", "has no tag with its name", func() { settingsOf(reflect.TypeFor[noDocumentation]()) }},
		{"a tag for a field that there is not", `names "stepps"`, func() { settingsOf(reflect.TypeFor[misspeltDefault]()) }},
		{"a default of another kind", `"none" is not a number`, func() { settingsOf(reflect.TypeFor[wrongDefault]()) }},
		{"a choice that there is not", `"sprase" is no choice`, func() { settingsOf(reflect.TypeFor[wrongChoices]()) }},
		{"no condition", `"steps" is no condition`, func() { settingsOf(reflect.TypeFor[wrongCondition]()) }},
		{"no kind", "no setting is a float32", func() { settingsOf(reflect.TypeFor[wrongKind]()) }},
		{"no struct", "int is none", func() { settingsOf(reflect.TypeFor[int]()) }},
		{"a family that is a number", "ends in *", func() { metricsOf(reflect.TypeFor[noFamily]()) }},
		{"no metric", "no metric is a int", func() { metricsOf(reflect.TypeFor[noMetric]()) }},
		{"no direction", `"higher"; it is high or low`, func() { metricsOf(reflect.TypeFor[noDirection]()) }},
		{"no result", `"true"; it is yes or no`, func() { metricsOf(reflect.TypeFor[noResult]()) }},
		{"no source", "expected 'package'", func() { Document[misspeltDefault]("nonsense") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("panic %q, want one with %q", got, c.want)
				}
			}()
			c.declare()
		})
	}
}
