package privacygp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/privacygp/orbit"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

const (
	satelliteTheta = 200.0 // the paper's correlation exp(−200x²), x in orbits
	satelliteSpan  = 3.0   // orbits
	leoJ2          = "leo-j2"
	twoBody        = "two-body"
)

// satellite is the paper's §5 and Figure 3: a surrogate of a satellite's
// trajectory that hides a segment of it.
func satellite() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "privacygp/satellite",
		Version: 3,
		Summary: "a satellite's trajectory with a private segment",
		Source:  source + "Section 5, Figure 3",
		Params: []experiment.Param{
			{Name: "alpha", Kind: experiment.Number, Default: 0.5, Min: experiment.Bound(0), Max: experiment.Bound(1), OpenMin: true, OpenMax: true,
				Doc: "H = alpha K at the data in the segment: the predictive variance there is at least alpha times the prior variance (variant corrected); between them it may be less"},
			{Name: "quantity", Kind: experiment.Text, Default: "radius", Values: quantityNames(), Doc: "what the surrogate predicts"},
			{Name: "orbit", Kind: experiment.Text, Default: leoJ2, Values: []string{leoJ2, twoBody},
				Doc: "leo-j2: polar orbit around an oblate Earth; two-body: around a spherical one. Both start at perigee, 340 km above an Earth of radius 6378.1363 km, gravitational parameter 398600.4415 km^3/s^2 and J2 = 1.7555e10 km^5/s^2"},
			{Name: "eccentricity", Kind: experiment.Number, Default: 0.0, Min: experiment.Bound(0), Max: experiment.Bound(0.95), Doc: "eccentricity of the start"},
			{Name: "points", Kind: experiment.Integer, Default: 61, Min: experiment.Bound(2), Max: experiment.Bound(maxPoints), Doc: "number of data, evenly spaced over three orbits"},
			{Name: "segment_start", Kind: experiment.Number, Default: 1.0, Unit: "orbits", Min: experiment.Bound(0), Max: experiment.Bound(satelliteSpan), Doc: "start of the private segment"},
			{Name: "segment_end", Kind: experiment.Number, Default: 2.0, Unit: "orbits", Min: experiment.Bound(0), Max: experiment.Bound(satelliteSpan), Doc: "end of the private segment"},
			variantParam("corrected: H = alpha K; as-published: K - H = alpha K, the reading under which the text of Section 5 is right (erratum 1)"),
		},
		Metrics: []experiment.Metric{
			{Name: "mean", Unit: "quantity", Doc: "constant mean by maximum likelihood"},
			{Name: "variance", Unit: "quantity^2", Doc: "process variance by maximum likelihood"},
			{Name: "condition", Doc: "condition number of the correlation matrix"},
			{Name: "numerical_rank", Doc: numericalRankDoc},
			{Name: "sensitive_rank", Doc: "rank of K - H at the private data in floating point; " +
				"where it is below their number, the requirement is held in its numerical range"},
			{Name: "variance_at_data_min_over_prior",
				Doc: "smallest predictive variance at the private data over the prior one"},
			{Name: "trace_over_variance", Doc: "trace of the noise covariance over the process variance"},
			{Name: "rank", Doc: "rank of the noise covariance"},
			{Name: "sensitive_points", Doc: "number of data in the private segment"},
			{Name: "sd_private_min", Unit: "quantity", Doc: "smallest predictive standard deviation in the segment"},
			{Name: "sd_public_max", Unit: "quantity", Doc: "largest predictive standard deviation outside the segment"},
			{Name: "sd_change_outside_max", Unit: "quantity", Doc: "largest increase of the predictive standard deviation outside the segment by the noise"},
			{Name: "sd_change_far_max", Unit: "quantity", Doc: "the same, at least three correlation lengths (0.15 orbits) away from the segment"},
			{Name: "sd_private_min_over_prior", Doc: "sd_private_min over the prior standard deviation"},
			{Name: "sd_change_outside_max_over_prior", Doc: "sd_change_outside_max over the prior standard deviation"},
			{Name: "sd_change_far_max_over_prior", Doc: "sd_change_far_max over the prior standard deviation"},
			{Name: "mean_error_private_rms", Unit: "quantity", Doc: "root mean square error of the released prediction in the segment"},
			{Name: "mean_error_public_rms", Unit: "quantity", Doc: "the same outside the segment"},
		},
		Check:  checkSatellite,
		Memory: matrixMemory(18),
		Run:    runSatellite,
	}
}

