package plan_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan"
)

// Whatever plan.json holds, it is refused in words, or what was read reads the
// same once it is written again, and its keys can be names of files.
func FuzzParse(f *testing.F) {
	reg := experiment.NewRegistry(demo)
	whole, err := json.Marshal(newPlan(f, finder{}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(`{"schema":1,"trials":[{"key":"../../k","experiment":"demo/a","params":{"x":1}}]}`))
	f.Add([]byte(`{"schema":1,"trials":[{"key":"","experiment":"demo/a","params":null},null]}`))
	f.Add([]byte(`{"schema":2}`))
	f.Add([]byte(`{"schema":1,"trials":[{"experiment":"demo/a","params":{"x":1e99,"z":[1]}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := plan.Parse(text, reg)
		if err != nil {
			if len(err.Error()) < 5 {
				t.Errorf("the error says nothing: %v", err)
			}
			return
		}
		for _, tr := range p.Trials {
			if len(tr.Key) != 64 || strings.Trim(tr.Key, "0123456789abcdef") != "" {
				t.Errorf("the key of a trial is %q", tr.Key)
			}
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		q, err := plan.Parse(again, reg)
		if err != nil || !reflect.DeepEqual(p, q) {
			t.Errorf("read %+v\nwritten and read %+v\n%v", p, q, err)
		}
	})
}
