package cloaking

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

func openEngine(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := engine.Open("cpu", "float64", 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func column(values ...float64) *mat.Dense { return mat.NewDense(len(values), 1, values) }

// Cloaking matrices on the formula census, by numpy without grouping: norm, the
// entry (3, 10), and the sum of all entries.
func TestCloakingMatrices(t *testing.T) {
	e := openEngine(t)
	kung, err := dataset.LoadKung(writeCensus(t))
	if err != nil {
		t.Fatal(err)
	}
	age, both := inputsOf(kung, inputsAge), inputsOf(kung, inputsAgeWeight)
	var ages []float64
	for x := 0.0; x < 85; x += 7 {
		ages = append(ages, x)
	}
	diagonal := mat.NewDense(11, 2, nil) // (5, 0), (10, 5), …
	for i := range 11 {
		diagonal.SetRow(i, []float64{float64(5 * (i + 1)), float64(5 * i)})
	}
	kde := func(x *mat.Dense) *kdeFunction { return &kdeFunction{inputs: x, bandwidth: 6, rows: 160, largest: 100} }
	for _, c := range []struct {
		name               string
		m                  model
		train, test        *mat.Dense
		norm, entry, total float64
	}{
		{"standard", model{method: methodStandard}, age, column(ages...), 0.5109762086889102, 0.019230472284685773, 12.687535629521198},
		{"sparse", model{method: methodSparse, inducing: column(5, 20, 35, 50, 65)}, age, column(ages...), 0.47052412390421616, 0.01794538267043856, 12.23118065804412},
		{"nonstationary", model{method: methodNonstationary, lengthscales: kde(age)}, age, column(ages...), 0.36350125271202716, 0.00891197097982292, 13.241152768515503},
		{"standard 2d", model{method: methodStandard}, both, diagonal, 0.5743052362197322, 0.0030823864478551235, 9.683647945716821},
		{"nonstationary 2d", model{method: methodNonstationary, lengthscales: kde(both)}, both, diagonal, 0.43252716268809305, 0.004299951645392894, 11.178940818921832},
	} {
		c.m.lengthscale, c.m.kernelVariance, c.m.noiseVariance = 15, 1, 2
		matrix, err := c.m.matrix(e, c.train, c.test)
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.name+": norm", mat.Norm(matrix, 2), c.norm, 1e-11)
		near(t, c.name+": entry", matrix.At(3, 10), c.entry, 1e-11)
		near(t, c.name+": sum", mat.Sum(matrix), c.total, 1e-9)
	}
}

// With an inducing input at every training input FITC is the GP itself.
func TestSparseWithAllInputsIsExact(t *testing.T) {
	e := openEngine(t)
	x := column(0, 3, 7, 12, 20, 31)
	test := column(1, 10, 25)
	m := model{method: methodStandard, lengthscale: 4, kernelVariance: 2, noiseVariance: 0.5}
	exact, err := m.matrix(e, x, test)
	if err != nil {
		t.Fatal(err)
	}
	m.method, m.inducing = methodSparse, x
	sparse, err := m.matrix(e, x, test)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(exact, sparse, 1e-12) {
		t.Errorf("GP\n%v\nFITC\n%v", mat.Formatted(exact), mat.Formatted(sparse))
	}
}

// Rows with equal inputs have equal columns, whatever the order of the rows.
func TestEqualInputsHaveEqualColumns(t *testing.T) {
	e := openEngine(t)
	m := model{method: methodStandard, lengthscale: 4, kernelVariance: 1, noiseVariance: 0.5}
	c, err := m.matrix(e, column(3, 1, 3, 8, 1, 3), column(0, 5))
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]int{{0, 2}, {0, 5}, {1, 4}} {
		if a, b := mat.Col(nil, pair[0], c), mat.Col(nil, pair[1], c); !slices.Equal(a, b) {
			t.Errorf("columns %v: %v and %v", pair, a, b)
		}
	}
}

