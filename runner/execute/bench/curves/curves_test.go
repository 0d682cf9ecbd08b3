package curves

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test binary is the process that is measured where a variable names its part.
func TestMain(m *testing.M) {
	switch os.Getenv("CURVES_PART") {
	case "done":
		os.Exit(0)
	case "refuse":
		fmt.Fprintln(os.Stderr, "progress\nrun: own/method rows=9 failed: too many rows; use fewer")
		os.Exit(3)
	case "panic":
		panic("a defect")
	case "wait":
		time.Sleep(time.Minute)
	case "start":
		fmt.Println("no number")
	}
	os.Exit(m.Run())
}

// process is a subject of which each size takes a part.
func process(name string, part func(Size) string) Subject {
	return Subject{Name: name, Inner: "trees", Command: func(ctx context.Context, s Size) (*exec.Cmd, error) {
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run", "^$")
		cmd.Env = append(os.Environ(), "CURVES_PART="+part(s))
		return cmd, nil
	}}
}

func open(t *testing.T, path string) *Log {
	t.Helper()
	l, err := OpenLog(path, "r1")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestFitFindsLaws(t *testing.T) {
	x := []float64{100, 200, 500, 1000, 2000, 5000, 10_000}
	for _, c := range []struct {
		name                   string
		fixed, scale, exponent float64 // scale at 1
		n                      int     // of x
		flat                   bool
	}{
		{"linear", .03, 1e-5, 1, 7, false},
		{"cubic over a start", .04, 1e-9, 3, 5, false},
		{"no fixed cost", 0, 1e-4, 1.5, 7, false},
		{"three points", .1, 1e-4, 2, 3, false},
		{"constant", .05, 0, 1, 7, true},
		{"a tenth grows", 1, 1e-5, 1, 7, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var cost []float64
			for _, v := range x[:c.n] {
				cost = append(cost, c.fixed+c.scale*math.Pow(v, c.exponent))
			}
			l, ok := Fit(x[:c.n], cost)
			switch {
			case !ok:
				t.Fatal("no law")
			case c.flat != l.Flat():
				t.Errorf("flat is %v: %+v", l.Flat(), l)
			case !c.flat && math.Abs(l.Exponent-c.exponent) > .02:
				t.Errorf("the exponent is %.3f in place of %.3f", l.Exponent, c.exponent)
			case !c.flat && math.Abs((l.Fixed+l.Grown(x[0]))/cost[0]-1) > .02:
				t.Errorf("the cost at the start is %.4g in place of %.4g", (l.Fixed + l.Grown(x[0])), cost[0])
			}
			if determined := c.n > 3 || c.fixed == 0; !c.flat && (l.Error < 0) == determined {
				t.Errorf("the error is %v of %d points", l.Error, c.n)
			}
		})
	}
	if _, ok := Fit(x[:2], []float64{1, 2}); ok {
		t.Error("two points have a law")
	}
}

// The region of the exponent holds the true one in about 95 % of noisy data.
func TestFitErrorCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := []float64{100, 200, 500, 1000, 2000, 5000, 10_000, 20_000}
	const runs = 300
	inside := 0
	for range runs {
		var cost []float64
		for _, v := range x {
			cost = append(cost, (.02+2e-5*math.Pow(v, 1.2))*math.Exp(.08*rng.NormFloat64()))
		}
		if l, _ := Fit(x, cost); math.Abs(l.Exponent-1.2) <= l.Error {
			inside++
		}
	}
	if share := float64(inside) / runs; share < .88 || share > .995 {
		t.Errorf("the region holds the exponent in %.1f %%", 100*share)
	}
}

func TestRunKeepsAndGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.csv")
	calls := 0
	s := process("own/method", func(s Size) string {
		calls++
		if s.Rows > 500 {
			return "refuse"
		}
		return "done"
	})
	o := Options{Limit: time.Hour, Quick: true, Say: func(string, ...any) {}}
	l := open(t, path)
	if err := Run(t.Context(), []Subject{s}, l, o); err != nil {
		t.Fatal(err)
	}
	// Three sizes of rows and one refused; of inputs and trees four each.
	if n := len(l.Points); n != calls || n != 4+4+4 {
		t.Errorf("%d points of %d calls", n, calls)
	}
	p, found := l.find("own/method", Rows, Size{Rows: 1000, Inputs: Usual})
	if !found || p.Stopped != "too many rows; use fewer" {
		t.Errorf("refused: %+v", p)
	}
	for _, p := range l.Points {
		if p.Stopped == "" && (p.CPU <= 0 || p.Peak < 1<<20) {
			t.Errorf("%+v", p)
		}
	}
	before := calls
	again := open(t, path)
	if err := Run(t.Context(), []Subject{s}, again, o); err != nil || calls != before {
		t.Errorf("%d sizes were measured twice: %v", calls-before, err)
	}
	if string(again.CSV()) != string(l.CSV()) {
		t.Error("what was kept is not what was measured")
	}
}

