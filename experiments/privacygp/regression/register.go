package regression

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/experiments/model"
	"privkern/experiments/privacygp/modelfile"
	"privkern/experiments/privacygp/process"
	"privkern/runner/experiment"
)

// registeredFormat is the version of [registered].
const registeredFormat = "privkern/privacygp-export/1"

// registered is an export as its register keeps it: the law of its obfuscated outputs, of N rows
// with D inputs, and no output. Inputs are in the order of their names.
type registered struct {
	Format string `json:"format"`
	// Digest is a keyed digest of the rows and the covariance of the noise, from which the noise
	// follows: obfuscated outputs with the same digest are the same.
	Digest []byte           `json:"digest"`
	Output string           `json:"output"`
	Inputs []string         `json:"inputs"`
	Kernel modelfile.Kernel `json:"kernel"`
	Noise  float64          `json:"noise_variance"` // of the data
	X      numbers          `json:"x"`              // N×D
	// Rows has a keyed digest of rowDigest bytes for the inputs and the output of each row.
	Rows []byte `json:"rows"`
	// Σ is at least FFᵀ + τ²I for Factor F, N×r.
	Factor numbers `json:"factor"`
	Tau2   float64 `json:"tau2"`
	// Condition is kept; with Together for linear combinations of the places as well.
	Condition *modelfile.Condition `json:"condition"`
	Together  bool                 `json:"together,omitempty"`
}

// rowDigest is the length of the digest of a row, in bytes.
const rowDigest = 8

// numbers are written as compressed bytes, since matrices of noise are large and often sparse.
type numbers []float64

// MarshalJSON implements [json.Marshaler].
func (v numbers) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(binary.Write(w, binary.LittleEndian, []float64(v)), w.Close()); err != nil {
		return nil, err
	}
	return json.Marshal(b.Bytes())
}

// UnmarshalJSON implements [json.Unmarshaler].
func (v *numbers) UnmarshalJSON(raw []byte) error {
	var b []byte
	if err := json.Unmarshal(raw, &b); err != nil {
		return err
	}
	all, err := io.ReadAll(flate.NewReader(bytes.NewReader(b)))
	if err != nil {
		return err
	}
	*v = make(numbers, len(all)/8)
	_, err = binary.Decode(all, binary.LittleEndian, []float64(*v))
	return err
}

// keystream is AES-256 in counter mode. Its key serves for one stream.
type keystream struct{ cipher.Stream }

func newKeystream(key []byte) (*rand.Rand, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return rand.New(keystream{cipher.NewCTR(block, make([]byte, block.BlockSize()))}), nil
}

// Uint64 implements [rand.Source].
func (k keystream) Uint64() uint64 {
	var b [8]byte
	k.XORKeyStream(b[:], b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// digest returns the keyed digest of all that the obfuscated outputs are computed from. Values without
// a part in them, such as the mean, are left out, because it would change the noise.
func (p *prepared) digest(register experiment.Exports, grid float64) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("privkern/privacygp export 1\n")
	n, d := p.rows.x.Dims()
	for _, part := range [][]float64{{float64(n), float64(d), grid, p.Variance}, p.rows.x.RawMatrix().Data, p.rows.y,
		p.noise.sigma.RawMatrix().Data} {
		for _, v := range part {
			b.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v+0))) // -0 + 0 is 0
		}
	}
	return register.Secret(b.Bytes())
}

// register registers the export, and returns the source of its noise and a sentence for the
// operator. It refuses an export after which a condition, its own or an earlier one's, would hold
// no longer for whoever has all of them.
func (p *prepared) register(ctx context.Context, t *experiment.Trial, grid float64) (*rand.Rand, string, error) {
	now, err := p.registered(t.Exports, grid)
	if err != nil {
		return nil, "", err
	}
	entry, err := json.Marshal(now)
	if err != nil {
		return nil, "", err
	}
	var told string
	n, _ := p.rows.x.Dims()
	s := experiment.Spending{Dataset: p.settings.Dataset, Rows: n, Publishes: []string{experiment.UnitInputs}}
	if table.Is(p.settings.Sensitive) {
		s.Points = p.settings.Sensitive
	}
	err = t.Exports.Register(s, func(earlier []json.RawMessage) (json.RawMessage, error) {
		all := make([]*registered, len(earlier), len(earlier)+1)
		for i, raw := range earlier {
			if all[i], err = readRegistered(raw); err != nil {
				return nil, fmt.Errorf("export %d of these data cannot be read in the ledger: %w", i+1, err)
			}
			// The ledger may have other blanks.
			if again, err := json.Marshal(all[i]); err == nil && bytes.Equal(again, entry) {
				told = fmt.Sprintf("these are the data and the noise of export %d of %d of these data: the obfuscated outputs "+
					"are the same, and disclose nothing more", i+1, len(earlier))
				return nil, nil
			}
		}
		if told, err = p.together(ctx, append(all, now)); err != nil {
			return nil, err
		}
		return entry, nil
	})
	if err != nil {
		return nil, "", err
	}
	key, err := t.Exports.Secret(append([]byte("privkern/privacygp noise 1\n"), now.Digest...))
	if err != nil {
		return nil, "", err
	}
	rng, err := newKeystream(key)
	return rng, told, err
}

