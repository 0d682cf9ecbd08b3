package histogram

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"privkern/experiments/model"
)

// mostCells bounds the cells of a partition.
const mostCells = 1 << 14

// partition cuts the box [−1, 1]^d into cells.
type partition struct {
	// Columns has the first column of each input that is cut, and Levels the columns of one that is a category, 0 of
	// numbers.
	Columns []int `json:"columns"`
	Levels  []int `json:"levels"`
	Bins    int   `json:"bins"` // of an input that is a number
}

// size is the number of cells.
func (p *partition) size() int {
	cells := 1
	for _, levels := range p.Levels {
		if levels == 0 {
			levels = p.Bins
		}
		if levels > mostCells/cells {
			return mostCells + 1
		}
		cells *= levels
	}
	return cells
}

// cell is that of u.
func (p *partition) cell(u []float64) int {
	cell := 0
	for i, column := range p.Columns {
		if levels := p.Levels[i]; levels > 0 {
			cell = cell*levels + floats.MaxIdx(u[column:column+levels])
			continue
		}
		at := 0
		if v := (u[column] + 1) / 2 * float64(p.Bins); v > 0 {
			at = min(p.Bins-1, int(v))
		}
		cell = cell*p.Bins + at
	}
	return cell
}

// check checks a partition that was read.
func (p *partition) check(c *model.Checker, inputs int) {
	c.Require(len(p.Columns) == len(p.Levels), "parameters.partition.levels", "there are %d for %d columns", len(p.Levels),
		len(p.Columns))
	c.Require(p.Bins >= 1 && p.Bins <= mostCells, "parameters.partition.bins",
		"it is %d; a number from 1 to %d is required",
		p.Bins, mostCells) // their product with the cells of other inputs is no more than an int holds
	for i := range p.Columns {
		if c.Failed() {
			return
		}
		column, levels := p.Columns[i], p.Levels[i]
		c.Require(column >= 0 && levels >= 0 && column < inputs && levels <= inputs-column,
			fmt.Sprintf("parameters.partition.columns[%d]", i), "there is no column %d of %d levels", column, levels)
	}
	if size := p.size(); !c.Failed() {
		c.Require(size <= mostCells, "parameters.partition.bins", "there are more than %d cells", mostCells)
	}
}

// Of the public ranges, rows occupy a part of each, and a function changes more in one part than in another: k cells
// of an input leave 1/(1 + (k² − 1)/bend) of the variance that it explains, and rows are in the share occupied^q of the
// cells of q inputs. Beyond mostCut inputs cells are too few for any. The three were found on tables of 1 to 13 inputs
// and 257 to 20,000 rows (heights, diabetes, houses, diamonds, earthquakes, schools), at ε from 0.3 to 3.
const (
	bend     = 8
	occupied = 0.7
	mostCut  = 4
)

// partitioned returns the partition of the settings. Numbers that are not given are those of the least error that is
// expected where a function of a typical variance depends on all inputs alike.
func (a *algorithm) partitioned(s *Settings) (partition, error) {
	asked := a.Rows.Asked
	all := partition{}
	for column, i := 0, 0; i < len(asked); i++ {
		all.Columns, all.Levels = append(all.Columns, column), append(all.Levels, asked[i].Levels)
		column += max(1, asked[i].Levels)
	}
	if !s.Cut.IsWord && s.Cut.Number > len(asked) {
		return partition{}, fmt.Errorf("cut = %d: there are %d inputs", s.Cut.Number, len(asked))
	}
	noise := a.output*a.output + typical*a.count*a.count
	best, least := partition{}, math.Inf(1)
	for cut := 0; cut <= len(asked); cut++ {
		if s.Cut.IsWord && cut > mostCut || !s.Cut.IsWord && cut != s.Cut.Number {
			continue
		}
		for bins := 1; bins <= mostCells; bins++ {
			if !s.Cells.IsWord {
				bins = s.Cells.Number
			}
			p := partition{all.Columns[:cut], all.Levels[:cut], bins}
			cells := p.size()
			if cells > mostCells {
				break
			}
			if expected := a.expected(&p, len(asked), noise); expected < least {
				best, least = p, expected
			}
			if !s.Cells.IsWord || !slices.Contains(p.Levels, 0) {
				break
			}
		}
	}
	if math.IsInf(least, 1) {
		return partition{}, fmt.Errorf("cut = %v, cells = %v: there would be more than %d cells; cut fewer inputs, or into "+
			"fewer intervals", s.Cut, s.Cells, mostCells)
	}
	return best, nil
}

// left is the share of the variance inside of cells.
func (p *partition) left(inputs int) float64 {
	left := float64(inputs - len(p.Levels))
	for _, levels := range p.Levels {
		if levels == 0 {
			left += 1 / (1 + float64(p.Bins*p.Bins-1)/bend)
		}
	}
	return left / float64(inputs)
}

// expected is the mean square error that is expected of a partition, by the number of inputs and the variance of the
// noise of a sum: what is left inside of cells, and the variance of their means, in the light of that which they
// explain. An output that has the typical variance about the mean of its cell stands for empty cells, too. Of a person,
// one row is counted on, not as many as one may have.
func (a *algorithm) expected(p *partition, inputs int, noise float64) float64 {
	left := p.left(inputs)
	cells := float64(p.size()) * math.Pow(occupied, float64(len(p.Levels)))
	each, explained := float64(a.Rows.Units())/max(1, cells), typical*(1-left)
	mean := noise/(each*each) + typical/each
	return typical*left + explained*mean/(explained+mean)
}
