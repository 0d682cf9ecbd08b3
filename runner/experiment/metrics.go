package experiment

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// metrics converts between the struct of an experiment's metrics and a map.
type metrics struct {
	leaves []leaf
	list   []Metric
}

// metricsOf reads a struct of metrics. It panics on a declaration that is none.
//
// A field's type determines when it is reported:
//
//	float64             always
//	*float64            where it is not nil
//	map[string]float64  a family: its name ends in "*", for which the keys stand
//
// Its tags are name, unit, timing ("yes") for how fast the machine was, best ("high" or
// "low") for the better direction, and result ("yes") for a result of the experiment.
func metricsOf(t reflect.Type) *metrics {
	m := &metrics{leaves: leavesOf(t)}
	for i := range m.leaves {
		l := &m.leaves[i]
		family := l.field.Type == reflect.TypeFor[map[string]float64]()
		switch {
		case family != strings.HasSuffix(l.name, "*"):
			panic(fmt.Sprintf("experiment: the name of a family of metrics ends in *, and no other: %s", l.name))
		case !family && l.field.Type != reflect.TypeFor[float64]() && l.field.Type != reflect.TypeFor[*float64]():
			panic(fmt.Sprintf("experiment: no metric is a %v, as %s is", l.field.Type, l.name))
		}
		unit, _ := l.tag("unit")
		best, result := l.direction()
		m.list = append(m.list, Metric{Name: l.name, Unit: unit, Doc: l.documentation(),
			Timing: l.field.Tag.Get("timing") == "yes", Best: best, Result: result})
	}
	return m
}

// direction reads the tags best and result, which a struct that embeds the field's may change.
func (l *leaf) direction() (best string, result bool) {
	best, _ = l.tag("best")
	if !slices.Contains([]string{"", HighIsBest, LowIsBest}, best) {
		panic(fmt.Sprintf("experiment: best of %s is %q; it is high or low", l.name, best))
	}
	text, given := l.tag("result")
	if given && text != "yes" && text != "no" {
		panic(fmt.Sprintf("experiment: result of %s is %q; it is yes or no", l.name, text))
	}
	return best, text == "yes"
}

// Directions of a [Metric].
const (
	HighIsBest = "high"
	LowIsBest  = "low"
)

// values returns the metrics that a struct reports.
func (m *metrics) values(v reflect.Value) map[string]float64 {
	out := map[string]float64{}
	for i := range m.leaves {
		l := &m.leaves[i]
		switch x := v.FieldByIndex(l.index).Interface().(type) {
		case float64:
			out[l.name] = x
		case *float64:
			if x != nil {
				out[l.name] = *x
			}
		case map[string]float64:
			for member, value := range x {
				out[strings.TrimSuffix(l.name, "*")+member] = value
			}
		}
	}
	return out
}

// read sets the fields of a struct of metrics, to which v is a pointer, from those
// of a record. A value belongs to the metric of its name, or else to the
// family with the longest name.
func (m *metrics) read(values map[string]float64, v reflect.Value) {
	for name, value := range values {
		at, best := -1, -1
		for i := range m.list {
			if m.list[i].Name == name {
				at, best = i, len(name)+1
			} else if m.list[i].Covers(name) && len(m.list[i].Name) > best {
				at, best = i, len(m.list[i].Name)
			}
		}
		if at < 0 {
			continue
		}
		switch field := v.Elem().FieldByIndex(m.leaves[at].index).Addr().Interface().(type) {
		case *float64:
			*field = value
		case **float64:
			*field = &value
		case *map[string]float64:
			if *field == nil {
				*field = map[string]float64{}
			}
			(*field)[strings.TrimPrefix(name, strings.TrimSuffix(m.list[at].Name, "*"))] = value
		}
	}
}

// MetricsIn returns the struct that [MetricValues] were taken of. Values of no metric are
// left out.
func MetricsIn[M any](values map[string]float64) *M {
	m := new(M)
	metricsOf(reflect.TypeFor[M]()).read(values, reflect.ValueOf(m))
	return m
}

// MetricValues returns the metrics of a struct by name: for a release,
// which reports others than a trial.
func MetricValues(metrics any) map[string]float64 {
	v := reflect.ValueOf(metrics)
	return metricsOf(v.Type()).values(v)
}
