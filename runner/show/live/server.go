package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"privkern/runner/claims/ledger"
	"privkern/runner/show"
	"privkern/runner/show/report"
	"privkern/runner/store/disk"
)

// AddressError says that an address is not on the loopback interface.
type AddressError struct{ Address, Reason string }

func (e *AddressError) Error() string {
	return fmt.Sprintf("%q %s; the live view has no login, so it is served on this machine's loopback interface only, "+
		"such as 127.0.0.1:0 (any free port). From another machine, forward the port: ssh -L 8080:127.0.0.1:PORT",
		e.Address, e.Reason)
}

// Listen opens a loopback address, "host:port"; port 0 is any free one. Any other
// address is an *AddressError.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &AddressError{address, "is not host:port"}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, &AddressError{address, fmt.Sprintf("has no port from 0 to 65535, but %q", port)}
	} else if host == "localhost" {
		// Not looked up: a name can be made to mean anything.
		address = net.JoinHostPort("127.0.0.1", strconv.FormatUint(n, 10))
	} else if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, &AddressError{address, "is not on the loopback interface"}
	}
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the live view cannot be served: %w", err)
	}
	return l, nil
}

// Server answers for one output folder. The folder is looked at when somebody
// asks, at most once in a while: with no page open nothing is read.
type Server struct {
	// WriteTimeout is how long a request may take until its answer has been read;
	// 0 stands for two minutes, far more than the largest report takes.
	WriteTimeout time.Duration

	dir     string
	book    *ledger.Book
	version string

	reporting sync.Mutex // held while a whole report is made

	mu       sync.Mutex
	folder   *folder
	looked   time.Time
	progress report.SweepProgress
	results  []byte // the tables as HTML
	of       int    // the folder's version that results show; -1: none
	computed time.Time
	cost     time.Duration // of computing results
}

// New returns a server for the output folder, which need not be there yet.
func New(dir string, book *ledger.Book, version string) *Server {
	return &Server{dir: dir, book: book, version: version, folder: newFolder(dir, book), of: -1}
}

// look is how often the folder is looked at.
const look = 500 * time.Millisecond

const defaultWriteTimeout = 2 * time.Minute

func (s *Server) writeTimeout() time.Duration {
	if s.WriteTimeout > 0 {
		return s.WriteTimeout
	}
	return defaultWriteTimeout
}

// Serve answers until ctx ends, which is no error.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s.Handler(), ErrorLog: log.New(os.Stderr, "run: ", 0),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: s.writeTimeout(), IdleTimeout: time.Minute,
	}
	stopped := context.AfterFunc(ctx, func() {
		// What is being answered may end; nothing is lost with the rest.
		c, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if server.Shutdown(c) != nil {
			_ = server.Close()
		}
	})
	defer stopped()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Handler answers read-only requests that name this machine as their host.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /progress", s.answerProgress)
	mux.HandleFunc("GET /results", s.answerResults)
	mux.HandleFunc("GET /report", s.report)
	mux.HandleFunc("GET /trials/{file}", s.record)
	return guard(mux)
}

