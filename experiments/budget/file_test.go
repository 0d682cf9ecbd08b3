package budget

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"privkern/experiments/budget/sketch"
	"privkern/experiments/mechanism/loss"
	"privkern/runner/store/disk"
)

// content returns a ledger file with two accounts.
func content(t testing.TB) []byte {
	t.Helper()
	raw, err := encode(&State{
		Key:     sketch.Key{1, 2, 3},
		Default: &Limit{Epsilon: 3},
		Sources: []*Source{
			{ID: 1, Label: "dose study", Places: []string{data(0)[:32]}, Bytes: []string{data(1)},
				Persons: sketch.Tokens{5, 6}, Exports: []json.RawMessage{json.RawMessage(`{"x":1}`)},
				Sketches: []*sketch.Sketch{{Sets: []sketch.Set{{Chance: 0.01, Tokens: sketch.Tokens{64, 129}}}}},
				Apart:    []Apart{{Time: "2026-01-02T03:04:05Z", Reason: "other ward", From: []int{2}}}},
			{ID: 2, Names: []string{"patients"}},
		},
		Accounts: []*Account{
			{
				Number: 1,
				Source: 1,
				Unit:   "row",
				Rows:   544,
				Limit:  Limit{3, 1.0 / 544},
				Entries: []Entry{
					{Time: "2026-01-02T03:04:05Z", Experiment: "cloaking/regression", Epsilon: 1, Delta: 0.001,
						Booked: loss.Booked{Mu: 0.4, Rho: 0.08}, Found: bySketch},
					{Time: "2026-01-02T03:04:06Z", Experiment: "kahm/classifier", Epsilon: 0.25,
						Booked: loss.Booked{Pure: 0.25, Mu: 0.3, MuDelta: 1e-6, Rho: 0.06}},
				},
			},
			{Number: 2, Source: 2, Unit: "output", Limit: Limit{1, 1e-5}, Entries: []Entry{},
				Published: []Publication{{Experiment: "kahm/classifier", Part: "output"}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// place writes a file where the ledger is.
func place(t *testing.T, l *Ledger, raw []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEveryByteCounts(t *testing.T) {
	raw := content(t)
	if _, err := parse(raw); err != nil {
		t.Fatal(err)
	}
	t.Run("torn", func(t *testing.T) {
		for n := range raw {
			if s, err := parse(raw[:n]); err == nil {
				t.Errorf("the first %d of %d bytes are read as %d accounts", n, len(raw), len(s.Accounts))
			}
		}
	})
	t.Run("filled with zero bytes", func(t *testing.T) {
		for n := range raw {
			torn := append(bytes.Clone(raw[:n]), make([]byte, len(raw)-n)...)
			if _, err := parse(torn); err == nil {
				t.Errorf("%d bytes and zeros are read", n)
			}
		}
	})
	t.Run("flipped", func(t *testing.T) {
		for i := range raw {
			for bit := range 8 {
				flipped := bytes.Clone(raw)
				flipped[i] ^= 1 << bit
				if _, err := parse(flipped); err == nil {
					t.Errorf("bit %d of byte %d (%q) is flipped, and the file is read", bit, i, raw[i])
				}
			}
		}
	})
	t.Run("more", func(t *testing.T) {
		for _, more := range []string{" ", "\n", "{}", "x"} {
			t.Run(strconv.Quote(more), func(t *testing.T) {
				if _, err := parse(append(bytes.Clone(raw), more...)); err == nil {
					t.Errorf("%q after the end is read", more)
				}
			})
		}
	})
}

// resealed changes a text of a ledger and corrects its SHA-256.
func resealed(t *testing.T, old, new string) []byte {
	t.Helper()
	raw := content(t)
	if !bytes.Contains(raw, []byte(old)) {
		t.Fatalf("%q is not in the ledger", old)
	}
	var head struct{ SHA256 string }
	if err := json.Unmarshal(raw, &head); err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, []byte(head.SHA256), []byte(zeros), 1)
	return seal(bytes.Replace(raw, []byte(old), []byte(new), 1))
}

// A file that cannot be used is refused with a reason, and stays byte by byte as it is.
func TestUnusableFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"empty", nil, "it is empty"},
		{"text", []byte("budget: 10\n"), "not whole JSON"},
		{"other JSON", []byte("[1, 2]\n"), "no budget ledger"},
		{"null", []byte("null"), "no budget ledger"},
		{"record", []byte(`{"key": "k", "status": "ok"}`), "no budget ledger"},
		{"without digest", []byte(`{"schema": 1, "accounts": []}`), "it has no SHA-256"},
		{"torn", content(t)[:300], "not whole JSON"},
		{"edited", bytes.Replace(content(t), []byte(`"epsilon": 3`), []byte(`"epsilon": 9`), 1),
			"SHA-256 is not that of its content"},
		{"newer", resealed(t, `"schema": 2`, `"schema": 3`), "its schema is newer: 3"},
		{"newer with another digest", []byte(`{"schema": 7, "blake3": ""}`), "its schema is newer: 7"},
		{"older than any", resealed(t, `"schema": 2`, `"schema": 0`), "no budget ledger"},
		{"unknown member", resealed(t, `"unit": "row"`, `"unit": "row", "weight": 2`), "unknown field"},
		{"unknown unit", resealed(t, `"unit": "row"`, `"unit": "raw"`), "unit"},
		{"negative mu", resealed(t, `"mu": 0.4`, `"mu": -0.4`), "mu is -0.4"},
		{"huge rho", resealed(t, `"rho": 0.08`, `"rho": 1e200`), "rho is 1e+200"},
		{"delta 1 outside", resealed(t, `"mu_delta": 0.000001`, `"mu_delta": 1`), "mu_delta is 1"},
		{"members of the first schema", resealed(t, `"schema": 2`, `"schema": 1`), "unknown field"},
		{"negative epsilon", resealed(t, `"epsilon": 0.25,`, `"epsilon": -0.25,`), "epsilon"},
		{"epsilon beyond floats", resealed(t, `"epsilon": 0.25,`, `"epsilon": 1e999,`), "number"},
		{"delta 1", resealed(t, `"delta": 0.001`, `"delta": 1`), "delta"},
		{"limit 0", resealed(t, `"epsilon": 3`, `"epsilon": 0`), "epsilon"},
		{"short key", resealed(t, `"key": "01`, `"key": "`), "key"},
		{"account of nobody", resealed(t, `"source": 2`, `"source": 3`), "source 3"},
		{"account twice", resealed(t, `"number": 2`, `"number": 1`), "twice"},
		{"source twice", resealed(t, `"id": 2`, `"id": 1`), "twice"},
		{"hash in other digits", resealed(t, data(1), "x"+data(1)[1:]), "HMAC"},
		{"hashes out of order", resealed(t, `"AAAAAAAAAEAAAAAAAAAAgQ=="`, `"AAAAAAAAAIEAAAAAAAAAQA=="`), "ascending"},
		{"unknown part", resealed(t, `"part": "output"`, `"part": "row"`), "publication 1"},
		{"odd label", resealed(t, "dose study", `dose\u001b[2J`), "label"},
		{"clashing label", resealed(t, "dose study", "patients"), "name or label"},
		{"null account", resealed(t, `"accounts": [`, `"accounts": [null,`), "null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := open(t)
			place(t, l, c.raw)
			_, errRead := l.Read()
			two := 2.0
			_, errSet := l.SetDefault(&two, nil)
			for what, err := range map[string]error{"Read": errRead, "Book": l.book(spend(1, 1e-5, 0.1), ""),
				"Check": l.Check(), "SetDefault": errSet} {
				t.Run(what, func(t *testing.T) {
					var file *FileError
					if !errors.As(err, &file) || file.Path != l.path || file.Advice == "" ||
						!strings.Contains(err.Error(), c.want) {
						t.Errorf("%v; want %q", err, c.want)
					}
				})
			}
			if raw, err := os.ReadFile(l.path); err != nil || !bytes.Equal(raw, c.raw) {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}

func TestUnusablePaths(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(l *Ledger) error
		want    string
	}{
		{"folder", func(l *Ledger) error { return os.MkdirAll(l.path, 0o700) }, "is a folder"},
		{"file for the folder", func(l *Ledger) error {
			return os.WriteFile(filepath.Dir(l.path), []byte("x"),
				0o600)
		}, "is a file, not a folder"},
		{"folder for the lock", func(l *Ledger) error { return os.MkdirAll(l.path+lockSuffix, 0o700) },
			"cannot be locked"},
		{"lost", func(l *Ledger) error {
			if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
				return err
			}
			return os.WriteFile(l.path+previousSuffix, content(t), 0o600)
		}, "is gone, but its previous version is there"},
		{"read-only", func(l *Ledger) error {
			if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
				return err
			}
			return os.WriteFile(l.path, content(t), 0o400)
		}, "is read-only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := open(t)
			if err := c.prepare(l); err != nil {
				t.Fatal(err)
			}
			for what, err := range map[string]error{"Book": l.book(spend(1, 1e-5, 0.1), ""), "Check": l.Check()} {
				t.Run(what, func(t *testing.T) {
					var file *FileError
					if !errors.As(err, &file) || !strings.Contains(err.Error(), c.want) {
						t.Errorf("%v; want %q", err, c.want)
					}
				})
			}
		})
	}
	for _, suffix := range []string{previousSuffix, lockSuffix} {
		t.Run(suffix, func(t *testing.T) {
			if _, err := Open("x" + suffix); err == nil {
				t.Errorf("a ledger may be called x%s", suffix)
			}
		})
	}
}

// All names of a ledger have one lock, and a booking replaces the file.
func TestLinks(t *testing.T) {
	l := limited(t, 1)
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(l.path, link); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	other, err := Open(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.book(spend(1, 0, 0), ""); err != nil {
		t.Fatal(err)
	}
	refused(t, l.book(spend(1, 0, 0), ""))
	if err := os.Symlink(filepath.Join(t.TempDir(), "nowhere"), link+"2"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link + "2"); err == nil {
		t.Error("a link that leads nowhere starts a new ledger")
	}
}

func TestPermissions(t *testing.T) {
	l := open(t)
	book(t, l, spend(1, 1e-5, 0.1), spend(1, 1e-5, 0.1))
	for path, want := range map[string]os.FileMode{filepath.Dir(l.path): 0o700, l.path: 0o600,
		l.path + previousSuffix: 0o600, l.path + lockSuffix: 0o600} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
			}
		})
	}
}

