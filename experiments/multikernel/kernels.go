package multikernel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"privkern/graphs/kernel"
	"privkern/runner/experiment"
)

// namedKernel is a kernel as parameters write it, such as "rbf:0.01".
type namedKernel struct {
	text   string
	family string
	kernel kernel.Kernel
}

// families are the five of Section IV-B, with their parameters in the order in
// which they are written, and values of the paper that stand
// for parameters where none is written.
var families = []struct {
	name     string
	params   string
	defaults []float64
	make     func(p []float64) kernel.Kernel
}{
	{"linear", "", nil, func([]float64) kernel.Kernel { return kernel.Linear(1) }},
	{"polynomial", ":γ:degree:c0", []float64{1, 3, 1},
		func(p []float64) kernel.Kernel { return kernel.Polynomial(p[0], int(p[1]), p[2]) }},
	{"rbf", ":γ", []float64{.01}, func(p []float64) kernel.Kernel { return kernel.RBF(p[0]) }},
	{"laplacian", ":γ", []float64{.1}, func(p []float64) kernel.Kernel { return kernel.Laplacian(p[0], 1) }},
	{"sigmoid", ":γ:c0", []float64{.001, 1}, func(p []float64) kernel.Kernel { return kernel.Sigmoid(p[0], p[1]) }},
}

const kernelNotation = "linear, polynomial:γ:degree:c0, rbf:γ, laplacian:γ and sigmoid:γ:c0"

// parseKernel reads a kernel such as "rbf:0.01".
func parseKernel(text string) (namedKernel, error) {
	parts := strings.Split(strings.TrimSpace(text), ":")
	var names []string
	for _, f := range families {
		names = append(names, f.name)
		if f.name != parts[0] {
			continue
		}
		if len(parts) > 1 && len(parts)-1 != len(f.defaults) {
			return namedKernel{}, fmt.Errorf("the kernel %q has %d parameters; it is written %s%s", text, len(parts)-1,
				f.name, f.params)
		}
		numbers := slices.Clone(f.defaults)
		for i, s := range parts[1:] {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				return namedKernel{}, fmt.Errorf("the kernel %q: %q is not a number", text, s)
			}
			numbers[i] = v
		}
		if f.name == "polynomial" && (numbers[1] != float64(int(numbers[1])) || numbers[1] > maxDegree) {
			return namedKernel{}, fmt.Errorf("the kernel %q: the degree must be a whole number, at most %d", text, maxDegree)
		}
		k := namedKernel{text: strings.TrimSpace(text), family: f.name, kernel: f.make(numbers)}
		return k, k.kernel.Validate()
	}
	return namedKernel{}, experiment.Unknown("kernel", parts[0], names)
}

const maxDegree = 20

// maxKernels bounds what a slip of the pen can ask for.
const maxKernels = 20

// parseKernels reads kernels between "+" or ",", each once.
func parseKernels(list string) ([]namedKernel, error) {
	var kernels []namedKernel
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == '+' || r == ',' }) {
		k, err := parseKernel(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(kernels, func(o namedKernel) bool { return o.kernel.String() == k.kernel.String() }) {
			return nil, fmt.Errorf("the kernel %s is given twice", k.text)
		}
		kernels = append(kernels, k)
	}
	switch {
	case len(kernels) == 0:
		return nil, fmt.Errorf("%q names no kernel; kernels are %s, with + between them", list, kernelNotation)
	case len(kernels) > maxKernels:
		return nil, fmt.Errorf("%d kernels; at most %d are combined", len(kernels), maxKernels)
	}
	return kernels, nil
}

// mustKernels are kernels that the program itself names.
func mustKernels(list string) []namedKernel {
	kernels, err := parseKernels(list)
	if err != nil {
		panic("multikernel: " + err.Error())
	}
	return kernels
}

// metricNames are the parts of metric names that stand for kernels: the family,
// with a number from 1 where the list has several of it.
func metricNames(kernels []namedKernel) []string {
	total, seen := map[string]int{}, map[string]int{}
	for _, k := range kernels {
		total[k.family]++
	}
	names := make([]string, len(kernels))
	for i, k := range kernels {
		names[i] = k.family
		if total[k.family] > 1 {
			seen[k.family]++
			names[i] = fmt.Sprintf("%s_%d", k.family, seen[k.family])
		}
	}
	return names
}
