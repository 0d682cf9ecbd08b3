package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// newRecord is a good record of a trial of demo/a.
func newRecord(t testing.TB, x plan.Trial) *record.Record {
	t.Helper()
	params, err := record.PlainParams(x.Params)
	if err != nil {
		t.Fatal(err)
	}
	return &record.Record{
		Schema: record.Schema, Key: x.Key, Experiment: x.Experiment, Params: params, Seed: x.Seed,
		Backend: "cpu", DType: "float64", Status: record.OK, ResultVersion: demo.Version,
		Metrics: map[string]float64{"y": 1}, Provenance: record.Provenance{Datasets: map[string]string{"set": "d"}},
	}
}

func encode(t testing.TB, r *record.Record) string {
	t.Helper()
	raw, err := record.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// sealed gives a text the digest that it would have if it had been written.
func sealed(t testing.TB, text string) string {
	t.Helper()
	if i := strings.Index(text, `,"digest":`); i > 0 {
		text = text[:i] + "}"
	}
	raw, err := record.AppendDigest([]byte(text), "digest")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// An invalid record counts as absent, and is put aside with a reason.
func TestWhatIsPutAside(t *testing.T) {
	p := makePlan(t, "d", 1.0, 2.0)
	mine, other := p.Trials[0], p.Trials[1]
	change := func(f func(*record.Record)) string {
		r := newRecord(t, mine)
		f(r)
		return encode(t, r)
	}
	unsealed := func(f func(*record.Record)) string {
		return change(func(r *record.Record) { f(r); r.ResultVersion = 0 })
	}
	whole := change(func(*record.Record) {})
	old := unsealed(func(*record.Record) {})
	replaced := func(text, from, to string) string {
		if strings.Count(text, from) != 1 {
			t.Fatalf("%q is not once in %s", from, text)
		}
		return strings.Replace(text, from, to, 1)
	}
	const otherSettings = "its key is not that of its content"
	for _, c := range []struct{ name, content, reason string }{
		{"whole", whole, ""},
		{"unsealed", old, ""},
		{"empty", "", "the file is empty"},
		{"torn", whole[:len(whole)/2], "not a whole record"},
		{"torn within the digest", whole[:len(whole)-9], "not a whole record"},
		{"without its last line end", strings.TrimSuffix(whole, "\n"), "not a whole record"},
		{"something behind it", whole + "{}", "not a whole record"},
		{"not JSON", "\x00\x00\x00", "not a whole record"},
		{"a newer schema", sealed(t, replaced(whole, `"schema":1,`, `"schema":2,"kind":"trial",`)),
			"a record of schema 2, not 1"},
		{"a newer schema, without a digest", `{"schema":2,"kind":"trial"}`, "a record of schema 2, not 1"},
		{"a changed metric", replaced(whole, `{"y":1}`, `{"y":3}`), "its digest does not hold"},
		{"a digest in capitals", strings.ToUpper(whole), "not a whole record"},
		{"a digest of something else", whole[:len(whole)-67] + strings.Repeat("0", 64) + "\"}\n", "its digest does not hold"},
		{"no digest", replaced(old, `"status":"ok"`, `"status":"ok","result_version":1`), "one without the other"},
		{"no result version", sealed(t, old), "one without the other"},
		{"a negative result version", sealed(t, replaced(whole, `"result_version":1`, `"result_version":-1`)),
			"of result version -1"},
		{"another trial", encode(t, newRecord(t, other)), "the record of another trial"},
		{"another trial's content", change(func(r *record.Record) { r.Params = map[string]any{"x": 2.0} }), otherSettings},
		{"another result version", change(func(r *record.Record) { r.ResultVersion = 2 }), otherSettings},
		{"another seed", change(func(r *record.Record) { r.Seed = 1 }), otherSettings},
		{"another backend", change(func(r *record.Record) { r.Backend = "cuda" }), otherSettings},
		{"another element type", change(func(r *record.Record) { r.DType = "float32" }), otherSettings},
		{"other data", change(func(r *record.Record) { r.Provenance.Datasets = map[string]string{"set": "e"} }),
			otherSettings},
		{"a result without data", change(func(r *record.Record) { r.Provenance.Datasets = nil }), otherSettings},
		{"skipped without data", change(func(r *record.Record) {
			plan.WithoutData(r, errors.New("not there")).Metrics = nil
		}), ""},
		{"skipped, other settings", change(func(r *record.Record) {
			plan.WithoutData(r, errors.New("not there")).Params = map[string]any{"x": 3.0}
		}), otherSettings},
		{"secure noise", change(func(r *record.Record) { r.Privacy = &experiment.Privacy{RNG: "secure"} }), ""},
		{"secure noise, other settings", change(func(r *record.Record) {
			r.Privacy, r.Params = &experiment.Privacy{RNG: "secure"}, map[string]any{"x": 2.0}
		}), "a trial with secure noise that the plan does not have"},
		{"secure noise, another seed", change(func(r *record.Record) {
			r.Privacy, r.Seed = &experiment.Privacy{RNG: "secure"}, 1
		}), "a trial with secure noise that the plan does not have"},
		{"no status", change(func(r *record.Record) { r.Status = "" }), `unknown status ""`},
		{"no metrics", change(func(r *record.Record) { r.Metrics = nil }), "a result without metrics or series"},
		{"a series alone", change(func(r *record.Record) {
			r.Metrics, r.Series = nil, map[string]map[string]record.SeriesColumn{"s": {"x": {1}}}
		}), "a result without metrics"},
		{"a result with an error", change(func(r *record.Record) { r.Error = new(string) }), "a result with an error"},
		{"a failure without a reason", change(func(r *record.Record) { r.Status, r.Metrics = record.Failed, nil }),
			"failed without a reason"},
		{"a failure with metrics", change(func(r *record.Record) { r.Status, r.Error = record.Failed, new(string) }),
			"failed with metrics"},
		{"unsealed, a name that it does not have", replaced(old, `"warnings"`, `"warnongs"`), `unknown field "warnongs"`},
		{"a metric that is null", sealed(t, replaced(whole, `{"y":1}`, `{"y":null}`)), "the metric y is null"},
		{"a metric that is null, beside one", sealed(t, replaced(whole, `{"y":1}`, `{"y":1,"z":null}`)),
			"the metric z is null"},
		{"unsealed, a metric that is null", replaced(old, `{"y":1}`, `{"y":null}`), "the metric y is null"},
		{"unsealed, no finite number", replaced(old, `{"y":1}`, `{"y":1e999}`), "not a whole record"},
		{"unsealed, no metrics", unsealed(func(r *record.Record) { r.Metrics = nil }), "a result without metrics or series"},
		{"unsealed, other settings", unsealed(func(r *record.Record) { r.Params = map[string]any{"x": 2.0} }), otherSettings},
		{"unsealed, an experiment that the plan does not have",
			unsealed(func(r *record.Record) { r.Experiment = "demo/b" }), otherSettings},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := create(t, dir)
			if err := s.FreezePlan(p, registry, false); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "trials", mine.Key+".json")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			r, ok, err := s.Get(mine.Key)
			if err != nil || ok != (c.reason == "") || ok != (r != nil) || len(s.Asides()) > 0 {
				t.Fatalf("ok %v, %v; reading must not move a file that somebody may be replacing", ok, err)
			}
			if err := s.PutAside(mine.Key); err != nil {
				t.Fatal(err)
			}
			asides := s.Asides()
			if c.reason == "" {
				if len(asides) != 0 {
					t.Errorf("put aside: %v", asides)
				}
				return
			}
			if len(asides) != 1 || !strings.Contains(asides[0].Reason, c.reason) {
				t.Fatalf("put aside: %v, want %q", asides, c.reason)
			}
			if kept := read(t, filepath.Join(dir, asides[0].Moved)); string(kept) != c.content {
				t.Errorf("the file is not kept: %q", kept)
			}
			if err := errors.Join(s.Put(newRecord(t, mine)), s.PutAside(mine.Key)); err != nil {
				t.Fatal(err)
			}
			if r, ok, err := s.Get(mine.Key); !ok || err != nil || demo.Values(r.Metrics).Y != 1 {
				t.Errorf("%v %v %v", r, ok, err)
			}
		})
	}
}

