package readers

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
)

func TestParseHMEQ(t *testing.T) {
	const text = hmeqHeader + "\r\n" +
		"1,1100,25860,39025,HomeImp,Other,10.5,0,2,94.36666667,1,9,\r\n" +
		"0,1500,,,,,,,,,,,\r\n"
	h, err := parseHMEQ(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Bad) != 2 || h.Bad[0] != 1 || h.Bad[1] != 0 {
		t.Errorf("BAD is %v", h.Bad)
	}
	if d := h.Columns["DELINQ"]; len(d) != 2 || d[0] != 2 || !math.IsNaN(d[1]) {
		t.Errorf("DELINQ is %v", d)
	}
	if len(h.Columns) != 10 {
		t.Errorf("%d numeric columns beside BAD, want 10", len(h.Columns))
	}
}

func TestParseHMEQErrors(t *testing.T) {
	const header = hmeqHeader + "\r\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"other header", "BAD,LOAN\n1,2\n", "line 1: the header"},
		{"no rows", header, "no rows"},
		{"missing field", header + "1,1,1,1,a,b,1,1,1,1,1,1,\n1,2\n", "line 3: 2 fields"},
		{"target", header + "2,1,1,1,a,b,1,1,1,1,1,1,\n", `line 2: BAD is "2"`},
		{"no target", header + ",1,1,1,a,b,1,1,1,1,1,1,\n", `line 2: BAD is ""`},
		{"not a number", header + "1,1,x,1,a,b,1,1,1,1,1,1,\n", `line 2: MORTDUE is "x"`},
		{"infinite", header + "1,1,1,1,a,b,1,1,inf,1,1,1,\n", `line 2: DELINQ is "inf"`},
	} {
		_, err := parseHMEQ(strings.NewReader(c.text))
		t.Run(c.name, func(t *testing.T) { filetest.MustFail(t, err, c.want) })
	}
}

func TestLoadHMEQChecksTheNumberOfRows(t *testing.T) {
	folder := t.TempDir()
	if _, err := LoadHMEQ(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	filetest.WriteFile(t, []byte(hmeqHeader+"\n1,1100,,,,,,,,,,,\n"), folder, "hmeq.csv")
	_, err := LoadHMEQ(folder)
	filetest.MustFail(t, err, "1 rows; HMEQ has 5960")
}

// The counts are those that every description of the set gives.
func TestLoadHMEQ(t *testing.T) {
	h, err := LoadHMEQ(realData(t, "hmeq", "."))
	if err != nil {
		t.Fatal(err)
	}
	bad := 0.0
	for _, b := range h.Bad {
		bad += b
	}
	if len(h.Bad) != HMEQRows || bad != 1189 {
		t.Errorf("%g of %d loans are bad, want 1189 of 5960", bad, len(h.Bad))
	}
	for name, want := range map[string]int{"LOAN": 0, "MORTDUE": 518, "VALUE": 112, "YOJ": 515, "DEROG": 708,
		"DELINQ": 580, "CLAGE": 308, "NINQ": 510, "CLNO": 222, "DEBTINC": 1267} {
		t.Run(name, func(t *testing.T) {
			missing := 0
			for _, v := range h.Columns[name] {
				if math.IsNaN(v) {
					missing++
				}
			}
			if missing != want || len(h.Columns[name]) != HMEQRows {
				t.Errorf("%d of %d values are missing, want %d", missing, len(h.Columns[name]), want)
			}
		})
	}
}
