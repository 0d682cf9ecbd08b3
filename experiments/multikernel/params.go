package multikernel

import (
	"privkern/graphs/multikernel"
	"privkern/runner/experiment"
)

// count is an Integer from low to high.
func count(name string, def, low, high int, doc string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Integer, Default: def, Doc: doc, Min: experiment.Bound(float64(low)), Max: experiment.Bound(float64(high))}
}

// compressionParams are those of the discriminant component analysis, with
// defaults that are the paper's.
func compressionParams(components int, why string) []experiment.Param {
	return []experiment.Param{
		{Name: "rho", Kind: experiment.Number, Default: 10.0, Min: experiment.Bound(0), OpenMin: true, Doc: "ρ, ridge of the scatter of all samples (Eq. 8)"},
		{Name: "rho_prime", Kind: experiment.Number, Default: 1e-4, Min: experiment.Bound(0), Doc: "ρ', ridge of the scatter between classes (Eq. 8)"},
		count("components", components, 1, 100, "Q, components of each compressive kernel, at most the classes less one: "+why),
	}
}

func compression(p experiment.Params) multikernel.Options {
	return multikernel.Options{Ridge: p.Float("rho"), SignalRidge: p.Float("rho_prime"), Components: p.Int("components")}
}

func choice(name, def, doc string, values ...string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Text, Default: def, Doc: doc, Values: values}
}