// Invalid records are not written.
func TestPutRefuses(t *testing.T) {
	p := makePlan(t, "d", 1.0)
	s := create(t, t.TempDir())
	if err := s.FreezePlan(p, registry, false); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*record.Record){
		"no result version": func(r *record.Record) { r.ResultVersion = 0 },
		"other settings":    func(r *record.Record) { r.Params = map[string]any{"x": 2.0} },
		"no metrics":        func(r *record.Record) { r.Metrics = nil },
		"no schema":         func(r *record.Record) { r.Schema = 0 },
		"not finite":        func(r *record.Record) { r.Metrics = map[string]float64{"y": math.Inf(1)} },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord(t, p.Trials[0])
			change(r)
			if err := s.Put(r); err == nil {
				t.Errorf("%s: written", name)
			}
		})
	}
	if keys, err := s.Keys(); err != nil || len(keys) > 0 {
		t.Errorf("%v, %v", keys, err)
	}
}

// failingDisk is a disk from which one file cannot be read.
type failingDisk struct {
	disk.Disk
	path string
	err  error // nil where it can
}

func (d *failingDisk) ReadFile(path string) ([]byte, error) {
	if path == d.path && d.err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: d.err}
	}
	return d.Disk.ReadFile(path)
}

// A file that cannot be read is one trial's loss: it counts as absent and is put
// aside. An error of the machine is no verdict on a file.
func TestUnreadable(t *testing.T) {
	p := makePlan(t, "d", 1.0, 2.0)
	for _, c := range []struct {
		name  string
		err   error // nil: a folder is in the record's place
		aside bool
	}{
		{"a folder", nil, true},
		{"input/output error", syscall.EIO, true},
		{"permission denied", syscall.EACCES, true},
		{"a loop of links", syscall.ELOOP, true},
		{"too many open files", syscall.EMFILE, false},
		{"a stale handle", syscall.ESTALE, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			bad := filepath.Join(dir, "trials", p.Trials[0].Key+".json")
			failing := &failingDisk{Disk: disk.System, path: bad}
			s, err := store.Create(failing, dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			if err := s.FreezePlan(p, registry, false); err != nil {
				t.Fatal(err)
			}
			for _, x := range p.Trials {
				if err := s.Put(newRecord(t, x)); err != nil {
					t.Fatal(err)
				}
			}
			if c.err == nil {
				if err := errors.Join(os.Remove(bad), os.MkdirAll(filepath.Join(bad, "below"), 0o700)); err != nil {
					t.Fatal(err)
				}
			}
			failing.err = c.err
			_, ok, err := s.Get(p.Trials[0].Key)
			if ok || !errors.Is(err, c.err) && !c.aside || c.aside && err != nil {
				t.Fatalf("ok %v, %v", ok, err)
			}
			if _, ok, err := s.Get(p.Trials[1].Key); !ok || err != nil {
				t.Errorf("the other record: %v, %v", ok, err)
			}
			err = s.PutAside(p.Trials[0].Key)
			if !c.aside {
				if !errors.Is(err, c.err) || len(s.Asides()) > 0 {
					t.Errorf("%v, put aside: %v", err, s.Asides())
				}
				return
			}
			if asides := s.Asides(); err != nil || len(asides) != 1 || !strings.Contains(asides[0].Reason,
				"it cannot be read: ") {
				t.Errorf("%v, put aside: %v", err, asides)
			}
			failing.err = nil
			if err := s.Put(newRecord(t, p.Trials[0])); err != nil {
				t.Error(err)
			}
		})
	}
}