func TestRunEnds(t *testing.T) {
	o := Options{Limit: time.Hour, Quick: true, Say: func(string, ...any) {}}
	t.Run("with its context, and keeps what is measured", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := process("own/method", func(s Size) string {
			if s.Rows == 100 {
				return "done"
			}
			cancel()
			return "wait"
		})
		l := open(t, filepath.Join(t.TempDir(), "m.csv"))
		if err := Run(ctx, []Subject{s}, l, o); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if n := len(open(t, l.Path).Points); n != 1 {
			t.Errorf("%d points are kept", n)
		}
	})
	t.Run("at a panic, which is no refusal", func(t *testing.T) {
		s := process("own/method", func(Size) string { return "panic" })
		err := Run(t.Context(), []Subject{s}, open(t, filepath.Join(t.TempDir(), "m.csv")), o)
		if err == nil || !strings.Contains(err.Error(), "a defect") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("at a peer that does not print its start", func(t *testing.T) {
		s := process("peer", func(Size) string { return "start" })
		s.Peer = true
		err := Run(t.Context(), []Subject{s}, open(t, filepath.Join(t.TempDir(), "m.csv")), o)
		if err == nil || !strings.Contains(err.Error(), "the time of its start") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("where a size would exceed the limit", func(t *testing.T) {
		l := open(t, filepath.Join(t.TempDir(), "m.csv"))
		for i, cpu := range []float64{3, 6, 9} { // linear: 15 s follow at 500
			if err := l.append(Point{Subject: "own/method", Axis: Rows,
				Size: Size{Rows: 100 * (i + 1), Inputs: Usual}, CPU: cpu}); err != nil {
				t.Fatal(err)
			}
		}
		s := process("own/method", func(s Size) string {
			if s.Rows > 300 {
				t.Errorf("%v is measured", s)
			}
			return "done"
		})
		o.Limit = 50 * time.Second
		if err := Run(t.Context(), []Subject{s}, l, o); err != nil {
			t.Error(err)
		}
	})
}

// A method whose cost grows fast is tried once more, and where it goes about more rows in another way, the law is that
// of these.
func TestRunFindsAnotherRegime(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "m.csv"))
	for i, cpu := range []float64{1, 4, 25} { // quadratic: 100 s follow at 1,000
		if err := l.append(Point{Subject: "own/method", Axis: Rows, Size: Size{Rows: 100 * []int{1, 2, 5}[i], Inputs: Usual},
			CPU: cpu, Peak: 1e9}); err != nil {
			t.Fatal(err)
		}
	}
	s := process("own/method", func(s Size) string {
		return map[bool]string{true: "refuse", false: "done"}[s.Rows > 10_000]
	})
	s.Inner = ""
	o := Options{Limit: time.Minute, Say: func(string, ...any) {}}
	if err := Run(t.Context(), []Subject{s}, l, o); err != nil {
		t.Fatal(err)
	}
	costs := FitAll(l, "a processor", "r1")
	law := costs.Laws["own/method"][Time][Rows]
	if law.From < 1000 || law.To != 10_000 || law.Refused != 20_000 {
		t.Errorf("%+v", law)
	}
	if got := costs.Tell("own/method"); !strings.Contains(got, "10,000 rows × 10: about 0.0") ||
		!strings.HasSuffix(got, "; 20,000 rows are refused") {
		t.Errorf("told %q", got)
	}
}

func TestLogDropsWhatItCannotTrust(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.csv")
	whole := open(t, path)
	for i := range 3 {
		p := Point{Subject: `a "method", with commas`, Axis: Rows, Size: Size{Rows: i + 1, Inputs: 1}, CPU: 1, Peak: 2}
		if err := whole.append(p); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(raw), "r1", "r2", 1)
	for _, c := range []struct {
		name, content   string
		points, leftOut int
	}{
		{"whole", string(raw), 3, 0},
		{"torn", string(raw[:len(raw)-3]), 2, 1},
		{"not a number", strings.Replace(string(raw), ",1,2,", ",NaN,2,", 1), 2, 1},
		{"unknown axis", strings.Replace(string(raw), ",rows,1", ",columns,1", 1), 2, 1},
		{"another revision", other, 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			l := open(t, path)
			if len(l.Points) != c.points || l.LeftOut != c.leftOut {
				t.Errorf("%d points, %d left out", len(l.Points), l.LeftOut)
			}
			if err := l.append(Point{Subject: "b", Axis: Rows, Size: Size{Rows: 9, Inputs: 1}, CPU: 1}); err != nil {
				t.Fatal(err)
			}
			if n := len(open(t, path).Points); n != c.points+1 {
				t.Errorf("%d points after one more", n)
			}
		})
	}
	if err := os.WriteFile(path, []byte("age,dose\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLog(path, "r1"); err == nil || !strings.Contains(err.Error(), "no file of measurements") {
		t.Errorf("error %v", err)
	}
}

// grown are measurements of a method that takes 2 s at 1,000 rows, linear in rows and quadratic in inputs.
func grown() *Log {
	out := &Log{}
	for _, n := range []int{100, 200, 500, 1000, 2000} {
		out.Points = append(out.Points, Point{Subject: "own/method", Axis: Rows, Size: Size{Rows: n, Inputs: Usual},
			CPU: .1 + .0019*float64(n), Peak: 1e8 + int64(n)*1e6})
	}
	for _, d := range []int{1, 2, 5, 20, 50} {
		out.Points = append(out.Points, Point{Subject: "own/method", Axis: Inputs, Size: Size{Rows: 1000, Inputs: d},
			CPU: .1 + 1.9*float64(d*d)/(Usual*Usual), Peak: 1e8})
	}
	out.Points = append(out.Points, Point{Subject: "own/method", Axis: Rows, Size: Size{Rows: 50_000, Inputs: Usual},
		Stopped: "too many rows"})
	return out
}

func TestCostsPredict(t *testing.T) {
	c := FitAll(grown(), "a processor", "r1")
	raw, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		size   Size
		cost   float64
		beyond bool
	}{
		{Size{Rows: 1000, Inputs: 10}, 2, false},
		{Size{Rows: 2000, Inputs: 20}, .1 + 3.8*4, false},
		{Size{Rows: 10_000, Inputs: 10}, 19.1, true},
		{Size{Rows: 1000, Inputs: 100}, 190.1, true},
	} {
		p, ok := read.Predict("own/method", Time, r.size)
		if !ok || p.Beyond != r.beyond || p.Rough || math.Abs(p.Cost/r.cost-1) > .05 {
			t.Errorf("%v: %+v in place of %.4g, %v", r.size, p, r.cost, r.beyond)
		}
	}
	uncertain := FitAll(&Log{Points: grown().Points[:3]}, "a processor", "r1")
	p, ok := uncertain.Predict("own/method", Time, Size{Rows: 5000, Inputs: 10})
	if !ok || !p.Rough || p.Cost < 9 || p.Cost > 10 { // ten times the growing part at 500
		t.Errorf("of three sizes: %+v", p)
	}
	if _, ok := read.Predict("own/other", Time, Size{Rows: 1, Inputs: 1}); ok {
		t.Error("an unknown method has a cost")
	}
	for _, s := range []Size{{Rows: 20_001, Inputs: 10}, {Rows: 50_000, Inputs: 10}, {Rows: 1000, Inputs: 501}} {
		for _, q := range []Quantity{Time, Memory} {
			if p, ok := read.Predict("own/method", q, s); ok {
				t.Errorf("%v, refused or out of reach: %+v", s, p)
			}
		}
	}
	const want = "1,000 rows × 10: about 2 s and about 1.1 GB; 10,000 rows × 10: about 19 s and about 10.1 GB (beyond " +
		"the 2,000 rows that were measured); 50,000 rows are refused"
	if got := read.Tell("own/method"); got != want {
		t.Errorf("told %q", got)
	}
}