// The previous version lacks the last change, and nothing else.
func TestPreviousVersion(t *testing.T) {
	l := limited(t, 1)
	var last []byte
	for range 3 {
		var err error
		if last, err = os.ReadFile(l.path); err != nil {
			t.Fatal(err)
		}
		book(t, l, spend(0.1, 0, 0))
	}
	if kept, err := os.ReadFile(l.path + previousSuffix); err != nil || !bytes.Equal(kept, last) {
		t.Errorf("%s\n%v", kept, err)
	}
	place(t, l, []byte("torn"))
	if err := l.book(
		spend(0.1, 0, 0),
		"",
	); err == nil || !strings.Contains(err.Error(), "forgets that change") ||
		!strings.Contains(err.Error(), previousSuffix) {
		t.Errorf("%v", err)
	}
}

func TestLeftoversAreRemoved(t *testing.T) {
	l := open(t)
	place(t, l, content(t))
	dir := filepath.Dir(l.path)
	left := []string{".budget.json.123.tmp", ".budget.json.bak.77.tmp"}
	kept := []string{".budget.json.5.6.tmp", ".budget.json..tmp", ".budget.json.x.tmp", ".other.json.1.tmp",
		"budget.json.1.tmp"}
	for _, name := range append(left, kept...) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	book(t, l, spend(1, 1e-5, 0.1))
	for _, name := range left {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				t.Errorf("%s is still there", name)
			}
		})
	}
	for _, name := range kept {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Errorf("%s of another ledger is gone", name)
			}
		})
	}
}