// Sealing keeps the text, adds two members, and gives the same text every time.
func TestSeal(t *testing.T) {
	p := makePlan(t, "d", 1.0)
	r := newRecord(t, p.Trials[0])
	r.ResultVersion = 0
	line := encode(t, r)
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(line), "", "  "); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"one line": line, "indented": pretty.String()} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := create(t, dir)
			path := filepath.Join(dir, "trials", r.Key+".json")
			write := func(text string) {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(text)
			if done, err := s.Seal(r.Key); done || err != nil {
				t.Errorf("without a plan: %v, %v", done, err)
			}
			if err := s.FreezePlan(p, registry, false); err != nil {
				t.Fatal(err)
			}
			if done, err := s.Seal(r.Key); !done || err != nil {
				t.Fatalf("%v, %v", done, err)
			}
			kept := strings.TrimRight(strings.TrimSuffix(strings.TrimSpace(text), "}"), " \n")
			got := string(read(t, path))
			if !strings.HasPrefix(got, kept+`,"result_version":1,"digest":"`) || len(got) != len(kept)+
				len(`,"result_version":1,"digest":"`)+67 {
				t.Errorf("%s\nbecame\n%s", text, got)
			}
			if back, ok, err := s.Get(r.Key); !ok || err != nil || !back.Sealed() || demo.Values(back.Metrics).Y != 1 {
				t.Errorf("%+v, %v, %v", back, ok, err)
			}
			if done, err := s.Seal(r.Key); done || err != nil || string(read(t, path)) != got {
				t.Errorf("sealed twice: %v, %v", done, err)
			}
			write(strings.Replace(text, "demo/a", "demo/b", 1))
			if done, err := s.Seal(r.Key); done || err != nil {
				t.Errorf("what does not hold was sealed: %v, %v", done, err)
			}
		})
	}
}