// guard refuses what a page of another site could send: a name that was made to
// mean this machine (DNS rebinding), another site's requests, and anything but
// reading.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Content-Security-Policy", "frame-ancestors 'none'") // the pages have a policy of their own beside this
		h.Set("Cache-Control", "no-store")
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
		ip := net.ParseIP(host)
		switch site := r.Header.Get("Sec-Fetch-Site"); {
		case !strings.EqualFold(host, "localhost") && (ip == nil || !ip.IsLoopback()):
			http.Error(w, fmt.Sprintf("this server answers for localhost and 127.0.0.1 only, not for %q", r.Host),
				http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "nothing can be changed here", http.StatusMethodNotAllowed)
		case site == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate":
			http.Error(w, "not for the pages of other sites", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// refresh looks at the folder where it is time to. The caller holds mu.
func (s *Server) refresh() error {
	now := time.Now()
	if now.Sub(s.looked) < look {
		return nil
	}
	if err := s.folder.update(now); err != nil {
		return err
	}
	p, err := s.folder.snapshot(now)
	if err != nil {
		return err
	}
	s.progress, s.looked = p, now
	return nil
}

// data is what the tables show. The caller holds mu.
func (s *Server) data() (report.Content, error) {
	if s.folder.plan == nil {
		return report.Content{Title: s.progress.Title}, nil
	}
	r, err := s.folder.results()
	if err != nil {
		return report.Content{}, err
	}
	return r.Report(s.version), nil
}

// compute brings the tables up to date, unless that would take more than a
// fifth of the time. The caller holds mu.
func (s *Server) compute() error {
	if s.of == s.folder.version || s.of >= 0 && time.Since(s.computed) < 4*s.cost {
		return nil
	}
	start, version := time.Now(), s.folder.version
	d, err := s.data()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := report.WriteResults(&b, d); err != nil {
		return err
	}
	s.results, s.of, s.computed, s.cost = b.Bytes(), version, time.Now(), time.Since(start)
	return nil
}

// answer locks, refreshes, and writes what f makes, or the error. The lock is
// free by then: a page that reads slowly, or not at all, keeps no other waiting.
func (s *Server) answer(w http.ResponseWriter, f func(b *bytes.Buffer) error) {
	var b bytes.Buffer
	err := func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err := s.refresh(); err != nil {
			return err
		}
		return f(&b)
	}()
	write(w, &b, err)
}

// write writes a page, or the error.
func write(w http.ResponseWriter, b *bytes.Buffer, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}

func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	s.answer(w, func(b *bytes.Buffer) error {
		d, err := s.data()
		if err != nil {
			return err
		}
		return report.WriteLive(b, s.progress, d)
	})
}

func (s *Server) answerProgress(w http.ResponseWriter, _ *http.Request) {
	s.answer(w, func(b *bytes.Buffer) error {
		if s.progress.Total > 0 {
			w.Header().Set("X-Done", fmt.Sprintf("%d/%d", s.progress.Done(), s.progress.Total))
		}
		if err := s.compute(); err != nil {
			return err
		}
		w.Header().Set("X-Results", strconv.Itoa(s.of))
		return report.WriteProgress(b, s.progress)
	})
}

func (s *Server) answerResults(w http.ResponseWriter, _ *http.Request) {
	s.answer(w, func(b *bytes.Buffer) error {
		if err := s.compute(); err != nil {
			return err
		}
		w.Header().Set("X-Results", strconv.Itoa(s.of))
		_, err := b.Write(s.results)
		return err
	})
}

// report writes the whole report, with figures. It reads every record, and so
// is made only when it is asked for, one at a time, while the live pages go on.
func (s *Server) report(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	err := s.writeReport(&b)
	write(w, &b, err)
}

func (s *Server) writeReport(b *bytes.Buffer) error {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	if _, err := os.Stat(filepath.Join(s.dir, "plan.json")); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no plan in %s yet", s.dir)
	}
	r, err := show.Read(disk.System, s.dir, s.book)
	if err != nil {
		return err
	}
	d := r.Report(s.version)
	d.Figures = r.Figures()
	return report.Write(b, d)
}

// record writes the record of a trial of the plan, and no other file.
func (s *Server) record(w http.ResponseWriter, r *http.Request) {
	key, isRecord := strings.CutSuffix(r.PathValue("file"), ".json")
	s.mu.Lock()
	_, planned := s.folder.trials[key]
	s.mu.Unlock()
	raw, err := []byte(nil), os.ErrNotExist
	if planned && isRecord {
		raw, err = os.ReadFile(filepath.Join(s.dir, "trials", key+".json"))
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		http.Error(w, "no finished trial of this plan has that record", http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(raw)
	}
}
