// Package modeltest checks payloads of models, for tests.
package modeltest

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/model"
)

// Read reads the payload of the file at path.
func Read[P model.Payload](t testing.TB, f model.Format, path string) P {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Decode(path, text, []model.Format{f})
	if err != nil {
		t.Fatal(err)
	}
	return m.Files[0].Payload.(P)
}

// Of returns the model of payloads.
func Of(payloads ...model.Payload) *model.Model {
	m := new(model.Model)
	for _, p := range payloads {
		m.Files = append(m.Files, model.File{Path: "m.json", Payload: p})
	}
	return m
}

// Predict predicts from payloads at the rows of x.
func Predict(t testing.TB, x *mat.Dense, payloads ...model.Payload) *model.Prediction {
	t.Helper()
	p, err := Of(payloads...).Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// CheckRefused changes a payload, and fails where its file is still read, or is refused with an
// error that does not begin as the key of the change.
func CheckRefused[P model.Payload](t *testing.T, f model.Format, example func() P, changes map[string]func(P)) {
	for want, change := range changes {
		t.Run(want, func(t *testing.T) {
			p := example()
			change(p)
			text, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			_, err = model.Decode("m.json", text, []model.Format{f})
			var at *model.Error
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), "m.json: "+want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}
