package engine_test

import (
	"errors"
	"fmt"
	"log"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// wave fills a tensor with numbers that look irregular and are the same everywhere.
func wave(phase float64) gorgonia.InitWFn {
	return func(_ tensor.Dtype, shape ...int) any {
		data := make([]float64, tensor.Shape(shape).TotalSize())
		for i := range data {
			data[i] = 0.4 * math.Sin(phase+2.7*float64(i)+0.3*float64(i*i%11))
		}
		return data
	}
}

// train takes steps of a solver on the machine of a graph, as with any of gorgonia's.
func train(vm gorgonia.VM, solver gorgonia.Solver, cost *gorgonia.Node, learnables gorgonia.Nodes, steps int) {
	defer func() { _ = vm.Close() }()
	for step := range steps {
		if err := vm.RunAll(); err != nil {
			log.Fatal(err)
		}
		if step == 0 || step == steps-1 {
			fmt.Printf("cost in step %d: %.4f\n", step, cost.Value().Data())
		}
		if err := solver.Step(gorgonia.NodesToValueGrads(learnables)); err != nil {
			log.Fatal(err)
		}
		vm.Reset()
	}
}

// Logistic regression: the call of FromGraph stands where gorgonia's example calls
//
//	gorgonia.NewTapeMachine(g)
//
// A backend "cuda" in place of "cpu" trains on a GPU.
func ExampleFromGraph() {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = e.Close() }()

	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(4, 2), gorgonia.WithName("x"), gorgonia.WithValue(
		tensor.New(tensor.WithShape(4, 2), tensor.WithBacking([]float64{0, 0, 0, 1, 1, 0, 1, 1}))))
	y := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(4), gorgonia.WithName("y"), gorgonia.WithValue(
		tensor.New(tensor.WithShape(4), tensor.WithBacking([]float64{0, 0, 0, 1}))))
	w := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(2), gorgonia.WithName("w"),
		gorgonia.WithInit(gorgonia.Zeroes()))
	b := gorgonia.NewScalar(g, tensor.Float64, gorgonia.WithName("b"), gorgonia.WithValue(0.0))
	one := gorgonia.NewConstant(1.0)
	must := gorgonia.Must

	pred := must(gorgonia.Sigmoid(must(gorgonia.Add(must(gorgonia.Mul(x, w)), b))))
	hit := must(gorgonia.HadamardProd(y, must(gorgonia.Log(pred))))
	miss := must(gorgonia.HadamardProd(must(gorgonia.Sub(one, y)), must(gorgonia.Log(must(gorgonia.Sub(one, pred))))))
	cost := must(gorgonia.Neg(must(gorgonia.Mean(must(gorgonia.Add(hit, miss))))))
	var predicted gorgonia.Value
	gorgonia.Read(pred, &predicted)
	slopes, err := gorgonia.Grad(cost, w, b)
	if err != nil {
		log.Fatal(err)
	}
	rate := gorgonia.NewConstant(2.0)
	nextW := must(gorgonia.Sub(w, must(gorgonia.Mul(rate, slopes[0]))))
	nextB := must(gorgonia.Sub(b, must(gorgonia.Mul(rate, slopes[1]))))

	machine, err := engine.FromGraph(g, e)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = machine.Close() }()
	for range 300 {
		if err := errors.Join(machine.RunAll(), machine.Set(w, nextW), machine.Set(b, nextB)); err != nil {
			log.Fatal(err)
		}
		machine.Reset()
	}
	fmt.Printf("cost %.4f\n", cost.Value().Data())
	fmt.Printf("%.2f\n", predicted.Data())
	// Output:
	// cost 0.0290
	// [0.00 0.03 0.03 0.95]
}

