package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

// Labelled is what was read of a user's table whose rows belong to classes.
type Labelled struct {
	Inputs   *mat.Dense // N×d
	Labels   []int      // N, places in Classes
	Classes  []string   // in order: of numbers that of numbers, otherwise that of texts
	Dropped  int        // rows left out because a named column has no value there
	Constant []string   // inputs with one value
}

// MaxClasses bounds the different labels of a column: more are no classes.
const MaxClasses = 1000

// LoadLabelled reads columns of numbers and one of labels, which may be texts, of a file in
// the format of [LoadTable]. Numbers that are equal are one label, however they are
// written, where all labels are numbers. Errors are *[TableError].
func LoadLabelled(path string, inputs []string, label string) (*Labelled, error) {
	f, err := openTable(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	r, err := openColumns(path, f, append(slices.Clone(inputs), label))
	if err != nil {
		return nil, err
	}
	d := len(inputs)
	at := r.column[d]
	r.column = r.column[:d]
	row, out := make([]float64, d), new(Labelled)
	var values []float64
	var texts []string
	seen := map[string]bool{}
	for {
		missing, err := r.read(row)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		text := strings.TrimSpace(r.fields[at])
		if missing >= 0 || text == "" || strings.EqualFold(text, "na") || strings.EqualFold(text, "nan") {
			out.Dropped++
			continue
		}
		if len(values) > MaxTableValues-d {
			return nil, tableErrorf(path, r.line, 0, "the named columns hold more than %d numbers up to here; take a part "+
				"of the rows", MaxTableValues)
		}
		values, texts = append(values, row...), append(texts, text)
		if seen[text] = true; len(seen) > MaxClasses {
			return nil, tableErrorf(path, r.line, 0, "column %q has more than %d different values up to here: it holds no "+
				"labels of classes", label, MaxClasses)
		}
	}
	if len(texts) == 0 {
		return nil, tableErrorf(path, 0, 0, "none of its %d rows has a value in all of the columns %s", out.Dropped,
			strings.Join(append(slices.Clone(inputs), label), ", "))
	}
	out.Inputs = mat.NewDense(len(texts), d, values)
	out.Labels, out.Classes = classesOf(texts)
	for j, name := range inputs {
		if column := mat.Col(nil, j, out.Inputs); slices.Min(column) == slices.Max(column) {
			out.Constant = append(out.Constant, name)
		}
	}
	return out, nil
}

// classesOf numbers labels by the order of their classes.
func classesOf(texts []string) (labels []int, classes []string) {
	numbers := map[string]float64{}
	for _, t := range texts {
		if _, known := numbers[t]; known {
			continue
		}
		v, err := strconv.ParseFloat(t, 64)
		if err != nil {
			numbers = nil
			break
		}
		numbers[t] = v
	}
	name := func(t string) string {
		if numbers != nil {
			return experiment.FormatNumber(numbers[t])
		}
		return t
	}
	for _, t := range texts {
		classes = append(classes, name(t))
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	if numbers != nil {
		slices.SortFunc(classes, func(a, b string) int {
			u, _ := strconv.ParseFloat(a, 64) // as they were written
			v, _ := strconv.ParseFloat(b, 64)
			return cmp.Compare(u, v)
		})
	}
	place := map[string]int{}
	for i, c := range classes {
		place[c] = i
	}
	for _, t := range texts {
		labels = append(labels, place[name(t)])
	}
	return labels, classes
}

// LabelsAmong are labels as places in classes that are given. A label that is none of
// them is refused.
func (l *Labelled) LabelsAmong(classes []string) ([]int, error) {
	place := make([]int, len(l.Classes))
	for i, c := range l.Classes {
		if place[i] = slices.Index(classes, c); place[i] < 0 {
			return nil, fmt.Errorf("there is a row of the class %q, which is not among %s", c, strings.Join(classes, ", "))
		}
	}
	out := make([]int, len(l.Labels))
	for i, v := range l.Labels {
		out[i] = place[v]
	}
	return out, nil
}
