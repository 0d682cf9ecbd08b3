package record_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

var params = experiment.Params{
	"xi": 0.5, "epsilon": math.Inf(1), "folds": 14, "tiny": 1e-9, "huge": 1e21, "third": 1.0 / 3,
	"method": "standard", "odd": "a\"b<é", "flag": true,
	"points": []float64{0, 7.5, 14}, "levels": []float64{1, math.Inf(1)}, "inducing": experiment.Points{Count: 5},
	"explicit": experiment.Points{Values: []float64{5, 20}},
}

// The key is documented as the SHA-256 of canonical JSON; the fast encoder
// must agree with the output of encoding/json for the same identity.
func TestKeyIsSHA256OfCanonicalJSON(t *testing.T) {
	for _, rng := range []string{"", "secure"} {
		testKeyOf(t, experiment.Identity{Experiment: "cloaking/regression", ResultVersion: 2, Params: params, Seed: 7,
			Backend: "cpu", DType: "float64", Datasets: map[string]string{"kung": "abc"}, RNG: rng})
	}
}

func testKeyOf(t *testing.T, id experiment.Identity) {
	t.Helper()
	raw, err := json.Marshal(id)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var untyped any
	if err := dec.Decode(&untyped); err != nil {
		t.Fatal(err)
	}
	canonical, err := json.Marshal(untyped) // sorts the members
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(canonical)
	got, err := record.Key(id)
	if err != nil {
		t.Fatal(err)
	}
	if want := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("key %s, SHA-256 of %s is %s", got, canonical, want)
	}
}