// A convolution net with one layer. Its classes are a tensor constant.
func ExampleFromGraph_convolution() {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = e.Close() }()

	g := gorgonia.NewGraph()
	images := gorgonia.NewTensor(g, tensor.Float64, 4, gorgonia.WithShape(6, 1, 6, 6), gorgonia.WithName("images"),
		gorgonia.WithInit(wave(1)))
	classes := tensor.New(tensor.WithShape(6, 3), tensor.WithBacking([]float64{
		1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}))
	filters := gorgonia.NewTensor(g, tensor.Float64, 4, gorgonia.WithShape(4, 1, 3, 3), gorgonia.WithName("filters"),
		gorgonia.WithInit(wave(2)))
	weights := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(4*3*3, 3), gorgonia.WithName("weights"),
		gorgonia.WithInit(wave(3)))
	must := gorgonia.Must

	same, step := []int{1, 1}, []int{2, 2}
	layer := must(gorgonia.Rectify(must(gorgonia.Conv2d(images, filters, tensor.Shape{3, 3}, same, same, same))))
	pooled := must(gorgonia.MaxPool2D(layer, tensor.Shape{2, 2}, []int{0, 0}, step))
	flat := must(gorgonia.Reshape(pooled, tensor.Shape{6, 4 * 3 * 3}))
	out := must(gorgonia.SoftMax(must(gorgonia.Mul(flat, weights)), 1))
	hits := must(gorgonia.HadamardProd(must(gorgonia.Log(out)), gorgonia.NewConstant(classes)))
	cost := must(gorgonia.Neg(must(gorgonia.Mean(hits))))
	if _, err := gorgonia.Grad(cost, filters, weights); err != nil {
		log.Fatal(err)
	}

	learnables := gorgonia.Nodes{filters, weights}
	vm, err := engine.FromGraph(g, e, engine.BindDualValues(learnables...))
	if err != nil {
		log.Fatal(err)
	}
	train(vm, gorgonia.NewRMSPropSolver(gorgonia.WithLearnRate(0.01)), cost, learnables, 40)
	// Output:
	// cost in step 0: 0.3927
	// cost in step 39: 0.0039
}

// An LSTM that learns which letter follows: one cell, unrolled over a word.
func ExampleFromGraph_lstm() {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = e.Close() }()

	const word, letters, hidden = "abcbaa", 3, 4
	g := gorgonia.NewGraph()
	must := gorgonia.Must
	var learnables gorgonia.Nodes
	parameter := func(name string, rows, cols int) *gorgonia.Node {
		n := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(rows, cols), gorgonia.WithName(name),
			gorgonia.WithInit(wave(float64(len(learnables)))))
		learnables = append(learnables, n)
		return n
	}
	product := func(a, b *gorgonia.Node) *gorgonia.Node { return must(gorgonia.Mul(a, b)) }
	type gate struct{ input, state *gorgonia.Node }
	gates := map[string]gate{}
	for _, name := range []string{"in", "forget", "out", "cell"} {
		gates[name] = gate{parameter(name+" x", letters, hidden), parameter(name+" h", hidden, hidden)}
	}
	decoder := parameter("decoder", hidden, letters)
	letter := func(at int) *gorgonia.Node {
		row := make([]float64, letters)
		row[word[at]-'a'] = 1
		return gorgonia.NewConstant(tensor.New(tensor.WithShape(1, letters), tensor.WithBacking(row)))
	}

	state := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(1, hidden), gorgonia.WithName("state"),
		gorgonia.WithInit(gorgonia.Zeroes()))
	cell := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(1, hidden), gorgonia.WithName("memory"),
		gorgonia.WithInit(gorgonia.Zeroes()))
	var cost *gorgonia.Node
	for at := range len(word) - 1 {
		x := letter(at)
		act := func(name string, f func(*gorgonia.Node) (*gorgonia.Node, error)) *gorgonia.Node {
			return must(f(must(gorgonia.Add(product(x, gates[name].input), product(state, gates[name].state)))))
		}
		kept := must(gorgonia.HadamardProd(act("forget", gorgonia.Sigmoid), cell))
		written := must(gorgonia.HadamardProd(act("in", gorgonia.Sigmoid), act("cell", gorgonia.Tanh)))
		out := act("out", gorgonia.Sigmoid)
		cell = must(gorgonia.Add(kept, written))
		state = must(gorgonia.HadamardProd(out, must(gorgonia.Tanh(cell))))
		guess := must(gorgonia.SoftMax(product(state, decoder), 1))
		loss := must(gorgonia.Neg(must(gorgonia.Sum(must(gorgonia.HadamardProd(must(gorgonia.Log(guess)), letter(at+1)))))))
		if cost == nil {
			cost = loss
		} else {
			cost = must(gorgonia.Add(cost, loss))
		}
	}
	if _, err := gorgonia.Grad(cost, learnables...); err != nil {
		log.Fatal(err)
	}

	vm, err := engine.FromGraph(g, e, engine.BindDualValues(learnables...))
	if err != nil {
		log.Fatal(err)
	}
	train(vm, gorgonia.NewAdamSolver(gorgonia.WithLearnRate(0.05)), cost, learnables, 100)
	// Output:
	// cost in step 0: 5.4705
	// cost in step 99: 0.0149
}
