package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// asks returns the numbers of a text that are asked for.
func asks(s string) []string {
	numbers, _ := areas(s).numbers()
	out := []string{}
	for _, n := range numbers {
		out = append(out, n.text)
	}
	return out
}

// Results and settings are returned, and other numbers are not.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       string // with blanks between
	}{
		{"decimals", "falls from 0.0442 to .5, and to 17.", "0.0442 .5 17"},
		{"per cents", `an improvement of 7.34% over 50\% and 25 % of it`, "7.34 50 25"},
		{"thousands", "used 50,000-60,000 points, then 1,080, or 1, 2, 3.", "50,000 60,000 1,080 1 2 3"},
		{"with a spread", "13.3 ± 3.2 and $17.2 \\pm 3.1$", "13.3 3.2 17.2 3.1"},
		{"powers of ten", `1e-5, $10^{-4}$, 2.5 × 10⁻³, $3 \times 10^{-6}$`, `1e-5 10^{-4} 2.5 × 10⁻³ 3 \times 10^{-6}`},
		{"units", "a spread of 14.55cm, 40cm at 50kg in 30 s", "14.55 40 50 30"},
		{"sign", "a loss of -0.0044 and −3", "0.0044 3"},

		{"set in a formula", `with $\epsilon = 16$, $|Z| = 9$, $n \in \{5, 10\}$ and $20$`, "16 9 5 10 20"},
		{"decimals of a formula", `where $c = 0.5K$ or $[-3.5, 3.5]$`, "0.5 3.5 3.5"},
		{"interval alone", `on the interval $[-4, 4]$`, "4 4"},
		{"setting of nought", `suppose $V = 0$ and $\mu = 1$`, "0 1"},
		{"coefficients", `$f(x) = \sin(2x)/2x$, $N - 1$ and $= 3x + 2$`, ""},
		{"indices and powers", `$x_1$, $y^{2}$, $z_{10,2}$, $d^2$ and D_1, N^{3}`, ""},
		{"power of ten with a letter", `$a\times 10^{b}$`, ""},
		{"conditions", `$\lambda > 0$, $c \leq 1$, $0 < \alpha < 1$, $i = 1, \dots, n$ and x \geq 0`, ""},
		{"bounds are none", `$p > 2$ and $N < 300$`, "2 300"},
		{"displayed", `$$f = \frac{1}{2} \sum_{i=1}^{3} x = 4 + 0.25 \tag{7}$$`, "0.25"},
		{"indicator", `the function \mathbb{1} and $\{0, 1\}$`, ""},
		{"term without dollars", "up to m = M - 1 we have", ""},
		{"a dollar alone", "it costs $40 a year", "40"},

		{"glyphs", `𝐊1subscript𝐊1\mathbf{K}_{1} and M=561𝑀561M=561 features`, "561"},
		{"glyphs with a set", `γ={0.01,0.03}𝛾0.010.03\gamma=\{0.01,0.03\}.`, "0.01 0.03"},
		{"glyphs in a row", `SNR ρsnr=0.1subscript𝜌𝑠𝑛𝑟0.1\rho_{snr}=0.1 85.67 12.00`, "0.1 85.67 12.00"},

		{"sections", "In Sections 5.1, 5.2 and 5.3, Section 4, Theorem 10.12 and §2.1", ""},
		{"labels", "Fig. 3, Figures 1–2, Table 4, Definition 7, Eqs. (3) and (4), Step 2 and pages 45-47.", ""},
		{"label and result", "Table 1 has 77 of them and a step 0.05 wide", "77 0.05"},
		{"equation numbers", "by (12) and (104), f(0.5)", "0.5"},
		{"headings", "6.2 Uncertainty of 3 models", "3"},
		{"heading without numbers", "2.1 Method", ""},
		{"list items", "2) The second one", ""},
		{"algorithm", "12:     SSE grows by 9", "9"},
		{"enumeration", "we study: 1) this; 2) that of (see 3) 4", "3 4"},
		{"page", "  517  ", ""},
		{"citations", "as in [5], [5, 6], [7-9] and [1, 2, 35]", ""},
		{"intervals are none", "for values of [0.5, 2.5] and [0, 1]", "0.5 2.5 0 1"},
		{"years", "Smith et al. (2018), (Abadi et al., 2016; Song, 2013a) and [Sun and Tay, 2017]", ""},
		{"years are no counts", "2000 images and (2048 points)", "2000 2048"},
		{"words", "2d, L2, VGG-16, a 3-dimensional set, 1-NN and 10th", ""},

		{"row between bars", "| (5, 20) | 0.9820 | 3 | -0.5 (mean) |", "5 20 0.9820 3 0.5"},
		{"row between tabs", "2d\t17.2 ± 3.1\t10", "17.2 3.1 10"},
		{"plain row", "Random guess 16.67 10.00", "16.67 10.00"},
		{"label in a row", "| SVM (Kumar, 2021a) | classifier (104) | (Def. 15) | 8 |", "8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(asks(c.line), " "); got != c.want {
				t.Errorf("%q: got %q, want %q", c.line, got, c.want)
			}
		})
	}
}