// readRegistered reads an export of the register.
func readRegistered(raw json.RawMessage) (*registered, error) {
	r := new(registered)
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, err
	}
	n, d := len(r.Rows)/rowDigest, len(r.Inputs)
	switch {
	case r.Format != registeredFormat:
		return nil, fmt.Errorf("its format is %q, and this version of the program reads %q", r.Format, registeredFormat)
	case n < 1 || d < 1 || len(r.X) != n*d || len(r.Factor)%n != 0 || len(r.Kernel.Lengthscales) != d ||
		r.Condition == nil || len(r.Condition.Places) < 1 || len(r.Condition.Places) != len(r.Condition.Variance):
		return nil, errors.New("its members do not belong together")
	}
	return r, nil
}

// registered returns the export for the register.
func (p *prepared) registered(register experiment.Exports, grid float64) (*registered, error) {
	digest, err := p.digest(register, grid)
	if err != nil {
		return nil, err
	}
	key, err := register.Secret([]byte("privkern/privacygp rows 1\n"))
	if err != nil {
		return nil, err
	}
	n, d := p.rows.x.Dims()
	order := learn.AllRows(d) // of the inputs by name
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(p.rows.names[a], p.rows.names[b]) })
	r := &registered{Format: registeredFormat, Digest: digest, Output: p.rows.output,
		Inputs: learn.Select(p.rows.names, order),
		Kernel: modelfile.Kernel{Name: p.kernelName, Lengthscales: learn.Select(p.Lengthscales, order), Variance: p.Variance},
		Noise:  p.Noise, Tau2: p.tau2 * p.Variance, Condition: p.kept(), Together: p.method == strong}
	for i := range n {
		row := learn.Select(p.rows.x.RawRowView(i), order)
		r.X = append(r.X, row...)
		mac := hmac.New(sha256.New, key)
		for _, v := range append(row, p.rows.y[i]) {
			mac.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v+0)))
		}
		r.Rows = append(r.Rows, mac.Sum(nil)[:rowDigest]...)
	}
	for i, place := range r.Condition.Places {
		r.Condition.Places[i] = learn.Select(place, order)
	}
	if h := r.Condition.Kernel; h != nil {
		h.Lengthscales = learn.Select(h.Lengthscales, order)
	}
	return r, r.factorise(p.noise.sigma)
}

// smallestNoise is the least variance of the noise in a direction, over τ², that is kept in
// the factor. Leaving out the others makes the noise weaker, and the bound safe.
const smallestNoise = 1e-9

// factorise sets the factor of the noise covariance sigma (N×N, in units of the prior variance).
func (r *registered) factorise(sigma *mat.Dense) error {
	var e mat.EigenSym
	if !e.Factorize(process.Symmetric(sigma), true) {
		return errors.New("the eigenvalues of the noise covariance did not converge")
	}
	var u mat.Dense
	e.VectorsTo(&u)
	n, _ := sigma.Dims()
	values := e.Values(nil) // ascending
	first, _ := slices.BinarySearchFunc(values, r.Tau2, func(v, tau2 float64) int {
		if v*r.Kernel.Variance-tau2 > smallestNoise*tau2 {
			return 1
		}
		return -1
	})
	r.Factor = make(numbers, 0, n*(n-first))
	for i := range n {
		for k := first; k < n; k++ {
			r.Factor = append(r.Factor, u.At(i, k)*math.Sqrt(values[k]*r.Kernel.Variance-r.Tau2))
		}
	}
	return nil
}

// covariance returns FFᵀ + τ²I.
func (r *registered) covariance() *mat.Dense {
	n := len(r.Rows) / rowDigest
	out := mat.NewDense(n, n, nil)
	if len(r.Factor) > 0 {
		f := mat.NewDense(n, len(r.Factor)/n, r.Factor)
		out.Mul(f, f.T())
	}
	for i := range n {
		out.Set(i, i, out.At(i, i)+r.Tau2)
	}
	return out
}

// inputs returns the inputs, N×D.
func (r *registered) inputs() *mat.Dense {
	return mat.NewDense(len(r.X)/len(r.Inputs), len(r.Inputs), r.X)
}

// places returns the places of the condition, γ×D.
func (r *registered) places() *mat.Dense { return model.Dense(r.Condition.Places) }
