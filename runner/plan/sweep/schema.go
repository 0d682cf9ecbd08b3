package sweep

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"privkern/runner/command"
	"privkern/runner/experiment"
	"privkern/runner/plan/search"
)

// Schema returns the JSON Schema of sweep files: the types' shape, with the
// experiments' parameters and the tables' names filled in, so that an editor
// can complete and check them. Equal declarations of several experiments
// stand once, under $defs.
func Schema(names Names) ([]byte, error) {
	r := &jsonschema.Reflector{DoNotReference: false, Anonymous: true}
	root := r.Reflect(&File{})
	root.Title = "privkern sweep file"
	if err := defineExperiments(root.Definitions, names.Experiments); err != nil {
		return nil, err
	}
	file, block := root.Definitions["File"], root.Definitions["Block"]
	for _, s := range []*jsonschema.Schema{file, block} {
		s.AdditionalProperties = jsonschema.FalseSchema
		s.Required = nil
		s.AllOf = []*jsonschema.Schema{reference("conditions")}
		fillBlock(s, names.Experiments.Names())
	}
	block.Required = []string{"experiment"}
	path := &jsonschema.Schema{Type: "string"}
	file.Properties.Set(includeKey, &jsonschema.Schema{
		Description: "Files that this one goes on from, relative to it: one, or a list. What stands here replaces theirs.",
		AnyOf:       []*jsonschema.Schema{path, {Type: "array", Items: path, MinItems: ptr(uint64(1))}},
	})
	fillSearch(root.Definitions["Search"])
	if p, ok := file.Properties.Get("dtype"); ok {
		p.Type = ""
		p.AnyOf = []*jsonschema.Schema{{Type: "string", Enum: anySlice(experiment.DTypes())}, reference(composed)}
	}
	if p, ok := file.Properties.Get("tables"); ok {
		p.MinItems = ptr(uint64(1))
		tables, err := names.Tables()
		if err != nil {
			return nil, err
		}
		p.Items = &jsonschema.Schema{Type: "string", Enum: anySlice(tables)}
	}
	if p, ok := file.Properties.Get("metrics"); ok {
		p.MinItems, p.UniqueItems = ptr(uint64(1)), true
	}
	if p, ok := file.Properties.Get("runs"); ok {
		p.MinItems = ptr(uint64(1))
	}
	raw, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}
	return printJSON(raw)
}

// fillBlock completes the members of a block that the Go types leave open.
func fillBlock(s *jsonschema.Schema, experiments []string) {
	if p, ok := s.Properties.Get("experiment"); ok {
		p.Enum = anySlice(append(slices.Clone(experiments), command.Name))
	}
	fillProgram(s)
	s.Properties.Set("seeds", &jsonschema.Schema{
		OneOf: []*jsonschema.Schema{
			{Type: "integer", Minimum: "0"},
			{Type: "string", Pattern: `^\s*[0-9]+\s*(\.\.\s*[0-9]+\s*)?(,\s*[0-9]+\s*(\.\.\s*[0-9]+\s*)?)*$`},
			{Type: "array", MinItems: ptr(uint64(1))},
			reference(composed),
		},
	})
	for name, doc := range blockDocs {
		if p, ok := s.Properties.Get(name); ok {
			p.Description = doc
		}
	}
}

// fillSearch completes the members of a search.
func fillSearch(s *jsonschema.Schema) {
	enum := func(name string, values []string) {
		if p, ok := s.Properties.Get(name); ok {
			p.Enum = anySlice(values)
		}
	}
	enum("method", search.Methods())
	enum("direction", directions)
	for _, name := range []string{"budget", "batch"} {
		if p, ok := s.Properties.Get(name); ok {
			p.Minimum = "1"
		}
	}
	if p, ok := s.Properties.Get("space"); ok {
		p.MinProperties = ptr(uint64(1))
		p.AdditionalProperties = anyOf(&jsonschema.Schema{Type: "string"},
			&jsonschema.Schema{Type: "array", MinItems: ptr(uint64(1))})
	}
}

// defineExperiments adds the schema of a block of every experiment, and
// "conditions", which picks one of them by the experiment's name.
func defineExperiments(definitions jsonschema.Definitions, experiments *experiment.Registry) error {
	all := make([]*experiment.Experiment, 0, len(experiments.Names()))
	for _, name := range experiments.Names() {
		e, err := experiments.Lookup(name)
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	maps.Copy(definitions, texts())
	shared, err := sharedParams(definitions, all)
	if err != nil {
		return err
	}
	for _, s := range shared {
		if s.uses > 1 {
			definitions[s.id] = &jsonschema.Schema{Definitions: jsonschema.Definitions{s.form(): s.single, "list": s.list}}
		}
	}
	conditions := &jsonschema.Schema{}
	for _, e := range all {
		if err := defineExperiment(definitions, shared, e); err != nil {
			return err
		}
		condition := jsonschema.NewProperties()
		condition.Set("experiment", &jsonschema.Schema{Const: e.Name})
		conditions.AllOf = append(conditions.AllOf, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: condition, Required: []string{"experiment"}},
			Then: reference(definitionID(e.Name)),
		})
	}
	definitions["conditions"] = conditions
	return nil
}

