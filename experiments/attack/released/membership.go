package released

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"privkern/experiments/attack"
	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/experiments/model"
)

// Attack has the findings of one that tells members from others.
type Attack struct {
	Name  string          `json:"attack"`
	AUC   attack.Interval `json:"auc"`
	Rates []Rate          `json:"rates"` // of the levels that others tell
	Curve attack.Curve    `json:"roc"`

	placed []float64 // of each unit: the share of the other kind on the right side of it
}

// Rate are the shares of members and of others that an attack takes for members, by thresholds that a share of others
// exceeds in the other folds.
type Rate struct {
	Level  float64 `json:"fpr"`
	Alarms float64 `json:"fpr_measured"`
	Found  float64 `json:"tpr"`
}

// The attacks.
const (
	held    = "nearest row of the file"
	without = "without the file"
	learner = "threshold without the file"
)

// membership attacks the units of the data.
func (f *File) membership(ctx context.Context, d *data, shadows int, means *Means, out *Results) error {
	p, err := f.predict(ctx, d.X)
	if err != nil {
		return err
	}
	part := partsOf(d.member)
	confidence, _ := d.Confidences(p, d.units)
	own := judge(attack.Threshold, confidence, d.member, part, false)
	out.Attacks = []*Attack{own}
	if h, ok := f.Files[0].Payload.(model.Holder); ok {
		nearness, err := d.near(ctx, h)
		if err != nil {
			return err
		}
		out.Attacks = append(out.Attacks, judge(held, nearness, d.member, part, false))
	}
	if shadows > 0 {
		if err := f.lira(ctx, d, shadows, means, part, out); err != nil {
			return err
		}
	}
	blind, err := d.blind(part)
	if err != nil {
		return err
	}
	alone := judge(without, blind, d.member, part, true)
	easy, err := d.easy(part)
	if err != nil {
		return err
	}
	for _, a := range out.Attacks {
		out.Sentences = append(out.Sentences, a.sentence(a.rival(alone, easy), d.member, len(out.Attacks)))
	}
	out.Attacks = append(out.Attacks, alone, easy)
	for _, a := range []*Attack{alone, easy} {
		if a.AUC.Low > .5 {
			out.Warnings = append(out.Warnings, fmt.Sprintf("members are told from others without the file%s, with the AUC "+
				"%s: the tables differ, and an attack may find that difference alone",
				map[bool]string{true: " by errors of a learner"}[a == easy], a.AUC.Text("%.3f", 1)))
		}
	}
	return nil
}

// easy is the threshold attack on a learner that has others alone: it finds members where their outputs are easier to
// predict for anybody.
func (d *data) easy(part []int) (*Attack, error) {
	rows := make([]int, d.Len())
	for unit, own := range d.units {
		for _, row := range own {
			rows[row] = part[unit]
		}
	}
	p, _, err := d.known(rows)
	if err != nil {
		return nil, err
	}
	confidence, _ := d.Confidences(p, d.units)
	return judge(learner, confidence, d.member, part, false), nil
}

// rival is the adversary without the file whom an attack has to surpass, nil for none: one who tells the tables apart,
// and, if the attack has the errors of predictions, one who is ahead by the errors of a learner. The latter need not be
// ahead by more than chance: both have the same errors for the most part, and their difference is well known.
func (a *Attack) rival(alone, easy *Attack) (out *Attack) {
	if alone.AUC.Low > .5 {
		out = alone
	}
	if a.Name == attack.Threshold && easy.AUC.Mean > .5 && (out == nil || easy.AUC.Mean > out.AUC.Mean) {
		out = easy
	}
	return out
}

// near are the nearness of units to the nearest row of the file, means over their rows.
func (d *data) near(ctx context.Context, h model.Holder) ([]float64, error) {
	_, distances, err := nearest(ctx, h.Held(), d.X)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(d.units))
	for i, rows := range d.units {
		for _, row := range rows {
			out[i] -= distances[row] / float64(len(rows))
		}
	}
	return out, nil
}

// nearest returns the place of the nearest row of a file to each row of x (N×d), and its distance, by the scale of
// inputs: those with the scale 0 do not count.
func nearest(ctx context.Context, h model.Held, x *mat.Dense) (at []int, distances []float64, err error) {
	n, _ := x.Dims()
	at, distances = make([]int, n), make([]float64, n)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		row := x.RawRowView(i)
		distances[i] = math.Inf(1)
		for k, p := range h.Points {
			sum := 0.0
			for j, v := range p {
				u := h.Scale[j] * (row[j] - v)
				sum += u * u
			}
			if sum < distances[i] {
				at[i], distances[i] = k, sum
			}
		}
		distances[i] = math.Sqrt(distances[i])
	}
	return at, distances, nil
}

// blind are scores of units by a learner that sees their inputs and outputs, and not the file: of persons the means,
// and how many rows they have. Each is scored by units of the other parts.
func (d *data) blind(part []int) ([]float64, error) {
	rows := beside(d.X, d.outputs())
	_, columns := rows.Dims()
	x, labels := mat.NewDense(len(d.units), columns+1, nil), make([]int, len(d.units))
	for i, own := range d.units {
		at := x.RawRowView(i)
		for _, row := range own {
			floats.AddScaled(at[:columns], 1/float64(len(own)), rows.RawRowView(row))
		}
		if at[columns] = float64(len(own)); d.member[i] {
			labels[i] = 1
		}
	}
	out := make([]float64, len(d.units))
	for k := range parts {
		train, test := among(part, k, false, nil), among(part, k, true, nil)
		scores, err := classify(learn.SelectRows(x, train), learn.Select(labels, train), 2, learn.SelectRows(x, test))
		if err != nil {
			return nil, err
		}
		for i, unit := range test {
			out[unit] = scores[1][i] - scores[0][i]
		}
	}
	return out, nil
}

