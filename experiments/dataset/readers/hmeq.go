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

// HMEQ holds the home equity loans in the order of the file.
type HMEQ struct {
	Bad []float64 // 1: defaulted or seriously delinquent; 0: repaid
	// Columns holds the numeric attributes by their names in the file, such as
	// "DELINQ"; NaN where a value is missing.
	Columns map[string][]float64
}

// HMEQRows is the number of loans.
const HMEQRows = 5960

const hmeqHeader = "BAD,LOAN,MORTDUE,VALUE,REASON,JOB,YOJ,DEROG,DELINQ,CLAGE,NINQ,CLNO,DEBTINC"

// HMEQFile is the path of the table in the folder of the set "hmeq".
func HMEQFile(folder string) string { return filepath.Join(folder, "hmeq.csv") }

// LoadHMEQ reads hmeq.csv from the folder of the set "hmeq": its exact header
// and 5960 rows. REASON and JOB, which are words, are left out. Errors name the
// line.
func LoadHMEQ(folder string) (*HMEQ, error) {
	path := HMEQFile(folder)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the HMEQ loans: %w", err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	h, err := parseHMEQ(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(h.Bad) != HMEQRows {
		return nil, fmt.Errorf("%s: %d rows; HMEQ has %d", path, len(h.Bad), HMEQRows)
	}
	return h, nil
}

// parseHMEQ reads the format of hmeq.csv.
func parseHMEQ(r io.Reader) (*HMEQ, error) {
	h := &HMEQ{Columns: map[string][]float64{}}
	names := strings.Split(hmeqHeader, ",")
	scan := bufio.NewScanner(r)
	line := 0
	for scan.Scan() { // drops the CR of CRLF, too
		line++
		text := scan.Text()
		if line == 1 {
			if text != hmeqHeader {
				return nil, fmt.Errorf("line 1: the header is %q, expected %q", text, hmeqHeader)
			}
			continue
		}
		if err := h.parseRow(names, text); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", line+1, err)
	}
	switch {
	case line == 0:
		return nil, fmt.Errorf("the file is empty, expected the header %q", hmeqHeader)
	case len(h.Bad) == 0:
		return nil, fmt.Errorf("no rows after the header")
	}
	return h, nil
}

// parseRow reads a line; a field without a value is NaN, never zero.
func (h *HMEQ) parseRow(names []string, text string) error {
	fields := strings.Split(text, ",")
	if len(fields) != len(names) {
		return fmt.Errorf("%d fields in %q, expected %d (%s)", len(fields), text, len(names), hmeqHeader)
	}
	for i, field := range fields {
		switch name := names[i]; name {
		case "REASON", "JOB":
		case "BAD":
			if field != "0" && field != "1" {
				return fmt.Errorf("BAD is %q, expected 0 or 1", field)
			}
			h.Bad = append(h.Bad, float64(field[0]-'0'))
		default:
			v := math.NaN()
			if field != "" {
				var err error
				if v, err = strconv.ParseFloat(field, 64); err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("%s is %q, expected a finite number or nothing", name, field)
				}
			}
			h.Columns[name] = append(h.Columns[name], v)
		}
	}
	return nil
}
