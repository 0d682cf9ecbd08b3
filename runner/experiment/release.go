package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Release has the published values. They depend on private data only by the mechanism
// that Privacy names.
type Release struct {
	Columns []string    // names of the columns, different from each other
	Rows    [][]float64 // as long as Columns, finite
	// Classes, where it is not nil, has the class of each row, which a table shows in the
	// column ClassColumn.
	Classes     []string
	ClassColumn string
	// Picture is the size of the pictures that the rows are, row of pixels after row of
	// pixels with grey values from 0, black, to 1; nil where they are none.
	Picture *Picture
	// Model is released instead of Columns and Rows where they are nil, as one JSON object.
	// Where both are there, they are two forms of one
	// release, and the name of the file chooses, see [Form].
	Model any
	// Chosen are the settings that a choice publishes; nil for other releases. The
	// description repeats them, so that a file that was changed is noticed.
	Chosen   map[string]float64
	Metrics  map[string]float64
	Privacy  *Privacy
	Noise    []Noise // in the order in which it was drawn
	Warnings []string
	// Told is a sentence for the operator alone, which no file has; it may be empty.
	Told string
}

// Picture is the size of pictures.
type Picture struct{ Width, Height int }

// Form is a form in which a release can be written.
type Form string

// The forms, each with the ending of the name of a file that asks for it.
const (
	FormTable    Form = ".csv"  // columns and rows, with the class of each row
	FormArrays   Form = ".npy"  // rows as a NumPy array, and their classes in another
	FormModel    Form = ".json" // the model
	FormPictures Form = "/"     // a folder of pictures for each class
)

// FormOf returns the form that the name of a file or folder asks for; "" for none.
func FormOf(path string) Form {
	for _, f := range []Form{FormTable, FormArrays, FormModel, FormPictures} {
		if strings.HasSuffix(strings.ToLower(path), string(f)) {
			return f
		}
	}
	return ""
}

// String names the form, with the file name that asks for it.
func (f Form) String() string {
	switch f {
	case FormTable:
		return "NAME.csv (a table)"
	case FormArrays:
		return "NAME.npy (NumPy arrays)"
	case FormModel:
		return "NAME.json (a model for run predict)"
	case FormPictures:
		return "FOLDER/ (pictures)"
	}
	return "no form"
}

// Noise describes the noise of a release to those who get it. All of it is
// public: it depends on settings and public inputs alone.
type Noise struct {
	// Law is "gaussian" or "laplace", rounded to Grid, "exponential mechanism" or "randomised response".
	Law string `json:"law"`
	// Query is the noisy quantity, such as "sum A of the sparse GP".
	Query string `json:"query"`
	// Coordinates is how many independent numbers were drawn.
	Coordinates int `json:"coordinates"`
	// Sensitivity bounds how far one protected unit moves the query as it is
	// computed, rounding included: in the Euclidean norm for gaussian, the sum of
	// magnitudes for laplace, the number of answers for randomised response, the largest
	// change of a utility otherwise.
	Sensitivity float64 `json:"sensitivity"`
	// Scale is the standard deviation of gaussian noise, and the scale of
	// laplace noise; 0 for others.
	Scale float64 `json:"scale,omitempty"`
	// Grid is the spacing, a power of two, to which the exact sum of query and
	// noise is rounded; 0 for others.
	Grid float64 `json:"grid,omitempty"`
	// Times is how many equal draws in succession a record has as one, each with these coordinates; 0 for one draw.
	Times int `json:"times,omitempty"`
}

// Units of protection. Data have an account in the budget ledger for each.
const (
	UnitRow    = "row"    // a whole row, replaced by any other
	UnitOutput = "output" // the output of one row, replaced by any other
	UnitInputs = "inputs" // the inputs of one row, replaced by any others; its output is public
	// UnitPerson stands for all rows of one person, replaced by those of any other; or for their
	// outputs or inputs alone, where a method takes the rest to be public.
	UnitPerson = "person"
)

// Units are the units of protection.
func Units() []string { return append(UnitsOfARow(), UnitPerson) }

// UnitsOfARow returns the units that a release of whole rows spends, because
// replacing a row may replace its output or its inputs alone.
func UnitsOfARow() []string { return []string{UnitRow, UnitOutput, UnitInputs} }

// Spending is the cost of a release to the budgets of its data.
type Spending struct {
	Experiment string
	// Dataset is the name of the data in the setting, such as csv:PATH, and Person the column of their
	// persons, "" for none: by them the budgets of the same people are found.
	Dataset, Person string
	// Data is the SHA-256, in hexadecimal digits, of the canonical form of the
	// columns that the release uses: equal for equal rows in any order and any layout of
	// the file. It is private. Ledgers of an earlier version found accounts by it.
	Data string
	// Row is the same of whole rows, in which it does not matter which column is
	// the output: the account of [UnitRow]. It is empty for a release that does not
	// spend at that unit.
	Row string
	// Publishes names the parts of every row that leave as they are: [UnitInputs] or [UnitOutput].
	Publishes []string
	// Points is the name, as in the setting, of the file of public points whose inputs leave with the
	// release; "" for none.
	Points string
	// Units names the units of protection that are spent: the one of the
	// guarantee first, then the finer ones that it protects as well.
	Units []string
	Rows  int // n, public
	// Epsilon and Delta are the guarantee of this release on its own.
	Epsilon, Delta float64
	// Losses are the mechanisms that the release composes, for one unit of the first of Units; nil where they are not
	// such, and Epsilon and Delta are all that is known.
	Losses []Loss
	// Size is that of the release, for which there must be room before anything is spent.
	Size Size
}

