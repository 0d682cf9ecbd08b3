package kernels

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// Index says which element of an operand belongs to a place.
type Index int

const (
	// ThePlace is the element at the same place.
	ThePlace Index = iota
	// TheFirst is that of a scalar.
	TheFirst
	// TheRepeated is an element of a run that is repeated, as [Repeat] does.
	TheRepeated
)

// Operand is an operand of an [Element]: where its elements are, or what stands for that
// while there is no memory, and which of them belongs to a place.
type Operand struct {
	At    uintptr
	Truth bool
	Index Index
	// Runs of Inner elements, By times each, where the index is TheRepeated.
	Inner, By int
}

// Element is an [Elementwise] kernel without its memory: a function of elements.cu, with
// what it is called with. Two functions with other Codes are other functions, while the
// Numbers are arguments.
type Element struct {
	Function string
	Operands []Operand
	Codes    []int
	Numbers  []float64
	Truth    bool // the result is a truth value
}

// ElementOf is what a kernel does at each place.
func ElementOf(k Elementwise) Element {
	name, words := Pack(k)
	e := Element{Function: name}
	for i, p := range shapeOf(reflect.TypeOf(k)) {
		switch p.role {
		case operandRole:
			e.Operands = append(e.Operands, Operand{At: uintptr(words[i]), Truth: p.kind == truthKind})
		case strideRole:
			if words[i] == 0 {
				e.Operands[len(e.Operands)-1].Index = TheFirst
			}
		case innerRole:
			o := &e.Operands[len(e.Operands)-1]
			if o.Inner, o.By = int(words[i]), int(words[i+1]); o.By > 1 {
				o.Index = TheRepeated
			}
		case resultRole:
			e.Truth = p.kind == truthKind
		case countRole:
			for j := range e.Operands {
				if o := &e.Operands[j]; o.Inner == 1 && o.By == int(words[i]) {
					o.Index = TheFirst // one number for all places
				}
			}
		case codeRole:
			e.Codes = append(e.Codes, int(words[i]))
		case numberRole:
			e.Numbers = append(e.Numbers, math.Float64frombits(words[i]))
		}
	}
	return e
}

// What a parameter of an [Elementwise] kernel is for.
const (
	operandRole = iota
	strideRole
	innerRole
	byRole
	resultRole
	countRole
	codeRole
	numberRole
)

const (
	truthKind  = "Byte *"
	numberKind = "double"
)

// use is a parameter and what it is for.
type use struct {
	parameter
	role int
}

// shapeOf says what the parameters of an [Elementwise] kernel are for.
func shapeOf(t reflect.Type) []use {
	all := fields(t)
	uses := make([]use, len(all))
	operand := ""
	for i, p := range all {
		role := codeRole
		switch {
		case p.name == "out":
			role = resultRole
		case strings.HasSuffix(p.kind, "*"):
			role, operand = operandRole, p.name
		case p.name == "n":
			role = countRole
		case p.name == "s"+operand:
			role = strideRole
		case p.name == "inner":
			role = innerRole
		case p.name == "by":
			role = byRole
		case p.kind == numberKind:
			role = numberRole
		}
		uses[i] = use{p, role}
	}
	return uses
}

// indexText is where an operand's element is, in CUDA C: the strides and runs by their
// names.
func indexText(index Index, inner, by string) string {
	switch index {
	case TheFirst:
		return "0"
	case TheRepeated:
		return fmt.Sprintf("i / %s / %s * %s + i %% %s", inner, by, inner, inner)
	}
	return "i"
}

// elementKernel is the source of a kernel that applies one function.
func elementKernel(t reflect.Type) string {
	var declared, arguments []string
	name := nameOf(t)
	uses := shapeOf(t)
	for i, u := range uses {
		constant := ""
		if u.role == operandRole {
			constant = "const "
			index := indexText(ThePlace, "", "")
			switch next := uses[min(i+1, len(uses)-1)]; next.role {
			case strideRole:
				index = "i * " + next.name
			case innerRole:
				index = indexText(TheRepeated, "inner", "by")
			}
			arguments = append(arguments, fmt.Sprintf("%s[%s]", u.name, index))
		}
		if u.role == codeRole || u.role == numberRole {
			arguments = append(arguments, u.name)
		}
		declared = append(declared, constant+declaration(u.parameter))
	}
	return fmt.Sprintf("extern \"C\" __global__ void %s(%s)\n{\n    PLACES(i, n) out[i] = element::%s(%s);\n}\n",
		name, strings.Join(declared, ", "), name, strings.Join(arguments, ", "))
}

// declaration is a parameter in CUDA C.
func declaration(p parameter) string {
	if strings.HasSuffix(p.kind, "*") {
		return p.kind + p.name
	}
	return p.kind + " " + p.name
}