// quantities are the coordinates of the state, in the normalised units of
// package orbit.
var quantities = []struct {
	name, unit string
	of         func(orbit.State) float64
}{
	{"radius", "Earth radii", func(s orbit.State) float64 { return s.Radius }},
	{"angle", "rad", func(s orbit.State) float64 { return s.Angle }},
	{"radial_velocity", "Earth radii/orbit", func(s orbit.State) float64 { return s.RadialVelocity }},
	{"angular_velocity", "rad/orbit", func(s orbit.State) float64 { return s.AngularVelocity }},
}

func quantityNames() []string {
	names := make([]string, len(quantities))
	for i, q := range quantities {
		names[i] = q.name
	}
	return names
}

func quantityUnit(name string) string {
	for _, q := range quantities {
		if q.name == name {
			return q.unit
		}
	}
	return ""
}

func checkSatellite(p experiment.Params) error {
	start, end := p.Float("segment_start"), p.Float("segment_end")
	if start >= end {
		return fmt.Errorf("segment_start = %v is not before segment_end = %v", start, end)
	}
	times := linspace(0, satelliteSpan, p.Int("points"))
	if len(inside(times, start, end)) == 0 {
		return fmt.Errorf("no datum lies in the private segment [%v, %v]: the data are %.4g orbits apart; widen the segment or take more points", start, end, times[1]-times[0])
	}
	if p.Text("orbit") == twoBody && p.Float("eccentricity") == 0 && p.Text("quantity") != "angle" {
		return fmt.Errorf("the %s of a circular two-body orbit is constant, so that there is nothing to model; give an eccentricity above 0", p.Text("quantity"))
	}
	return nil
}

// inside returns the indices of the times in [start, end].
func inside(times []float64, start, end float64) []int {
	var out []int
	for i, t := range times {
		if t >= start-1e-9 && t <= end+1e-9 {
			out = append(out, i)
		}
	}
	return out
}

// trajectory returns the quantity at the times.
func trajectory(p experiment.Params, times []float64) ([]float64, error) {
	o := orbit.Orbit{Eccentricity: p.Float("eccentricity"), Oblate: p.Text("orbit") == leoJ2}
	states, err := o.Trajectory(times, orbit.DefaultTolerance)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(times))
	for _, q := range quantities {
		if q.name == p.Text("quantity") {
			for i, s := range states {
				out[i] = q.of(s)
			}
		}
	}
	return out, nil
}