// Loss is the privacy loss of a mechanism for one protected unit, or of several alike.
type Loss struct {
	// Law is that of the [Noise]: "gaussian", "laplace", "exponential mechanism" or "randomised response", whose
	// ε bounds any pure mechanism; or "subsampled gaussian", where
	// each unit is in a sample with probability Rate, independently, and neighbours lack a unit,
	// or "substituted subsampled gaussian", where another is in its place.
	Law string `json:"law"`
	// Size is the μ of Gaussian noise (sensitivity over standard deviation), the ε of one coordinate of
	// Laplace noise (sensitivity over scale), and the ε of a choice or an answer.
	Size float64 `json:"size"`
	// Times is how often the mechanism is applied to the unit.
	Times int     `json:"times"`
	Rate  float64 `json:"rate,omitempty"` // of a sample, strictly between 0 and 1
}

// Size is how much a release writes at most. It is computed from public numbers alone, because
// others may learn whether there was room for it.
type Size struct {
	// Rows and Columns are those of the table; Class is the longest name of a class that a row shows.
	Rows, Columns, Class int
	// Numbers are those in the lists of numbers of the model, and Lists is how many there are.
	Numbers, Lists int
	// Names is the length of the names of columns and classes together. Lengths are in bytes.
	Names int
}

// Tuning is the origin of the hyper-parameters of a release.
type Tuning string

// The origins of hyper-parameters.
const (
	TuningPublic      Tuning = "public"      // chosen without looking at the data
	TuningBooked      Tuning = "booked"      // chosen by a mechanism whose budget is booked
	TuningIncluded    Tuning = "included"    // the method was chosen within this guarantee, and has its defaults
	TuningUnaccounted Tuning = "unaccounted" // anything else: the guarantee does not cover the choice
)

// Privacy states the protected unit, the mechanism, and the limits of the argument.
//
// Experiments state a mechanism's guarantee by [Privacy.State] in either case, on the
// conditions of the notes (such as public hyperparameters); the notes never restrict it
// further. The runner decides which part a record shows: the guarantee of a release, where
// noise is secure and exact and nothing else left ([Privacy.Publish]), and of every other
// trial that of the mechanism which it simulated ([Privacy.Judged]). Where nothing holds,
// both are empty, and a note gives the reason (see [Privacy.Withdraw]).
type Privacy struct {
	Guarantee string `json:"guarantee"` // such as "(1, 0.01)-DP"; empty where none holds
	// Simulated is the guarantee that a release by this mechanism would have; nil in a release.
	Simulated *Simulated `json:"simulated,omitempty"`
	// Groups has the guarantee for several rows of one person, in a release that protects one row.
	Groups    []Group  `json:"groups,omitempty"`
	Unit      string   `json:"unit"`      // the part that may differ between neighbouring data
	Mechanism string   `json:"mechanism"` // with its source
	RNG       string   `json:"rng"`       // set by the runner: "seeded" or "secure"
	Notes     []string `json:"notes"`
}

// Simulated is the guarantee of a mechanism that a trial simulates with noise that protects nobody.
type Simulated struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Unit    string  `json:"unit"`
	// Neighbours is "substitute", where the unit is replaced by any other, or "add-remove", where it is there or not.
	Neighbours string `json:"neighbours"`
}

