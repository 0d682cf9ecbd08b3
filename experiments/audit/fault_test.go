package audit

import (
	"slices"
	"strings"
	"testing"
)

// Every planted fault is found by something, and by what is made for it; nothing
// is found in the honest subjects.
func TestFaultTable(t *testing.T) {
	wanted := map[string][]Test{
		"noise ×.9":                                {Noise},
		"noise ×.5":                                {Noise, BlackBox, Mu},
		"δ×10":                                     {Exact, BlackBox, Mu},
		"sensitivity of one coordinate for two":    {BlackBox, Mu},
		"covariance of other coordinates":          {Noise},
		"data-dependent rank":                      {BlackBox, Support, Files},
		"data-dependent scale":                     {Noise},
		"clipping after the fit":                   {BlackBox, Mu},
		"reused noise: coordinates share it":       {Noise, BlackBox, Mu},
		"reused noise: every release has the same": {Noise, BlackBox, Mu},
		"composition forgotten":                    {BlackBox, Mu},
		"floating-point sampler":                   {Support},
		"coarser than the stated grid":             {Support},
		"grid from the data":                       {Support, Files},
		"message from the data":                    {Files},
		"path of the data in the file":             {Files},
		"selection that returns its score":         {BlackBox},
		"selection with half the sensitivity":      {BlackBox},
	}
	faults, err := Faults()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := RunFaults(t.Context(), faults, Options{Draws: DefaultDraws, Confidence: 0.999, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := FaultTable(&table, rows); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", table.String())
	honest := 0
	for _, r := range rows {
		t.Run(r.Fault, func(t *testing.T) {
			if !r.OK() {
				t.Errorf("found by %v: %v", r.FoundBy, r.Findings)
			}
			if r.Honest {
				honest++
			} else if wanted[r.Fault] == nil {
				t.Error("nothing is said of what should find this fault")
			}
			for _, test := range wanted[r.Fault] {
				if !slices.Contains(r.FoundBy, test) {
					t.Errorf("%s does not find it; what does: %v", test, r.Findings)
				}
			}
		})
	}
	if honest != 2 || len(rows) != len(wanted)+honest {
		t.Errorf("%d rows, of which %d are honest, for %d faults", len(rows), honest, len(wanted))
	}
}