func runSatellite(_ context.Context, t *experiment.Trial) (_ *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	times := linspace(0, satelliteSpan, t.Params.Int("points"))
	y, err := trajectory(t.Params, times)
	if err != nil {
		return nil, err
	}
	p, err := newProcess(e, satelliteTheta, 0, times) // correlations: everything below is in units of σ²
	if err != nil {
		return nil, err
	}
	start, end := t.Params.Float("segment_start"), t.Params.Float("segment_end")
	var private []float64
	for _, i := range inside(times, start, end) {
		private = append(private, times[i])
	}
	// H = αK, so that q = K_SS − H_SS = (1 − α)K_SS.
	factor := 1 - t.Params.Float("alpha")
	if t.Params.Text("variant") == asPublished {
		factor = t.Params.Float("alpha")
	}
	cross, err := p.between(times, private)
	if err != nil {
		return nil, err
	}
	q, err := p.between(private, private)
	if err != nil {
		return nil, err
	}
	q.Scale(factor, q)
	noise, err := p.strongNoise(cross, q)
	if err != nil {
		return nil, err
	}
	s := &surrogate{process: p, noise: noise, y: y, start: start, end: end}
	if err := s.fit(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Params.Text("quantity"), err)
	}
	dense := linspace(0, satelliteSpan, 301)
	truth, err := trajectory(t.Params, dense)
	if err != nil {
		return nil, err
	}
	z, err := draw(noise.sigma, t.Stream("noise"))
	if err != nil {
		return nil, err
	}
	floats.Scale(s.sd, z)
	metrics, series, err := s.release(z, dense, truth)
	if err != nil {
		return nil, err
	}
	atData, err := p.predictiveVariance(noise.sigma, private)
	if err != nil {
		return nil, err
	}
	least := slices.Min(atData)
	if err := p.checkMet("the noise", private[slices.Index(atData, least)], least, 1-factor); err != nil {
		return nil, err
	}
	metrics["variance_at_data_min_over_prior"] = least
	metrics["condition"], metrics["numerical_rank"] = p.condition, float64(p.rank)
	metrics["sensitive_rank"] = float64(noise.sensitive)
	metrics["sensitive_points"] = float64(len(private))
	result := &experiment.Result{
		Metrics: metrics,
		Series:  series,
		Privacy: privacy(
			fmt.Sprintf("covariance of f at the %d private data, given W, >= %s times the prior one", len(private), list([]float64{1 - factor})),
			fmt.Sprintf("the %s at the data from t = %v to %v orbits, and linear combinations of these", t.Params.Text("quantity"), start, end),
			len(times), noise.rank, 0,
			"H = alpha K is required at finitely many inputs: between and beyond them only the Gaussian process prior protects (erratum 4)",
			"mean and variance are estimated from the private data and released as they are",
			recordIsNotPrivate),
		Warnings: p.warnings(),
	}
	if noise.sensitive < len(private) {
		result.Privacy.Notes = append(result.Privacy.Notes, fmt.Sprintf(
			"the requirement is held in the numerical range of K - H at the private data, of dimension %d of %d: "+
				"the combinations of them that it leaves out have almost no variance to begin with",
			noise.sensitive, len(private)))
	}
	return result, nil
}

// surrogate is the Gaussian process of one quantity with its noise.
type surrogate struct {
	*process
	noise      *noise // in units of the process variance
	y          []float64
	start, end float64
	mean, sd   float64 // of the process, by maximum likelihood
}

// fit estimates the constant mean and the variance by maximum likelihood with
// the correlation R: m = 1ᵀR⁻¹y / 1ᵀR⁻¹1, σ² = (y − m)ᵀR⁻¹(y − m)/n.
func (s *surrogate) fit() error {
	n := len(s.y)
	ones := make([]float64, n)
	floats.AddConst(1, ones)
	solved, err := s.solve(nil, column(ones))
	if err != nil {
		return err
	}
	weights := mat.Col(nil, 0, solved)
	s.mean = floats.Dot(weights, s.y) / floats.Sum(weights)
	residual := append([]float64(nil), s.y...)
	floats.AddConst(-s.mean, residual)
	if solved, err = s.solve(nil, column(residual)); err != nil {
		return err
	}
	// In a numerical range below n there are as many data as it has dimensions.
	variance := floats.Dot(residual, mat.Col(nil, 0, solved)) / float64(s.rank)
	if scale := floats.Norm(s.y, math.Inf(1)); !(variance > 1e-20*scale*scale) {
		return fmt.Errorf("the process variance is %.1e by maximum likelihood: the quantity is constant to the accuracy of the orbit, and there is nothing to model", variance)
	}
	s.sd = math.Sqrt(variance)
	return nil
}