// judge returns the findings of scores of units. Apart has those of different parts not compared with each other, as
// those of different learners are not.
func judge(name string, scores []float64, member []bool, part []int, apart bool) *Attack {
	a := &Attack{Name: name, placed: make([]float64, len(scores)), Curve: attack.CurveOf(scores, member),
		Rates: []Rate{}}
	group := part
	if !apart {
		group = make([]int, len(part))
	}
	for k := range parts {
		for _, kind := range []bool{true, false} {
			of := func(kind bool) []int {
				return among(group, k, true, func(unit int) bool { return member[unit] == kind })
			}
			against := learn.Select(scores, of(!kind))
			slices.Sort(against)
			for _, unit := range of(kind) {
				a.placed[unit] = placement(against, scores[unit], kind)
			}
		}
	}
	wider := 1.
	if apart {
		wider = resampled
	}
	a.AUC = areaOf(a.placed, member, wider)
	for _, level := range attack.Levels {
		if others := len(member) - count(member); level*float64(others) >= attack.Alarms {
			a.Rates = append(a.Rates, rateOf(level, scores, member, part))
		}
	}
	return a
}

// placement is the share of sorted scores below a score, or with below = false above it, where equal ones count half.
func placement(sorted []float64, score float64, below bool) float64 {
	low, _ := slices.BinarySearch(sorted, score)
	high, _ := slices.BinarySearch(sorted, math.Nextafter(score, math.Inf(1)))
	share := (float64(low) + float64(high-low)/2) / float64(len(sorted))
	if below {
		return share
	}
	return 1 - share
}

// resampled is how much wider an interval is of units that are judged by learners of each other: √(1 + K/(K−1)) for K
// parts (Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52, 2003).
var resampled = math.Sqrt(1 + float64(parts)/(parts-1))

// areaOf is the area under a curve by the placements of all units, with its interval (DeLong, DeLong and
// Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating characteristic curves",
// Biometrics 44, 1988), wider by a factor.
func areaOf(placed []float64, member []bool, wider float64) attack.Interval {
	members, others, half := sides(placed, member)
	half *= wider
	at := (members + others) / 2 // equal, but for parts of different sizes
	return attack.Interval{Mean: at, Low: max(0, at-half), High: min(1, at+half)}
}

// sides returns the means of values over members and over others, and half of the interval of their sum or difference.
func sides(values []float64, member []bool) (members, others, half float64) {
	var of [2][]float64
	for unit, v := range values {
		side := 0
		if !member[unit] {
			side = 1
		}
		of[side] = append(of[side], v)
	}
	members, vm := stat.MeanVariance(of[0], nil)
	others, vo := stat.MeanVariance(of[1], nil)
	return members, others, table.Central95 * math.Sqrt(vm/float64(len(of[0]))+vo/float64(len(of[1])))
}

// count is the number of members.
func count(member []bool) (n int) {
	for _, m := range member {
		if m {
			n++
		}
	}
	return n
}

// rateOf are the shares at a level: in each part the threshold is that of others in the other parts.
func rateOf(level float64, scores []float64, member []bool, part []int) Rate {
	r := Rate{Level: level}
	for k := range parts {
		threshold := attack.Thresholds(
			learn.Select(scores, among(part, k, false, func(unit int) bool { return !member[unit] })),
			[]float64{level})[0]
		test := among(part, k, true, nil)
		found, alarms := attack.Rates(learn.Select(scores, test), learn.Select(member, test), threshold)
		r.Found, r.Alarms = r.Found+found/parts, r.Alarms+alarms/parts
	}
	return r
}

// exceeds reports whether the value of an interval of 95 % exceeds another one, at the same level for a number of
// attacks together (Bonferroni).
func exceeds(i attack.Interval, at float64, attacks int) bool {
	z := distuv.UnitNormal.Quantile(1 - .025/float64(attacks))
	return i.Mean-(i.Mean-i.Low)*z/table.Central95 > at
}

// sentence states whether an attack, one of several, finds members, next to a rival without the file.
func (a *Attack) sentence(rival *Attack, member []bool, attacks int) string {
	text := fmt.Sprintf("%s: a member looks more like one than another row with the probability %s", a.Name,
		a.AUC.Text("%.3f", 1))
	if rival != nil {
		difference := make([]float64, len(a.placed))
		floats.SubTo(difference, a.placed, rival.placed)
		members, others, half := sides(difference, member)
		more := (members + others) / 2
		if rival.Name == without {
			half *= resampled
		}
		text += fmt.Sprintf(", %.3f ± %.3f more than %s", more, half, rival.Name)
		if exceeds(attack.Interval{Mean: more, Low: more - half}, 0, attacks) && exceeds(a.AUC, .5, attacks) {
			return text + ": the file tells who is in it."
		}
		return text + ": the file is not seen to tell who is in it."
	}
	if exceeds(a.AUC, .5, attacks) {
		return text + ": the file tells who is in it."
	}
	return text + ": nothing is found."
}
