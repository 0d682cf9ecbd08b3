package kernels

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// Index maps a place of the result to an element of an operand.
type Index int

const (
	// ThePlace is the element at the same place.
	ThePlace Index = iota
	// TheFirst is that of a scalar.
	TheFirst
	// TheRepeated is an element of a run that is repeated, as [Repeat] does.
	TheRepeated
)

// Operand is an operand of an [Element]: the address of its elements, or a number that stands
// for it while there is no memory, and their index.
type Operand struct {
	At    uintptr
	Truth bool
	Index Index
	// Runs of Inner elements, By times each, where the index is TheRepeated.
	Inner, By int
}

// Element is an [Elementwise] kernel without its memory: a function of elements.cu with its
// arguments. Codes distinguish functions, because they are compiled in, while Numbers are
// arguments of the kernel.
type Element struct {
	Function string
	Operands []Operand
	Codes    []int
	Numbers  []float64
	Truth    bool // the result is a truth value
}

// ElementOf returns the function that a kernel applies at each place.
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

// The roles of the parameters of an [Elementwise] kernel.
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

// use is a parameter with its role.
type use struct {
	parameter
	role int
}

// shapeOf returns the parameters of an [Elementwise] kernel with their roles.
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

// indexText returns the index of an operand's element in CUDA C, with the strides and runs by
// their names.
func indexText(index Index, inner, by string) string {
	switch index {
	case TheFirst:
		return "0"
	case TheRepeated:
		return fmt.Sprintf("i / %s / %s * %s + i %% %s", inner, by, inner, inner)
	}
	return "i"
}

// elementKernel returns the source of a kernel that applies one function.
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
	return fmt.Sprintf("extern \"C\" __global__ void %s(%s)\n{\n    EACH(i, n) out[i] = element::%s(%s);\n}\n",
		name, strings.Join(declared, ", "), name, strings.Join(arguments, ", "))
}

// declaration returns a parameter in CUDA C.
func declaration(p parameter) string {
	if strings.HasSuffix(p.kind, "*") {
		return p.kind + p.name
	}
	return p.kind + " " + p.name
}
