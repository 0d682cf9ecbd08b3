package tests

import (
	"bytes"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"privkern/experiments"
	"privkern/runner"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
)

// The schema takes a text with a reference for a value of any kind, and include.
func TestSchemaOfComposedFiles(t *testing.T) {
	book := runner.NewCatalogue(experiments.Papers()).Book
	raw, err := sweep.Schema(plan.Names(book))
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("sweep.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("sweep.json")
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{
		"include: base.yaml\n":                           true,
		"include: [base.yaml, more.yaml]\nseeds: 0..1\n": true,
		"include: []\n":                                  false,
		"include: {a: b}\n":                              false,
		"experiment: cloaking/stripes\nparams: {points: \"${env:POINTS:50}\"}\n":   true,
		"experiment: cloaking/stripes\nparams: {epsilon: \"${draws}\"}\n":          true,
		"experiment: cloaking/stripes\nparams: {method: \"${env:METHOD}\"}\n":      true,
		"experiment: cloaking/stripes\nparams: {method: \"{env:METHOD}\"}\n":       false,
		"experiment: cloaking/stripes\nsweep: {epsilon: [\"${draws}\", 5]}\n":      true,
		"experiment: cloaking/stripes\nsweep: {epsilon: \"linspace(1,${a},3)\"}\n": true,
		"experiment: cloaking/stripes\nsweep: {epsilon: \"${values}\"}\n":          true,
		"experiment: cloaking/stripes\nsweep: {method: [\"${env:METHOD}\"]}\n":     true,
		"experiment: dpgp/calibration\nparams: {strict: \"${env:STRICT:yes}\"}\n":  true,
		"experiment: dpgp/calibration\nparams: {strict: \"maybe\"}\n":              false,
		"experiment: cloaking/design\nparams: {test_points: \"${env:AT:1,2}\"}\n":  true,
		"experiment: cloaking/stripes\nseeds: \"0..${env:LAST:9}\"\n":              true,
		"experiment: cloaking/stripes\ndtype: \"${env:DTYPE:float32}\"\n":          true,
		"experiment: cloaking/stripes\ndtype: \"float16\"\n":                       false,
		"experiment: cloaking/stripes\ninclude: base.yaml\nparams: {pionts: 50}\n": false,
	} {
		t.Run(text, func(t *testing.T) {
			var v any
			if err := yaml.Unmarshal([]byte(text), &v); err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(plain(v)); (err == nil) != valid {
				t.Errorf("valid: %v, but: %v", valid, err)
			}
		})
	}
}
