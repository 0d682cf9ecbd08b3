package op

import (
	"reflect"

	"gorgonia.org/gorgonia"
)

// Kinds of gorgonia's statements: nodes that have an effect and no value.
const (
	readKind = "readOp" // of gorgonia.Read
	setKind  = "letOp"  // of gorgonia.Set
)

// Statement reports whether an operation is one of gorgonia's statements. For a Read it returns where
// the value of the operand goes, for a Set nil.
func Statement(o gorgonia.Op) (into *gorgonia.Value, is bool, err error) {
	p := parametersOf(o)
	if p.kind != readKind {
		return nil, p.kind == setKind, nil
	}
	field, ok := p.field("into", reflect.Pointer)
	if !ok {
		return nil, true, p.err
	}
	into, ok = reflect.NewAt(field.Type().Elem(), field.UnsafePointer()).Interface().(*gorgonia.Value)
	if !ok || into == nil {
		p.missing("into")
	}
	return into, true, p.err
}

// Leftover reports whether a node is a derivative that [gorgonia.Grad] made on the way to others:
// that by an input that was not asked for. gorgonia groups such nodes for drawings, and exports that to nobody.
func Leftover(n *gorgonia.Node) bool {
	if len(n.DerivOf()) > 0 {
		return false
	}
	group := reflect.ValueOf(n).Elem().FieldByName("group")
	return group.Kind() == reflect.String && (group.String() == "gradients" || group.String() == "undifferentiated nodes")
}
