package record_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"privkern/runner/record"
)

// The format is public: the digest is that of the text before the comma.
func TestAppend(t *testing.T) {
	for _, c := range []struct{ name, object, text string }{
		{"one line", `{"a":1}` + "\n", `{"a":1`},
		{"no newline", `{"a":1}`, `{"a":1`},
		{"indented", "{\n \"a\": [\n  1\n ]\n}\n", "{\n \"a\": [\n  1\n ]"},
		{"a brace within", `{"a":{}}` + "\r\n ", `{"a":{}`},
		{"a digest within", `{"d":"` + strings.Repeat("0", 64) + `"}` + "\n", `{"d":"` + strings.Repeat("0", 64) + `"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := record.AppendDigest([]byte(c.object), "d")
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte(c.text))
			if want := c.text + `,"d":"` + hex.EncodeToString(sum[:]) + "\"}\n"; string(got) != want {
				t.Errorf("%s\nnot\n%s", got, want)
			}
			if !json.Valid(got) {
				t.Errorf("not JSON: %s", got)
			}
			if sealed, err := record.CheckDigest(got, "d"); !sealed || err != nil {
				t.Errorf("sealed: %v, %v", sealed, err)
			}
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	for _, text := range []string{"", "\n", "{}", " {\n}\n", "[1]", `{"a":1`} {
		if got, err := record.AppendDigest([]byte(text), "d"); err == nil {
			t.Errorf("%q became %s", text, got)
		}
	}
}

// After a flip of any bit of a sealed text the digest is wrong or missing.
func TestEveryBit(t *testing.T) {
	whole, err := record.AppendDigest([]byte(`{"a":1,"b":"é"}`), "digest")
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		for bit := range 8 {
			whole[i] ^= 1 << bit
			if sealed, err := record.CheckDigest(whole, "digest"); sealed && err == nil {
				t.Errorf("bit %d of byte %d: %s holds", bit, i, whole)
			}
			whole[i] ^= 1 << bit
		}
	}
	if _, err := record.CheckDigest(whole, "digest"); err != nil {
		t.Error(err)
	}
}

// The name of the member is part of the format.
func TestOtherMember(t *testing.T) {
	whole, err := record.AppendDigest([]byte(`{"a":1}`), "digest")
	if err != nil {
		t.Fatal(err)
	}
	if sealed, err := record.CheckDigest(whole, "file_digest"); sealed || err != nil {
		t.Errorf("sealed: %v, %v", sealed, err)
	}
	for _, text := range []string{"", "\"}\n", strings.Repeat("0", 64) + "\"}\n"} {
		if sealed, err := record.CheckDigest([]byte(text), "digest"); sealed || err != nil {
			t.Errorf("%q: %v, %v", text, sealed, err)
		}
	}
}
