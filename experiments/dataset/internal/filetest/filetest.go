// Package filetest holds helpers of the tests that read files.
package filetest

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
)

// WriteFile writes a file, with its folders, and returns its path.
func WriteFile(t testing.TB, content []byte, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// Gzipped returns content compressed by gzip.
func Gzipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// MustFail wants an error that contains the text, or none for "".
func MustFail(t testing.TB, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("error %v; want %q", err, want)
	}
}

// Bounded fails where read allocates more than factor times its input and 32 MiB: a small file must
// not fill the memory, however large the sizes that it declares. Compressed input may be unpacked to
// 1,032 times its size.
func Bounded(t *testing.T, input []byte, factor uint64, read func()) {
	t.Helper()
	if bytes.Contains(input, []byte("\x1f\x8b")) || bytes.Contains(input, []byte("PK\x03\x04")) {
		factor *= 1032
	}
	allocated := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := allocated()
	read()
	if took, most := allocated()-before, uint64(32<<20)+factor*uint64(len(input)); took > most {
		t.Errorf("%d bytes were allocated to read %d", took, len(input))
	}
}
