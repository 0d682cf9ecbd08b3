package readers

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Kung holds the females of the !Kung census in the order of the file.
type Kung struct {
	Height []float64 // cm
	Weight []float64 // kg
	Age    []float64 // years
}

// KungFemales is the number of females in the !Kung census.
const KungFemales = 287

const (
	kungHeader = `"height";"weight";"age";"male"`
	kungRows   = 544
)

// LoadKung reads Howell1.csv from the folder of the set "kung": its exact
// header, 544 rows, of which 287 are females (male = 0). Errors name the line.
func LoadKung(folder string) (*Kung, error) {
	path := filepath.Join(folder, "Howell1.csv")
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the !Kung census: %w", err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	k, rows, err := parseKung(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if rows != kungRows || len(k.Age) != KungFemales {
		return nil, fmt.Errorf("%s: %d rows with %d females; the census has %d rows with %d females", path, rows, len(k.Age),
			kungRows, KungFemales)
	}
	return k, nil
}

// parseKung reads the format of Howell1.csv and returns the females and the
// number of all rows.
func parseKung(r io.Reader) (k *Kung, rows int, err error) {
	k = new(Kung)
	scan := bufio.NewScanner(r)
	line := 0
	for scan.Scan() {
		line++
		text := strings.TrimSuffix(scan.Text(), "\r")
		if line == 1 {
			if text != kungHeader {
				return nil, 0, fmt.Errorf("line 1: the header is %q, expected %q", text, kungHeader)
			}
			continue
		}
		v, err := parseKungRow(text)
		if err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", line, err)
		}
		rows++
		if male := v[3]; male == 0 {
			k.Height = append(k.Height, v[0])
			k.Weight = append(k.Weight, v[1])
			k.Age = append(k.Age, v[2])
		}
	}
	if err := scan.Err(); err != nil {
		return nil, 0, fmt.Errorf("line %d: %w", line+1, err)
	}
	switch {
	case line == 0:
		return nil, 0, fmt.Errorf("the file is empty, expected the header %q", kungHeader)
	case rows == 0:
		return nil, 0, fmt.Errorf("no rows after the header")
	}
	return k, rows, nil
}

// parseKungRow reads height (cm), weight (kg), age (years) and male (0 or 1).
func parseKungRow(text string) (v [4]float64, err error) {
	columns := [...]string{"height", "weight", "age", "male"}
	fields := strings.Split(text, ";")
	if len(fields) != len(columns) {
		return v, fmt.Errorf("%d fields in %q, expected %d (%s)", len(fields), text, len(columns),
			strings.Join(columns[:], ";"))
	}
	for i, f := range fields {
		x, err := strconv.ParseFloat(f, 64)
		switch {
		case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
			return v, fmt.Errorf("%s is %q, expected a finite number", columns[i], f)
		case x < 0:
			return v, fmt.Errorf("%s is %s, expected a number from 0 up", columns[i], f)
		}
		v[i] = x
	}
	if v[3] != 0 && v[3] != 1 {
		return v, fmt.Errorf("male is %s, expected 0 or 1", fields[3])
	}
	return v, nil
}
