package multikernel

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

// The kernels of the two experiments on HAR (Section IV-B2) and on MHEALTH
// (Section IV-B1).
var (
	harKernels     = []string{"rbf:0.01+rbf:0.001+rbf:0.0001+rbf:0.00001", "linear+rbf:0.001+laplacian:0.001+sigmoid:0.001:1"}
	mhealthKernels = []string{"rbf:0.01+rbf:0.03+rbf:0.0005", "polynomial:1:3:1+rbf:0.01+laplacian:0.1"}
)

const methodSingle = "single:"

// classificationParams are the parameters of the experiments in which
// activities and people are recognised.
func classificationParams(kernels []string, datasets ...string) []experiment.Param {
	params := []experiment.Param{
		choice("dataset", datasets[0], "data set", datasets...),
		count("experiment", 1, 1, len(kernels), fmt.Sprintf("kernels: 1 for %s, 2 for %s", kernels[0], kernels[1])),
		{Name: "method", Kind: experiment.Text, Default: string(weightSNR),
			Doc: "weights of the kernels: uniform, alignment (with the utility labels), snr, upr (utility-to-privacy ratio), utility-privacy (Eq. 26), or single:KERNEL for one kernel of the experiment, such as single:rbf:0.001 or, where there is one of its kind, single:linear"},
		experiment.Param{Name: "rho_snr", Kind: experiment.Number, Default: .1, Min: experiment.Bound(0), Doc: "ridge term of snr (Eq. 20) and upr (Eq. 23)"}.
			Where(experiment.Is("method", string(weightSNR), string(weightUPR))),
	}
	params = append(params, compressionParams(5, "five tell six activities apart")...)
	return append(params,
		choice("split", splitLast, "test windows of each person and activity: the last in time, or drawn at random, which leaks where windows overlap", splitLast, splitRandom),
		experiment.Param{Name: "c", Kind: experiment.Number, Default: 100.0, Words: []string{"cv"}, Min: experiment.Bound(0), OpenMin: true, Doc: "C of the support vector machine, or cv for cross-validation on the training samples"},
		experiment.Param{Name: "standardise", Kind: experiment.Flag, Default: false, Doc: "scale every column to mean zero and variance one over the training samples"},
	)
}

// specOf returns what the parameters ask for.
func specOf(p experiment.Params, experiments []string) (Spec, error) {
	s := Spec{kernels: mustKernels(experiments[p.Int("experiment")-1]), scoreRidge: p.Float("rho_snr"), compression: compression(p)}
	method := p.Text("method")
	if name, ok := strings.CutPrefix(method, methodSingle); ok {
		k, err := pick(s.kernels, name)
		s.kernels, s.weights = []namedKernel{k}, weightUniform // of one kernel: 1
		return s, err
	}
	valid := []string{string(weightUniform), string(weightAlignment), string(weightSNR), string(weightUPR), string(weightUtilityPrivacy)}
	for _, v := range valid {
		if v == method {
			s.weights = weighting(v)
			return s, nil
		}
	}
	for _, k := range s.kernels {
		valid = append(valid, methodSingle+k.text)
	}
	return s, experiment.Unknown("method", method, valid)
}

// pick finds a kernel by its text or, where it is the only one, by its family.
func pick(kernels []namedKernel, name string) (namedKernel, error) {
	var of []namedKernel
	var valid []string
	for _, k := range kernels {
		if k.text == name {
			return k, nil
		}
		if k.family == name {
			of = append(of, k)
		}
		valid = append(valid, k.text)
	}
	if len(of) == 1 {
		return of[0], nil
	}
	if len(of) > 1 {
		return namedKernel{}, fmt.Errorf("single:%s: the experiment has %d kernels of this kind; give one of %s", name, len(of), strings.Join(valid, ", "))
	}
	if k, err := parseKernel(name); err == nil { // another way to write a number
		for _, o := range kernels {
			if o.kernel.String() == k.kernel.String() {
				return o, nil
			}
		}
	}
	return namedKernel{}, fmt.Errorf("method single: %w", experiment.Unknown("kernel of this experiment", name, valid))
}

// featureMetrics are the metrics that do not need a classifier.
func featureMetrics(s Spec, f *Features) map[string]float64 {
	m := map[string]float64{"rank": float64(f.Rank)}
	for l, name := range metricNames(s.kernels) {
		m["weight_"+name] = f.Weights[l]
		if f.Scores != nil {
			m[string(s.weights)+"_"+name] = f.Scores[l]
		}
	}
	return m
}

// standardise scales the columns of the training samples to mean zero and
// (population) variance one, in place, and those of the test samples alike. A
// constant column becomes zero.
func standardise(train, test *mat.Dense) {
	n, columns := train.Dims()
	for j := range columns {
		mean, square := 0.0, 0.0
		for i := range n {
			mean += train.At(i, j)
		}
		mean /= float64(n)
		for i := range n {
			d := train.At(i, j) - mean
			square += d * d
		}
		scale := 0.0
		if deviation := math.Sqrt(square / float64(n)); deviation > 1e-12*math.Abs(mean) {
			scale = 1 / deviation
		}
		for _, a := range []*mat.Dense{train, test} {
			rows, _ := a.Dims()
			for i := range rows {
				a.Set(i, j, scale*(a.At(i, j)-mean))
			}
		}
	}
}
