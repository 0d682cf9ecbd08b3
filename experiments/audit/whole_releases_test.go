package audit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestWholeReleases(t *testing.T) {
	noisy := regexp.MustCompile(`(?m)^\d.*$`) // the rows of a table
	// A table of two noisy numbers and its description.
	release := func(rng *rand.Rand) Whole {
		table := fmt.Sprintf("x,y\n1,%.17g\n2,%.17g\n", rng.NormFloat64(), 1e-20*rng.NormFloat64())
		return Whole{Parts: []Part{
			{Name: "release.csv", Bytes: []byte(table), Noisy: noisy},
			{Name: "release.json", Bytes: []byte(`{"rows": 2, "url": "https://example.org/a/b", "ratio": "1/2"}`)},
		}, Private: []string{"secret.csv"}}
	}
	for _, c := range []struct {
		name, want string
		spoil      func(w *Whole, second bool)
	}{
		{"honest", "", func(*Whole, bool) {}},
		{"a row more", "release.csv has 5 lines and not 4", func(w *Whole, second bool) {
			if second {
				w.Parts[0].Bytes = append(w.Parts[0].Bytes, "3,1\n"...)
			}
		}},
		{"a column more", `release.csv, line 2, is "#,#,#" and not "#,#"`, func(w *Whole, second bool) {
			if second {
				w.Parts[0].Bytes = []byte(strings.ReplaceAll(string(w.Parts[0].Bytes), "1,", "1,1,"))
			}
		}},
		{"a missing number", `is "#,NaN" and not "#,#"`, func(w *Whole, second bool) {
			if second {
				w.Parts[0].Bytes = []byte("x,y\n1,NaN\n2,3\n")
			}
		}},
		{"metadata", `release.json, line 1, is "{\"rows\": 3`, func(w *Whole, second bool) {
			if second {
				w.Parts[1].Bytes = []byte(strings.Replace(string(w.Parts[1].Bytes), "2", "3", 1))
			}
		}},
		{"a warning", "it has the parts release.csv, release.json, warnings and not", func(w *Whole, second bool) {
			if second {
				w.Parts = append(w.Parts, Part{Name: "warnings", Bytes: []byte("clipped")})
			}
		}},
		{"a digest", "release.json holds a digest", func(w *Whole, _ bool) {
			w.Parts[1].Bytes = []byte(`"` + strings.Repeat("0a", 32) + `"`)
		}},
		{"a digest of settings", "", func(w *Whole, _ bool) {
			w.Parts[1].Bytes = []byte(`"settings":"` + strings.Repeat("0a", 32) + `"`)
			w.Parts[1].Digest = regexp.MustCompile(`"settings":"[0-9a-f]+"`)
		}},
		{"a path", "release.json holds a path", func(w *Whole, _ bool) { w.Parts[1].Bytes = []byte(`"/home/x/data.csv"`) }},
		{"a path of Windows", "release.json holds a path",
			func(w *Whole, _ bool) { w.Parts[1].Bytes = []byte(`C:\data\x.csv`) }},
		{"a name", "release.json holds something private",
			func(w *Whole, _ bool) { w.Parts[1].Bytes = []byte(`of secret.csv`) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			pair := Pair{Whole: func(second bool, entropy *rand.ChaCha8) (Whole, error) {
				w := release(rand.New(entropy))
				c.spoil(&w, second)
				return w, nil
			}}
			found, err := TestWhole(pair, func(second bool, i int) *rand.ChaCha8 {
				return streamOf("whole", "test", 0,
					second, i, 1)
			})
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(found, "; ")
			if (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
				t.Errorf("found %q, want %q", text, c.want)
			}
		})
	}
	broken := errors.New("broken")
	_, err := TestWhole(Pair{Whole: func(bool, *rand.ChaCha8) (Whole, error) { return Whole{}, broken }},
		func(bool, int) *rand.ChaCha8 { return nil })
	if !errors.Is(err, broken) {
		t.Errorf("a release that fails: %v", err)
	}
}