// Where the plan is not known, a record stands for itself.
func TestWithoutPlan(t *testing.T) {
	p := makePlan(t, "d", 1.0, 2.0)
	good, old, foreign := newRecord(t, p.Trials[0]), newRecord(t, p.Trials[0]), newRecord(t, p.Trials[1])
	old.ResultVersion, foreign.Key = 0, p.Trials[0].Key
	for _, c := range []struct {
		name   string
		record *record.Record
		ok     bool
	}{{"sealed", good, true}, {"unsealed", old, false}, {"other settings", foreign, false}} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := create(t, dir)
			if err := os.WriteFile(filepath.Join(dir, "trials", good.Key+".json"), []byte(encode(t, c.record)),
				0o600); err != nil {
				t.Fatal(err)
			}
			if _, ok, err := s.Get(good.Key); ok != c.ok || err != nil {
				t.Errorf("%v, %v", ok, err)
			}
		})
	}
}

// A copy is the record byte for byte.
func TestCopy(t *testing.T) {
	p := makePlan(t, "d", 1.0, 2.0)
	from, to := create(t, t.TempDir()), create(t, t.TempDir())
	for _, s := range []*store.Store{from, to} {
		if err := s.FreezePlan(p, registry, false); err != nil {
			t.Fatal(err)
		}
	}
	text := sealed(t, strings.Replace(encode(t, newRecord(t, p.Trials[0])), `"seed":`,
		`"of a later version": [1], "seed":`, 1))
	name := filepath.Join("trials", p.Trials[0].Key+".json")
	if err := os.WriteFile(filepath.Join(from.Dir(), name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if ok, err := to.Copy(p.Trials[0].Key, from); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if got := read(t, filepath.Join(to.Dir(), name)); string(got) != text {
		t.Errorf("%s\nbecame\n%s", text, got)
	}
	if ok, err := to.Copy(p.Trials[1].Key, from); ok || err != nil {
		t.Errorf("what is not there was copied: %v, %v", ok, err)
	}
}

func BenchmarkGet(b *testing.B) {
	params, err := demo.Resolve(nil)
	if err != nil {
		b.Fatal(err)
	}
	key, err := record.Key(experiment.Identity{Experiment: "demo/a", ResultVersion: 1, Params: params,
		Backend: "cpu", DType: "float64", Datasets: map[string]string{"set": "d"}})
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Create(disk.System, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Put(newRecord(b, plan.Trial{
		Key: key, Identity: experiment.Identity{Experiment: "demo/a", Params: params},
	})); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok, err := s.Get(key); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
