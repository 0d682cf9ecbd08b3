package tests

import (
	"math"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"privkern/experiments/mechanism"
	"privkern/experiments/mechanism/audit"
	"privkern/runner/experiment"
)

// On a terminal an audit shows a bar, which is gone at the end; with TERM=dumb
// there are lines instead.
func TestAuditOnATerminal(t *testing.T) {
	script, err := exec.LookPath("script") // of util-linux: gives a program a terminal
	if err != nil {
		t.Skip("no script command to make a terminal with")
	}
	onTerminal := func(term string) string {
		t.Helper()
		cmd := exec.Command(script, "-qec", "stty cols 100; '"+program+"' audit entry-noise hall --draws 100000 > /dev/null", "/dev/null")
		cmd.Env = append(os.Environ(), "TERM="+term, "NO_COLOR=")
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return string(text)
	}
	text := onTerminal("xterm")
	if !strings.Contains(text, "/200000)") || !strings.Contains(text, "entry-noise") {
		t.Errorf("no bar with the mechanism's name:\n%q", text)
	}
	plain := regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]").ReplaceAllString(text, "")
	if shown := plain[strings.LastIndex(plain, "\r")+1:]; strings.TrimSpace(shown) != "" {
		t.Errorf("left on the screen: %q", shown)
	}
	if text := onTerminal("dumb"); strings.Contains(text, "\x1b") || !strings.Contains(text, "auditing hall: ") {
		t.Errorf("TERM=dumb:\n%q", text)
	}
}

// gaussianRow is the Gaussian noise of one release of a trial: its σ over the
// sensitivity, and what it claims. Ok is false for a trial that adds none.
func gaussianRow(t *testing.T, name string, p experiment.Params) (sigma float64, claim mechanism.Guarantee, ok bool) {
	t.Helper()
	if _, has := p["epsilon"]; !has || math.IsInf(p.Float("epsilon"), 1) {
		return 0, claim, false
	}
	claim = mechanism.Guarantee{Epsilon: p.Float("epsilon"), Delta: p.Float("delta")}
	var err error
	switch paper, _, _ := strings.Cut(name, "/"); paper {
	case "kahm": // entry noise, which is not Gaussian
		return 0, claim, false
	case "cloaking":
		if steps, has := p["iterations"]; has && p["solver_iterations"] != nil {
			// Newton steps share the budget.
			parts := 1.0
			if n, given := steps.(int); given {
				parts = float64(n)
			}
			claim.Epsilon, claim.Delta = claim.Epsilon/parts, claim.Delta/parts
		}
		sigma, err = mechanism.Calibration(p.Text("calibration")).Factor(claim.Epsilon, claim.Delta)
	case "dpgp":
		sigma, err = mechanism.AnalyticGaussian(claim.Epsilon, claim.Delta)
	default:
		t.Fatalf("%s has an epsilon, and this test does not know its noise", name)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return sigma, claim, true
}

// The exact δ(ε) of every Gaussian release that any table is made of is within
// what its row claims.
func TestGaussianRowsOfTables(t *testing.T) {
	c := catalogue(t)
	wanted, err := c.ReadTables(c.Book.Names(), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for _, s := range wanted.Settings {
		sigma, claim, ok := gaussianRow(t, s.Experiment.Name, s.Params)
		if !ok {
			continue
		}
		paper, _, _ := strings.Cut(s.Experiment.Name, "/")
		rows[paper]++
		if err := audit.CheckGaussian(claim, sigma); err != nil {
			t.Errorf("%s %s: %v", s.Experiment.Name, s.Experiment.Describe(s.Params), err)
		}
		// Half the noise of an exact calibration would not do.
		if exact, err := mechanism.AnalyticGaussian(claim.Epsilon, claim.Delta); err != nil || audit.CheckGaussian(claim, exact/2) == nil {
			t.Errorf("%s: half of the least noise passes: %v", s.Experiment.Name, err)
		}
	}
	if rows["cloaking"] == 0 || rows["dpgp"] == 0 {
		t.Errorf("Gaussian rows by paper: %v", rows)
	}
}
