package commands

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/experiments/audit"
	"privkern/experiments/cloaking/classify"
	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dpgp/simulated"
	"privkern/experiments/mechanism"
	"privkern/graphs/engine"
	"privkern/runner"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/tests/program"
	"privkern/tests/tier"
)

// part returns some of a trial's settings; ok is false where it lacks one of them.
func part[S any](p experiment.Params) (settings *S, ok bool) {
	var none S
	for name := range experiment.SettingValues(none) {
		if _, ok := p[name]; !ok {
			return nil, false
		}
	}
	return experiment.SettingsIn[S](p), true
}

// gaussianRow is the Gaussian noise of one release of a trial: its σ over the
// sensitivity, and its claim. Ok is false for a trial that adds none, or none
// that one number describes: the draws of a private selection and the classes of a
// classification are held against their sensitivities in package dpgp.
func gaussianRow(t *testing.T, x *experiment.Trial) (sigma float64, claim mechanism.Guarantee, ok bool) {
	t.Helper()
	budget, ok := part[mechanism.Budget](x.Params)
	if !ok || math.IsInf(budget.Epsilon, 1) {
		return 0, claim, false
	}
	claim = mechanism.Guarantee{Epsilon: budget.Epsilon, Delta: budget.Delta}
	switch paper, _, _ := strings.Cut(x.Experiment, "/"); paper {
	case "kahm": // entry noise, which is not Gaussian
		return 0, claim, false
	case "cloaking":
		if s, ok := part[classify.ClassifierSettings](x.Params); ok && !s.Iterations.IsWord {
			// Newton steps share the budget.
			steps := float64(s.Iterations.Number)
			claim.Epsilon, claim.Delta = claim.Epsilon/steps, claim.Delta/steps
		}
		var err error
		calibration := experiment.SettingsIn[cloak.GaussianBudget](x.Params).Calibration
		if sigma, err = calibration.Factor(claim.Epsilon, claim.Delta); err != nil {
			t.Fatalf("%s: %v", x.Experiment, err)
		}
	case "dpgp":
		sums, err := simulated.NewNoisySums(t.Context(), x)
		if err != nil {
			t.Fatalf("%s: %v", x.Experiment, err)
		}
		if sums == nil {
			return 0, claim, false
		}
		sigma = 1 / largestMove(sums)
	default:
		t.Fatalf("%s has an epsilon, and this test does not know its noise", x.Experiment)
	}
	return sigma, claim, true
}

// largestMove is by how much, in units of the noise, the sums A = Σ y k and
// B = Σ k kᵀ of a sparse GP move when one row (x, y) takes the place of another,
// at the worst of many pairs of rows. Off the diagonal B has one draw of variance
// σ_b²/2 for both places.
func largestMove(s *simulated.NoisySums) float64 {
	z := s.Inducing.Values
	if n := s.Inducing.Count; z == nil {
		for i := range n {
			z = append(z, s.Low+(s.High-s.Low)*float64(i)/float64(max(n-1, 1)))
		}
	}
	var rows [][]float64
	for x := z[0] - 3; x <= z[len(z)-1]+3; x += 0.05 {
		k := make([]float64, len(z))
		for j, v := range z {
			d := (x - v) / s.Lengthscale
			k[j] = s.KernelVariance * math.Exp(-d*d/2)
		}
		rows = append(rows, k)
	}
	dot := func(a, b []float64) (sum float64) {
		for i, v := range a {
			sum += v * b[i]
		}
		return sum
	}
	worst, r := 0.0, s.OutputBound
	for i, k := range rows {
		for _, l := range rows[:i+1] {
			kk, ll, kl := dot(k, k), dot(l, l), dot(k, l)
			b := kk*kk + ll*ll - 2*kl*kl
			// Of the outputs ±r_y, those that move A the most.
			a := r * r * (kk + ll + 2*math.Abs(kl))
			worst = max(worst, a/(s.SigmaA*s.SigmaA)+b/(s.SigmaB*s.SigmaB))
		}
	}
	return math.Sqrt(worst)
}

