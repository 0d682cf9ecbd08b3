//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/internal/corpus"
	"privkern/graphs/kernels"
	"privkern/graphs/op"
)

// planner is a device on which programs are planned and never run.
type planner struct{ chains map[string]*kernels.Chain } // by source

func (p planner) Alloc(int) (engine.Buf, error)                              { return 0, nil }
func (p planner) Free(engine.Buf)                                            {}
func (p planner) Upload(engine.DTensor, gorgonia.Value) error                { return nil }
func (p planner) Download(engine.DTensor) (gorgonia.Value, error)            { return nil, nil }
func (p planner) Launch(gorgonia.Op, engine.DTensor, []engine.DTensor) error { return nil }
func (p planner) Sync() error                                                { return nil }
func (p planner) Detach() (engine.Tail, error)                               { return nil, nil }
func (p planner) After(engine.Tail) error                                    { return nil }
func (p planner) Take(t engine.DTensor) (engine.Buf, error)                  { return t.Buf, nil }
func (p planner) Lend(kept, _ engine.DTensor) (engine.Buf, error)            { return kept.Buf, nil }
func (p planner) FusedWords() int                                            { return kernels.MaxWords }
func (p planner) Fuse(c *kernels.Chain, _ tensor.Dtype) (engine.Fused, error) {
	source, err := c.Source()
	p.chains[source] = c
	return nil, err
}

// chainsOf are the chains of the corpus, of the cases of gorgonia's operations, and of random
// graphs, by their sources.
func chainsOf(t *testing.T, dtype tensor.Dtype) map[string]*kernels.Chain {
	t.Helper()
	p := planner{map[string]*kernels.Chain{}}
	plan := func(program engine.Program) {
		g, err := engine.Build(program, dtype)
		if err != nil {
			t.Fatal(err)
		}
		x, err := engine.NewExecutor(g, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		x.Close()
	}
	for _, g := range corpus.All() {
		if g.Fault().Stage != corpus.Building {
			plan(g.Program())
		}
	}
	for _, c := range op.BuiltinCases() {
		plan(program(c))
	}
	for seed := range uint64(12) {
		plan(engine.Program{Name: "random", Key: fmt.Sprint(seed), Build: func(b *engine.Builder) {
			randomGraph(rand.New(rand.NewPCG(seed, 5)), b, seed == 0)
		}})
	}
	return p.chains
}

var (
	// Operations that the driver may contract: sums and products without an explicit rounding.
	unrounded = regexp.MustCompile(`\b(add|sub|mul)\.f(32|64)\b`)
	fma       = regexp.MustCompile(`\bfma\.rn\.f(32|64)\b`)
)

// The kernels of all chains compile with NVRTC, and nothing in them is contracted: no sum
// or product is left to the driver, and chains of functions that have no fused
// multiply-add of their own have none, though the compiler would make some. (It repeats
// and shares pieces of exp and its like, so that theirs cannot be counted.)
func TestFusedKernelsCompile(t *testing.T) {
	nvrtc := installedCompiler(t)
	supported, err := nvrtc.architectures()
	if err != nil {
		t.Fatal(err)
	}
	arch := fmt.Sprintf("--gpu-architecture=compute_%d", max(minimum, slices.Min(supported)))
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		t.Run(dtype.String(), func(t *testing.T) {
			translate := func(source string, err error, unit kernels.Unit) string {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
				image, err := nvrtc.compile(source, append(compileOptions(part{unit, dtype}), arch), false)
				if err != nil {
					t.Fatal(err)
				}
				return string(image)
			}
			compile := func(c *kernels.Chain, unit kernels.Unit) string {
				t.Helper()
				source, err := c.Source()
				return translate(source, err, unit)
			}
			known := map[string]bool{}
			fuses := func(s kernels.Step) bool { // by itself
				if _, ok := known[s.Function]; !ok {
					alone := kernels.Step{Element: s.Element, From: make([]int, len(s.Operands))}
					for i := range alone.From {
						alone.From[i] = -1 - i
					}
					c := &kernels.Chain{Steps: []kernels.Step{alone}, Inputs: len(alone.From), Out: []int{0}, N: 1}
					known[s.Function] = fma.MatchString(compile(c, kernels.Elements))
				}
				return known[s.Function]
			}
			chains := chainsOf(t, dtype)
			arithmetic, contracted := 0, 0
			for _, source := range slices.Sorted(maps.Keys(chains)) {
				c := chains[source]
				own := false
				for _, s := range c.Steps {
					own = fuses(s) || own
				}
				ptx := compile(c, kernels.Elements)
				if found := unrounded.FindString(ptx); found != "" {
					t.Errorf("%s in the kernel of %s", found, functions(c))
				}
				if own {
					continue
				}
				arithmetic++
				if fma.MatchString(ptx) {
					t.Errorf("fused multiply-adds in the kernel of %s", functions(c))
				}
				// The same with the options of the other kernels.
				if contracted < 5 && strings.Contains(functions(c), "multiply, add") &&
					fma.MatchString(compile(c, "sums")) {
					contracted++
				}
			}
			for _, k := range kernels.Of(kernels.Elements) {
				name, _ := kernels.Pack(k)
				if _, ok := known[name]; !ok {
					t.Errorf("no chain contains %s", name)
				}
			}
			t.Logf("%d chains, %d of them without fused multiply-adds", len(chains), arithmetic)
			if len(chains) < 250 || arithmetic < 100 || contracted < 5 {
				t.Errorf("%d chains, %d without fused multiply-adds, %d of which the compiler would contract", len(chains),
					arithmetic, contracted)
			}
			source, err := kernels.Source(kernels.Elements)
			if found := unrounded.FindString(translate(source, err, kernels.Elements)); found != "" {
				t.Errorf("%s in the kernels of single functions", found)
			}
		})
	}
}

// functions are those of a chain, in order.
func functions(c *kernels.Chain) string {
	names := make([]string, len(c.Steps))
	for i, s := range c.Steps {
		names[i] = s.Function
	}
	return strings.Join(names, ", ")
}