func TestSingularInducingInputs(t *testing.T) {
	e := openEngine(t)
	m := model{method: methodSparse, lengthscale: 4, kernelVariance: 1, noiseVariance: 0.5, inducing: column(2, 2)}
	if _, err := m.matrix(e, column(1, 2, 3), column(0)); err == nil || !strings.Contains(err.Error(), "use fewer of them") {
		t.Errorf("two equal inducing inputs: %v", err)
	}
}

func TestKDELengthscale(t *testing.T) {
	f := &kdeFunction{inputs: column(0, 0, 0, 0), bandwidth: 2, rows: 10, largest: 50}
	// Four rows at 0: density 4/(√(2π)·2) there, nothing far away.
	l := f.at(column(0, 1000))
	near(t, "lengthscale at the data", l.At(0, 0), 1/(1./50+4/(math.Sqrt(2*math.Pi)*2)/10), 1e-12)
	near(t, "lengthscale far away", l.At(1, 0), 50, 1e-12)
}

// One fold of the census, rows 0, 14, 28, … as test: lengthscale 15, noise
// variance 2; values of an independent implementation.
func TestCensusFold(t *testing.T) {
	folder := realCensus(t)
	p, err := regression().Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := loadCensus(folder, p)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "prior mean", data.prior, 134.605, 1e-3)
	near(t, "lower end of the interval", data.low, 58.2675, 1e-9)
	if data.clipped != 10 {
		t.Errorf("%d heights clipped, want 10", data.clipped)
	}
	var train, test []int
	for i := range data.output {
		if i%14 == 0 {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	e := openEngine(t)
	for _, c := range []struct {
		m          model
		norm, rmse float64
	}{
		{model{method: methodStandard}, 0.5724737059939129, 7.712772735758},
		{model{method: methodSparse, inducing: column(5, 20, 35, 50, 65)}, 0.5546271935139245, 9.035747669151},
	} {
		c.m.lengthscale, c.m.kernelVariance, c.m.noiseVariance = 15, 1, 2
		matrix, err := c.m.matrix(e, learn.SelectRows(data.inputs, train), learn.SelectRows(data.inputs, test))
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.m.method+": norm", mat.Norm(matrix, 2), c.norm, 1e-12)
		square := 0.0
		for i, f := range data.predict(matrix, train) {
			miss := f - data.output[test[i]]
			square += miss * miss
		}
		near(t, c.m.method+": rmse", math.Sqrt(square/float64(len(test))), c.rmse, 1e-9)
		// A trial shows the same.
		r := runTrial(t, setup{folder: folder}, regression(), map[string]any{
			"fold_scheme": "interleaved", "epsilon": "inf", "lengthscale": 15, "noise_variance": 2, "method": c.m.method, "inducing": "[5,20,35,50,65]",
		})
		near(t, c.m.method+": rmse of fold 0", r.Series["folds"]["rmse_cm"][0], c.rmse, 1e-9)
	}
}

func TestNormalisation(t *testing.T) {
	kung := &dataset.Kung{Height: []float64{50, 100, 120, 190}, Weight: make([]float64, 4), Age: []float64{1, 2, 3, 4}}
	for _, c := range []struct {
		normalisation string
		low, prior    float64
		clipped       int
	}{
		{"as-published", 70, 115, 2}, // midpoint 120; mean of 70, 100, 120, 170
		{"public", 60, 110, 2},       // interval [60, 160]
	} {
		data := censusOf(kung, experiment.Params{"inputs": inputsAge, "sensitivity_cm": 100.0, "normalisation": c.normalisation, "public_low_cm": 60.0})
		if data.low != c.low || data.high != c.low+100 || data.prior != c.prior || data.clipped != c.clipped {
			t.Errorf("%s: interval from %g, prior %g, %d clipped; want %+v", c.normalisation, data.low, data.prior, data.clipped, c)
		}
	}
}
