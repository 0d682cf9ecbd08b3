package released

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/attack"
	"privkern/experiments/page"
	"privkern/runner/experiment"
)

// Adversary restores a value of rows.
type Adversary struct {
	Name    string  `json:"adversary"`
	Members float64 `json:"members"` // the measure over members
	// Others is that over others, and More how much better members are restored; nil without others.
	Others *float64         `json:"others"`
	More   *attack.Interval `json:"more_of_members"`
	// Learnt is More of an adversary with the file, less the same without it where that is no chance.
	Learnt *attack.Interval `json:"learnt_of_members,omitempty"`

	gains []float64 // of each row: its part in the measure, larger where it is restored better
}

// The adversaries who restore values.
const (
	frequent = "most frequent level of others"
	mean     = "mean of others"
	with     = "with the file"
)

// Results are those of an attack on a file.
type Results struct {
	File      string `json:"file"`
	Format    string `json:"format"`
	Kind      string `json:"kind"`
	Guarantee string `json:"guarantee"`
	Unit      string `json:"unit"`
	Members   int    `json:"members"` // rows
	Others    int    `json:"others"`

	Attacks     []*Attack    `json:"attacks,omitempty"`
	Measure     string       `json:"measure,omitempty"` // of adversaries: accuracy or rmse
	Adversaries []*Adversary `json:"adversaries,omitempty"`
	Sentences   []string     `json:"sentences"`
	Warnings    []string     `json:"warnings"`
	Notes       []string     `json:"notes"`

	title string
}

// Attack attacks the file.
func (f *File) Attack(ctx context.Context, s *Settings, means *Means) (*Results, error) {
	d, err := f.read(s, means.PathOf)
	if err != nil {
		return nil, err
	}
	kind := experiment.NameOf(s.Kind)
	out := &Results{File: f.Files[0].Path, Format: f.Format, Kind: kind, Guarantee: f.of.Privacy.Guarantee,
		Unit: f.of.Privacy.Unit, Members: d.members, Others: d.others(), Sentences: []string{}, Warnings: d.warnings,
		Notes: []string{}, title: map[Kind]string{Membership: "Membership", Attribute: "Attribute inference",
			Reconstruction: "Reconstruction"}[s.Kind]}
	if d.others() > 0 {
		if warning := d.shifts(); warning != "" {
			out.Warnings = append(out.Warnings, warning)
		}
	}
	switch s.Kind {
	case Attribute:
		err = f.attribute(ctx, d, s.Hidden, out)
	case Reconstruction:
		err = f.reconstruction(ctx, d, out)
	default:
		err = f.membership(ctx, d, s.Shadows, means, out)
	}
	return out, err
}

// measure settles how guesses are measured, with the part of a row that they are of.
func (r *Results) measure(levels bool, what string) {
	r.Measure = "rmse"
	if levels {
		r.Measure = "accuracy"
	}
	r.title += ", " + what
}

// add adds an adversary by its guesses. Of accuracy the gain of a row is one where the guess is right; of the root of
// the mean squared error E it is minus E/2 + e²/2E, whose mean is −E, and whose variance is that of E to first order.
func (r *Results) add(name string, guesses, truth []float64, member []bool) {
	a := &Adversary{Name: name, gains: make([]float64, len(guesses))}
	for i, g := range guesses {
		miss := g - truth[i]
		if a.gains[i] = miss * miss; r.Measure == "accuracy" {
			a.gains[i] = 0
			if miss == 0 {
				a.gains[i] = 1
			}
		}
	}
	rows := [][]float64{a.gains[:r.Members], a.gains[r.Members:]}
	values := make([]float64, len(rows))
	for side, gains := range rows {
		if len(gains) == 0 {
			continue
		}
		values[side] = stat.Mean(gains, nil)
		if r.Measure == "accuracy" {
			continue
		}
		root := math.Sqrt(values[side])
		values[side] = root
		if root > 0 {
			floats.Scale(-1/(2*root), gains)
		}
		floats.AddConst(-root/2, gains)
	}
	a.Members = values[0]
	if r.Others > 0 {
		a.Others, a.More = &values[1], difference(a.gains, member)
	}
	r.Adversaries = append(r.Adversaries, a)
}

