package plan_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan"
)

// Any plan.json is refused with a reason, or reads the
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

// FuzzParseShard reads parts of a plan: the parts i/n of a plan have every trial once.
func FuzzParseShard(f *testing.F) {
	for _, s := range []string{"1/4", "4/4", "0/1", "5/4", "1/9223372036854775807", "1", "/", "+1/+2", "1/2/3", " 1/2"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, text string, trials int) {
		if trials < 0 || trials > 1000 {
			return
		}
		shard, err := plan.ParseShard(text)
		if err != nil {
			if !strings.Contains(err.Error(), strconv.Quote(text)) {
				t.Errorf("the error does not name %q: %v", text, err)
			}
			return
		}
		if shard.Index < 0 || shard.Index >= shard.Count {
			t.Fatalf("%q is %+v", text, shard)
		}
		if again, err := plan.ParseShard(fmt.Sprintf("%d/%d", shard.Index+1, shard.Count)); err != nil || again != shard {
			t.Errorf("%q is %+v, written %+v, %v", text, shard, again, err)
		}
		var got, want []int
		for i := range trials {
			if i%shard.Count == shard.Index {
				want = append(want, i)
			}
		}
		if got = shard.Indices(trials); !slices.Equal(got, want) {
			t.Errorf("%q of %d trials has %v, not %v", text, trials, got, want)
		}
	})
}
