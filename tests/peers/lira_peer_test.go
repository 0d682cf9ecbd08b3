package peers

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"privkern/experiments/attack"
	"privkern/tests/tier"
)

// Attacks have the areas and rates of the same formulas in SciPy and scikit-learn, from 64 shadow models on, where each
// unit has deviations of its own.
func TestAttacksAgainstSciPy(t *testing.T) {
	python := python(t, "numpy, scipy, sklearn")
	_, rng := tier.Random(t, 1, 1)
	const models, pairs = 90, 60
	var game struct {
		Models  []*attack.Model `json:"models"`
		Targets int             `json:"targets"`
		Levels  []float64       `json:"levels"`
	}
	game.Targets = attack.Targets(models)
	for range models {
		game.Models = append(game.Models, drawModel(rng, pairs))
	}
	got, err := attack.Judge(game.Models, attack.Guarantee{Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got.Attacks[0].Rates {
		game.Levels = append(game.Levels, r.Level)
	}
	encoded, err := json.Marshal(game)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "game.json")
	if err := os.WriteFile(file, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		AUC   float64
		Rates [][2]float64
	}{}
	printedBy(t, python, &want, "lira.py", file)
	near := func(name string, got, want float64) {
		if !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("%s: %.9g, the peer has %.9g", name, got, want)
		}
	}
	for _, a := range got.Attacks {
		w := want[a.Attack]
		near(a.Attack+", AUC", a.AUC.Mean, w.AUC)
		for i, r := range a.Rates {
			near(a.Attack+", members", r.Found.Mean, w.Rates[i][0])
			near(a.Attack+", others", r.Alarms.Mean, w.Rates[i][1])
		}
	}
}

// drawModel draws a model whose units differ, in how much it tells of them too.
func drawModel(rng *rand.Rand, pairs int) *attack.Model {
	m := &attack.Model{}
	for p := range pairs {
		first := rng.IntN(2) == 0
		for i, member := range []bool{first, !first} {
			unit := float64(2*p + i)
			x := math.Sin(unit) + (.5+math.Mod(unit, 3))*rng.NormFloat64()
			if member {
				x += math.Mod(unit, 5) / 3
			}
			m.Pair, m.Member = append(m.Pair, p), append(m.Member, member)
			m.Statistic, m.Confidence = append(m.Statistic, x), append(m.Confidence, -math.Abs(x))
		}
	}
	return m
}