func TestHeldLock(t *testing.T) {
	l := open(t)
	book(t, l, spend(1, 1e-5, 0.1))
	unlock, err := l.lock()
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open(l.path)
	if err != nil {
		t.Fatal(err)
	}
	other.wait = 20 * time.Millisecond
	if err := other.book(
		spend(1, 1e-5, 0.1),
		"",
	); !errors.Is(err, disk.ErrHeld) ||
		!strings.Contains(err.Error(), "is locked") {
		t.Errorf("%v", err)
	}
	if _, err := other.Read(); err != nil {
		t.Errorf("reading waits for the lock: %v", err)
	}
	unlock()
	if err := other.book(spend(1, 1e-5, 0.1), ""); err != nil {
		t.Error(err)
	}
}

// FuzzParse reads anything, as it is and with a correct digest: no panic, and a state that
// is read is written and read back alike, with a report for each account.
func FuzzParse(f *testing.F) {
	raw := content(f)
	f.Add(raw)
	f.Add(raw[:len(raw)/2])
	f.Add([]byte{})
	f.Add([]byte("null"))
	f.Add([]byte(`{"schema":3}`))
	sealed := func(schema, members string) {
		f.Add([]byte(`{"schema":` + schema + `,"sha256":"` + zeros + `",` + members + `}`))
	}
	account := `"accounts":[{"name":"x","unit":"row","n":2,"limit":{"epsilon":1e6,"delta":1e-100},"entries":[`
	entry := `{"time":"","experiment":"","epsilon":`
	for _, schema := range []string{"1", "2"} {
		sealed(schema, `"accounts":[]`)
		sealed(schema, `"default":{"epsilon":10},"accounts":null`)
		sealed(schema, account+`]}]`)
		sealed(schema, account+entry+`1e100,"delta":0.9,"mu":1e-300},`+entry+`5e-324,"delta":0,"mu":0}]}]`)
		sealed(schema, account+entry+`1,"delta":0,"mu":1e100},`+entry+`1,"delta":0.9,"mu":5e-324}]}]`)
	}
	sealed("2", account+entry+`1,"delta":0,"pure":5e-324,"mu":1e100,"mu_delta":0.9,"rho":1e100}]}]`)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 1<<14 {
			return // sums of many entries take their time
		}
		for _, candidate := range [][]byte{raw, seal(raw)} {
			s, err := parse(candidate)
			if err != nil {
				continue
			}
			for _, a := range s.Accounts {
				r, err := a.Report()
				if err != nil {
					continue // of amounts that no booking has
				}
				if _, err := json.Marshal(r); err != nil {
					t.Errorf("%+v: %v", r, err)
				}
			}
			again, err := encode(s)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parse(again); err != nil {
				t.Fatalf("what was read cannot be read back: %v\n%s", err, again)
			}
		}
	})
}