// Rows and per cents are recognised, because their comparison with the ledger differs.
func TestKindsOfNumbers(t *testing.T) {
	for line, want := range map[string]string{
		"| a | 0.5 |":               "0.5 row",
		"a\t0.5":                    "0.5 row",
		"Some kernel 16.67 10.00":   "16.67 row, 10.00 row",
		"Accuracy of 51 % and 81":   "51 percent, 81",
		`it is 51\%, or $50\%$`:     "51 percent, 50 percent",
		"from 0.9771 to 0.9772, so": "0.9771, 0.9772",
	} {
		numbers, _ := areas(line).numbers()
		var got []string
		for _, n := range numbers {
			s := n.text
			if n.row {
				s += " row"
			}
			if n.percent {
				s += " percent"
			}
			got = append(got, s)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// Values are parsed in every notation.
func TestValues(t *testing.T) {
	for text, want := range map[string]float64{
		"1,600": 1600, ".98": 0.98, "1e-5": 1e-5, "2.5 × 10⁻³": 2.5e-3, `3 \times 10^{-6}`: 3e-6, "10^{-4}": 1e-4,
		"10^7": 1e7, "1E+3": 1e3, `1.2 \cdot 10^{2}`: 120,
	} {
		found := scan(text, 1)
		if len(found) != 1 || found[0].text != text || found[0].value != want {
			t.Errorf("%q: got %+v, want %g", text, found, want)
		}
	}
	for text, want := range map[string]string{"0.980": ".980", ".98": ".98", "0": "0", "1,600": "1600", "2e-5": "2e-5"} {
		if got := (number{text: text}).key(); got != want {
			t.Errorf("%q: key %q, want %q", text, got, want)
		}
	}
}

// The title page, acknowledgements and references have no results; the text after them has.
func TestAreas(t *testing.T) {
	text := `On a matter
Street 17, 4232 Town

Abstract
We improve by 5.5 points.

7. Acknowledgements

Supported by grant 325573 of 3 funds.

A table of 12 rows follows.

References

- A. Author. A title. Journal, 14(1):703–727, 2013.

Appendix A. Proof with 0.25
It costs 99 more.
`
	got, left := areas(text).numbers()
	var values []string
	for _, n := range got {
		values = append(values, fmt.Sprintf("%d:%s", n.line, n.text))
	}
	if want := []string{"5:5.5", "11:12", "17:0.25", "18:99"}; !slices.Equal(values, want) {
		t.Errorf("got %v, want %v", values, want)
	}
	if want := (map[rule]int{title: 2, thanks: 3, reference: 5}); !maps.Equal(left, want) {
		t.Errorf("left out %v, want %v", left, want)
	}
}
