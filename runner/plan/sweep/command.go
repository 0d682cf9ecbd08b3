package sweep

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
	"github.com/invopop/jsonschema"

	"privkern/runner/command"
	"privkern/runner/experiment"
)

// Program are the members of a block that describe a program of the user's.
type Program struct {
	Name    string             `json:"name,omitempty"`
	Command []string           `json:"command,omitempty"`
	Stdin   string             `json:"stdin,omitempty"`
	Output  string             `json:"output,omitempty"`
	Files   []string           `json:"files,omitempty"`
	Declare map[string]Setting `json:"declare,omitempty"`
}

// Setting declares a setting of a program. Type is one of [kinds].
type Setting struct {
	Type    string   `json:"type" jsonschema:"enum=float,enum=int,enum=text,enum=bool,enum=floats"`
	Min     any      `json:"min,omitempty"`
	Max     any      `json:"max,omitempty"`
	Default any      `json:"default,omitempty"`
	Values  []string `json:"values,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	Doc     string   `json:"doc,omitempty"`
}

// programDocs describes the members of [Program].
var programDocs = map[string]string{
	"name":    "With experiment: command, the name of the program in tables; that of its script by default.",
	"command": "With experiment: command, the program and its arguments; {name} stands for a setting.",
	"stdin":   "With experiment: command, json for the settings as an object on standard input.",
	"output":  "With experiment: command, the file in the scratch folder with the result; stdout by default.",
	"files": "With experiment: command, the files whose digests are the version of the program; by default the " +
		"arguments that are files.",
	"declare": "With experiment: command, types, bounds and defaults of settings.",
}

// programKeys and settingKeys are the names of the members.
var (
	programKeys = []string{"name", "command", "stdin", "output", "files", "declare"}
	settingKeys = []string{"type", "min", "max", "default", "values", "unit", "doc"}
)

// kinds are the types of declared settings.
var kinds = map[string]experiment.ParamKind{
	"float": experiment.Number, "int": experiment.Integer, "text": experiment.Text, "bool": experiment.Flag,
	"floats": experiment.Numbers,
}

// program is the program of a block, with places for errors.
type program struct {
	definition command.Definition
	at         *token.Token   // of the program's name
	places     []*token.Token // of the templates of command and files
	name       string
	params     []experiment.Param
	given      map[string]*token.Token // settings that the block gives, where
	order      []string                // of given
	used       map[string]bool         // settings with a place
}

// program reads the program of a block, which determines its experiment.
func (r *reader) program(n ast.Node) (*experiment.Experiment, *program, error) {
	p := &program{given: map[string]*token.Token{}}
	values := map[string][]ast.Node{}
	err := r.each(n, "a block", slices.Concat(blockKeys, fileKeys), func(key string, _ *token.Token, v ast.Node) error {
		if slices.Contains(programKeys, key) {
			return r.programMember(p, key, v)
		}
		if name, _ := r.text(v, key); key == "experiment" && name != command.Name {
			return r.errorAt(v.GetToken(), fmt.Errorf("programs have `experiment: %s`, and `name` for one of their own",
				command.Name))
		}
		return r.collect(p, values, key, v)
	})
	if err != nil {
		return nil, nil, err
	}
	if p.definition.Command == nil {
		return nil, nil, r.errorAt(n.GetToken(), errors.New(
			"no command is given; add a line such as `command: [python3, train.py, \"--lr={lr}\"]`"))
	}
	if err := r.complete(p, values); err != nil {
		return nil, nil, err
	}
	d := &p.definition
	return command.Experiment(command.Name+"/"+p.name, d.Text(), p.params), p, nil
}

// complete fills in the settings that are not declared, the files and the name.
func (r *reader) complete(p *program, values map[string][]ast.Node) error {
	for _, name := range p.order {
		if slices.ContainsFunc(p.params, func(q experiment.Param) bool { return q.Name == name }) {
			continue
		}
		if err := command.CheckName(name); err != nil {
			return r.errorAt(p.given[name], err)
		}
		kind, err := r.kindOf(name, values[name])
		if err != nil {
			return err
		}
		p.params = append(p.params, experiment.Param{Name: name, Kind: kind, Infinite: true})
	}
	if p.definition.Files == nil {
		p.definition.Files = command.InFolder(filepath.Dir(r.path), p.definition.Command, p.texts(values))
	}
	if p.name == "" {
		p.name = notInNames.ReplaceAllString(p.definition.Label(), "-")
	}
	return r.checkPlaces(p)
}

