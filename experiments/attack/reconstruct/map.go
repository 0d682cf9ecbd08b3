package reconstruct

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/model"
	"privkern/experiments/multikernel/kernellist"
	"privkern/experiments/multikernel/projectionfile"
	"privkern/graphs/discriminant"
)

// Map is a compression x → z with its derivatives: for each kernel, s(Aᵀk − b) for the values k of the kernel between
// its points and the scaled x.
type Map struct {
	mean, scale []float64 // of the inputs, d
	terms       []term
	features    int // Q
}

// term is one kernel.
type term struct {
	of           form
	points       *mat.Dense // P×d
	coefficients *mat.Dense // P×q
	shift        []float64  // q
	scale        float64
}

// form is a kernel f(pᵀu), or f of a distance.
type form struct {
	family string
	gamma  float64
	degree float64
	c0     float64
}

// NewMap returns the map of a file.
func NewMap(m *projectionfile.Model) (*Map, error) {
	d := len(m.InputNames)
	out := &Map{mean: make([]float64, d), scale: make([]float64, d)}
	for j := range d {
		out.scale[j] = 1
	}
	if m.Scaling != nil {
		out.mean, out.scale = m.Scaling.Mean, m.Scaling.Scale
	}
	var points *mat.Dense
	if len(m.Points.Rows) > 0 {
		points = model.Dense(m.Points.Rows)
		points.Apply(func(_, j int, v float64) float64 { return out.scale[j] * (v - out.mean[j]) }, points)
	}
	for _, k := range m.Kernels {
		named, err := kernellist.ParseOne(k.Name)
		if err != nil {
			return nil, err
		}
		t := term{points: points, coefficients: model.Dense(k.Coefficients), shift: k.Shift, scale: k.Scale}
		if k.Direct {
			t.points = discriminant.UnitVectors(d)
		}
		if t.of, err = formOf(named); err != nil {
			return nil, err
		}
		out.terms = append(out.terms, t)
		out.features += len(k.Shift)
	}
	return out, nil
}

// formOf returns the function of a kernel with its parameters in the order in which they are written.
func formOf(k kernellist.Kernel) (form, error) {
	f, p := form{family: k.Family}, k.Parameters
	switch k.Family {
	case "linear":
		f.gamma, f.degree = 1, 1
	case "polynomial":
		f.gamma, f.degree, f.c0 = p[0], p[1], p[2]
	case "sigmoid":
		f.gamma, f.c0 = p[0], p[1]
	case "rbf", "laplacian":
		f.gamma = p[0]
	default:
		return f, fmt.Errorf("the kernel %s has no derivative here", k.Text)
	}
	return f, nil
}

// value returns the kernel k of a point and u. Its derivatives by u are c·point + e·u; those of the Laplacian kernel
// are c·sign(point − u).
func (f form) value(point, u []float64) (k, c, e float64) {
	switch f.family {
	case "rbf":
		distance := floats.Distance(point, u, 2)
		k = math.Exp(-f.gamma * distance * distance)
		return k, 2 * f.gamma * k, -2 * f.gamma * k
	case "laplacian":
		k = math.Exp(-f.gamma * floats.Distance(point, u, 1))
		return k, f.gamma * k, 0
	case "sigmoid":
		k = math.Tanh(f.gamma*floats.Dot(point, u) + f.c0)
		return k, f.gamma * (1 - k*k), 0
	}
	inner := f.gamma*floats.Dot(point, u) + f.c0
	return math.Pow(inner, f.degree), f.gamma * f.degree * math.Pow(inner, f.degree-1), 0
}

// At returns the features (Q) of an input x (d), and writes their derivatives by x to jacobian (Q×d), nil for none.
// It takes O(PdQ) operations for P points.
func (m *Map) At(x []float64, jacobian *mat.Dense) []float64 {
	u := make([]float64, len(x))
	for j, v := range x {
		u[j] = m.scale[j] * (v - m.mean[j])
	}
	z := make([]float64, 0, m.features)
	for _, t := range m.terms {
		first := len(z)
		z = append(z, make([]float64, len(t.shift))...)
		var own *mat.Dense
		if jacobian != nil {
			own = jacobian.Slice(first, len(z), 0, len(x)).(*mat.Dense)
		}
		t.add(u, z[first:], own)
	}
	if jacobian != nil {
		for q := range m.features {
			floats.Mul(jacobian.RawRowView(q), m.scale)
		}
	}
	return z
}

// add writes the features of the kernel at u to z (q), and their derivatives by u to jacobian (q×d), nil for none.
func (t *term) add(u, z []float64, jacobian *mat.Dense) {
	n, _ := t.points.Dims()
	byPoint, byU := mat.NewDense(n, len(z), nil), make([]float64, len(z)) // A∘c, and Aᵀe
	for i := range n {
		weights := t.coefficients.RawRowView(i)
		k, c, e := t.of.value(t.points.RawRowView(i), u)
		floats.AddScaled(z, k, weights)
		floats.AddScaled(byU, e, weights)
		floats.ScaleTo(byPoint.RawRowView(i), c, weights)
	}
	for q := range z {
		z[q] = t.scale * (z[q] - t.shift[q])
	}
	if jacobian == nil {
		return
	}
	points := t.points
	if t.of.family == "laplacian" {
		points = mat.DenseCopyOf(points)
		points.Apply(func(_, j int, p float64) float64 {
			if p == u[j] {
				return 0
			}
			return math.Copysign(1, p-u[j])
		}, points)
	}
	jacobian.Mul(byPoint.T(), points)
	for q := range z {
		row := jacobian.RawRowView(q)
		floats.AddScaled(row, byU[q], u)
		floats.Scale(t.scale, row)
	}
}
