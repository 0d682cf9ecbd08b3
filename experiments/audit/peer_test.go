package audit

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scalars draws the releases of the first pair as the black box sees them: reduced to the
// statistic that separates the data sets best on the first half.
func scalars(t *testing.T, s Subject, o Options) [2][]float64 {
	t.Helper()
	d, err := sample(t.Context(), s, 0, o)
	if err != nil {
		t.Fatal(err)
	}
	return d.values[d.choose(s.Claim, o).index]
}

// DP-Auditorium of google/differential-privacy, an auditor that shares nothing with
// this one, sees the same errors in the same draws, or less: the black box finds all that it
// rejects, and neither finds anything in the honest subjects. It is no package of an
// index: PRIVKERN_DP_AUDITORIUM names the folder python/dp_auditorium of a checkout, and
// PRIVKERN_DP_PYTHON a Python with TensorFlow.
func TestAgainstDPAuditorium(t *testing.T) {
	checkout := os.Getenv("PRIVKERN_DP_AUDITORIUM")
	if checkout == "" {
		t.Skip("PRIVKERN_DP_AUDITORIUM names no checkout of DP-Auditorium: the comparison with it is not made")
	}
	python := os.Getenv("PRIVKERN_DP_PYTHON")
	if python == "" {
		python = "python3"
	}
	subjects := brokenMechanisms(t)
	honest := map[string]bool{}
	for _, s := range []Subject{vectorSubject(t), candidates()} {
		subjects[s.Name], honest[s.Name] = s, true
	}
	rejected, compared := 0, 0
	for name, s := range subjects {
		t.Run(name, func(t *testing.T) {
			s.Name = name
			s.Pairs = s.Pairs[:1]
			var b bytes.Buffer
			for _, values := range scalars(t, s, options) {
				if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
					t.Fatal(err)
				}
			}
			file := filepath.Join(t.TempDir(), "draws")
			if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(python, filepath.Join("..", "..", "tests", "peers", "audit.py"), checkout,
				fmt.Sprint(s.Claim.Epsilon), fmt.Sprint(s.Claim.Delta), fmt.Sprint(1-options.Confidence), "draws="+file)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == 75 {
				t.Skipf("DP-Auditorium cannot be imported: %s", stderr.String())
			}
			var numbers map[string]float64
			if err := errors.Join(err, json.Unmarshal(out, &numbers)); err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			peer, ours := numbers["draws rejected"] == 1, audit(t, s, options)
			t.Logf("DP-Auditorium: delta >= %.4f, rejected: %v; ours: %v", numbers["draws"], peer, ours.Findings)
			if peer && !ours.Found(BlackBox) {
				t.Error("DP-Auditorium rejects a subject in which the black box finds nothing")
			}
			if honest[name] && (peer || ours.Violation) {
				t.Error("a false alarm")
			}
			compared++
			if peer {
				rejected++
			}
		})
	}
	if compared > 0 && rejected < 5 {
		t.Errorf("DP-Auditorium rejects only %d of %d subjects: the comparison says little", rejected, compared)
	}
}
