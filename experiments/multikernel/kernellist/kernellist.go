// Package kernellist reads kernels as settings write them, such as
// "linear+rbf:0.001": the families of Section IV-B of Chanyaswad, Chang and Kung (2017).
package kernellist

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"privkern/graphs/kernel"
	"privkern/runner/experiment"
)

// Kernel is a kernel as parameters write it, such as "rbf:0.01".
type Kernel struct {
	Text   string
	Family string
	Kernel kernel.Kernel
	// Parameters are those of the family, in the order in which they are written.
	Parameters []float64
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

// WithGamma returns the kernel with another γ, and false where its family has none.
func (k Kernel) WithGamma(gamma float64) (Kernel, bool) {
	if len(k.Parameters) == 0 {
		return k, false
	}
	text := k.Family
	for i, v := range k.Parameters {
		if i == 0 {
			v = gamma // all families have it first
		}
		text += ":" + strconv.FormatFloat(v, 'g', -1, 64)
	}
	other, err := ParseOne(text)
	return other, err == nil
}

// Notation is how the kernels are written.
const Notation = "linear, polynomial:γ:degree:c0, rbf:γ, laplacian:γ and sigmoid:γ:c0"

// ParseOne reads a kernel such as "rbf:0.01".
func ParseOne(text string) (Kernel, error) {
	parts := strings.Split(strings.TrimSpace(text), ":")
	var names []string
	for _, f := range families {
		names = append(names, f.name)
		if f.name != parts[0] {
			continue
		}
		if len(parts) > 1 && len(parts)-1 != len(f.defaults) {
			return Kernel{}, fmt.Errorf("the kernel %q has %d parameters; it is written %s%s", text, len(parts)-1,
				f.name, f.params)
		}
		numbers := slices.Clone(f.defaults)
		for i, s := range parts[1:] {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				return Kernel{}, fmt.Errorf("the kernel %q: %q is not a number", text, s)
			}
			numbers[i] = v
		}
		if f.name == "polynomial" && (numbers[1] != float64(int(numbers[1])) || numbers[1] > maxDegree) {
			return Kernel{}, fmt.Errorf("the kernel %q: the degree must be a whole number, at most %d", text, maxDegree)
		}
		k := Kernel{Text: strings.TrimSpace(text), Family: f.name, Kernel: f.make(numbers), Parameters: numbers}
		return k, k.Kernel.Validate()
	}
	return Kernel{}, experiment.Unknown("kernel", parts[0], names)
}

const maxDegree = 20

// Most bounds the number of kernels, against slips of the pen.
const Most = 20

// Parse reads kernels between "+" or ",", each once.
func Parse(list string) ([]Kernel, error) {
	var kernels []Kernel
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == '+' || r == ',' }) {
		k, err := ParseOne(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(kernels, func(o Kernel) bool { return o.Kernel.String() == k.Kernel.String() }) {
			return nil, fmt.Errorf("the kernel %s is given twice", k.Text)
		}
		kernels = append(kernels, k)
	}
	switch {
	case len(kernels) == 0:
		return nil, fmt.Errorf("%q names no kernel; kernels are %s, with + between them", list, Notation)
	case len(kernels) > Most:
		return nil, fmt.Errorf("%d kernels; at most %d are combined", len(kernels), Most)
	}
	return kernels, nil
}

// Must are kernels that the program itself names.
func Must(list string) []Kernel {
	kernels, err := Parse(list)
	if err != nil {
		panic("multikernel: " + err.Error())
	}
	return kernels
}

// MetricNames are the parts of metric names that stand for kernels: the family,
// with a number from 1 where the list has several of it.
func MetricNames(kernels []Kernel) []string {
	total, seen := map[string]int{}, map[string]int{}
	for _, k := range kernels {
		total[k.Family]++
	}
	names := make([]string, len(kernels))
	for i, k := range kernels {
		names[i] = k.Family
		if total[k.Family] > 1 {
			seen[k.Family]++
			names[i] = fmt.Sprintf("%s_%d", k.Family, seen[k.Family])
		}
	}
	return names
}