// The laws that the program holds are whole, and no other file is taken for them.
func TestParseRefusesOtherFiles(t *testing.T) {
	costs, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	again, err := costs.Encode()
	if err != nil || !bytes.Equal(again, embedded) {
		t.Errorf("costs.json is not written as laws are, a line each: %v", err)
	}
	raw, err := FitAll(grown(), "a processor", "r1").Encode()
	if err != nil {
		t.Fatal(err)
	}
	for n := range raw {
		if _, err := Parse(raw[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes are taken", n, len(raw))
		}
	}
	for name, other := range map[string]string{
		"two":             string(raw) + string(raw),
		"another version": strings.Replace(string(raw), schema, "privkern/costs/2", 1),
		"another field":   strings.Replace(string(raw), `"machine"`, `"engine"`, 1),
		"no law":          strings.Replace(string(raw), `"fixed":`, `"fixed":-`, 1),
		"empty object":    "{}\n",
	} {
		if _, err := Parse([]byte(other)); err == nil || other == string(raw) {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestPage(t *testing.T) {
	p := &Page{Subjects: []Subject{{Name: "own/method", Family: "own"}}, Log: grown(), Limit: "20 s", Peers: "none",
		Costs: FitAll(grown(), "a processor", "r1")}
	text := string(p.Markdown())
	for _, want := range []string{"| own/method | 0.1 s | 2 s | (about 19 s) | – | 1.00±0.1", "![curves](scaling.svg)",
		"- own/method: 50,000 × 10: too many rows", "Peers: none."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	panels := p.Panels()
	if len(panels) != 3 || !strings.HasPrefix(panels[0].Lines[0].Name, "method 1.00±") || !panels[0].LogX {
		t.Errorf("%+v", panels)
	}
}
