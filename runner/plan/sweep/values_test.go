package sweep_test

import (
	"slices"
	"strings"
	"testing"

	"privkern/runner/plan/sweep"
)

// Keys are made of these numbers, to the last bit.
func TestNumbersOfASpace(t *testing.T) {
	numbers := func(call string) (out []float64) {
		t.Helper()
		const varied = "epsilon"
		s, err := sweep.Read("test.yaml", []byte("experiment: demo/curve\nsweep:\n  "+varied+": "+call+"\n"), names)
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.Expand()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range x.Settings {
			for name, v := range a.Params {
				if name == varied {
					out = append(out, v.(float64))
				}
			}
		}
		return out
	}
	up, down := numbers("linspace(0.1,1,4)"), numbers("linspace(1,0.1,4)")
	if want := []float64{0.10000000000000002, 0.39999999999999997, 0.7000000000000001, 1}; !slices.Equal(up, want) {
		t.Errorf("%v, want %v", up, want)
	}
	if slices.Reverse(down); !slices.Equal(up, down) {
		t.Errorf("%v reversed is %v", up, down)
	}
}

func TestSeeds(t *testing.T) {
	for raw, want := range map[string][]int64{"3": {3}, "0..2": {0, 1, 2}, "1,5..6": {1, 5, 6}} {
		t.Run(raw, func(t *testing.T) {
			if got, err := sweep.ParseSeeds(raw); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %v", raw, got, err)
			}
		})
	}
	for _, raw := range []any{"", "-1", "1..", "x", "1,1", 1.5, []any{}, -3, "0..99999999999"} {
		if got, err := sweep.ParseSeeds(raw); err == nil {
			t.Errorf("%v gave %v", raw, got)
		}
	}
	// The message names the forms of a text.
	_, err := sweep.ParseSeeds("[1,2]")
	if err == nil || !strings.HasSuffix(err.Error(), `"[1,2]" are not seeds; write 7, 0,1,2 or 0..19`) {
		t.Errorf("%v", err)
	}
	for _, form := range []string{"7", "0,1,2", "0..19"} {
		if _, err := sweep.ParseSeeds(form); err != nil {
			t.Error(err)
		}
	}
}