// The exact δ(ε) of the Gaussian releases behind tables is within the claims of
// their rows: of cloaking with the ratio that the noise is calibrated to,
// which package design keeps, of sparse GPs with the noise that a trial adds.
func TestGaussianRowsOfTables(t *testing.T) {
	t.Parallel()
	c := runner.NewCatalogue(experiments.Papers())
	names, err := c.Names()
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := plan.ReadTables(c.Book, names, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	opened, err := engine.Opener("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	rows, tight := map[string]int{}, 0
	seen := map[string]bool{}
	for _, s := range wanted.Settings {
		if id := s.Experiment.Name + fmt.Sprint(s.Params); seen[id] {
			continue
		} else {
			seen[id] = true
		}
		sigma, claim, ok := gaussianRow(t, &experiment.Trial{
			Identity: experiment.Identity{
				Experiment: s.Experiment.Name, Params: s.Params, Backend: "cpu", DType: "float64",
			},
			Engine: opened, Workers: 1, Progress: func(int, int, string) {},
			Stream: func(purpose string) *rand.Rand { return rand.New(rand.NewPCG(uint64(len(purpose)), 1)) },
		})
		if !ok {
			continue
		}
		paper, _, _ := strings.Cut(s.Experiment.Name, "/")
		rows[paper]++
		exact, err := mechanism.GaussianDelta(claim.Epsilon, sigma)
		if err != nil || !(exact <= claim.Delta*(1+1e-9)) {
			t.Errorf("%s %s: delta is %g, claimed %g: %v", s.Experiment.Name, s.Experiment.Describe(s.Params), exact,
				claim.Delta, err)
		}
		// With half of it at least some would not.
		if half, err := mechanism.GaussianDelta(claim.Epsilon, sigma/2); err == nil && half > claim.Delta*(1+1e-9) {
			tight++
		}
	}
	if rows["cloaking"] == 0 || rows["dpgp"] == 0 || tight < (rows["cloaking"]+rows["dpgp"])/2 {
		t.Errorf("Gaussian rows by paper: %v, of which %d need more than half of their noise", rows, tight)
	}
}

// unsealed returns a record without its digest, which follows from the text before.
func unsealed(t *testing.T, printed []byte) []byte {
	t.Helper()
	const member = `,"digest":"`
	i := bytes.LastIndex(printed, []byte(member))
	if i < 0 {
		t.Fatalf("the record has no digest: %.200s", printed)
	}
	sum := sha256.Sum256(printed[:i])
	if want := member + hex.EncodeToString(sum[:]) + "\"}\n"; string(printed[i:]) != want {
		t.Fatalf("the record ends with %s, want %s", printed[i:], want)
	}
	return append(bytes.Clone(printed[:i]), "}\n"...)
}

// released runs the release that an audit asks for as a user runs it, in a folder of
// its own, and returns all that it leaves and prints.
func released(t *testing.T, r *audit.Request, second bool) audit.Whole {
	t.Helper()
	folder, content := t.TempDir(), r.Contents[0]
	if second {
		folder, content = filepath.Join(folder, "a folder of another name"), r.Contents[1]
	}
	home := filepath.Join(folder, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, r.File), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"trial", r.Experiment}
	for _, name := range slices.Sorted(maps.Keys(r.Given)) {
		args = append(args, fmt.Sprintf("%s=%v", name, r.Given[name]))
	}
	cmd := program.Command(t, append(args, "--rng", "secure", "--release", "out.csv")...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "XDG_DATA_HOME="+home, "XDG_CACHE_HOME="+home,
		"XDG_CONFIG_HOME="+home)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, stderr.String())
	}
	if strings.Contains(stdout.String(), "the noise exceeds lambda") {
		return released(t, r, second) // a lambda that is raised, which the noisy sums decide with the probability rho
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// The key of a release is the digest of a random text, too.
	keys := regexp.MustCompile(`"key":\s*"[0-9a-f]{64}"`)
	plain := func(b []byte) []byte { return keys.ReplaceAll(b, []byte(`"key":"..."`)) }
	revision := regexp.MustCompile(`"revision":\s*"[0-9a-f]+(-dirty)?"`)
	digest := sha256.Sum256([]byte(content))
	return audit.Whole{
		Parts: []audit.Part{
			{Name: "FILE", Bytes: read("out.csv"), Noisy: r.Table},
			{Name: "FILE.json", Bytes: plain(read("out.csv.json")), Noisy: r.Described, Digest: revision},
			{Name: "record", Bytes: plain(unsealed(t, stdout.Bytes())), Noisy: r.Record, Digest: revision},
			{Name: "stderr", Bytes: bytes.ReplaceAll(stderr.Bytes(), []byte(home), []byte("HOME"))},
		},
		Private: []string{folder, r.File, hex.EncodeToString(digest[:])},
	}
}

