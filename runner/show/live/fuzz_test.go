package live

import (
	"bytes"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzLog reads a log that is written in two pieces: what is shown at the end is
// that of the log read at once.
func FuzzLog(f *testing.F) {
	log := `{"time":"2026-01-02T03:04:05Z","event":"started","key":"abc","experiment":"demo/a"}
{"time":"2026-01-02T03:04:06Z","event":"finished","key":"abc","status":"ok","done":1,"total":2}
`
	f.Add([]byte(log), 10)
	f.Add([]byte(strings.Repeat(log, 60)), 5000)
	f.Add([]byte(log+"{\"event\":\n"+log), 200)
	f.Add([]byte("null\n{\"time\":\"9999-12-31T23:59:59+23:59\"}\n[]\n"), 5)
	f.Fuzz(func(t *testing.T, log []byte, cut int) {
		if cut < 0 || cut > len(log) {
			return
		}
		dir := t.TempDir()
		read := func(name string, pieces ...[]byte) *logReader {
			path := filepath.Join(dir, name)
			r := &logReader{path: path}
			for i := range pieces {
				if err := os.WriteFile(path, bytes.Join(pieces[:i+1], nil), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := r.read(); err != nil {
					t.Fatal(err)
				}
			}
			return r
		}
		whole, pieces := read("whole", log), read("pieces", log[:cut], log[cut:])
		if whole.offset != int64(bytes.LastIndexByte(log, '\n')+1) || pieces.offset != whole.offset {
			t.Errorf("%d and %d bytes of %d are read", whole.offset, pieces.offset, len(log))
		}
		if !maps.EqualFunc(whole.started, pieces.started, time.Time.Equal) {
			t.Errorf("running are %v, in pieces %v", whole.started, pieces.started)
		}
		last := func(r *logReader) []line { return r.tail[max(0, len(r.tail)-logLines):] }
		same := func(a, b line) bool { return a.text == b.text && a.at.Equal(b.at) }
		if !slices.EqualFunc(last(whole), last(pieces), same) {
			t.Errorf("the tail is %v, in pieces %v", last(whole), last(pieces))
		}
		if len(whole.tail) > 2*logLines {
			t.Errorf("%d lines are kept", len(whole.tail))
		}
	})
}

// FuzzRequest asks the live view for anything: nothing but the folder's own answers
// comes back, to nobody but this machine.
func FuzzRequest(f *testing.F) {
	for _, path := range []string{"/", "/progress", "/results", "/trials/k.json", "/trials/..%2f..%2fsecret.json",
		"/../secret.json", "/trials/../../secret", "//", "/%00"} {
		f.Add("GET", path, "127.0.0.1:8080")
	}
	f.Add("POST", "/", "127.0.0.1")
	f.Add("GET", "/", "evil.example")
	f.Add("GET", "/", "[::1]:80")
	outside := f.TempDir()
	const secret = "what nobody is to read"
	for _, name := range []string{"secret.json", "secret", "secret.html"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte(secret), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	dir := filepath.Join(outside, "out")
	if err := os.MkdirAll(filepath.Join(dir, "trials"), 0o755); err != nil {
		f.Fatal(err)
	}
	// not of the plan
	if err := os.WriteFile(filepath.Join(dir, "trials", "secret.json"), []byte(secret), 0o600); err != nil {
		f.Fatal(err)
	}
	handler := New(dir, book(f), "v").Handler()
	f.Fuzz(func(t *testing.T, method, path, host string) {
		address, err := url.ParseRequestURI(path)
		if err != nil {
			return
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, &http.Request{Method: method, URL: address, Host: host,
			Header: http.Header{}, Body: http.NoBody})
		if strings.Contains(w.Body.String(), secret) {
			t.Errorf("%s %q of %q answers with a file that is none of its own", method, path, host)
		}
		name := host
		if h, _, err := net.SplitHostPort(host); err == nil {
			name = h
		}
		ip := net.ParseIP(strings.Trim(name, "[]"))
		mine := ip.IsLoopback() || strings.EqualFold(name, "localhost")
		if w.Code == http.StatusOK && (!mine || method != http.MethodGet && method != http.MethodHead) {
			t.Errorf("%s %q of %q is answered", method, path, host)
		}
	})
}
