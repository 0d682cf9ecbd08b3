package audit

import "testing"

// Every planted fault is found by something, and by what is made for it; nothing
// is found in the honest subjects.
func TestFaultTable(t *testing.T) {
	long(t)
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
	checkFaults(t, faults, wanted, 2, Options{Draws: DefaultDraws, Confidence: 0.999, Seed: 1})
}