// texts returns the values that the block gives to its texts, or their defaults.
func (p *program) texts(values map[string][]ast.Node) map[string][]string {
	out := map[string][]string{}
	for _, q := range p.params {
		if standard, ok := q.Default.(string); ok && q.Kind == experiment.Text && values[q.Name] == nil {
			out[q.Name] = []string{standard}
		}
		for _, v := range values[q.Name] {
			if s, ok := v.(*ast.StringNode); ok && q.Kind == experiment.Text {
				out[q.Name] = append(out[q.Name], s.Value)
			}
		}
	}
	return out
}

// notInNames matches characters that the name of a program does not have.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// programMember reads one of programKeys.
func (r *reader) programMember(p *program, key string, v ast.Node) error {
	d := &p.definition
	var err error
	switch key {
	case "name":
		if p.name, err = r.text(v, key); err == nil && (p.name == "" || notInNames.MatchString(p.name)) {
			err = r.errorAt(v.GetToken(), fmt.Errorf("the name %q of a program consists of letters, digits, . _ and -", p.name))
		}
	case "command":
		p.at = v.GetToken()
		err = r.list(v, key, func(e ast.Node) error {
			if len(d.Command) == 0 {
				p.at = e.GetToken()
			}
			return r.template(p, &d.Command, e)
		})
	case "files":
		err = r.list(v, key, func(e ast.Node) error { return r.template(p, &d.Files, e) })
	case "stdin":
		if d.Stdin, err = r.text(v, key); err == nil && d.Stdin != command.StdinJSON {
			err = r.errorAt(v.GetToken(), fmt.Errorf("stdin is %q; it takes %s", d.Stdin, command.StdinJSON))
		}
	case "output":
		if d.Output, err = r.text(v, key); err == nil && d.Output != command.OutputStdout && !filepath.IsLocal(d.Output) {
			err = r.errorAt(v.GetToken(), fmt.Errorf("output is %q; it takes %s, or the name of a file in the scratch folder "+
				"of the trial, {scratch}", d.Output, command.OutputStdout))
		}
		if d.Output == command.OutputStdout {
			d.Output = ""
		}
	case "declare":
		err = r.each(v, key, nil, func(name string, at *token.Token, v ast.Node) error {
			param, err := r.declared(name, at, v)
			p.params = append(p.params, param)
			return err
		})
	}
	return err
}

// template reads an argument or a file.
func (r *reader) template(p *program, to *[]string, e ast.Node) error {
	raw, err := r.raw(e)
	if err != nil {
		return err
	}
	text := fmt.Sprint(raw)
	if _, list := raw.([]any); list {
		err = errors.New("a text is expected, not a list")
	} else if _, err = command.Parse(text); err == nil && to == &p.definition.Files {
		err = command.CheckFile(text)
	}
	if err == nil && strings.ContainsRune(text, 0) {
		err = errors.New("no program takes a zero byte in an argument")
	}
	if err != nil {
		return r.errorAt(e.GetToken(), err)
	}
	*to, p.places = append(*to, text), append(p.places, e.GetToken())
	return nil
}

// declared reads the declaration of a setting.
func (r *reader) declared(name string, at *token.Token, v ast.Node) (experiment.Param, error) {
	p := experiment.Param{Name: name}
	if err := command.CheckName(name); err != nil {
		return p, r.errorAt(at, err)
	}
	var standard ast.Node
	err := r.each(v, "the declaration of "+name, settingKeys, func(key string, _ *token.Token, v ast.Node) (err error) {
		switch key {
		case "type":
			var typ string
			if typ, err = r.text(v, key); err != nil {
				return err
			}
			kind, known := kinds[typ]
			if !known {
				err = r.errorAt(v.GetToken(), experiment.Unknown("type", typ, slices.Sorted(maps.Keys(kinds))))
			}
			p.Kind = kind
		case "min":
			p.Min, err = r.bound(v)
		case "max":
			if p.Max, err = r.bound(v); p.Max != nil && math.IsInf(*p.Max, 1) {
				p.Max, p.Infinite = nil, true
			}
		case "values":
			err = r.list(v, key, func(e ast.Node) error {
				text, err := r.text(e, "a value")
				p.Values = append(p.Values, text)
				return err
			})
		case "default":
			standard = v
		case "unit":
			p.Unit, err = r.text(v, key)
		case "doc":
			p.Doc, err = r.text(v, key)
		}
		return err
	})
	if err != nil {
		return p, err
	}
	if err := r.checkDeclared(&p); err != nil {
		return p, r.errorAt(at, err)
	}
	if standard == nil {
		return p, nil
	}
	raw, err := r.raw(standard)
	if err != nil {
		return p, err
	}
	if p.Default, err = p.Convert(raw); err != nil {
		return p, r.errorAt(standard.GetToken(), err)
	}
	return p, nil
}

