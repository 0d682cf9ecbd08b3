package privacygp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/privacygp/orbit"
	"privkern/experiments/privacygp/process"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

const (
	satelliteTheta = 200.0 // the paper's correlation exp(−200x²), x in orbits
	satelliteSpan  = 3.0   // orbits
)

// satellite is the paper's §5 and Figure 3: a surrogate of a satellite's
// trajectory that hides a segment of it.
var satellite = experiment.Of(experiment.Declaration[*satelliteSettings, satelliteMetrics]{
	Name:    "privacygp/satellite",
	Version: 5,
	Summary: "a satellite's trajectory with a private segment",
	Source:  source + "Section 5, Figure 3",
	Check:   checkSatellite,
	Memory:  func(s *satelliteSettings) int64 { return matrixMemory(18, s.Points) },
	Run:     runSatellite,
})

// unit is that of the quantity in package orbit.
func (q quantity) unit() string {
	return [...]string{"Earth radii", "rad", "Earth radii/orbit", "rad/orbit"}[q]
}

// of returns the quantity of a state.
func (q quantity) of(s orbit.State) float64 {
	return [...]float64{s.Radius, s.Angle, s.RadialVelocity, s.AngularVelocity}[q]
}

func checkSatellite(s *satelliteSettings) error {
	start, end := s.SegmentStart, s.SegmentEnd
	if start >= end {
		return fmt.Errorf("segment_start = %v is not before segment_end = %v", start, end)
	}
	times := linspace(0, satelliteSpan, s.Points)
	if len(inside(times, start, end)) == 0 {
		return fmt.Errorf("no datum lies in the private segment [%v, %v]: the data are %.4g orbits apart; "+
			"widen the segment or take more points", start, end, times[1]-times[0])
	}
	if s.Orbit == twoBody && s.Eccentricity == 0 && s.Quantity != angle {
		return fmt.Errorf("the %s of a circular two-body orbit is constant, so that there is nothing to model; "+
			"give an eccentricity above 0", s.Quantity)
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
func (s *satelliteSettings) trajectory(times []float64) ([]float64, error) {
	o := orbit.Orbit{Eccentricity: s.Eccentricity, Oblate: s.Orbit == leoJ2}
	states, err := o.Trajectory(times, orbit.DefaultTolerance)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(times))
	for i, state := range states {
		out[i] = s.Quantity.of(state)
	}
	return out, nil
}

// remaining is 1 − α for H = αK, of which K_SS − H_SS = (1 − α)K_SS.
func (s *satelliteSettings) remaining() float64 {
	if s.Variant == asPublished {
		return s.Alpha
	}
	return 1 - s.Alpha
}

func runSatellite(
	_ context.Context, t *experiment.Trial, settings *satelliteSettings,
) (*experiment.Outcome[satelliteMetrics], error) {
	times := linspace(0, satelliteSpan, settings.Points)
	y, err := settings.trajectory(times)
	if err != nil {
		return nil, err
	}
	// Correlations: everything below is in units of σ².
	p, err := process.New(engine.Of(t.Engine), satelliteTheta, 0, times)
	if err != nil {
		return nil, err
	}
	start, end := settings.SegmentStart, settings.SegmentEnd
	var private []float64
	for _, i := range inside(times, start, end) {
		private = append(private, times[i])
	}
	factor := settings.remaining()
	noise, err := segmentNoise(p, private, factor)
	if err != nil {
		return nil, err
	}
	s := &surrogate{Process: p, noise: noise, y: y, start: start, end: end}
	if err := s.fit(); err != nil {
		return nil, fmt.Errorf("%s: %w", settings.Quantity, err)
	}
	dense := linspace(0, satelliteSpan, 301)
	truth, err := settings.trajectory(dense)
	if err != nil {
		return nil, err
	}
	z, err := process.Draw(engine.Of(t.Engine), noise.Sigma, t.Stream("noise"))
	if err != nil {
		return nil, err
	}
	floats.Scale(s.sd, z)
	prediction, series, err := s.release(z, dense, truth)
	if err != nil {
		return nil, err
	}
	atData, err := p.PredictiveVariance(noise.Sigma, private)
	if err != nil {
		return nil, err
	}
	least := slices.Min(atData)
	if err := p.CheckMet("the noise", private[slices.Index(atData, least)], least, 1-factor); err != nil {
		return nil, err
	}
	return &experiment.Outcome[satelliteMetrics]{
		Metrics: satelliteMetrics{
			Mean: s.mean, Variance: s.sd * s.sd, spectrum: spectrumOf(p),
			SensitiveRank: float64(noise.Sensitive), VarianceAtDataMin: least,
			TraceOverVariance: noise.Trace, Rank: float64(noise.Rank), SensitivePoints: float64(len(private)),
			predictionMetrics: prediction,
		},
		Series:   series,
		Privacy:  settings.privacy(len(times), len(private), noise),
		Warnings: p.Warnings(),
	}, nil
}

// segmentNoise is the strong solution for K_SS − Ξ = factor·K_SS at the inputs S.
func segmentNoise(p *process.Process, s []float64, factor float64) (*process.Noise, error) {
	cross, err := p.Between(p.X, s)
	if err != nil {
		return nil, err
	}
	q, err := p.Between(s, s)
	if err != nil {
		return nil, err
	}
	q.Scale(factor, q)
	return p.StrongNoise(cross, q)
}

// privacy describes the protection of a release of the data with the noise z; data and private are
// the numbers of all data and of those in the segment.
func (s *satelliteSettings) privacy(data, private int, z *process.Noise) *experiment.Privacy {
	p := privacy(
		fmt.Sprintf("covariance of f at the %d private data, given W, >= %s times the prior one",
			private, list([]float64{1 - s.remaining()})),
		fmt.Sprintf("the %s at the data from t = %v to %v orbits, and linear combinations of these",
			s.Quantity, s.SegmentStart, s.SegmentEnd),
		data, z.Rank, 0,
		"H = alpha K is required at finitely many inputs: between and beyond them only the Gaussian process prior "+
			"protects (erratum 4)",
		"mean and variance are estimated from the private data and released as they are",
		recordIsNotPrivate)
	if z.Sensitive < private {
		p.Notes = append(p.Notes, fmt.Sprintf(
			"the requirement is held in the numerical range of K - H at the private data, of dimension %d of %d: "+
				"the combinations of them that it leaves out have almost no variance to begin with",
			z.Sensitive, private))
	}
	return p
}

// surrogate is the Gaussian process of one quantity with its noise.
type surrogate struct {
	*process.Process
	noise      *process.Noise // in units of the process variance
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
	solved, err := s.Solve(nil, process.Column(ones))
	if err != nil {
		return err
	}
	weights := mat.Col(nil, 0, solved)
	s.mean = floats.Dot(weights, s.y) / floats.Sum(weights)
	residual := append([]float64(nil), s.y...)
	floats.AddConst(-s.mean, residual)
	if solved, err = s.Solve(nil, process.Column(residual)); err != nil {
		return err
	}
	// In a numerical range below n there are as many data as it has dimensions.
	variance := floats.Dot(residual, mat.Col(nil, 0, solved)) / float64(s.Rank)
	if scale := floats.Norm(s.y, math.Inf(1)); !(variance > 1e-20*scale*scale) {
		return fmt.Errorf("the process variance is %.1e by maximum likelihood: the quantity is constant "+
			"to the accuracy of the orbit, and there is nothing to model", variance)
	}
	s.sd = math.Sqrt(variance)
	return nil
}

// release predicts from W = Y + Z, Eqs. (3) and (4), at the times dense.
func (s *surrogate) release(
	z, dense, truth []float64,
) (m predictionMetrics, series map[string]experiment.Series, err error) {
	w := append([]float64(nil), s.y...)
	floats.Add(w, z)
	centred := append([]float64(nil), w...)
	floats.AddConst(-s.mean, centred)
	solved, err := s.Solve(s.noise.Sigma, process.Column(centred))
	if err != nil {
		return m, nil, err
	}
	cross, err := s.Between(s.X, dense)
	if err != nil {
		return m, nil, err
	}
	var predicted mat.VecDense
	predicted.MulVec(cross.T(), solved.ColView(0))
	secured, err := s.PredictiveVariance(s.noise.Sigma, dense)
	if err != nil {
		return m, nil, err
	}
	unsecured, err := s.PredictiveVariance(nil, dense)
	if err != nil {
		return m, nil, err
	}

	n := len(dense)
	c := experiment.Series{"x": dense, "truth": truth}
	for _, name := range []string{"mean", "low", "high", "sd", "sd_unsecured", "private_truth"} {
		c[name] = make([]float64, n)
	}
	r := regions{privateMin: math.Inf(1)}
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
		r.add(outside, sd, before, mean-truth[i])
	}
	noiseSD := diagonalOf(s.noise.Sigma)
	for i, v := range noiseSD {
		noiseSD[i] = s.sd * math.Sqrt(math.Max(0, v))
	}
	return r.metrics(s.sd), map[string]experiment.Series{
		"prediction": c,
		"data":       {"x": s.X, "truth": s.y, "obfuscated": w, "noise_sd": noiseSD},
	}, nil
}

// regions accumulates metrics of the private segment and of the rest.
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

func (r *regions) metrics(prior float64) predictionMetrics {
	m := predictionMetrics{
		PublicMax: r.publicMax, ChangeMax: r.changeMax, FarMax: r.farMax,
		ChangeMaxOverPrior: r.changeMax / prior, FarMaxOverPrior: r.farMax / prior,
	}
	if r.privateN > 0 {
		m.PrivateMin, m.PrivateMinOverPrior = new(r.privateMin), new(r.privateMin/prior)
		m.PrivateError = new(math.Sqrt(r.privateSq / float64(r.privateN)))
	}
	if r.publicN > 0 {
		m.PublicError = new(math.Sqrt(r.publicSq / float64(r.publicN)))
	}
	return m
}
