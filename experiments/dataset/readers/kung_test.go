package readers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseKung(t *testing.T) {
	const text = `"height";"weight";"age";"male"` + "\n151.765;47.8256065;63;1\n139.7;36.4858065;63;0\r\n100;20.5;7.5;0\n"
	k, rows, err := parseKung(strings.NewReader(text))
	if err != nil || rows != 3 || len(k.Age) != 2 {
		t.Fatalf("%+v, %d rows, %v", k, rows, err)
	}
	if k.Height[0] != 139.7 || k.Weight[0] != 36.4858065 || k.Age[0] != 63 || k.Age[1] != 7.5 {
		t.Errorf("the females are %+v", k)
	}
}

func TestParseKungErrors(t *testing.T) {
	const header = `"height";"weight";"age";"male"` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"other header", "height,weight,age,male\n1,2,3,0\n", "line 1: the header"},
		{"no rows", header, "no rows"},
		{"missing field", header + "1;2;3;0\n1;2;3\n", "line 3: 3 fields"},
		{"not a number", header + "1;2;x;0\n", `line 2: age is "x"`},
		{"empty field", header + "1;;3;0\n", `line 2: weight is ""`},
		{"NaN", header + "NaN;2;3;0\n", `line 2: height is "NaN"`},
		{"infinite", header + "1;2;inf;0\n", `line 2: age is "inf"`},
		{"negative", header + "1;-2;3;0\n", "line 2: weight is -2"},
		{"sex", header + "1;2;3;2\n", "line 2: male is 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := parseKung(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}

func TestLoadKungChecksTheNumberOfRows(t *testing.T) {
	folder := t.TempDir()
	if _, err := LoadKung(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	text := kungHeader + "\n1;2;3;0\n"
	if err := os.WriteFile(filepath.Join(folder, "Howell1.csv"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := LoadKung(folder)
	if err == nil || !strings.Contains(err.Error(), "1 rows with 1 females; the census has 544") {
		t.Error(err)
	}
}

func TestLoadKung(t *testing.T) {
	k, err := LoadKung(realData(t, "kung", "."))
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Height) != 287 || k.Height[0] != 139.7 || k.Weight[0] != 36.4858065 || k.Age[0] != 63 {
		t.Errorf("%d females, the first %g cm, %g kg, %g years", len(k.Height), k.Height[0], k.Weight[0], k.Age[0])
	}
}
