package modelfile

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	models "privkern/experiments/model"
)

// Whatever the file of a model, it is refused with its place, or what was read
// reads the same once it is written again, and predicts numbers or says why not.
func FuzzDecode(f *testing.F) {
	whole, err := json.Marshal(model())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(`{"model":"dpgp/1","inputs":[]}`))
	f.Add([]byte(`{"model":"dpgp/2"}`))
	f.Add([]byte(` {"model":"dpgp/1","kernel":{"name":1}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Decode("model.json", text)
		if err != nil {
			var at *models.Error
			if !errors.As(err, &at) || at.Path != "model.json" {
				t.Errorf("an error without a place: %v", err)
			}
			return
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := Decode("model.json", again); err != nil {
			t.Fatalf("%s is read, but not what is written of it: %v", text, err)
		} else if third, err := json.Marshal(n); err != nil || string(third) != string(again) {
			t.Errorf("%s became %s, %v", again, third, err)
		}
		if len(m.Inputs) > 8 || len(m.Inducing) > 8 {
			return // that takes long
		}
		p, _, err := m.Predict(context.Background(), mat.NewDense(1, len(m.Inputs), nil))
		if err != nil {
			return
		}
		for _, v := range []float64{p.Mean[0], p.SD[0], p.Predictive[0]} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s predicts %g ± %g, %g", text, p.Mean[0], p.SD[0], p.Predictive[0])
			}
		}
	})
}
