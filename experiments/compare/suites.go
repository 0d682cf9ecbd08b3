package compare

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"privkern/experiments/page"
)

// Suite is a list of comparisons on registered data, which are judged and printed together: a table of its own.
type Suite struct {
	Name    string // such as compare/kung
	Title   string
	Measure string // a name of [MeasureOf]; the first of each task where it is empty
	Seeds   string // of the splits
	// Comparisons have the arguments of [ParseRequest].
	Comparisons [][]string
	Notes       []string // on the data, below the tables
}

// suitePrefix begins the names of suites.
const suitePrefix = "compare/"

// SuiteOf returns the suite of a name.
func SuiteOf(name string) (Suite, bool) {
	i := slices.IndexFunc(Suites(), func(s Suite) bool { return s.Name == name })
	if i < 0 {
		return Suite{}, false
	}
	return Suites()[i], true
}

// Suites are the comparisons on the papers' data. Public ranges are round numbers that the data need not
// reach, and δ is below one over the number of units that are protected.
func Suites() []Suite {
	return []Suite{kungSuite(), hmeqSuite(), mnistSuite(), harSuite(), stressSuite()}
}

// arguments splits a line of arguments at spaces.
func arguments(line string) []string { return strings.Fields(line) }

func kungSuite() Suite {
	const (
		age  = "dataset=set:kung inputs=age output=height input_low=0 input_high=90 "
		both = "dataset=set:kung inputs=weight+age output=height input_low=0,0 input_high=70,90 "
		tall = "low=40 high=200 epsilon=0.3,1,3 delta=1e-5"
		// Those of Table 1 of the paper, whose outputs move by 100 cm at most.
		paper = "low=60 high=160 epsilon=1 delta=0.01 unit=output"
	)
	return Suite{
		Name: suitePrefix + "kung", Title: "Heights of the !Kung San from age, and from weight and age", Seeds: "0..9",
		Comparisons: [][]string{
			arguments(age + tall), arguments(both + tall), arguments(age + tall + " unit=output"),
			arguments(both + tall + " unit=output"), arguments(age + paper), arguments(both + paper),
		},
		Notes: []string{
			"287 females, heights in cm; splits hold out 57 at random, where the paper's Table 1 has 14 contiguous folds",
			"the last two are at the (1, 0.01), the range of 100 cm and the unit of cloaking/table1",
		},
	}
}

func hmeqSuite() Suite {
	return Suite{
		Name: suitePrefix + "hmeq", Title: "Loans of HMEQ that went bad, from nine attributes", Measure: "auc",
		Seeds: "0..9",
		Comparisons: [][]string{arguments("dataset=set:hmeq " +
			"inputs=LOAN+MORTDUE+VALUE+YOJ+DEROG+DELINQ+CLAGE+NINQ+CLNO output=BAD task=classification input_low=0 " +
			"input_high=100000,400000,900000,45,10,15,1200,20,80 epsilon=1,3 delta=1e-6 method=sparse")},
		Notes: []string{"the 4,438 loans with all nine attributes; DEBTINC is left out, which a fifth of the loans lack"},
	}
}

func mnistSuite() Suite {
	return Suite{
		Name: suitePrefix + "mnist", Title: "Handwritten digits, an image protected", Seeds: "0..4",
		Comparisons: [][]string{arguments("dataset=set:mnist/test@7x7 inputs=* output=label input_low=0 input_high=1 " +
			"epsilon=1,3 delta=1e-5 methods=dpgp/classification,baseline/logistic,baseline/forest," +
			"baseline/sgd-classification,baseline/class-means,baseline/randomised-response,kahm/classifier")},
		Notes: []string{
			"10,000 images, those of the publishers' test files, as means of 7 × 7 areas of 4 × 4 pixels; a split trains on " +
				"8,000 of them",
			"baseline/ebm-classification is left out, which takes minutes for ten classes and 49 inputs",
		},
	}
}

func harSuite() Suite {
	const data = "dataset=set:har-reconstructed output=activity input_low=-1 input_high=1 inputs=x1+x2+x3+x4+x5+x6+" +
		"x41+x42+x43+x44+x45+x46+x121+x122+x123+x124+x125+x126 "
	return Suite{
		Name: suitePrefix + "har", Title: "Activities of 20 people from 18 features of a smartphone's signals",
		Seeds: "0..4",
		Comparisons: [][]string{
			arguments(data + "epsilon=1,3 delta=1e-5"),
			arguments(data + "epsilon=1,3 delta=0.01 person=subject rows_per_person=20"),
		},
		Notes: []string{
			"har-reconstructed in the place of the published features; mean and deviation of body acceleration, gravity and " +
				"rotation on three axes",
			"where a row is protected, splits are random, and windows that overlap by half stand on both sides; where a " +
				"person is, whole persons are held out",
		},
	}
}

func stressSuite() Suite {
	const data = "dataset=set:stress inputs=mean+deviation+successive+shortest+longest output=label " +
		"input_low=0.3,0,0,0.3,0.3 input_high=1.5,0.4,0.4,1.5,1.5 "
	return Suite{
		Name: suitePrefix + "stress", Title: "Stress tasks from the intervals between heart beats", Seeds: "0..9",
		Comparisons: [][]string{
			arguments(data + "epsilon=1,3 delta=1e-5"),
			arguments(data + "epsilon=1,3 delta=0.01 person=subject rows_per_person=20"),
		},
		Notes: []string{
			"Stress-Predict in the place of the paper's private data; a row is a window of 16 consecutive intervals, which no " +
				"other has",
			"where a row is protected, splits are random and have windows of a person on both sides; where a person is, " +
				"whole persons are held out",
		},
	}
}

// WriteSuite writes the results of the comparisons of a suite in a format, one below the other, each as
// [Results.Write] does; of JSON a list, and of CSV one table, which has the title of the comparison before the columns.
func WriteSuite(w io.Writer, s Suite, all []*Results, f page.Format, shell page.Shell, width int) error {
	switch f {
	case page.JSON:
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	case page.CSV:
		return writeSeveral(w, all)
	}
	begin, note := &page.Writer{Width: width}, "note: "
	switch f {
	case page.Markdown:
		begin.WriteString("### " + s.Title + "\n\n`" + s.Name + "`\n\n")
		note = "- "
	case page.Text:
		begin.Wrap(s.Name+": "+s.Title, "")
		begin.WriteString("\n")
	}
	if _, err := io.WriteString(w, begin.String()); err != nil {
		return err
	}
	for i, r := range all {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := r.Write(w, f, shell, width); err != nil {
			return err
		}
	}
	if f == page.LaTeX {
		return nil
	}
	notes := &page.Writer{Width: width}
	notes.WriteString("\n")
	for _, n := range s.Notes {
		notes.Wrap(note+n, "  ")
	}
	_, err := io.WriteString(w, notes.String())
	return err
}

// writeSeveral writes the rows of all comparisons.
func writeSeveral(w io.Writer, all []*Results) error {
	var rows [][]string
	for i, r := range all {
		own := r.CSV()
		if i > 0 {
			own = own[1:] // the header
		}
		for k, row := range own {
			of := []string{r.Title, r.Unit}
			if i == 0 && k == 0 {
				of = []string{"comparison", "unit"}
			}
			rows = append(rows, slices.Concat(of, row))
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}