// defineExperiment adds the members of a block of one experiment:
// its parameters with one value each (params, and every case), and with several
// (zip, and sweep, which may hold zip and cases too).
func defineExperiment(
	definitions jsonschema.Definitions, shared map[declaration]*sharedParam, e *experiment.Experiment,
) error {
	fixed, varying, sweep := closedObject(), closedObject(), closedObject()
	id := definitionID(e.Name)
	for i := range e.Params {
		name := e.Params[i].Name
		s := shared[declaration{e.Name, name}]
		if s.uses > 1 {
			fixed.Properties.Set(name, reference(s.id+"/$defs/"+s.form()))
			varying.Properties.Set(name, reference(s.id+"/$defs/list"))
			sweep.Properties.Set(name, reference(s.id+"/$defs/list"))
			continue
		}
		fixed.Properties.Set(name, s.single)
		varying.Properties.Set(name, s.list)
		sweep.Properties.Set(name, reference(id+".varying/properties/"+name))
	}
	cases := &jsonschema.Schema{Type: "array", Items: reference(id + ".fixed"), MinItems: ptr(uint64(1))}
	sweep.Properties.Set("zip", reference(id+".varying"))
	sweep.Properties.Set("cases", cases)
	definitions[id+".fixed"], definitions[id+".varying"], definitions[id+".sweep"] = fixed, varying, sweep

	block := jsonschema.NewProperties()
	block.Set("params", reference(id+".fixed"))
	block.Set("sweep", reference(id+".sweep"))
	block.Set("zip", reference(id+".varying"))
	block.Set("cases", cases)
	definitions[id] = &jsonschema.Schema{Properties: block}
	return nil
}

// sharedParam is the schema of a parameter as one or several experiments
// declare it, in the same words and with the same bounds.
type sharedParam struct {
	id           string // its definition, named after the first of its experiments
	single, list *jsonschema.Schema
	uses         int // experiments that have it
}

// declaration names a parameter of an experiment.
type declaration struct{ experiment, param string }

// form names the definition of one value. Editors print the last part of a
// reference where a type is wrong: it is the type, as without a reference.
func (s *sharedParam) form() string {
	if s.single.Type == "" {
		return "value"
	}
	return s.single.Type
}

// sharedParams finds, for every parameter of every experiment, the one schema of its
// equals. It defines each type of value that may be written in several ways, and the
// lists of each, once, since most parameters are of a few types.
func sharedParams(
	definitions jsonschema.Definitions, experiments []*experiment.Experiment,
) (map[declaration]*sharedParam, error) {
	out := map[declaration]*sharedParam{}
	equal := map[string]*sharedParam{} // by all that is declared
	values := map[string]string{}      // definition of a type of value, by all of it
	lists := map[string]string{}       // definition of the list, by the type of value
	for _, e := range experiments {
		for i := range e.Params {
			p := &e.Params[i]
			id := definitionID(e.Name) + ":" + p.Name // no other definition has a colon
			one := valueSchema(p)
			value, err := json.Marshal(one)
			if err != nil {
				return nil, err
			}
			if one.Type == "" {
				if values[string(value)] == "" {
					values[string(value)] = id + ".value"
					definitions[id+".value"] = one
				}
				one = reference(values[string(value)])
			}
			text := paramText(e, p)
			declared := strings.Join([]string{p.Name, string(value), text}, "\n")
			if equal[declared] == nil {
				if lists[string(value)] == "" {
					lists[string(value)] = id + ".list"
					definitions[id+".list"] = listSchema(p, one)
				}
				single := *one
				s := &sharedParam{id: id, single: &single, list: reference(lists[string(value)])}
				s.single.Description, s.list.Description = text, text
				equal[declared] = s
			}
			equal[declared].uses++
			out[declaration{e.Name, p.Name}] = equal[declared]
		}
	}
	return out, nil
}

// paramText returns the text that an editor shows for a parameter.
func paramText(e *experiment.Experiment, p *experiment.Param) string {
	s := p.Doc
	if p.Unit != "" {
		s += " (" + p.Unit + ")"
	}
	if applies := e.Applies(p.Name); applies != "" {
		s += "; applies " + applies
	}
	return s
}

// Definitions of texts that stand for numbers and truth values.
const (
	numeric  = "numeric"  // a number
	unsigned = "unsigned" // a number without a minus
	whole    = "whole"    // a whole number
	counting = "counting" // a whole number without a minus
	infinite = "infinite" // infinity
	several  = "several"  // a list of numbers, or a range of them
	spaced   = "spaced"   // linspace or logspace
	truth    = "truth"    // a truth value
	composed = "composed" // a text with a reference, whose value an editor does not know
)

