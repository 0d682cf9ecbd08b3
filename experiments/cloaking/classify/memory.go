package classify

import (
	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/design"
	"privkern/experiments/dataset/table"
)

// memory estimates the bytes that a trial on a file takes, with all rows different, or up to the most that the method
// takes; 0, for little, of the loans, and where the file cannot be read, which the trial reports.
func memory(s *classificationSettings) int64 {
	if !s.own().IsFile() {
		return 0
	}
	rows, inputs, err := s.own().Table().Size()
	if err != nil {
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
	draws, inner := int64(1), 1
	if !s.Noiseless() {
		draws = int64(s.Draws)
		if s.newtonSteps().Number > 1 {
			inner = min(s.Draws, (&classifier{settings: &s.ClassifierSettings}).drawsAtOnce(n))
		}
	}
	const float, copies, perRow = 8, 8, 30
	other := float * (copies*read*int64(inputs+1) + perRow*int64(rows) + 6*draws*int64(rows))
	if s.Method == cloak.Standard {
		return other + laplaceMemory(cloak.Standard, n) + 3*float*int64(inner-1)*int64(n)*int64(n)
	}
	return other + sparseMemory(n, s.Inducing, inner)
}

// sparseMemory estimates that of the ranges of n different inputs with some inducing ones, for draws of the mode at
// once: fourteen factors and eight for each draw more, and three matrices of the order of the columns in a design's
// program. Measured on two inputs were 90, 124 and 274 MiB for folds of 5,000 and 20,000 rows with 20 inducing inputs
// and of 20,000 with 100, and 148 MiB for 2,000 rows with 20.
func sparseMemory(n, inducing, draws int) int64 {
	const process, float = 95 << 20, 8
	program := int64(min(n, design.FewColumns))
	if n > 2*design.FewColumns { // so that every fold of two or more generates its columns
		program = min(program, int64(8*inducing))
	}
	return process + float*(int64(14+8*(draws-1))*int64(n)*int64(inducing)+3*program*program)
}