// difference is by how much the mean of members exceeds that of others.
func difference(gains []float64, member []bool) *attack.Interval {
	members, others, half := sides(gains, member)
	at := members - others
	return &attack.Interval{Mean: at, Low: at - half, High: at + half}
}

// conclude states how much better adversaries who have the file restore values of members than those of others.
func (r *Results) conclude(name string, member []bool) {
	var alone *Adversary
	attacks := 0
	for _, a := range r.Adversaries {
		if a.Name == with || a.Name == held {
			attacks++
		}
	}
	for _, a := range r.Adversaries {
		switch a.Name {
		case without:
			alone = a
		case with, held:
			r.Sentences = append(r.Sentences, fmt.Sprintf("%s: %s of members is restored %s%s", a.Name, name,
				r.amount(a.Members), r.learnt(a, alone, member, attacks)))
		}
	}
}

// learnt states how an adversary with the file restores values of others, next to the one without it: where she is
// ahead in members, too, by how much the first is further ahead. Both make the same errors for the most part where they
// predict, so that she need not be ahead by more than chance; one who reads off rows makes others.
func (r *Results) learnt(own, alone *Adversary, member []bool, attacks int) string {
	if own.Others == nil {
		return ": without others=... nothing tells whether that is learnt of them, or holds for anybody."
	}
	text := fmt.Sprintf(", and that of others %s; without the file %s and %s. ", r.amount(*own.Others),
		r.amount(alone.Members), r.amount(*alone.Others))
	own.Learnt = own.More
	ahead, behind := "Members are ahead by %s", "Members are behind by %s"
	if alone.More.Low > 0 || own.Name == with && alone.More.Mean > 0 {
		gains := make([]float64, len(own.gains))
		floats.SubTo(gains, own.gains, alone.gains)
		own.Learnt = difference(gains, member)
		ahead = "Members are ahead without the file, too, and with it further by %s"
		behind = "Members are ahead without the file, and with it by %s less"
	}
	shown := *own.Learnt
	if shown.Mean < 0 {
		ahead, shown = behind, attack.Interval{Mean: -shown.Mean, Low: -shown.High, High: -shown.Low}
	}
	text += fmt.Sprintf(ahead, r.interval(&shown))
	if exceeds(*own.Learnt, 0, attacks) {
		return text + ": that is learnt of them."
	}
	return text + ": nothing is seen to be learnt of them."
}

// amount is a measure for readers.
func (r *Results) amount(v float64) string {
	if r.Measure == "accuracy" {
		return attack.Percent(v)
	}
	return fmt.Sprintf("with the error %.4g", v)
}

// interval is a difference for readers.
func (r *Results) interval(i *attack.Interval) string {
	if r.Measure == "accuracy" {
		return i.Text("%.1f", 100) + " points"
	}
	return i.Text("%.3g", 1)
}

// Page returns the results for readers.
func (r *Results) Page() *page.Page {
	p := &page.Page{Caption: r.caption(), Sentences: r.Sentences, Looking: attack.Looking}
	for _, w := range r.Warnings {
		p.Remarks = append(p.Remarks, "warning: "+w)
	}
	for _, n := range r.notes() {
		p.Remarks = append(p.Remarks, "note: "+n)
	}
	if r.Attacks != nil {
		r.attackRows(p)
	} else {
		r.adversaryRows(p)
	}
	return p
}

// caption introduces the table.
func (r *Results) caption() string {
	text := fmt.Sprintf("%s: %s (%s), made from %d rows", r.title, r.File, r.Format, r.Members)
	if r.Others > 0 {
		text += fmt.Sprintf("; %d others", r.Others)
	}
	if r.Guarantee == "" {
		return text + ". The file has no guarantee."
	}
	return text + fmt.Sprintf(". The file has %s for %s.", r.Guarantee, r.Unit)
}

