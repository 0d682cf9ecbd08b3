package gorgonia_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"runtime/debug"
	"sync"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	_ "privkern/graphs/cuda"
	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// besides are the engine and the file of verdicts of this process.
var besides struct {
	sync.Mutex
	engine *engine.Engine
	file   *os.File
}

func init() {
	path := os.Getenv("PRIVKERN_BESIDE")
	if path == "" {
		return
	}
	backend := os.Getenv("PRIVKERN_TEST_BACKEND")
	if backend == "" {
		backend = "cpu"
	}
	var err error
	if besides.engine, err = engine.Open(backend, "float64", 1); err != nil {
		panic(err)
	}
	if besides.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		panic(err)
	}
	gorgonia.BeforeRun = compute
}

var running = regexp.MustCompile(`gorgonia(?:_test)?\.((?:Test|Example|Benchmark|test)[A-Z_]\w*)`)

// say appends a verdict.
func say(verdict, detail string) {
	test := "?"
	if found := running.FindSubmatch(debug.Stack()); found != nil {
		test = string(found[1])
	}
	line, _ := json.Marshal(map[string]string{"Verdict": verdict, "Test": test, "Detail": detail})
	besides.Lock()
	defer besides.Unlock()
	besides.file.Write(append(line, '\n'))
}

// compute runs a graph on the engine, and compares with the values of gorgonia's machine.
func compute(g *gorgonia.ExprGraph, eval bool) func(error) {
	var options []engine.MachineOption
	if eval {
		options = append(options, engine.EvalMode())
	}
	defer keepStats(g)()
	var values map[*gorgonia.Node]gorgonia.Value
	vm, err := engine.FromGraph(g, besides.engine, options...)
	if err == nil {
		values, err = vm.Compute(context.Background())
		vm.Close()
	}
	return func(theirs error) {
		switch {
		case err != nil && theirs != nil:
			say("both fail", err.Error())
		case err != nil:
			say("refused", err.Error())
		case theirs != nil:
			say("only the engine runs", theirs.Error())
		case draws(g):
			say("draws", "")
		default:
			say(compare(values))
		}
	}
}

// keepStats returns a function that gives normalisations of batches their running means back, which a run changes.
func keepStats(g *gorgonia.ExprGraph) (restore func()) {
	kept := map[*gorgonia.BatchNormOp][2]tensor.Tensor{}
	for _, n := range g.AllNodes() {
		if o, ok := n.Op().(*gorgonia.BatchNormOp); ok {
			mean, variance := o.Stats()
			kept[o] = [2]tensor.Tensor{mean.Clone().(tensor.Tensor), variance.Clone().(tensor.Tensor)}
		}
	}
	return func() {
		for o, stats := range kept {
			if err := o.SetStats(stats[0], stats[1]); err != nil {
				panic(err)
			}
		}
	}
}

func draws(g *gorgonia.ExprGraph) bool { // without generics, which the module's version of Go lacks
	for _, n := range g.AllNodes() {
		if op.Draws(n.Op()) {
			return true
		}
	}
	return false
}

// compare returns the verdict on all values of a graph, and the first difference.
func compare(values map[*gorgonia.Node]gorgonia.Value) (verdict, detail string) {
	verdict = "nothing to compare"
	for n, got := range values {
		want := n.Value()
		if want == nil || n.Op() == nil {
			continue
		}
		a, err := engine.Floats(got)
		if err != nil { // whole numbers and truth values
			a, b := engine.Data(op.RowMajor(got)), engine.Data(op.RowMajor(want))
			if verdict = "same"; !reflect.DeepEqual(a, b) {
				return "different", fmt.Sprintf("%v is %v, gorgonia's %v", n.Op(), a, b)
			}
			continue
		}
		b, err := engine.Floats(want)
		if err != nil || len(a) != len(b) {
			return "different", fmt.Sprintf("%v is %v, gorgonia's %v", n.Op(), a, want)
		}
		tolerance := 1e-11
		if n.Dtype() == tensor.Float32 {
			tolerance = 2e-5
		}
		for i := range a {
			same := a[i] == b[i] || math.IsNaN(a[i]) && math.IsNaN(b[i])
			if !same && !(math.Abs(a[i]-b[i]) <= tolerance*(1+math.Abs(b[i]))) {
				return "different", fmt.Sprintf("%v [%d] is %v, gorgonia's %v", n.Op(), i, a[i], b[i])
			}
		}
		verdict = "same"
	}
	return verdict, ""
}
