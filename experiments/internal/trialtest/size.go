package trialtest

import (
	"encoding/json"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// WantSize fails where the size of a release is not the one that it was planned with.
func WantSize(tb testing.TB, planned experiment.Size, r *experiment.Release) {
	tb.Helper()
	want := experiment.Size{Rows: len(r.Rows), Columns: len(r.Columns)}
	named := strings.Join(r.Columns, "")
	for i, class := range r.Classes {
		if want.Class = max(want.Class, len(class)); i == 0 || r.Classes[i-1] != class {
			named += class
		}
	}
	text, err := json.Marshal(r.Model)
	var model any
	if err == nil {
		err = json.Unmarshal(text, &model)
	}
	if err != nil {
		tb.Fatal(err)
	}
	count(model, &want)
	want.Names = planned.Names
	if planned != want || planned.Names < len(named) {
		tb.Errorf("a release of the size %+v was planned with %+v, and has %d bytes of names", want, planned, len(named))
	}
}

// count adds the lists of numbers in a value of JSON to a size.
func count(v any, size *experiment.Size) {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			count(member, size)
		}
	case []any:
		if len(v) == 0 {
			return
		}
		if _, numbers := v[0].(float64); numbers {
			size.Numbers += len(v)
			size.Lists++
			return
		}
		for _, element := range v {
			count(element, size)
		}
	}
}
