package recognise

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/experiments/multikernel/kernellist"
	"privkern/runner/experiment"
)

// The kernels of the two experiments on HAR (Section IV-B2) and on MHEALTH
// (Section IV-B1).
var (
	harKernels = []string{"rbf:0.01+rbf:0.001+rbf:0.0001+rbf:0.00001",
		"linear+rbf:0.001+laplacian:0.001+sigmoid:0.001:1"}
	mhealthKernels = []string{"rbf:0.01+rbf:0.03+rbf:0.0005", "polynomial:1:3:1+rbf:0.01+laplacian:0.1"}
)

const methodSingle = "single:"

// spec returns the features that the settings ask for, of one of the experiments'
// lists of kernels.
func (r *Recognition) spec(list string) (Spec, error) {
	s, err := NewSpec(kernellist.Must(list), r.Method, r.RhoSNR)
	s.compression = r.options()
	return s, err
}

// NewSpec returns the combination of kernels that the settings method and rho_snr ask for.
func NewSpec(kernels []kernellist.Kernel, method string, scoreRidge float64) (Spec, error) {
	s := Spec{Kernels: kernels, scoreRidge: scoreRidge}
	if name, ok := strings.CutPrefix(method, methodSingle); ok {
		k, err := pick(s.Kernels, name)
		s.Kernels, s.weights = []kernellist.Kernel{k}, weightUniform // of one kernel: 1
		return s, err
	}
	valid := []string{string(weightUniform), string(weightAlignment), string(weightSNR), string(weightUPR),
		string(weightUtilityPrivacy)}
	for _, v := range valid {
		if v == method {
			s.weights = weighting(v)
			return s, nil
		}
	}
	for _, k := range s.Kernels {
		valid = append(valid, methodSingle+k.Text)
	}
	return s, experiment.Unknown("method", method, valid)
}

// pick finds a kernel by its text or, where it is the only one, by its family.
func pick(kernels []kernellist.Kernel, name string) (kernellist.Kernel, error) {
	var of []kernellist.Kernel
	var valid []string
	for _, k := range kernels {
		if k.Text == name {
			return k, nil
		}
		if k.Family == name {
			of = append(of, k)
		}
		valid = append(valid, k.Text)
	}
	if len(of) == 1 {
		return of[0], nil
	}
	if len(of) > 1 {
		return kernellist.Kernel{}, fmt.Errorf("single:%s: the experiment has %d kernels of this kind; give one of %s", name,
			len(of), strings.Join(valid, ", "))
	}
	if k, err := kernellist.ParseOne(name); err == nil { // another way to write a number
		for _, o := range kernels {
			if o.Kernel.String() == k.Kernel.String() {
				return o, nil
			}
		}
	}
	return kernellist.Kernel{}, fmt.Errorf("method single: %w",
		experiment.Unknown("kernel of this experiment", name, valid))
}

// addFeatures adds the metrics that do not need a classifier.
func (m *RecognitionMetrics) addFeatures(s Spec, f *Features) {
	m.Rank, m.Weight = float64(f.Rank), map[string]float64{}
	scores := map[string]float64{}
	for l, name := range kernellist.MetricNames(s.Kernels) {
		m.Weight[name] = f.Weights[l]
		if f.Scores != nil {
			scores[name] = f.Scores[l]
		}
	}
	switch s.weights {
	case weightSNR:
		m.SNR = scores
	case weightUPR:
		m.UPR = scores
	}
}

// standardise scales training samples, in place, and those of the test samples alike.
func standardise(train, test *mat.Dense) {
	s := learn.ScalingOf(train)
	s.Apply(train)
	s.Apply(test)
}