func (r *Results) attackRows(p *page.Page) {
	p.Header = []string{"attack", "AUC"}
	p.Legend = "found / named: shares of members and of others that the attack takes for members, by a threshold that " +
		"the given share of others exceeds, each fifth of them by the other four; without the file: a learner that sees " +
		"rows alone, or predicts outputs, of the other four fifths; intervals of 95 %"
	for _, level := range attack.Levels {
		p.Header = append(p.Header, "found / named at "+attack.Percent(level))
	}
	for _, a := range r.Attacks {
		row := []string{a.Name, a.AUC.Text("%.3f", 1)}
		for _, level := range attack.Levels {
			cell := "-"
			for _, rate := range a.Rates {
				if rate.Level == level {
					cell = attack.Percent(rate.Found) + " / " + attack.Percent(rate.Alarms)
				}
			}
			row = append(row, cell)
		}
		p.Rows = append(p.Rows, row)
	}
}

func (r *Results) adversaryRows(p *page.Page) {
	p.Header = []string{r.Measure, "members"}
	p.Legend = "rmse: the root of the mean squared error"
	value := func(v float64) string { return fmt.Sprintf("%.4g", v) }
	if r.Measure == "accuracy" {
		p.Legend, value = "accuracy: the share of rows that are restored", attack.Percent
	}
	if r.Others > 0 {
		p.Header = append(p.Header, "others", "better in members by")
		p.Legend += "; without the file: a learner of others, of the other four fifths; intervals of 95 %"
	}
	for _, a := range r.Adversaries {
		row := []string{a.Name, value(a.Members)}
		if a.Others != nil {
			row = append(row, value(*a.Others), r.interval(a.More))
		}
		p.Rows = append(p.Rows, row)
	}
}

// notes are the restrictions of the attack.
func (r *Results) notes() (out []string) {
	out = append(out, r.Notes...)
	if r.Others > 0 {
		out = append(out, "intervals are over rows like these, of this one file: another fit of the method may tell more")
	}
	if r.Attacks == nil {
		return out
	}
	if len(r.Attacks[0].Rates) < len(attack.Levels) {
		out = append(out, fmt.Sprintf("- stands for a share of others that is fewer than %d rows", attack.Alarms))
	}
	return append(out, "this proves nothing about epsilon, since who is in the file was not drawn by coins: run attack "+
		"METHOD does that")
}

// CSV returns a row for each attack and level, or for each adversary, below a header.
func (r *Results) CSV() [][]string {
	common := []string{r.File, r.Kind, fmt.Sprint(r.Members), fmt.Sprint(r.Others)}
	row := func(name string, values ...float64) []string {
		out := append(append([]string{}, common...), name)
		for _, v := range values {
			out = append(out, experiment.FormatNumber(v))
		}
		return out
	}
	header := []string{"file", "kind", "members", "others"}
	if r.Attacks == nil {
		rows := [][]string{append(header, "adversary", r.Measure+"_members", r.Measure+"_others", "more", "more_low",
			"more_high")}
		for _, a := range r.Adversaries {
			if a.Others == nil {
				rows = append(rows, append(row(a.Name, a.Members), "", "", "", ""))
				continue
			}
			rows = append(rows, row(a.Name, a.Members, *a.Others, a.More.Mean, a.More.Low, a.More.High))
		}
		return rows
	}
	rows := [][]string{append(header, "attack", "auc", "auc_low", "auc_high", "fpr", "fpr_measured", "tpr")}
	for _, a := range r.Attacks {
		if len(a.Rates) == 0 {
			rows = append(rows, append(row(a.Name, a.AUC.Mean, a.AUC.Low, a.AUC.High), "", "", ""))
		}
		for _, rate := range a.Rates {
			rows = append(rows, row(a.Name, a.AUC.Mean, a.AUC.Low, a.AUC.High, rate.Level, rate.Alarms, rate.Found))
		}
	}
	return rows
}