// release predicts from W = Y + Z, Eqs. (3) and (4), at the times dense.
func (s *surrogate) release(z, dense, truth []float64) (map[string]float64, map[string]experiment.Series, error) {
	w := append([]float64(nil), s.y...)
	floats.Add(w, z)
	centred := append([]float64(nil), w...)
	floats.AddConst(-s.mean, centred)
	solved, err := s.solve(s.noise.sigma, column(centred))
	if err != nil {
		return nil, nil, err
	}
	cross, err := s.between(s.x, dense)
	if err != nil {
		return nil, nil, err
	}
	var predicted mat.VecDense
	predicted.MulVec(cross.T(), solved.ColView(0))
	secured, err := s.predictiveVariance(s.noise.sigma, dense)
	if err != nil {
		return nil, nil, err
	}
	unsecured, err := s.predictiveVariance(nil, dense)
	if err != nil {
		return nil, nil, err
	}

	n := len(dense)
	c := experiment.Series{"x": dense, "truth": truth}
	for _, name := range []string{"mean", "low", "high", "sd", "sd_unsecured", "private_truth"} {
		c[name] = make([]float64, n)
	}
	m := regions{privateMin: math.Inf(1)}
	for i, t := range dense {
		sd, before := s.sd*math.Sqrt(secured[i]), s.sd*math.Sqrt(unsecured[i])
		mean := s.mean + predicted.AtVec(i)
		c["mean"][i], c["sd"][i], c["sd_unsecured"][i] = mean, sd, before
		c["low"][i], c["high"][i] = mean-2*sd, mean+2*sd
		outside := math.Max(s.start-t, t-s.end)
		c["private_truth"][i] = math.NaN()
		if outside <= 1e-9 {
			c["private_truth"][i] = truth[i]
		}
		m.add(outside, sd, before, mean-truth[i])
	}
	metrics := m.metrics(s.sd)
	metrics["mean"], metrics["variance"] = s.mean, s.sd*s.sd
	metrics["trace_over_variance"], metrics["rank"] = s.noise.trace, float64(s.noise.rank)

	noiseSD := diagonalOf(s.noise.sigma)
	for i, v := range noiseSD {
		noiseSD[i] = s.sd * math.Sqrt(math.Max(0, v))
	}
	return metrics, map[string]experiment.Series{
		"prediction": c,
		"data":       {"x": s.x, "truth": s.y, "obfuscated": w, "noise_sd": noiseSD},
	}, nil
}

// regions gathers what happens in the private segment and outside.
type regions struct {
	privateMin, publicMax, changeMax, farMax float64
	privateSq, publicSq                      float64
	privateN, publicN                        int
}

// add takes a time that is outside of the segment by that much (≤ 0: inside).
func (r *regions) add(outside, sd, before, deviation float64) {
	if outside <= 1e-9 {
		r.privateMin = math.Min(r.privateMin, sd)
		r.privateSq += deviation * deviation
		r.privateN++
		return
	}
	r.publicMax = math.Max(r.publicMax, sd)
	r.changeMax = math.Max(r.changeMax, sd-before)
	if outside >= 3/math.Sqrt(2*satelliteTheta)-1e-9 {
		r.farMax = math.Max(r.farMax, sd-before)
	}
	r.publicSq += deviation * deviation
	r.publicN++
}

func (r *regions) metrics(prior float64) map[string]float64 {
	m := map[string]float64{
		"sd_public_max":         r.publicMax,
		"sd_change_outside_max": r.changeMax, "sd_change_far_max": r.farMax,
		"sd_change_outside_max_over_prior": r.changeMax / prior,
		"sd_change_far_max_over_prior":     r.farMax / prior,
	}
	if r.privateN > 0 {
		m["sd_private_min"] = r.privateMin
		m["sd_private_min_over_prior"] = r.privateMin / prior
		m["mean_error_private_rms"] = math.Sqrt(r.privateSq / float64(r.privateN))
	}
	if r.publicN > 0 {
		m["mean_error_public_rms"] = math.Sqrt(r.publicSq / float64(r.publicN))
	}
	return m
}
