package released

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments/attack"
	"privkern/experiments/baseline"
	"privkern/experiments/internal/modeltest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/runner/experiment"
)

// describedBy returns the file of a payload with a description of an experiment with those parameters.
func describedBy(t *testing.T, p model.Payload, name, params string) *File {
	t.Helper()
	m := modeltest.Of(p)
	m.Files[0].Path = filepath.Join(t.TempDir(), "m.json")
	text := fmt.Sprintf(`{"experiment": %q, "params": {%s}, "privacy": {"guarantee": ""}}`, name, params)
	if err := os.WriteFile(m.Files[0].Path+".json", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return NewFile(m)
}

var registry = experiment.RegistryOf([]experiment.Paper{baseline.Experiments(), kahm.Paper()})

const params = `"inputs": "age+smoker[no|yes]", "output": "weight", "low": -10, "high": 10, "input_low": [0, 0],
	"input_high": [100, 1], "epsilon": 1, "delta": 1e-5, "missing": "-"`

// Rows differ in how well they are predicted, which a threshold takes for membership: shadow models tell that from the
// little by which members are predicted better.
func TestShadowsTellMembers(t *testing.T) {
	members, others := crowd(1, 100, 0), crowd(2, 100, 0)
	all := append(append([]person{}, members...), others...)
	miss := map[string]float64{}
	rng := rand.New(rand.NewPCG(1, 1))
	for i, p := range all {
		miss[fmt.Sprint(p.inputs())] = p.out + 3*rng.Float64() + map[bool]float64{true: 0, false: .3}[i < len(members)]
	}
	f := describedBy(t, &payload{predict: func(row []float64) []float64 { return []float64{miss[fmt.Sprint(row)]} }},
		"baseline/histogram", params)
	s, err := experiment.ReadSettings[Settings]([]string{"dataset=" + write(t, members, false),
		"others=" + write(t, others, false), "shadows=20"})
	if err != nil {
		t.Fatal(err)
	}
	file := ""
	means := &Means{PathOf: pathOf, Registry: registry, Trials: func(_ context.Context, e *experiment.Experiment,
		p experiment.Params, path string, seeds int) (out []map[string]experiment.Series, _ error) {
		file = path
		raw, err := os.ReadFile(path)
		lines := strings.Split(string(raw), "\n")
		if err != nil || len(lines) != 202 || lines[0] != "age,smoker,weight" ||
			e.Name != "baseline/histogram" || !experiment.SettingsIn[method.Recorded](e.Whole(p)).Membership ||
			experiment.SettingsIn[method.Columns](e.Whole(p)).Dataset != "csv:"+path {
			t.Errorf("%v: %s of %v: %d lines, %s", err, e.Name, p, len(lines), lines[0])
		}
		for range seeds {
			series := experiment.Series{}
			for i, p := range all {
				in := float64((i + rng.IntN(2)) % 2)
				// The public range is 20 long.
				error := (p.out - miss[fmt.Sprint(p.inputs())]) / 10
				if i >= len(members) {
					error += .03
				}
				if in == 0 {
					error -= .03
				}
				error += .001 * rng.NormFloat64()
				for name, v := range map[string]float64{"pair": float64(i / 2), "member": in, "confidence": error,
					"statistic": error} {
					series[name] = append(series[name], v)
				}
			}
			out = append(out, map[string]experiment.Series{"membership": series})
		}
		return append(out[1:], nil), nil // one failed
	}}
	out, err := f.Attack(t.Context(), s, means)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Attacks) != 5 || out.Attacks[0].AUC.Mean > .7 || out.Attacks[1].Name != attack.Offline ||
		out.Attacks[1].AUC.Mean < .99 || out.Attacks[2].AUC.Mean < .99 {
		t.Errorf("%+v", out.Attacks)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the rows are still in %s: %v", file, err)
	}
	has(t, out.Notes, "19 fits")
	means.Trials = func(context.Context, *experiment.Experiment, experiment.Params, string, int) (
		[]map[string]experiment.Series, error) {
		return make([]map[string]experiment.Series, 20), nil
	}
	_, err = f.Attack(t.Context(), s, means)
	trialtest.Refuses(t, err, "there are 0 shadow models")
}

// A method without repeats has shadow models.
func TestShadowsOfHulls(t *testing.T) {
	f := describedBy(t, effect(0), "kahm/classifier", `"inputs": "a+b", "low": [0, 0], "high": [1, 1], "n": 2,
		"layers": 1, "output": "kind[a|b]", "data": "original"`)
	e, p, output, err := f.settings(registry, "csv:rows.csv")
	if err != nil || output != "kind" || !experiment.SettingsIn[method.Recorded](e.Whole(p)).Membership {
		t.Errorf("%q of %v: %v", output, p, err)
	}
}

func TestShadowsRefused(t *testing.T) {
	for name, c := range map[string]struct{ experiment, params, want string }{
		"another program": {"compare/choice", params, "do not record"},
		"of persons":      {"baseline/histogram", params + `, "person": "id"`, "of persons"},
		"no range":        {"baseline/histogram", `"output": "y"`, "shadows: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := describedBy(t, effect(0), c.experiment, c.params).settings(registry, "csv:rows.csv")
			trialtest.Refuses(t, err, c.want)
		})
	}
	f := NewFile(modeltest.Of(effect(0)))
	_, _, _, err := f.settings(registry, "csv:rows.csv")
	trialtest.Refuses(t, err, "m.json.json is not there")
	people := write(t, crowd(1, 20, 0), false)
	for _, args := range []string{"kind=reconstruction", "person=id"} {
		_, err := attacked(t, effect(0), "dataset="+people, "others="+write(t, crowd(2, 20, 0), false), "shadows=9", args)
		trialtest.Refuses(t, err, "shadow models are for kind=membership of rows")
	}
	_, err = attacked(t, effect(0), "dataset="+people, "others="+write(t, crowd(2, 20, 0), false), "shadows=7")
	trialtest.Refuses(t, err, "LiRA compares with 8 shadow models at least")
}
