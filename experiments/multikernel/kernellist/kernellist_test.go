package kernellist

import (
	"slices"
	"testing"
)

func TestMetricNames(t *testing.T) {
	got := MetricNames(Must("rbf:1,linear,rbf:2"))
	if want := []string{"rbf_1", "linear", "rbf_2"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// A family alone stands for the paper's parameters.
	if got, want := Must("rbf")[0].Kernel, Must("rbf:0.01")[0].Kernel; got.String() != want.String() {
		t.Errorf("%v, want %v", got, want)
	}
}
