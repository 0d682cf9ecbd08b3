package sweep

import (
	"encoding/json"
	"strings"

	"github.com/invopop/jsonschema"

	"privkern/runner/experiment"
)

// Schema returns the JSON Schema of sweep files: the types' shape, with the
// experiments' parameters and the tables' names filled in, so that an editor
// can complete and check them.
func Schema(names Names) ([]byte, error) {
	r := &jsonschema.Reflector{DoNotReference: false, Anonymous: true}
	root := r.Reflect(&File{})
	file, block := root.Definitions["File"], root.Definitions["Block"]
	root.Title = "privkern sweep file"
	for _, s := range []*jsonschema.Schema{file, block} {
		s.AdditionalProperties = jsonschema.FalseSchema
		s.Required = nil
		if err := fillBlock(s, root.Definitions, names.Experiments); err != nil {
			return nil, err
		}
	}
	block.Required = []string{"experiment"}
	tables := make([]any, len(names.Tables))
	for i, t := range names.Tables {
		tables[i] = t
	}
	if p, ok := file.Properties.Get("tables"); ok {
		p.MinItems = ptr(uint64(1))
		p.Items = &jsonschema.Schema{Type: "string", Enum: tables}
	}
	if p, ok := file.Properties.Get("runs"); ok {
		p.MinItems = ptr(uint64(1))
	}
	raw, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(raw, '\n'), nil
}

// fillBlock says, for every experiment, which parameters it has. The schemas of
// an experiment stand once, under definitions.
func fillBlock(s *jsonschema.Schema, definitions jsonschema.Definitions, experiments *experiment.Registry) error {
	enum := []any{}
	for _, name := range experiments.Names() {
		enum = append(enum, name)
		e, err := experiments.Lookup(name)
		if err != nil {
			return err
		}
		define := func(what string, schema *jsonschema.Schema) *jsonschema.Schema {
			id := strings.ReplaceAll(name, "/", ".") + "." + what
			definitions[id] = schema
			return &jsonschema.Schema{Ref: "#/$defs/" + id}
		}
		fixed := define("fixed", paramsSchema(e, single))
		varying := define("varying", paramsSchema(e, list))
		cases := &jsonschema.Schema{Type: "array", Items: fixed, MinItems: ptr(uint64(1))}
		sweep := paramsSchema(e, list)
		for pair := sweep.Properties.Oldest(); pair != nil; pair = pair.Next() {
			pair.Value = &jsonschema.Schema{Ref: varying.Ref + "/properties/" + pair.Key}
		}
		sweep.Properties.Set("zip", varying)
		sweep.Properties.Set("cases", cases)

		condition := jsonschema.NewProperties()
		condition.Set("experiment", &jsonschema.Schema{Const: name})
		then := jsonschema.NewProperties()
		then.Set("params", fixed)
		then.Set("sweep", define("sweep", sweep))
		then.Set("zip", varying)
		then.Set("cases", cases)
		s.AllOf = append(s.AllOf, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: condition, Required: []string{"experiment"}},
			Then: &jsonschema.Schema{Properties: then},
		})
	}
	if p, ok := s.Properties.Get("experiment"); ok {
		p.Enum = enum
	}
	s.Properties.Set("seeds", &jsonschema.Schema{
		Description: "Seeds: one number, a list, or a range such as 0..19.",
		OneOf: []*jsonschema.Schema{
			{Type: "integer", Minimum: "0"},
			{Type: "string", Pattern: `^[0-9]+(\.\.[0-9]+)?(,[0-9]+(\.\.[0-9]+)?)*$`},
			{Type: "array", MinItems: ptr(uint64(1))},
		},
	})
	return nil
}

type form int

const (
	single form = iota // one value of the parameter
	list               // several values of it
)

func paramsSchema(e *experiment.Experiment, f form) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
	for i := range e.Params {
		p := &e.Params[i]
		v := valueSchema(p)
		if f == list {
			v = &jsonschema.Schema{OneOf: []*jsonschema.Schema{
				{Type: "array", Items: v, MinItems: ptr(uint64(1))},
				{Type: "string", Pattern: `^\s*(lin|log)space\s*\(.*\)\s*$`},
			}}
		}
		v.Description = p.Doc
		if p.Unit != "" {
			v.Description += " (" + p.Unit + ")"
		}
		if applies := e.Applies(p.Name); applies != "" {
			v.Description += "; applies " + applies
		}
		out.Properties.Set(p.Name, v)
	}
	return out
}

// valueSchema describes one value of a parameter.
func valueSchema(p *experiment.Param) *jsonschema.Schema {
	numbers := func() *jsonschema.Schema {
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
			{Type: "array", Items: &jsonschema.Schema{Type: "number"}, MinItems: ptr(uint64(1))},
			{Type: "string", Pattern: `^.*\.\..*$`},
		}}
	}
	switch p.Kind {
	case experiment.Number, experiment.Integer:
		n := &jsonschema.Schema{Type: "number"}
		if p.Kind == experiment.Integer {
			n.Type = "integer"
		}
		if p.Min != nil {
			set(&n.Minimum, &n.ExclusiveMinimum, *p.Min, p.OpenMin)
		}
		if p.Max != nil {
			set(&n.Maximum, &n.ExclusiveMaximum, *p.Max, p.OpenMax)
		}
		words := []any{}
		for _, w := range p.Words {
			words = append(words, w)
		}
		if p.Infinite {
			words = append(words, "inf")
		}
		if len(words) == 0 {
			return n
		}
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{n, {Enum: words}}}
	case experiment.Flag:
		return &jsonschema.Schema{Type: "boolean"}
	case experiment.Numbers:
		return numbers()
	case experiment.CountOrNumbers:
		s := numbers()
		s.OneOf = append(s.OneOf, &jsonschema.Schema{Type: "integer", Minimum: "1"})
		return s
	}
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range p.Values {
		s.Enum = append(s.Enum, v)
	}
	return s
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
