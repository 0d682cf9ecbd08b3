package ledger_test

import (
	"math"
	"testing"

	"privkern/runner/claims/ledger"
)

func TestParsePrinted(t *testing.T) {
	nan := math.NaN() // no uncertainty
	cases := []struct {
		text                         string
		value, uncertainty, rounding float64
		relation                     ledger.Relation
		percent                      bool
	}{
		{"13.3 ± 3.2", 13.3, 3.2, 0.05, "=", false},
		{"13.3±3.2", 13.3, 3.2, 0.05, "=", false},
		{"13.3 +/- 3.2", 13.3, 3.2, 0.05, "=", false},
		{".9867", 0.9867, nan, 0.00005, "=", false},
		{"0", 0, nan, 0.5, "=", false},
		{"63", 63, nan, 0.5, "=", false},
		{"-0.30", -0.3, nan, 0.005, "=", false},
		{"−0.30", -0.3, nan, 0.005, "=", false}, // the minus sign of print
		{"5.00 %", 5, nan, 0.005, "=", true},
		{"86.2%", 86.2, nan, 0.05, "=", true},
		{"1.2e-3", 0.0012, nan, 0.00005, "=", false},
		{"1.2 × 10⁻³", 0.0012, nan, 0.00005, "=", false},
		{"1.2·10^-3", 0.0012, nan, 0.00005, "=", false},
		{"1.2 x 10^{−3}", 0.0012, nan, 0.00005, "=", false},
		{"2e5", 200000, nan, 50000, "=", false},
		{"1,600", 1600, nan, 0.5, "=", false},
		{"< 0.0018", 0.0018, nan, 0.00005, "<", false},
		{"≤ 3", 3, nan, 0.5, "<=", false},
		{">= 3", 3, nan, 0.5, ">=", false},
		{"≈ 0.5", 0.5, nan, 0.05, "=", false},
	}
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			p, err := ledger.ParsePrinted(c.text)
			if err != nil {
				t.Errorf("%q: %v", c.text, err)
				return
			}
			u := nan
			if p.Uncertainty != nil {
				u = *p.Uncertainty
			}
			if p.Value != c.value || u != c.uncertainty && !(math.IsNaN(u) && math.IsNaN(c.uncertainty)) ||
				p.Rounding != c.rounding || p.Relation != c.relation || p.Percent != c.percent {
				t.Errorf("%q: got %+v with uncertainty %v", c.text, p, u)
			}
		})
	}
	for _, text := range []string{"", "about 3", "3 cm", "1.2.3", "13.3 ± ", "± 3", "1e999", "1e-99999", "3 ± -1", "12,34",
		"1.234(5)", "NaN", "inf", "0x10"} {
		if p, err := ledger.ParsePrinted(text); err == nil {
			t.Errorf("%q reads as %+v", text, p)
		}
	}
}

func FuzzParsePrinted(f *testing.F) {
	f.Add("13.3 ± 3.2")
	f.Add("< 1.2 × 10⁻³ %")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ledger.ParsePrinted(text)
		if err == nil && (math.IsNaN(p.Value) || math.IsInf(p.Value, 0) || p.Rounding < 0 || math.IsInf(p.Rounding, 0)) {
			t.Errorf("%q reads as %+v", text, p)
		}
	})
}
