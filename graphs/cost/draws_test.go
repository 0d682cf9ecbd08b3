package cost_test

import (
	"reflect"
	"testing"
	"unsafe"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cost"
)

// Counting draws no random numbers: the computation that it accompanies would get others.
func TestCountingDrawsNothing(t *testing.T) {
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(3, 4), gorgonia.WithName("x"))
	dropped := gorgonia.Must(gorgonia.Dropout(x, 0.5)).Op()
	// gorgonia's generator is in a field that it does not export.
	drawn := 0
	field := reflect.ValueOf(dropped).Elem().FieldByName("rndGen")
	if !field.IsValid() {
		t.Fatalf("%T has no generator", dropped)
	}
	generator := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
	generator.Set(reflect.ValueOf(func() float64 { drawn++; return 0.25 }).Convert(field.Type()))
	shape := cost.Operand{Shape: tensor.Shape{3, 4}, DType: tensor.Float64}
	w, ok := cost.Of(dropped, shape, []cost.Operand{shape})
	if !ok || w.Up != 12 || w.Launches != 1 {
		t.Errorf("%v, %v", w, ok)
	}
	if drawn > 0 {
		t.Errorf("%d numbers were drawn", drawn)
	}
}