func TestKeyDependsOnEveryPartOfTheIdentity(t *testing.T) {
	base := experiment.Identity{Experiment: "a/b", ResultVersion: 1, Params: experiment.Params{"x": 1.0},
		Backend: "cpu", DType: "float64", Datasets: map[string]string{"d": "1"}}
	key := func(change func(*experiment.Identity)) string {
		id := base
		change(&id)
		k, err := record.Key(id)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	seen := map[string]string{}
	for name, change := range map[string]func(*experiment.Identity){
		"base":       func(*experiment.Identity) {},
		"experiment": func(id *experiment.Identity) { id.Experiment = "a/c" },
		"version":    func(id *experiment.Identity) { id.ResultVersion = 2 },
		"value":      func(id *experiment.Identity) { id.Params = experiment.Params{"x": math.Nextafter(1, 2)} },
		"name":       func(id *experiment.Identity) { id.Params = experiment.Params{"y": 1.0} },
		"seed":       func(id *experiment.Identity) { id.Seed = 1 },
		"backend":    func(id *experiment.Identity) { id.Backend = "cuda" },
		"dtype":      func(id *experiment.Identity) { id.DType = "float32" },
		"data":       func(id *experiment.Identity) { id.Datasets = map[string]string{"d": "2"} },
		"no data":    func(id *experiment.Identity) { id.Datasets = nil },
		"secure":     func(id *experiment.Identity) { id.RNG = "secure" },
	} {
		t.Run(name, func(t *testing.T) {
			k := key(change)
			if other, ok := seen[k]; ok {
				t.Errorf("%s and %s have the same key", name, other)
			}
			seen[k] = name
		})
	}
}

// The key of a record is that of its trial: parameters as JSON holds them give the
// key that they gave as values of their kinds.
func TestKeyOfWhatWasRead(t *testing.T) {
	for name, given := range map[string]experiment.Params{
		"every kind":              params,
		"a path that is no UTF-8": {"dataset": "csv:/data/caf\xe9.csv"},
		"a path with a U+FFFD":    {"dataset": "csv:/data/caf\uFFFD.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			id := experiment.Identity{Experiment: "a/b", ResultVersion: 3, Params: given, Seed: -1 << 60, Backend: "cpu",
				DType:    "float64",
				Datasets: map[string]string{"d": "1"}}
			key, err := record.Key(id)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := record.PlainParams(given)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := record.Encode(&record.Record{Schema: record.Schema, Key: key, Experiment: "a/b", ResultVersion: 3,
				Params: plain, Seed: -1 << 60,
				Backend: "cpu", DType: "float64", Status: record.OK, Metrics: map[string]float64{"y": 1},
				Provenance: record.Provenance{Datasets: map[string]string{"d": "1"}}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := record.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			if !record.HasKey(r.Identity(), key) {
				t.Errorf("%s is not the key of %s", key, raw)
			}
			r.Seed++
			if record.HasKey(r.Identity(), key) {
				t.Error("another seed has the same key")
			}
		})
	}
}

// A trial of an early version has the guarantee of its mechanism as its own: it is read as
// simulated. That of a release is one.
func TestEarlyGuarantee(t *testing.T) {
	for _, c := range []struct {
		name, rng string
		release   *record.ReleaseStatement
		want      string
		simulated bool
	}{
		{"seeded", "seeded", nil, "(1, 0.01)-DP per row, seeded", true},
		{"secure", "secure", nil, "(1, 0.01)-DP per row, judged", true},
		{"released", "secure", &record.ReleaseStatement{Format: record.ReleaseFormat}, "(1, 0.01)-DP", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw, err := record.Encode(&record.Record{Schema: record.Schema, ResultVersion: 1, Status: record.OK,
				Metrics: map[string]float64{"y": 1}, Release: c.release,
				Privacy: &experiment.Privacy{Guarantee: "(1, 0.01)-DP", Unit: "one row", RNG: c.rng, Notes: []string{"a"}}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := record.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Privacy.Statement(); got != c.want || (r.Privacy.Guarantee == "") != c.simulated {
				t.Errorf("it is read as %q, want %q; %+v", got, c.want, r.Privacy)
			}
		})
	}
}

// The documentation shows canonical JSON, with its escapes, and its key.
func TestKeyOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/records.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("```text\n(\\{\"backend\":.*\\})\n```\n\nand the key `([0-9a-f]{64})`").FindSubmatch(page)
	if m == nil {
		t.Fatal("no example")
	}
	if sum := sha256.Sum256(m[1]); hex.EncodeToString(sum[:]) != string(m[2]) {
		t.Errorf("%x is the SHA-256 of %s", sum, m[1])
	}
	key, err := record.Key(experiment.Identity{Experiment: "demo/a", ResultVersion: 1, Backend: "cpu", DType: "float64",
		Params: experiment.Params{"dataset": "csv:a&b.csv"}})
	if err != nil || key != string(m[2]) {
		t.Errorf("the key is %s, %v", key, err)
	}
	for text, escaped := range map[string]string{"<": `\u003c`, ">": `\u003e`, "&": `\u0026`, "\u2028": `\u2028`,
		"\u2029": `\u2029`, "é": "é", "\x7f": "\x7f"} {
		got, err := record.CanonicalParams(experiment.Params{"x": text})
		if want := `{"x":"` + escaped + `"}`; err != nil || string(got) != want {
			t.Errorf("%q is %s, %v, want %s", text, got, err, want)
		}
		if strings.HasPrefix(escaped, `\`) && !bytes.Contains(page, []byte("`"+escaped+"`")) {
			t.Errorf("the page does not say %s", escaped)
		}
	}
}

func TestKeyRefusesNaN(t *testing.T) {
	if _, err := record.Key(experiment.Identity{Params: experiment.Params{"x": math.NaN()}}); err == nil {
		t.Error("NaN became part of a key")
	}
}

// A record holds parameters as JSON gives them back, so that a record in
// memory and one read from disk are the same.
func TestPlainParamsEqualTheirJSON(t *testing.T) {
	plain, err := record.PlainParams(params)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	var again map[string]any
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(plain, again) {
		t.Errorf("%v became %v", plain, again)
	}
	if plain["epsilon"] != "inf" || plain["inducing"] != 5.0 {
		t.Errorf("epsilon %v, inducing %v", plain["epsilon"], plain["inducing"])
	}
}

func TestMetricsThatAreNull(t *testing.T) {
	m := record.Metrics{"x": 1}
	if err := json.Unmarshal([]byte("null"), &m); err != nil || m != nil {
		t.Errorf("null became %v, %v", m, err)
	}
	if err := json.Unmarshal([]byte("{}"), &m); err != nil || m == nil || len(m) != 0 {
		t.Errorf("{} became %v, %v", m, err)
	}
}

func TestColumnsKeepGaps(t *testing.T) {
	raw, err := json.Marshal(record.SeriesColumn{1, math.NaN(), 3})
	if err != nil || string(raw) != "[1,null,3]" {
		t.Fatalf("%s, %v", raw, err)
	}
	var c record.SeriesColumn
	if err := json.Unmarshal(raw, &c); err != nil || c[0] != 1 || !math.IsNaN(c[1]) || c[2] != 3 {
		t.Errorf("%v, %v", c, err)
	}
}

// A record is one line, and its messages are as they were written: it is read
// by people with line tools, and is not part of a web page.
func TestEncodeWritesOneLine(t *testing.T) {
	raw, err := record.Encode(&record.Record{Key: "k", Warnings: []string{"a < b & c > d\nsecond line"}})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(raw, []byte(`["a < b & c > d\nsecond line"]`)) || bytes.Count(raw, []byte("\n")) != 1 ||
		raw[len(raw)-1] != '\n' {
		t.Errorf("%s", raw)
	}
	if raw, err := record.Encode(&record.Record{Key: "k", Metrics: map[string]float64{"y": math.NaN()}}); err == nil {
		t.Errorf("NaN became %s", raw)
	}
}

// Equal draws in succession are one, with their number, and others stay in their order.
func TestGroupNoise(t *testing.T) {
	a := experiment.Noise{Law: "gaussian", Query: "counts", Coordinates: 3, Scale: 1}
	b := experiment.Noise{Law: "gaussian", Query: "counts", Coordinates: 3, Scale: 2}
	times := func(n experiment.Noise, times int) experiment.Noise { n.Times = times; return n }
	for _, c := range []struct {
		name        string
		draws, want []experiment.Noise
	}{
		{"none", nil, []experiment.Noise{}},
		{"one", []experiment.Noise{a}, []experiment.Noise{a}},
		{"equal ones", []experiment.Noise{a, b, b, b}, []experiment.Noise{a, times(b, 3)}},
		{"apart", []experiment.Noise{a, a, b, a}, []experiment.Noise{times(a, 2), b, a}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := record.GroupNoise(c.draws); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
