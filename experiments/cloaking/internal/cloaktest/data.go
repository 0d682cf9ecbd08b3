package cloaktest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments/cloaking/internal/digits"
	"privkern/experiments/dataset"
	"privkern/experiments/dataset/readers"
)

// Loans adds a file in the format of HMEQ to the folder: i = 0, …, 5959
// with DELINQ missing for every tenth loan, else the largest d ≤ 15 with
// 2^d ≤ 1 + i mod 997 (so that many have few), and BAD = 1 where
// (7i mod 100) < 15 + 6d.
func Loans(t *testing.T, folder string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("BAD,LOAN,MORTDUE,VALUE,REASON,JOB,YOJ,DEROG,DELINQ,CLAGE,NINQ,CLNO,DEBTINC\n")
	for i := range readers.HMEQRows {
		d := 9 - int(math.Log2(float64(1+i%997)))
		bad := 0
		if 7*i%100 < 15+6*d {
			bad = 1
		}
		delinquent := fmt.Sprint(d)
		if i%10 == 3 {
			delinquent = ""
		}
		fmt.Fprintf(&b, "%d,1000,,,,,,,%s,,,,%g\n", bad, delinquent, 30+math.Sin(float64(i)))
	}
	if err := os.WriteFile(readers.HMEQFile(folder), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Digits makes random pictures the ones that trials find in the folder:
// those of digits from 5 on are brighter on the right.
func Digits(t *testing.T, folder string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	draw := func(n int) readers.Images {
		im := readers.Images{Rows: 28, Cols: 28, Pixels: make([]byte, n*784), Labels: make([]byte, n)}
		for i := range n {
			im.Labels[i] = byte(rng.IntN(10))
			for j := range im.Image(i) {
				p := byte(rng.IntN(240))
				if im.Labels[i] >= 5 && j%28 > 13 {
					p += 8
				}
				im.Image(i)[j] = p
			}
		}
		return im
	}
	digits.Keep(folder, &readers.MNIST{Train: draw(600), Test: draw(300)})
	t.Cleanup(func() { digits.Keep("", nil) })
}

// Classes writes a file of a user's: 60 rows, the class yes (2) where a > 5
// with a few exceptions, and two rows with a missing value. Twelve persons, who, have five rows each.
func Classes(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,b,class,who\n,1,1,0\n3,1,,0\n")
	for i := range 60 {
		class := 1
		if (i%10 > 5) != (i%17 == 0) {
			class = 2
		}
		fmt.Fprintf(&b, "%d,%g,%d,%d\n", i%10, math.Sin(float64(i)), class, i%12)
	}
	return File(t, b.String())
}

// File writes a user's file.
func File(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// OwnCensus writes the females of the census by formulas as a file of a user's,
// with other names.
func OwnCensus(t *testing.T) (path string) {
	t.Helper()
	kung, err := readers.LoadKung(Census(t))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("id,load,temp,power\n")
	for i := range kung.Age {
		fmt.Fprintf(&b, "n%d,%g,%g,%g\n", i, kung.Age[i], kung.Weight[i], kung.Height[i])
	}
	return File(t, b.String())
}

// OwnColumns are the parameters that make the file of writeOwn the problem of
// the census with public normalisation.
func OwnColumns() map[string]any {
	return map[string]any{"dataset": "csv:my.csv", "delta": 0.01, "calibration": "hall", "inputs": "temp+load",
		"output": "power", "low": 60, "high": 160}
}

// SmallOwn is a file of a user's with 24 rows at 8 inputs, and three outputs
// outside [0, 50].
func SmallOwn(t *testing.T) (path string, outputs []float64) {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 24 {
		y := 25 + 20*math.Sin(float64(i)) + 11*math.Cos(7*float64(i))
		outputs = append(outputs, y)
		fmt.Fprintf(&b, "%d,%.17g\n", i%8, y)
	}
	return File(t, b.String()), outputs
}

// Census writes a file in the format of the census whose females are
// given by formulas, so that tests need no data and another implementation can
// be run on the same numbers: i = 0, …, 286,
//
//	age    = ⌊88 (7i² mod 287 / 287)^1.5⌋ (19 different ones)
//	weight = 4 + 50 (1 − e^(−age/12)) + 3 sin i, three decimals
//	height = 60 + 95 (1 − e^(−age/8)) + 6 sin 1.7i, three decimals
func Census(t *testing.T) (folder string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(`"height";"weight";"age";"male"` + "\n")
	for i := range 287 {
		x := float64(i)
		age := math.Floor(88 * math.Pow(float64(i*i*7%287)/287, 1.5))
		weight := 4 + 50*(1-math.Exp(-age/12)) + 3*math.Sin(x)
		height := 60 + 95*(1-math.Exp(-age/8)) + 6*math.Sin(1.7*x)
		fmt.Fprintf(&b, "%.3f;%.3f;%g;0\n", height, weight, age)
	}
	for range 257 {
		b.WriteString("170;60;30;1\n")
	}
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "Howell1.csv"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

// RealCensus skips the test where the census is not there.
func RealCensus(t *testing.T) (folder string) {
	t.Helper()
	if os.Getenv(dataset.DataVariable) == "" {
		t.Skip("needs the data set kung: set $" + dataset.DataVariable)
	}
	folder, _, err := dataset.NewLocator("").Find("kung")
	var missing *dataset.MissingError
	switch {
	case errors.As(err, &missing):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return folder
}

// Wave writes y = 50 + 30 sin(x/4) and noise of standard deviation 2, whether y
// is above 50, a coin that nothing is known of, and a seldom class, at 400 points on
// [0, 20].
func Wave(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString("x,y,high,coin,seldom\n")
	for i := range 400 {
		x := 20 * rng.Float64()
		y := 50 + 30*math.Sin(x/4) + 2*rng.NormFloat64()
		high, seldom := 0, 0
		if y > 50 {
			high = 1
		}
		if i%10 == 0 {
			seldom = 1
		}
		fmt.Fprintf(&b, "%.2f,%.4f,%d,%d,%d\n", x, y, high, rng.IntN(2), seldom)
	}
	return File(t, b.String())
}