// texts defines values that may be written as texts, such as a quoted number.
func texts() jsonschema.Definitions {
	const (
		number  = `([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?`
		integer = `[0-9]+(\.0*)?([eE]\+?[0-9]+)?`
		one     = `[-+]?(` + number + `|\.?inf)`
		span    = one + `(\s*\.\.\s*` + one + `(\s*step\s*` + one + `)?)?`
	)
	// A text with a reference stands for each of them: an editor does not know its value.
	const anyReference = `\$\{[^}]+\}`
	matching := func(pattern string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Pattern: pattern + "|" + anyReference}
	}
	return jsonschema.Definitions{
		numeric:  matching(`^\s*[-+]?` + number + `\s*$`),
		unsigned: matching(`^\s*\+?` + number + `\s*$`),
		infinite: matching(`^\s*\+?\.?[iI][nN][fF]([iI][nN][iI][tT][yY])?\s*$`),
		whole:    matching(`^\s*[-+]?` + integer + `\s*$`),
		counting: matching(`^\s*\+?` + integer + `\s*$`),
		several:  matching(`^\s*\[?\s*` + span + `(\s*,\s*` + span + `)*\s*\]?\s*$`),
		spaced:   matching(`^\s*(lin|log)space\s*\(.*\)\s*$`),
		truth:    matching(`^(true|yes|on|false|no|off)$`),
		composed: {Type: "string", Pattern: anyReference},
	}
}

// listSchema describes several values of a parameter: a list, or ranges of numbers, which
// may stand within a list, too.
func listSchema(p *experiment.Param, value *jsonschema.Schema) *jsonschema.Schema {
	list := &jsonschema.Schema{Type: "array", Items: value, MinItems: ptr(uint64(1))}
	if p.Kind == experiment.Text || p.Kind == experiment.Flag {
		return anyOf(list, reference(composed))
	}
	list.Items = anyOf(list.Items, reference(spaced))
	return anyOf(list, reference(spaced))
}

func anyOf(choices ...*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: choices}
}

// closedObject is an object without members other than its properties.
func closedObject() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema,
	}
}

// definitionID is the name of an experiment's definition: a slash would have to be escaped.
func definitionID(experiment string) string { return strings.ReplaceAll(experiment, "/", ".") }

func reference(id string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + id} }

// valueSchema describes one value of a parameter: the YAML values that
// [experiment.Param.Convert] takes. A number that is written as a text is held against its
// bounds by its sign only.
func valueSchema(p *experiment.Param) *jsonschema.Schema {
	switch p.Kind {
	case experiment.Number, experiment.Integer:
		return anyOf(append(oneNumber(p), wordsOf(p)...)...)
	case experiment.Flag:
		return anyOf(&jsonschema.Schema{Type: "boolean"}, reference(truth))
	case experiment.Numbers, experiment.NumberOrNumbers, experiment.CountOrNumbers:
		one := oneNumber(p)
		list := &jsonschema.Schema{Type: "array", Items: anyOf(one...), MinItems: ptr(uint64(1))}
		if p.Kind == experiment.CountOrNumbers { // one number is a count, which has no bounds
			one = []*jsonschema.Schema{{Type: "integer", Minimum: "1"}}
		}
		return anyOf(append(append(one, list, reference(several)), wordsOf(p)...)...)
	}
	if p.Values == nil { // a number is a text as it is written
		return anyOf(&jsonschema.Schema{Type: "string"}, &jsonschema.Schema{Type: "number"})
	}
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range p.Values {
		s.Enum = append(s.Enum, v)
	}
	return anyOf(s, reference(composed))
}

// oneNumber lists the ways in which a number may be written.
func oneNumber(p *experiment.Param) []*jsonschema.Schema {
	n, text, positive := &jsonschema.Schema{Type: "number"}, numeric, unsigned
	if p.Kind == experiment.Integer {
		n.Type, text, positive = "integer", whole, counting
	}
	if p.Min != nil {
		set(&n.Minimum, &n.ExclusiveMinimum, *p.Min, p.OpenMin)
		if *p.Min >= 0 {
			text = positive
		}
	}
	if p.Max != nil {
		set(&n.Maximum, &n.ExclusiveMaximum, *p.Max, p.OpenMax)
	}
	ways := []*jsonschema.Schema{n, reference(text)}
	if p.Infinite {
		ways = append(ways, reference(infinite))
	}
	return ways
}

// wordsOf lists the words that a parameter takes in addition to numbers.
func wordsOf(p *experiment.Param) []*jsonschema.Schema {
	if len(p.Words) == 0 {
		return nil
	}
	return []*jsonschema.Schema{{Enum: anySlice(p.Words)}}
}

func set(closed, open *json.Number, bound float64, isOpen bool) {
	n := json.Number(experiment.FormatNumber(bound))
	if isOpen {
		*open = n
	} else {
		*closed = n
	}
}

func ptr[T any](v T) *T { return &v }

func anySlice[T any](values []T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}