// Two files with other rows, digits, columns and places give releases that differ in
// noisy numbers alone, from the first byte of the file to the last message. Planted
// differences are found.
func TestReleasesOfNeighboursDifferInNoiseAlone(t *testing.T) {
	tier.Gate(t, "it writes forty releases")
	t.Parallel()
	for _, e := range audit.All() {
		s, err := e.New(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := s.Pairs[0].Release
		if r == nil || r.Set != "" || strings.Contains(e.Name, "newton") {
			continue // a data set has the digest of its publisher
		}
		t.Run(e.Name, func(t *testing.T) {
			var wholes [2][]audit.Whole
			for range 2 {
				for side := range wholes {
					wholes[side] = append(wholes[side], released(t, r, side == 1))
				}
			}
			for _, c := range []struct {
				name, want string
				plant      func(w *audit.Whole, second bool)
			}{
				{"honest", "", func(*audit.Whole, bool) {}},
				{"path", "FILE.json holds a path", func(w *audit.Whole, _ bool) {
					w.Parts[1].Bytes = bytes.Replace(w.Parts[1].Bytes, []byte(`"csv"`), []byte(`"csv:/home/user/data.csv"`), 1)
				}},
				{"name of the file", "record holds something private", func(w *audit.Whole, _ bool) {
					w.Parts[2].Bytes = append(w.Parts[2].Bytes, "data.csv\n"...)
				}},
				{"digest of the file", "record holds a digest", func(w *audit.Whole, _ bool) {
					w.Parts[2].Bytes = append(w.Parts[2].Bytes, `"datasets":"`+w.Private[2]+`"`...)
				}},
				{"size of the data", "FILE has ", func(w *audit.Whole, second bool) {
					if second {
						w.Parts[0].Bytes = append(w.Parts[0].Bytes, "\n"...)
					}
				}},
				{"a count", "stderr, line 1, is", func(w *audit.Whole, second bool) {
					if second {
						w.Parts[3].Bytes = append([]byte("1 value was clipped; "), w.Parts[3].Bytes...)
					}
				}},
			} {
				made := [2]int{}
				pair := audit.Pair{Whole: func(second bool, _ *rand.ChaCha8) (audit.Whole, error) {
					side := 0
					if second {
						side = 1
					}
					w := wholes[side][made[side]%len(wholes[side])]
					made[side]++
					w.Parts = slices.Clone(w.Parts)
					for i := range w.Parts {
						w.Parts[i].Bytes = slices.Clone(w.Parts[i].Bytes)
					}
					c.plant(&w, second)
					return w, nil
				}}
				found, err := audit.TestWhole(pair, func(bool, int) *rand.ChaCha8 { return nil })
				text := strings.Join(found, "; ")
				if err != nil || (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
					t.Errorf("%s: found %q (%v), want %q", c.name, text, err, c.want)
				}
			}
		})
	}
}
