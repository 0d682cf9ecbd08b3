package op

import (
	"fmt"
	"reflect"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// parameters are those of one of gorgonia's operations. Their types are not exported,
// nor are most of their fields: reflection reads them by name. A field that is not
// there is an error, not another operation, so that a version of gorgonia with
// other fields is noticed. The first error is kept; the values after it are zero.
type parameters struct {
	kind      string // the type's name in package gorgonia, or empty
	operation gorgonia.Op
	value     reflect.Value
	err       error
	// The field that was read last, and its value, because all operations of one type read
	// the field that distinguishes them.
	asked  string
	answer uintptr
}

// gorgoniaPath is the import path of gorgonia.
var gorgoniaPath = reflect.TypeFor[gorgonia.Node]().PkgPath()

// parametersOf reads an operation. The kind of one that is not gorgonia's is empty.
func parametersOf(o gorgonia.Op) *parameters {
	v := reflect.ValueOf(o)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || v.Type().PkgPath() != gorgoniaPath {
		return &parameters{}
	}
	return &parameters{kind: v.Type().Name(), operation: o, value: v}
}

// field returns a field by its name, or by the names on the way to it with dots between
// them. Interfaces and pointers on the way are dereferenced.
func (p *parameters) field(path string, kind reflect.Kind) (reflect.Value, bool) {
	v := p.value
	for name := range strings.SplitSeq(path, ".") {
		for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			p.missing(path)
			return v, false
		}
		v = v.FieldByName(name)
	}
	if v.Kind() != kind {
		p.missing(path)
		return v, false
	}
	return v, true
}

// missing records that a field is not as it was in the version of gorgonia that
// this package knows.
func (p *parameters) missing(path string) {
	if p.err == nil {
		p.err = fmt.Errorf("gorgonia's operation %s has no field %s as version 0.9.18 has it", p.kind, path)
	}
}

// integer returns a field of type int.
func (p *parameters) integer(path string) int {
	if v, ok := p.field(path, reflect.Int); ok {
		return int(v.Int())
	}
	return 0
}

// code returns a field that numbers one of gorgonia's operators.
func (p *parameters) code(path string) int {
	if p.asked == path {
		return int(p.answer)
	}
	v, ok := p.field(path, reflect.Uint8)
	if !ok {
		return -1
	}
	p.asked, p.answer = path, uintptr(v.Uint())
	return int(p.answer)
}

// truth returns a field of type bool.
func (p *parameters) truth(path string) bool {
	v, ok := p.field(path, reflect.Bool)
	return ok && v.Bool()
}

// number returns a field of type float64.
func (p *parameters) number(path string) float64 {
	if v, ok := p.field(path, reflect.Float64); ok {
		return v.Float()
	}
	return 0
}

// integers returns a field that is a slice of int.
func (p *parameters) integers(path string) []int {
	v, ok := p.field(path, reflect.Slice)
	if !ok {
		return nil
	}
	all := make([]int, v.Len())
	for i := range all {
		if v.Index(i).Kind() != reflect.Int {
			p.missing(path)
			return nil
		}
		all[i] = int(v.Index(i).Int())
	}
	return all
}

// address returns the address to which a field that is an interface points.
func (p *parameters) address(path string) uintptr {
	if p.asked == path {
		return p.answer
	}
	v, ok := p.field(path, reflect.Interface)
	if !ok || v.Elem().Kind() != reflect.Pointer {
		p.missing(path)
		return 0
	}
	p.asked, p.answer = path, v.Elem().Pointer()
	return p.answer
}

// slice returns the range of a slice of a tensor, or nil for all of it.
func (p *parameters) slice() tensor.Slice {
	v, ok := p.field("Slice", reflect.Interface)
	if !ok || v.IsNil() {
		return nil
	}
	s, ok := v.Interface().(tensor.Slice)
	if !ok {
		p.missing("Slice")
		return nil
	}
	if s.End() <= s.Start() {
		return nil
	}
	return s
}
