package classify

import (
	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/design"
	"privkern/experiments/dataset/table"
)

// memory estimates the bytes that a trial on a file takes, with all rows different, or up to the most that the method
// takes; 0, for little, of the loans, and where the file has no rows or cannot be read, which the trial reports.
func memory(s *classificationSettings) int64 {
	if !s.own().IsFile() {
		return 0
	}
	rows, inputs, err := s.own().Table().Size()
	if err != nil || rows == 0 {
		return 0
	}
	read := int64(min(rows, table.MaxValues/(inputs+1)))
	if !s.Rows.Is(AllRows) {
		rows = min(rows, s.Rows.Number)
	}
	n := min(rows, maxInputsStandard)
	if s.Method == cloak.Sparse {
		n = min(rows, maxInputsSparse)
	}
	c := classifier{settings: &s.ClassifierSettings, method: s.Method}
	draws, more := 1, 3*min(s.Folds.Folds-1, c.together(n)-1) // the folds whose modes are found together
	if !s.Noiseless() {
		draws, more = s.Draws, 0
		if s.newtonSteps().Number > 1 {
			more = 8 * (min(draws, c.drawsAtOnce(n)) - 1)
		}
	}
	const float, copies, perRow = 8, 8, 30
	other := float * (copies*read*int64(inputs+1) + perRow*int64(rows) + 6*int64(draws)*int64(rows))
	if s.Method == cloak.Standard {
		return other + laplaceMemory(cloak.Standard, n) + float*int64(more)/2*int64(n)*int64(n)
	}
	return other + sparseMemory(n, s.Inducing, more)
}

// sparseMemory estimates that of the ranges of n different inputs with some inducing ones: fourteen factors and more
// where several draws or folds are computed at once, and three matrices of the order of the columns in a design's
// program. Measured on two inputs were, in MiB, 90, 125 and 299 for 5,000 and 20,000 rows with 20 inducing inputs and
// 20,000 with 100, 611 for these with draws of the mode and 380 without noise, and 152 for 2,000 rows with 20.
func sparseMemory(n, inducing, more int) int64 {
	const process, float = 95 << 20, 8
	program := int64(min(n, design.FewColumns))
	if n > 2*design.FewColumns { // so that every fold of two or more generates its columns
		program = min(program, int64(8*inducing))
	}
	return process + float*(int64(14+more)*int64(n)*int64(inducing)+3*program*program)
}
