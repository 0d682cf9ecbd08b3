package regression

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

// gridPoints is the number of places of a curve over one input.
const gridPoints = 201

// draw returns W for noise of ω, n standard normal numbers, in the unit of the output.
func (p *prepared) draw(omega []float64) ([]float64, error) {
	w := slices.Clone(p.rows.y)
	if p.noise.sigma == nil {
		return w, nil
	}
	z, err := p.all.Root(p.noise.sigma, omega)
	if err != nil {
		return nil, err
	}
	for i, v := range z {
		w[i] += math.Sqrt(p.Variance) * v
	}
	return w, nil
}

// series returns the data with one draw of the noise and, for one input, predictions from it.
func (p *prepared) series(t *experiment.Trial) (map[string]experiment.Series, error) {
	n, d := p.rows.x.Dims()
	rng := t.Stream("noise")
	omega := make([]float64, n)
	for i := range omega {
		omega[i] = rng.NormFloat64()
	}
	w, err := p.draw(omega)
	if err != nil {
		return nil, err
	}
	data := p.dataSeries(func(i int) float64 {
		if p.noise.sigma == nil {
			return 0
		}
		return p.Variance * p.noise.sigma.At(i, i)
	})
	data["obfuscated"] = w
	out := map[string]experiment.Series{"data": data}
	if d == 1 {
		out["prediction"], err = p.curves(w)
	}
	return out, err
}

// dataSeries returns the rows, with the standard deviations of the noise of these variances.
func (p *prepared) dataSeries(variance func(row int) float64) experiment.Series {
	n, d := p.rows.x.Dims()
	data := experiment.Series{"output": slices.Clone(p.rows.y)}
	for _, name := range []string{"x", "noise_sd", "sensitive"} {
		data[name] = make([]float64, n)
	}
	for i := range n {
		data["x"][i] = float64(i + 1) // the number of the row; the value of the only input replaces it
		if d == 1 {
			data["x"][i] = p.rows.x.At(i, 0)
		}
		data["noise_sd"][i] = math.Sqrt(variance(i))
		if p.rows.hidden[i] {
			data["sensitive"][i] = 1
		}
	}
	return data
}

// curves returns the predictions from w over the range of one input.
func (p *prepared) curves(w []float64) (experiment.Series, error) {
	low, high := mat.Min(p.rows.x), mat.Max(p.rows.x)
	at := mat.NewDense(gridPoints, 1, nil)
	for i := range gridPoints {
		at.Set(i, 0, low+(high-low)*float64(i)/(gridPoints-1))
	}
	scaled := p.scaled(at)
	with, err := p.predict(p.all, p.noise.sigma, w, scaled)
	if err != nil {
		return nil, err
	}
	without, err := p.predict(p.all, nil, p.rows.y, scaled)
	if err != nil {
		return nil, err
	}
	c := experiment.Series{"x": mat.Col(nil, 0, at), "mean": with.mean, "unsecured": without.mean}
	for _, name := range []string{"low", "high", "sd", "sd_unsecured"} {
		c[name] = make([]float64, gridPoints)
	}
	for i := range gridPoints {
		sd := math.Sqrt(with.variance[i])
		c["sd"][i], c["sd_unsecured"][i] = sd, math.Sqrt(without.variance[i])
		c["low"][i], c["high"][i] = with.mean[i]-2*sd, with.mean[i]+2*sd
	}
	return c, nil
}
