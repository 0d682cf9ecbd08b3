package dataset

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"privkern/experiments/dataset/internal/filetest"
)

func hash(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// content is the file that the test servers publish.
var content = bytes.Repeat([]byte("0123456789abcdef"), 1000)

func setOf(urls ...string) Set {
	return Set{Name: "demo", Files: []File{{Path: "sub/a.bin", Size: int64(len(content)), SHA256: hash(content),
		URLs: urls}}}
}

// server answers every path by its own misbehaviour and counts the requests.
func server(t *testing.T) (*httptest.Server, *[]string) {
	t.Helper()
	var requests []string
	good := func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "a.bin", time.Time{}, bytes.NewReader(content))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/good", good)
	mux.HandleFunc("/no-ranges", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	mux.HandleFunc("/wrong", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte("x"), len(content)))
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			_, _ = w.Write(content)
		}
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusInternalServerError)
	})
	mux.HandleFunc("/truncated", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "16000")
		_, _ = w.Write(content[:5000])
	})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.URL.Path+" "+r.Header.Get("Range"))
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s, &requests
}

func mustHold(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, %v; want the %d published bytes", path, len(got), err, len(want))
	}
}

func mustNotExist(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s exists (%v)", path, err)
	}
}

func TestFetch(t *testing.T) {
	s, requests := server(t)
	root := t.TempDir()
	var last, total int64
	set := setOf(s.URL + "/good")
	if err := Fetch(context.Background(), set, root, func(_ string, d, n int64) { last, total = d, n }); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "demo", "sub", "a.bin")
	mustHold(t, file, content)
	mustNotExist(t, file+".part")
	if n := int64(len(content)); last != n || total != n {
		t.Errorf("progress ended at %d of %d", last, total)
	}
	// A second call finds everything there.
	if err := Fetch(context.Background(), set, root, nil); err != nil || len(*requests) != 1 {
		t.Errorf("second call: %v, requests %v", err, *requests)
	}
	// And the locator finds the set.
	folder, err := (Locator{Roots: []string{t.TempDir(), root}}).FindSet(context.Background(), set)
	if err != nil || folder != filepath.Join(root, "demo") {
		t.Errorf("found %q, %v", folder, err)
	}
}

func TestFetchResumes(t *testing.T) {
	for _, c := range []struct {
		name, path string
		part       []byte
		requests   []string
	}{
		{"from where it stopped", "/good", content[:7000], []string{"/good bytes=7000-"}},
		{"server without ranges", "/no-ranges", content[:7000], []string{"/no-ranges bytes=7000-"}},
		{"complete but not renamed", "/good", content, nil},
		{"longer than the file", "/good", append([]byte("zz"), content...), []string{"/good "}},
		{"part of something else", "/good", bytes.Repeat([]byte("z"), 7000), []string{"/good bytes=7000-", "/good "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, requests := server(t)
			root := t.TempDir()
			file := filepath.Join(root, "demo", "sub", "a.bin")
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file+".part", c.part, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := Fetch(context.Background(), setOf(s.URL+c.path), root, nil); err != nil {
				t.Fatal(err)
			}
			mustHold(t, file, content)
			mustNotExist(t, file+".part")
			if strings.Join(*requests, ",") != strings.Join(c.requests, ",") {
				t.Errorf("requests %q, want %q", *requests, c.requests)
			}
		})
	}
}

func TestFetchFailures(t *testing.T) {
	for _, c := range []struct {
		path, want string
		keepsPart  bool
	}{
		{"/wrong", "the content has SHA-256 " + hash(bytes.Repeat([]byte("x"), len(content))), false},
		{"/endless", "expected " + hash(content), false},
		{"/broken", "500 Internal Server Error", true},
		{"/absent", "404 Not Found", true},
		{"/truncated", "after 5000 of 16000 bytes", true},
	} {
		t.Run(c.path, func(t *testing.T) {
			s, _ := server(t)
			root := t.TempDir()
			file := filepath.Join(root, "demo", "sub", "a.bin")
			err := Fetch(context.Background(), setOf(s.URL+c.path), root, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), s.URL+c.path) {
				t.Errorf("%v; want %q and the address", err, c.want)
			}
			mustNotExist(t, file)
			if !c.keepsPart {
				mustNotExist(t, file+".part")
			}
		})
	}
}

