package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/show/report"
	"privkern/runner/store"
)

var double = experiment.Of(experiment.Declaration[number, doubleMetrics]{
	Name: "demo/double", Version: 1,
	Run: func(context.Context, *experiment.Trial, *number) (*experiment.Outcome[doubleMetrics], error) {
		return nil, errors.New("not run here")
	},
})

type number struct {
	X float64 `name:"x" default:"1" doc:"what is doubled"`
}

type doubleMetrics struct {
	Y float64 `name:"y" doc:"2x"`
}

const demoLedger = `paper: demo
title: "A demonstration"
citation: "A. Author (2020)"
tables:
  - name: demo/table1
    title: "The first table"
    kind: table
    experiment: demo/double
    metric: y
    deterministic: true
    cells:
      - {row: one, published: "2", params: {x: 1}}
      - {row: two, published: "4", params: {x: 2}}
`

func book(t testing.TB) *ledger.Book {
	t.Helper()
	return ledger.Open([]experiment.Paper{{Name: "demo", Experiments: []*experiment.Experiment{double.Experiment},
		Ledger: []byte(demoLedger)}})
}

// sweepOf is an output folder with the plan of x = 1, ..., n.
func sweepOf(t *testing.T, dir string, n int, replan bool) (*store.Store, *plan.Plan) {
	t.Helper()
	var settings []sweep.Assignment
	for x := 1; x <= n; x++ {
		p, err := double.Resolve(map[string]any{"x": float64(x)})
		if err != nil {
			t.Fatal(err)
		}
		settings = append(settings, sweep.Assignment{Experiment: double.Experiment, Params: p})
	}
	p, err := plan.New(settings, nil, plan.Options{Title: "Doubles", Backend: "cpu", DType: "float64",
		Tables: []string{"demo/table1"}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.FreezePlan(p, book(t).Experiments, replan); err != nil {
		t.Fatal(err)
	}
	return s, p
}

// finish writes the record of a trial.
func finish(t *testing.T, s *store.Store, trial plan.Trial, y float64) {
	t.Helper()
	params, err := record.PlainParams(trial.Params)
	if err != nil {
		t.Fatal(err)
	}
	r := &record.Record{Schema: record.Schema, Key: trial.Key, Experiment: trial.Experiment, Params: params,
		Backend: "cpu", DType: "float64", Status: record.OK, ResultVersion: double.Version,
		Metrics: experiment.MetricValues(doubleMetrics{Y: y}), Warnings: []string{"computed but suspect"}}
	if err := s.Put(r); err != nil {
		t.Fatal(err)
	}
}

func logEvent(t *testing.T, dir, text string) {
	t.Helper()
	appendTo(t, filepath.Join(dir, "log.jsonl"), text)
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// ask looks at the folder anew and returns the answer.
func ask(t *testing.T, s *Server, path string) *httptest.ResponseRecorder {
	t.Helper()
	s.mu.Lock()
	s.looked, s.cost, s.folder.statted = time.Time{}, 0, time.Time{}
	s.mu.Unlock()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080"+path, nil))
	return w
}

func contains(t *testing.T, w *httptest.ResponseRecorder, wants ...string) {
	t.Helper()
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	for _, want := range wants {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the answer lacks %q:\n%s", want, w.Body)
		}
	}
}

// A page that was opened before the sweep began fills as it goes, through a new
// plan and to the end.
func TestFromBeforeTheStartToTheEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	server := New(dir, book(t), "1")
	contains(t, ask(t, server, "/"), "not started", "There are no results yet", "Content-Security-Policy", "connect-src")
	contains(t, ask(t, server, "/progress"), "There is no plan")
	if w := ask(t, server, "/report"); w.Code != http.StatusInternalServerError ||
		!strings.Contains(w.Body.String(), "no plan") {
		t.Errorf("a report of nothing: %d %s", w.Code, w.Body)
	}

	s, p := sweepOf(t, dir, 2, false)
	w := ask(t, server, "/progress")
	contains(t, w, "of 2 done", `id="done">0<`, "not running", "2 trials are left")
	before := w.Header().Get("X-Results")
	contains(t, ask(t, server, "/results"), "The first table", "no trial of this setting has run")

	finish(t, s, p.Trials[0], 2)
	w = ask(t, server, "/progress")
	contains(t, w, `id="done">1<`, `id="state">running<`, "demo/double: computed but suspect", p.Trials[0].Key)
	if after := w.Header().Get("X-Results"); after == before {
		t.Error("the tables are not said to be new")
	}
	contains(t, ask(t, server, "/results"), ">match</span>", ">not run</span>")
	contains(t, ask(t, server, "/trials/"+p.Trials[0].Key+".json"), `"y":2`)

	s2, next := sweepOf(t, dir, 3, true)
	contains(t, ask(t, server, "/progress"), "of 3 done", `id="done">1<`)
	finish(t, s2, next.Trials[1], 5)
	finish(t, s2, next.Trials[2], 6)
	contains(t, ask(t, server, "/progress"), "finished", `id="done">3<`, "Every trial has a result")
	contains(t, ask(t, server, "/results"), ">match</span>", ">differs</span>")
	contains(t, ask(t, server, "/report"), "<h2 id=\"trials\">", "Doubles")

	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	contains(t, ask(t, server, "/progress"), "There is no plan")
	contains(t, ask(t, server, "/results"), "There are no results yet")
}

// A record is read when its file is new or has changed, and not otherwise.
func TestRecordsAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	s, p := sweepOf(t, dir, 3, false)
	finish(t, s, p.Trials[0], 2)
	f := newFolder(dir, book(t))
	now := time.Now()
	update := func(at time.Time) float64 {
		t.Helper()
		if err := f.update(at); err != nil {
			t.Fatal(err)
		}
		return double.Values(f.records[p.Trials[0].Key].record.Metrics).Y
	}
	if y := update(now); y != 2 {
		t.Fatalf("y is %v", y)
	}
	// Another text with the times of the old one is not seen.
	path := filepath.Join(dir, "trials", p.Trials[0].Key+".json")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	finish(t, s, p.Trials[0], 3)
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if y := update(now.Add(time.Hour)); y != 2 {
		t.Errorf("an unchanged file was read: y is %v", y)
	}
	// With its own time it is seen, once records are looked at again.
	if err := os.Chtimes(path, now, now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	finish(t, s, p.Trials[1], 4) // so that the folder's time is another
	if y := update(now.Add(2 * time.Hour)); y != 3 {
		t.Errorf("a changed file was not read: y is %v", y)
	}
	// A torn record counts as none, and is reported.
	if err := os.WriteFile(filepath.Join(dir, "trials", p.Trials[2].Key+".json"),
		[]byte(`{"schema":`), 0o600); err != nil {
		t.Fatal(err)
	}
	update(now.Add(3 * time.Hour))
	got, err := f.snapshot(now)
	if err != nil || got.Done() != 2 ||
		!strings.Contains(strings.Join(got.Warnings, "\n"), "is ignored: not a whole record") {
		t.Errorf("error %v, %d done, warnings %q", err, got.Done(), got.Warnings)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := f.update(now.Add(4 * time.Hour)); err != nil || f.records[p.Trials[0].Key].record != nil {
		t.Errorf("a record that is gone is still there (%v)", err)
	}
}

// A record that takes the place of another, as with --retry, is found though
// nothing happens in the folder afterwards.
func TestRecordThatReplacesAnother(t *testing.T) {
	dir := t.TempDir()
	s, p := sweepOf(t, dir, 1, false)
	finish(t, s, p.Trials[0], 2)
	f := newFolder(dir, book(t))
	start := time.Now()
	if err := f.update(start); err != nil {
		t.Fatal(err)
	}
	finish(t, s, p.Trials[0], 33)
	for at := time.Second; at < 2*restat; at += time.Second {
		if err := f.update(start.Add(at)); err != nil {
			t.Fatal(err)
		}
	}
	if y := double.Values(f.records[p.Trials[0].Key].record.Metrics).Y; y != 33 {
		t.Errorf("y is %v", y)
	}
}

// A page that does not read what it asked for keeps no other waiting.
func TestPageThatDoesNotRead(t *testing.T) {
	dir := t.TempDir()
	sweepOf(t, dir, 1, false)
	server := New(dir, book(t), "1")
	for _, path := range []string{"/", "/progress", "/results", "/report"} {
		stuck, done := &stuckWriter{writing: make(chan struct{}), release: make(chan struct{})}, make(chan struct{})
		go func() {
			defer close(done)
			server.Handler().ServeHTTP(stuck, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080"+path, nil))
		}()
		<-stuck.writing
		contains(t, ask(t, server, "/progress"), "of 1 done")
		contains(t, ask(t, server, "/report"), "Doubles")
		close(stuck.release)
		<-done
	}
}

// Pages and whole reports are made at the same time. What they share shows under
// the race detector.
func TestAnswersAtOnce(t *testing.T) {
	dir := t.TempDir()
	s, p := sweepOf(t, dir, 3, false)
	finish(t, s, p.Trials[0], 2)
	server := New(dir, book(t), "1")
	var all sync.WaitGroup
	for range 4 {
		for _, path := range []string{"/", "/progress", "/results", "/report"} {
			all.Go(func() {
				w := httptest.NewRecorder()
				server.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080"+path, nil))
				if w.Code != http.StatusOK {
					t.Errorf("%s: status %d: %s", path, w.Code, w.Body)
				}
			})
		}
	}
	all.Wait()
}

// stuckWriter writes once it is released.
type stuckWriter struct {
	httptest.ResponseRecorder
	writing, release chan struct{}
}

func (w *stuckWriter) Header() http.Header { return http.Header{} }

func (w *stuckWriter) Write(b []byte) (int, error) {
	close(w.writing)
	<-w.release
	return len(b), nil
}

// A plan that cannot be used is reported until there is another.
func TestPlanThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plan.json")
	if err := os.WriteFile(path, []byte(`{"schema": 99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	server := New(dir, book(t), "1")
	contains(t, ask(t, server, "/"), "the plan has schema 99")
	contains(t, ask(t, server, "/progress"), "the plan has schema 99")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s, p := sweepOf(t, dir, 1, false)
	finish(t, s, p.Trials[0], 2)
	w := ask(t, server, "/progress")
	contains(t, w, "Every trial has a result")
	if strings.Contains(w.Body.String(), "schema 99") {
		t.Error("the old problem is still shown")
	}
}

// What the log says has begun runs as long as a runner holds it: one that was
// killed runs nothing.
func TestRunningTrials(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the locks of one process do not exclude each other but on Linux")
	}
	dir := t.TempDir()
	s, p := sweepOf(t, dir, 3, false)
	f := newFolder(dir, book(t))
	progress := func() report.SweepProgress {
		t.Helper()
		if err := f.update(time.Now()); err != nil {
			t.Fatal(err)
		}
		got, err := f.snapshot(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	started := func(i int) string {
		return fmt.Sprintf(`{"time":%q,"event":"started","key":%q}`, time.Now().UTC().Format(time.RFC3339Nano),
			p.Trials[i].Key)
	}
	unlock, ok, err := s.Lock(p.Trials[0].Key)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	logEvent(t, dir, started(0)+"\n"+started(1)+"\n"+started(2)[:20])
	if got := progress(); got.Running != 1 || got.State != report.Running || len(got.Log) != 2 {
		t.Errorf("%d run, state %s, log %q", got.Running, got.State, got.Log)
	}
	logEvent(t, dir, started(2)[20:]+"\nno JSON\n")
	unlock()
	finish(t, s, p.Trials[0], 2)
	path := filepath.Join(dir, "trials", p.Trials[0].Key+".json")
	if err := os.Chtimes(path, time.Now(), time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := progress(); got.Running != 0 || got.State != report.Paused || len(got.Log) != 3 {
		t.Errorf("%d run, state %s, log %q", got.Running, got.State, got.Log)
	}
}

// A trial that only the log of a part names is running, too.
func TestRunningTrialOfAPart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the locks of one process do not exclude each other but on Linux")
	}
	dir := t.TempDir()
	s, p := sweepOf(t, dir, 3, false)
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o777); err != nil {
		t.Fatal(err)
	}
	appendTo(t, filepath.Join(dir, "logs", "2-of-3.jsonl"),
		fmt.Sprintf(`{"time":%q,"event":"started","key":%q}`+"\n", time.Now().UTC().Format(time.RFC3339Nano),
			p.Trials[1].Key))
	unlock, ok, err := s.Lock(p.Trials[1].Key)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer unlock()
	f := newFolder(dir, book(t))
	if err := f.update(time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, err := f.snapshot(time.Now()); err != nil || got.Running != 1 || got.State != report.Running {
		t.Errorf("%d run, state %s, %v", got.Running, got.State, err)
	}
}

// The lines of all logs are shown in their order.
func TestLogsOfParts(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o777); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	event := func(second int, what, key string) string {
		return fmt.Sprintf(`{"time":%q,"event":%q,"key":%q}`+"\n",
			at.Add(time.Duration(second)*time.Second).Format(time.RFC3339Nano), what, key)
	}
	l := logs{}
	if err := l.read(dir); err != nil || len(l.tail()) != 0 {
		t.Fatal(err, l.tail())
	}
	logEvent(t, dir, event(1, "started", "a"))
	appendTo(t, filepath.Join(dir, "logs", "1-of-2.jsonl"), event(2, "started", "b")+event(5, "finished", "b"))
	appendTo(t, filepath.Join(dir, "logs", "2-of-2.jsonl"), event(3, "started", "c"))
	if err := l.read(dir); err != nil {
		t.Fatal(err)
	}
	logEvent(t, dir, event(4, "finished", "a"))
	// Runs that the machine ended are over, too; the log of a trial is none of events.
	appendTo(t, filepath.Join(dir, "logs", "d.log"), "fatal error\n")
	appendTo(t, filepath.Join(dir, "logs", "1-of-2.jsonl"), event(6, "started", "d")+event(7, "again", "d")+
		event(8, "started", "e")+event(9, "given_up", "e"))
	if err := l.read(dir); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, text := range l.tail() {
		order = append(order, text[len("03:04:01 "):])
	}
	if got, want := strings.Join(order, ", "), "started a, started b, started c, finished a, finished b, started d, "+
		"again d, started e, given_up e"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := l.started(); len(got) != 1 || !got["c"].Equal(at.Add(3*time.Second)) {
		t.Errorf("started: %v", got)
	}
}

func TestRate(t *testing.T) {
	now := time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(minutes ...float64) (out []entry) {
		for _, m := range minutes {
			out = append(out, entry{stamp: stamp{modified: now.Add(-time.Duration(m * float64(time.Minute)))},
				record: &record.Record{}})
		}
		return out
	}
	f := &folder{}
	for _, c := range []struct {
		name string
		done []entry
		left int
		rate float64
		eta  time.Duration
	}{
		{"none", nil, 5, 0, 0},
		{"one says nothing", ago(1), 5, 0, 0},
		{"four in two minutes, two a minute after the first", ago(0, 0.5, 1, 2), 3, 1.5, 2 * time.Minute},
		{"a pause slows down", ago(3, 4), 1, 0.25, 4 * time.Minute},
		{"old ones are left out", ago(1, 2, 60, 61), 2, 0.5, 4 * time.Minute},
		{"at the end the rate of the sweep", ago(3, 4, 5), 0, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if rate, eta := f.rate(now, c.done, c.left); rate != c.rate || eta != c.eta {
				t.Errorf("%s: %v a minute, %v left; want %v and %v", c.name, rate, eta, c.rate, c.eta)
			}
		})
	}
}

// Whatever another site's page can send is refused, and nothing is written.
func TestRequestsThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	s, p := sweepOf(t, dir, 1, false)
	finish(t, s, p.Trials[0], 2)
	server := New(dir, book(t), "1")
	if w := ask(t, server, "/progress"); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	for _, c := range []struct {
		name, method, url string
		header            http.Header
		status            int
	}{
		{"a name that was made to mean this machine", "GET", "http://evil.example:8080/", nil, http.StatusMisdirectedRequest},
		{"a name that begins like ours", "GET", "http://localhost.evil.example/", nil, http.StatusMisdirectedRequest},
		{"another address", "GET", "http://192.0.2.1/progress", nil, http.StatusMisdirectedRequest},
		{"localhost", "GET", "http://localhost:8080/progress", nil, http.StatusOK},
		{"IPv6", "GET", "http://[::1]:8080/progress", nil, http.StatusOK},
		{"writing", "POST", "http://127.0.0.1/progress", nil, http.StatusMethodNotAllowed},
		{"deleting", "DELETE", "http://127.0.0.1/trials/" + p.Trials[0].Key + ".json", nil, http.StatusMethodNotAllowed},
		{"another site's request", "GET", "http://127.0.0.1/results",
			http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}}, http.StatusForbidden},
		{"a link from another site", "GET", "http://127.0.0.1/",
			http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}}, http.StatusOK},
		{"a file that is no record", "GET", "http://127.0.0.1/trials/..%2fplan.json", nil, http.StatusNotFound},
		{"an unknown trial", "GET", "http://127.0.0.1/trials/0000.json", nil, http.StatusNotFound},
		{"an unknown page", "GET", "http://127.0.0.1/plan.json", nil, http.StatusNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.url, nil)
			for k, v := range c.header {
				r.Header[k] = v
			}
			w := httptest.NewRecorder()
			server.Handler().ServeHTTP(w, r)
			if w.Code != c.status {
				t.Errorf("%s: status %d, not %d: %.100s", c.name, w.Code, c.status, w.Body)
			}
			if w.Header().Get("Cross-Origin-Resource-Policy") != "same-origin" ||
				!strings.Contains(w.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'") {
				t.Errorf("%s: the answer may be used by other pages: %v", c.name, w.Header())
			}
		})
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "trials", p.Trials[0].Key+".json")); err != nil || !json.Valid(raw) {
		t.Errorf("the record: %s, %v", raw, err)
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:80", "example.com:80", "127.0.0.1",
		"127.0.0.1:http", "127.0.0.1:65536", ""} {
		l, err := Listen(t.Context(), address)
		var refused *AddressError
		if !errors.As(err, &refused) {
			t.Errorf("%q: %v", address, err)
		} else if !strings.Contains(err.Error(), "127.0.0.1:0") {
			t.Errorf("the error does not say what to do: %v", err)
		}
		if l != nil {
			_ = l.Close()
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := Listen(t.Context(), address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
			t.Errorf("%s became %v", address, l.Addr())
		}
		_, err = Listen(t.Context(), l.Addr().String())
		if refused := new(AddressError); err == nil || errors.As(err, &refused) {
			t.Errorf("a port that is taken: %v", err)
		}
		_ = l.Close()
	}
}

// The end of the context is the normal end.
func TestServeEnds(t *testing.T) {
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- New(t.TempDir(), book(t), "1").Serve(ctx, l) }()
	answer, err := http.Get("http://" + l.Addr().String() + "/")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("status %d", answer.StatusCode)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("the end of the server: %v", err)
	}
}

// A reader that never reads is not waited for: its connection is closed.
func TestReaderThatDoesNotRead(t *testing.T) {
	l, err := Listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(t.TempDir(), book(t), "1")
	s.WriteTimeout = 300 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.SetWriteDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	// Answers fill the buffers, and then the server waits.
	request := []byte("GET / HTTP/1.1\r\nHost: " + l.Addr().String() + "\r\n\r\n")
	for {
		if _, err := c.Write(request); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the connection is still open")
			}
			return
		}
	}
}