// Group is the guarantee of a release for several rows that belong to one person.
type Group struct {
	Rows    int     `json:"rows"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// substitute is the relation of neighbouring data sets in which one unit is replaced by any other.
const substitute = "substitute"

// The sources of randomness in [Privacy].
const (
	seeded = "seeded"
	secure = "secure"
)

// noGuarantee begins the note with the reason of an empty guarantee.
const noGuarantee = "no guarantee"

// The reasons why a record that is no release has no guarantee.
const (
	seededNoise = "seeded noise protects nobody"
	judgedNoise = "the noise of a judged trial is drawn in floating point, whose gaps reveal more than a guarantee " +
		"allows, and metrics are computed from the data; what may be published is what --release writes"
	noMechanism = "no mechanism of privkern protects anything in it"
)

// Unprotected returns the privacy of a record whose result states none, such as of a trial without
// noise, of a program of the user's, or without a result: only the reason why there is no guarantee.
func Unprotected(isSecure bool) *Privacy {
	p := &Privacy{RNG: seeded}
	if isSecure {
		p.RNG = secure
	}
	p.withhold(noMechanism)
	return p
}

// Stated reports whether an experiment stated p: it is neither nil nor that of [Unprotected].
func (p *Privacy) Stated() bool { return p != nil && p.Unit != "" }

// State states that the mechanism gives (epsilon, delta)-differential privacy to the unit, and
// returns p. An infinite epsilon bounds nothing, and is withdrawn.
func (p *Privacy) State(epsilon, delta float64) *Privacy {
	if math.IsInf(epsilon, 1) {
		p.Withdraw("epsilon = inf bounds nothing")
		return p
	}
	p.Simulated = &Simulated{Epsilon: epsilon, Delta: delta, Unit: p.Unit, Neighbours: substitute}
	p.Guarantee = p.Simulated.Bound()
	return p
}

// Withdraw drops the guarantee, of the mechanism as well, and notes the reason: first of all
// notes, or, where other reasons are there, after them. It changes no slice that others hold.
func (p *Privacy) Withdraw(reason string) {
	p.Simulated, p.Groups = nil, nil
	p.withhold(reason)
}

// withhold empties the guarantee, but leaves that of the mechanism, and notes the reason.
func (p *Privacy) withhold(reason string) {
	p.Guarantee = ""
	at := 0
	for at < len(p.Notes) && strings.HasPrefix(p.Notes[at], noGuarantee) {
		at++
	}
	p.Notes = slices.Concat(p.Notes[:at], []string{noGuarantee + ": " + reason}, p.Notes[at:])
}

// Refute withdraws a guarantee that the paper claims, and notes the claim.
func (p *Privacy) Refute(reason string) {
	if p.Guarantee != "" {
		p.Notes = slices.Concat(p.Notes, []string{"claimed by the paper: " + p.Guarantee + "; it does not hold " +
			"because " + reason})
	}
	p.Withdraw(reason)
}

// Publish makes p, which a model may hold as well, the statement of a release or an export:
// its noise is secure, and nothing is simulated.
func (p *Privacy) Publish() {
	p.Simulated, p.RNG = nil, secure
	if p.Notes == nil {
		p.Notes = []string{}
	}
}

// Judged returns a changed copy, the statement of a trial that is no release: no guarantee,
// with the reason, and that of the mechanism which is simulated. Of a record of an early version, which has
// the latter in words as its guarantee, it reads these.
func (p *Privacy) Judged(isSecure bool) *Privacy {
	out := *p
	out.Groups = nil
	if out.RNG = seeded; isSecure {
		out.RNG = secure
	}
	if out.Notes == nil {
		out.Notes = []string{}
	}
	simulated := Simulated{Unit: p.Unit, Neighbours: substitute}
	if s := p.Simulated; s != nil {
		simulated.Epsilon, simulated.Delta, simulated.Neighbours = s.Epsilon, s.Delta, s.Neighbours
		out.Simulated = &simulated
	} else if _, err := fmt.Sscanf(p.Guarantee, "(%g, %g)-DP", &simulated.Epsilon, &simulated.Delta); err == nil &&
		!math.IsInf(simulated.Epsilon, 0) && simulated.Bound() == p.Guarantee {
		out.Simulated = &simulated
	}
	switch {
	case isSecure:
		out.withhold(judgedNoise)
	case p.reason() == "":
		out.withhold(seededNoise)
	}
	return &out
}

// Statement returns in a line the guarantee, or the bound of the mechanism that is simulated,
// such as "(1, 0.01)-DP per row, seeded", or the first reason why there is neither:
// "no guarantee: ...".
func (p *Privacy) Statement() string {
	switch {
	case p.Guarantee != "":
		return p.Guarantee
	case p.Simulated != nil && p.RNG == seeded:
		return p.Simulated.String() + ", " + seeded
	case p.Simulated != nil:
		return p.Simulated.String() + ", judged"
	}
	return cmp.Or(p.reason(), noGuarantee)
}

// reason returns the first note with a reason why there is no guarantee; "" for none.
func (p *Privacy) reason() string {
	for _, note := range p.Notes {
		if strings.HasPrefix(note, noGuarantee) {
			return note
		}
	}
	return ""
}

// String returns the bound with the beginning of its unit: "(1, 0.01)-DP per row".
func (s *Simulated) String() string {
	unit := s.Unit
	for _, end := range []string{", ", "; ", ": ", " ("} {
		unit, _, _ = strings.Cut(unit, end)
	}
	switch rest, one := strings.CutPrefix(unit, "one "); {
	case unit == "":
		return s.Bound()
	case one:
		return s.Bound() + " per " + rest
	}
	return s.Bound() + " for " + unit
}

// Bound returns the bound alone: "(1, 0.01)-DP".
func (s *Simulated) Bound() string {
	return fmt.Sprintf("(%s, %s)-DP", FormatNumber(s.Epsilon), FormatNumber(s.Delta))
}