// checkDeclared refuses a declaration whose members do not go together.
func (r *reader) checkDeclared(p *experiment.Param) error {
	numeric := p.Kind != experiment.Text && p.Kind != experiment.Flag
	switch {
	case p.Kind == "":
		return fmt.Errorf("%q is declared without a type: %s", p.Name, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	case !numeric && (p.Min != nil || p.Max != nil || p.Infinite):
		return fmt.Errorf("%q is a %s, which has no bounds", p.Name, p.Kind)
	case p.Kind != experiment.Text && p.Values != nil:
		return fmt.Errorf("%q lists its values, which are those of a text", p.Name)
	case p.Min != nil && p.Max != nil && *p.Min > *p.Max:
		return fmt.Errorf("no value of %q lies within %s", p.Name, p.Range())
	}
	return nil
}

// bound reads the bound of a setting.
func (r *reader) bound(v ast.Node) (*float64, error) {
	raw, err := r.raw(v)
	if err != nil {
		return nil, err
	}
	f, err := (&experiment.Param{Name: "bound", Kind: experiment.Number, Infinite: true}).Convert(raw)
	if err != nil {
		return nil, r.errorAt(v.GetToken(), err)
	}
	return experiment.Bound(f.(float64)), nil
}

// collect gathers the values that the members params, sweep, zip and cases give to
// settings. Mistakes in their form are reported when the block is read.
func (r *reader) collect(p *program, values map[string][]ast.Node, key string, v ast.Node) error {
	several := key == "sweep" || key == "zip"
	if key == "cases" {
		if list, ok := v.(*ast.SequenceNode); ok {
			for _, e := range list.Values {
				if err := r.collect(p, values, "params", e); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if key == "search" {
		return r.collectSearched(p, values, v)
	}
	if !several && key != "params" {
		return nil
	}
	return r.each(v, key, nil, func(name string, at *token.Token, v ast.Node) error {
		if key == "sweep" && (name == "zip" || name == "cases") {
			return r.collect(p, values, name, v)
		}
		if p.given[name] == nil {
			p.order, p.given[name] = append(p.order, name), at
		}
		list, ok := v.(*ast.SequenceNode)
		if several && ok {
			values[name] = append(values[name], list.Values...)
		} else {
			values[name] = append(values[name], v)
		}
		return nil
	})
}

// collectSearched collects the settings of a search. Those of an interval are numbers.
func (r *reader) collectSearched(p *program, values map[string][]ast.Node, v ast.Node) error {
	return r.each(v, "search", nil, func(key string, _ *token.Token, v ast.Node) error {
		if key != "space" && key != "fidelity" {
			return nil
		}
		return r.each(joined(v), key, nil, func(name string, at *token.Token, v ast.Node) error {
			if p.given[name] == nil {
				p.order, p.given[name] = append(p.order, name), at
			}
			if list, ok := v.(*ast.SequenceNode); ok {
				values[name] = append(values[name], list.Values...)
			}
			return nil
		})
	})
}

// kindOf returns the kind of a setting that is not declared: the YAML type of its values.
// A text inf is a number among numbers, and alone.
func (r *reader) kindOf(name string, values []ast.Node) (experiment.ParamKind, error) {
	kind := experiment.ParamKind("")
	for _, v := range values {
		one := kindOfNode(v)
		switch {
		case kind == "" || kind == one:
			kind = one
		case one == "", one == experiment.Integer && kind == experiment.Number:
		case one == experiment.Number && kind == experiment.Integer:
			kind = one
		default:
			return "", r.errorAt(v.GetToken(), fmt.Errorf("%q is of type %s here and of type %s before; give it values "+
				"of one type, or declare it", name, one, kind))
		}
	}
	if kind == "" || kind == experiment.Integer && slices.ContainsFunc(values, isInfinity) {
		return experiment.Number, nil
	}
	return kind, nil
}

// isInfinity reports whether a value is the word inf.
func isInfinity(n ast.Node) bool {
	s, ok := n.(*ast.StringNode)
	return ok && s.Value == "inf"
}

// kindOfNode returns the kind of one value; empty for the word inf.
func kindOfNode(v ast.Node) experiment.ParamKind {
	switch n := v.(type) {
	case *ast.IntegerNode:
		return experiment.Integer
	case *ast.FloatNode, *ast.InfinityNode:
		return experiment.Number
	case *ast.BoolNode:
		return experiment.Flag
	case *ast.SequenceNode:
		return experiment.Numbers
	case *ast.StringNode:
		if isSpace(n.Value) || cutCall.MatchString(n.Value) {
			return experiment.Number
		}
		if isInfinity(n) {
			return ""
		}
		if n.GetToken().Type == token.StringType && exponent.MatchString(n.Value) {
			return experiment.Number
		}
	}
	return experiment.Text
}

// exponent matches the numbers of YAML 1.2 that the reader of YAML takes for texts: those
// without a point, such as 1e-7.
var exponent = regexp.MustCompile(`^[-+]?[0-9]+[eE][-+]?[0-9]+$`)

// checkPlaces refuses a place without a setting, and a setting without an effect.
func (r *reader) checkPlaces(p *program) error {
	var known []string
	for _, q := range p.params {
		known = append(known, q.Name)
	}
	p.used = map[string]bool{}
	for i, text := range slices.Concat(p.definition.Command, p.definition.Files) {
		t, err := command.Parse(text)
		if err != nil {
			return err
		}
		for _, name := range t.Names() {
			p.used[name] = true
			given := i < len(p.definition.Command) && slices.Contains(command.Given, name)
			if given || slices.Contains(known, name) {
				continue
			}
			return r.errorAt(p.places[i], fmt.Errorf("{%s} stands for no setting of the block: give %[1]s a value under params "+
				"or sweep, or declare it (braces themselves are {{ and }})", name))
		}
	}
	for _, name := range p.order {
		if err := r.checkUsed(p, name, p.given[name]); err != nil {
			return err
		}
	}
	return nil
}

// checkUsed refuses a setting that the program does not get.
func (r *reader) checkUsed(p *program, name string, at *token.Token) error {
	if p.used[name] || p.definition.Stdin != "" {
		return nil
	}
	return r.errorAt(at, fmt.Errorf("the command has no {%s}, and so the setting has no effect; add it to the arguments, "+
		"or give all settings with stdin: json", name))
}

// missingPlace refuses a trial that leaves a place of the command without a value.
func (p *program) missingPlace(params experiment.Params) error {
	for _, q := range p.params {
		if _, ok := params[q.Name]; !ok && p.definition.Stdin == "" {
			return fmt.Errorf("%q has no value in it, and no default", q.Name)
		}
	}
	return nil
}

// runnable refuses a program that this machine does not have. A name with places is
// looked for by the trials.
func (r *reader) runnable(p *program) error {
	name := p.definition.Command[0]
	t, err := command.Parse(name)
	if err != nil || len(t.Names()) > 0 {
		return err
	}
	name, _ = command.Fill(name, nil) // it has no places
	path := name
	if strings.ContainsAny(name, `/\`) && !filepath.IsAbs(name) {
		path = filepath.Join(filepath.Dir(r.path), name)
		if !filepath.IsAbs(path) {
			path = "." + string(filepath.Separator) + path
		}
	}
	if _, err := exec.LookPath(path); err != nil {
		return r.errorAt(p.at, fmt.Errorf("the program %q cannot be run: %w", name, errors.Unwrap(err)))
	}
	return nil
}

// Programs adds the programs of the sweep to those of a plan, whose folder must be that of
// the file.
func (s *Sweep) Programs(f *command.Frozen) error {
	for _, b := range s.blocks {
		if b.program == nil {
			continue
		}
		folder, err := filepath.Abs(filepath.Dir(s.Path))
		if err != nil {
			return err
		}
		if f.Folder == "" {
			f.Folder = folder
		}
		if f.Folder != folder {
			return s.reader.errorAt(b.at, fmt.Errorf("programs of one plan run in one folder, that of their sweep file, and "+
				"this is not %s; run the sweeps one by one", f.Folder))
		}
		if err := f.Add(b.exp); err != nil {
			return s.reader.errorAt(b.at, err)
		}
	}
	return nil
}

// fillProgram completes the schema of the members of [Program].
func fillProgram(s *jsonschema.Schema) {
	for name, doc := range programDocs {
		if p, ok := s.Properties.Get(name); ok {
			p.Description = doc
		}
	}
	argument := anyOf(&jsonschema.Schema{Type: "string"}, &jsonschema.Schema{Type: "number"})
	for _, name := range []string{"command", "files"} {
		if p, ok := s.Properties.Get(name); ok {
			p.MinItems, p.Items = ptr(uint64(1)), argument
		}
	}
	if p, ok := s.Properties.Get("stdin"); ok {
		p.Enum = []any{command.StdinJSON}
	}
}