// The next mirror goes on where the first one broke off.
func TestFetchMirrors(t *testing.T) {
	s, requests := server(t)
	root := t.TempDir()
	set := setOf(s.URL+"/broken", s.URL+"/truncated", s.URL+"/good")
	if err := Fetch(context.Background(), set, root, nil); err != nil {
		t.Fatal(err)
	}
	mustHold(t, filepath.Join(root, "demo", "sub", "a.bin"), content)
	if last := (*requests)[2]; last != "/good bytes=5000-" {
		t.Errorf("the last mirror was asked for %q", last)
	}
}

func TestFetchLeavesAWrongFileAlone(t *testing.T) {
	s, requests := server(t)
	root := t.TempDir()
	file := filepath.Join(root, "demo", "sub", "a.bin")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	mine := []byte("my own data")
	if err := os.WriteFile(file, mine, 0o644); err != nil {
		t.Fatal(err)
	}
	err := Fetch(context.Background(), setOf(s.URL+"/good"), root, nil)
	var wrong *WrongFileError
	if !errors.As(err, &wrong) || len(*requests) > 0 {
		t.Errorf("%v, requests %v; want a *WrongFileError and no request", err, *requests)
	}
	mustHold(t, file, mine)
}

func TestFetchCancelled(t *testing.T) {
	s, _ := server(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Fetch(ctx, setOf(s.URL+"/good"), t.TempDir(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want context.Canceled", err)
	}
}

func TestFetchFromArchive(t *testing.T) {
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for name, b := range map[string][]byte{"data/a.bin": content, "data/unwanted.txt": []byte("u")} {
		w, _ := z.Create(name)
		_, _ = w.Write(b)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(packed.Bytes()))
	}))
	defer s.Close()
	set := Set{
		Name: "demo",
		Files: []File{{Path: "a.bin", Size: int64(len(content)), SHA256: hash(content), Archive: "all.zip",
			Member: "data/a.bin"}},
		Archives: []Archive{{Name: "all.zip", Size: int64(packed.Len()), SHA256: hash(packed.Bytes()),
			URLs: []string{s.URL}}},
	}
	root := t.TempDir()
	if err := Fetch(context.Background(), set, root, nil); err != nil {
		t.Fatal(err)
	}
	mustHold(t, filepath.Join(root, "demo", "a.bin"), content)
	entries, _ := os.ReadDir(filepath.Join(root, "demo"))
	if len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// An archive without an address that answers comes out of the archive that
// contains it, and nothing of either is left behind.
func TestFetchFromArchiveInArchive(t *testing.T) {
	pack := func(name string, b []byte) []byte {
		var packed bytes.Buffer
		z := zip.NewWriter(&packed)
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(b)
		}
		if e := z.Close(); err != nil || e != nil {
			t.Fatal(err, e)
		}
		return packed.Bytes()
	}
	inner := pack("data/a.bin", content)
	outer := pack("inner.zip", inner)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/outer":
			_, _ = w.Write(outer)
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	for _, c := range []struct {
		name, outer, sha, want string
		urls                   []string
	}{
		{"without an address", "/outer", hash(inner), "", nil},
		{"a dead address", "/outer", hash(inner), "", []string{s.URL + "/dead"}},
		{"both dead", "/dead", hash(inner), "/dead: the server answered", []string{s.URL + "/gone"}},
		{"another archive inside", "/outer", hash(outer), "inner.zip in outer.zip", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := Set{
				Name: "demo", Folder: "some/folder",
				Files: []File{{Path: "a.bin", Size: int64(len(content)), SHA256: hash(content), Archive: "inner.zip",
					Member: "data/a.bin"}},
				Archives: []Archive{
					{Name: "inner.zip", Size: int64(len(inner)), SHA256: c.sha, URLs: c.urls, Within: "outer.zip"},
					{Name: "outer.zip", Size: int64(len(outer)), SHA256: hash(outer), URLs: []string{s.URL + c.outer}},
				},
			}
			root := t.TempDir()
			err := Fetch(context.Background(), set, root, nil)
			filetest.MustFail(t, err, c.want)
			if c.want == "" {
				mustHold(t, filepath.Join(root, "some", "folder", "a.bin"), content)
				if entries, _ := os.ReadDir(filepath.Join(root, "some", "folder")); len(entries) != 1 {
					t.Errorf("left behind: %v", entries)
				}
			}
		})
	}
}
