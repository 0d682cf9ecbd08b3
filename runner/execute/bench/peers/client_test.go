package peers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// A client reports once the libraries, a missing library, or that there is none.
func TestClient(t *testing.T) {
	const hello = `echo '{"libraries": "NumPy of a stand-in"}'; while read line; do `
	for name, c := range map[string]struct {
		script string
		want   error
		said   []string
	}{
		"a library": {hello + `echo '{"library": "NumPy", "cpu_s": 2, "result": 3}'; done`, nil,
			[]string{"peers: NumPy of a stand-in"}},
		"a missing library": {hello + `echo '{"missing": "SciPy"}'; done`, &MissingError{},
			[]string{"peers: NumPy of a stand-in", "no peers by SciPy: it is not installed"}},
	} {
		t.Run(name, func(t *testing.T) {
			var said []string
			client := NewClient(t.Context(), stand(t, c.script), func(format string, args ...any) {
				said = append(said, fmt.Sprintf(format, args...))
			})
			defer client.Close()
			if client.Libraries() != "" {
				t.Error("it began without work")
			}
			for range 2 {
				m, err := client.Measure(experiment.Peer{}, 1)
				if missing := (*MissingError)(nil); errors.As(err, &missing) != (c.want != nil) {
					t.Errorf("the error is %v", err)
				} else if err == nil && m != (Measurement{Library: "NumPy", CPUSeconds: 2, Result: 3}) {
					t.Errorf("measured %+v", m)
				}
			}
			if !slices.Equal(said, c.said) || client.Libraries() != "NumPy of a stand-in" {
				t.Errorf("it said %q", said)
			}
		})
	}
}

func TestClientWithoutProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var said []string
	client := NewClient(t.Context(), "", func(format string, args ...any) {
		said = append(said, fmt.Sprintf(format, args...))
	})
	defer client.Close()
	for range 2 {
		if _, err := client.Measure(experiment.Peer{}, 1); !errors.Is(err, ErrNone) {
			t.Errorf("the error is %v", err)
		}
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "no peers: ") || client.Libraries() != "" {
		t.Errorf("it said %q", said)
	}
}

// An interrupted measure is no failure of the peer.
func TestClientInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	script := `echo '{"libraries": "NumPy of a stand-in"}'; exec sleep 60`
	client := NewClient(ctx, stand(t, script), func(string, ...any) { cancel() })
	defer client.Close()
	if _, err := client.Measure(experiment.Peer{}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}
