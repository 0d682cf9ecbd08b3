package release

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// Every coin has its probability.
func TestCoins(t *testing.T) {
	// at is a uniform number of which the first digits are given: x to 2^-33.
	at := func(x float64) *uniform { return &uniform{first: uint32(x * (1 << 32))} }
	type coin struct {
		name string
		p    float64
		toss func(b *bitReader) bool
	}
	cases := []coin{
		{"coin", 0.5, (*bitReader).coin},
		{"uniform below uniform", 0.5, func(b *bitReader) bool {
			u, v := b.uniform(), b.uniform()
			return u.less(&v, b)
		}},
		{"exp(-u)", 1 - math.Exp(-1), func(b *bitReader) bool {
			u := b.uniform()
			return b.expUniform(&u)
		}},
	}
	add := func(name string, p float64, toss func(b *bitReader) bool) { cases = append(cases, coin{name, p, toss}) }
	for _, p := range []float64{0, math.SmallestNonzeroFloat64, 0.001, 0.1, 1. / 3, 0.5, 0.9, 1 - 0x1p-53, 1} {
		add(fmt.Sprintf("uniform below %g", p), math.Round(p*1e12)/1e12, func(b *bitReader) bool {
			u := b.uniform()
			return u.lessThan(p, b)
		})
	}
	for _, v := range []float64{0, 0.01, 0.3, 0.5, 0.75, 1} {
		add(fmt.Sprintf("expFloat(%g)", v), math.Exp(-v), func(b *bitReader) bool { return b.expFloat(v) })
		add(fmt.Sprintf("expUniform at %g", v), math.Exp(-v), func(b *bitReader) bool {
			return b.expUniform(at(min(v, 1-0x1p-32)))
		})
	}
	for _, gamma := range []float64{-1, 0, 0.25, 1, 1.5, 2, 3.25, 6} {
		add(fmt.Sprintf("exp(%g)", gamma), math.Exp(-max(gamma, 0)), func(b *bitReader) bool { return b.exp(gamma) })
	}
	for _, n := range []uint64{0, 1, 2, 6} {
		add(fmt.Sprintf("allHalves(%d)", n), math.Exp(-float64(n)/2), func(b *bitReader) bool { return b.allHalves(n) })
	}
	for _, k := range []uint32{0, 1, 2, 5} {
		for _, x := range []float64{0, 0.2, 0.5, 0.9, 1 - 0x1p-32} {
			p := (2*float64(k) + x) / (2*float64(k) + 2)
			name := fmt.Sprintf("(%d, %g)", k, x)
			add("link"+name, p, func(b *bitReader) bool { return b.link(k, at(x)) })
			add("keepOnce"+name, math.Exp(-x*p), func(b *bitReader) bool { return b.keepOnce(k, at(x)) })
			add("keep"+name, math.Exp(-x*(2*float64(k)+x)/2), func(b *bitReader) bool { return b.keep(k, at(x)) })
		}
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b, times := newBitReader(seeded(byte(i))), 0
			for range manyDraws {
				if c.toss(b) {
					times++
				}
			}
			// The further digits of a number that is given to 32 of them are not zero.
			if c.p > 1-1e-9 || c.p < 1e-9 {
				c.p = math.Round(c.p)
			}
			checkShare(t, times, manyDraws, c.p)
		})
	}
}

// Conditions on a coin's probability do not come from one of its neighbours: two
// in a row are independent.
func TestCoinsAreIndependent(t *testing.T) {
	b := newBitReader(seeded(2))
	counts := make([]int, 4)
	for range manyDraws {
		i := 0
		for range 2 {
			i *= 2
			if b.exp(0.5) {
				i++
			}
		}
		counts[i]++
	}
	p := math.Exp(-0.5)
	checkCounts(t, counts, []float64{(1 - p) * (1 - p), (1 - p) * p, p * (1 - p), p * p})
}

func TestBelow(t *testing.T) {
	for _, n := range []uint32{1, 2, 3, 5, 7, 64, 100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b, s := newBitReader(seeded(byte(n))), honest(byte(n))
			counts, probabilities := make([]int, n), make([]float64, n)
			for range manyDraws {
				v := b.below(n)
				counts[v]++
				if w := s.IntN(int(n)); w != int(v) {
					t.Fatalf("IntN gives %d, below %d", w, v)
				}
			}
			for i := range probabilities {
				probabilities[i] = 1 / float64(n)
			}
			checkCounts(t, counts, probabilities)
		})
	}
	// Rejected numbers are not folded back, and the largest number can come.
	for _, c := range []struct {
		n      uint32
		chunks []uint32
		want   uint32
		used   int
	}{
		{5, []uint32{5, 7, 0xfffffff6, 4}, 4, 4},
		{4, []uint32{7}, 3, 1},
		{1<<31 + 1, []uint32{1<<31 + 1, 0xffffffff, 1 << 31}, 1 << 31, 3},
		{math.MaxUint32, []uint32{math.MaxUint32, math.MaxUint32 - 1}, math.MaxUint32 - 1, 2},
		{1, []uint32{0xffffffff}, 0, 1},
	} {
		t.Run(fmt.Sprintf("%d of %x", c.n, c.chunks), func(t *testing.T) {
			b, used := crafted(c.chunks...)
			if v := b.below(c.n); v != c.want || used() != c.used {
				t.Errorf("below %d of %x: %d with %d chunks; want %d with %d", c.n, c.chunks, v, used(), c.want, c.used)
			}
		})
	}
}

// digitsOf are the first places of v in [0, 1), in chunks of 32 binary digits.
func digitsOf(v *big.Rat, places int) []uint32 {
	scaled := new(big.Int).Lsh(v.Num(), uint(32*places))
	scaled.Quo(scaled, v.Denom())
	out := make([]uint32, places)
	for i := range out {
		part := new(big.Int).Rsh(scaled, uint(32*(places-1-i)))
		out[i] = uint32(part.Uint64())
	}
	return out
}

// numberOf is the number of which these are all digits.
func numberOf(digits []uint32) *big.Rat {
	n := new(big.Int)
	for _, d := range digits {
		n.Lsh(n, 32).Or(n, new(big.Int).SetUint64(uint64(d)))
	}
	return new(big.Rat).SetFrac(n, new(big.Int).Lsh(big.NewInt(1), uint(32*len(digits))))
}

// Comparisons with a float64 are those of real numbers at every deciding digit: the
// oracle has all digits.
func TestLessThan(t *testing.T) {
	const places = 40 // a float64 has at most 34
	values := []float64{
		0, 1, 0.5, 0.75, 1 - 0x1p-53, 0x1p-32, 0x1p-33, 0x1p-64, 0x1p-31 + 0x1p-83, 0.1, 1. / 3, math.Pi / 4, 0x1p-1000,
		math.SmallestNonzeroFloat64, 3 * math.SmallestNonzeroFloat64, 0x1p-1022,
		0x1.fffffffffffffp-1022, 0x0.fffffffffffffp-1022,
		0xffffffffp-32, 0xffffffffffffp-48,
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		values = append(values, math.Ldexp(rng.Float64(), -rng.IntN(1074)))
	}
	for _, v := range values {
		exact := new(big.Rat).SetFloat64(v)
		digits := digitsOf(exact, places)
		for equal := 0; equal <= places; equal++ {
			for _, step := range []int64{-1, 0, 1, 1 << 31} {
				u := append([]uint32(nil), digits...)
				for i := equal; i < places; i++ {
					u[i] = rng.Uint32()
				}
				if equal < places && step != 0 {
					u[equal] = uint32(int64(digits[equal]) + step)
				}
				b, used := crafted(u...)
				number := b.uniform()
				got, want := number.lessThan(v, b), numberOf(u).Cmp(exact) < 0
				if got != want {
					t.Fatalf("v = %x: %x... is taken for less: %t", v, u[:min(equal+2, places)], got)
				}
				// Digits beyond those that decide are not drawn.
				if used() > min(equal, 34)+2 {
					t.Fatalf("v = %x: %d chunks for %d equal ones", v, used(), equal)
				}
			}
		}
	}
	b, _ := crafted(0)
	u := b.uniform()
	if u.lessThan(math.NaN(), b) {
		t.Error("less than NaN")
	}
}

// Two uniform numbers are compared at the first place where they differ.
func TestLess(t *testing.T) {
	for _, c := range []struct {
		name   string
		chunks []uint32 // u's first, v's first, then in turn
		want   bool
		used   int
	}{
		{"first below", []uint32{3, 4}, true, 2},
		{"first above", []uint32{0xffffffff, 4}, false, 2},
		{"second below", []uint32{9, 9, 1, 2}, true, 4},
		{"second above", []uint32{9, 9, 0x80000000, 2}, false, 4},
		{"third below", []uint32{9, 9, 5, 5, 0, 0xffffffff}, true, 6},
		{"third above", []uint32{0, 0, 0, 0, 1, 0}, false, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, used := crafted(c.chunks...)
			u, v := b.uniform(), b.uniform()
			if u.less(&v, b) != c.want || used() != c.used {
				t.Errorf("less: %t with %d chunks; want %t with %d", !c.want, used(), c.want, c.used)
			}
			// Digits that are drawn stay.
			if before := used(); u.less(&v, b) != c.want || v.less(&u, b) == c.want || used() != before {
				t.Error("a second comparison has another outcome, or draws again")
			}
		})
	}
}

// Bits are used once, in their order, and all 32 of a chunk.
func TestBitsAreUsedOnce(t *testing.T) {
	b, same := newBitReader(seeded(3)), seeded(3)
	for i := range 5000 {
		var p [4]byte
		if _, err := io.ReadFull(same, p[:]); err != nil {
			t.Fatal(err)
		}
		if got, want := b.uint32(), uint32(p[0])|uint32(p[1])<<8|uint32(p[2])<<16|uint32(p[3])<<24; got != want {
			t.Fatalf("chunk %d is %08x, want %08x", i, got, want)
		}
	}
}

// Where entropy ends, nothing goes on.
func TestEntropyFails(t *testing.T) {
	for name, entropy := range map[string]io.Reader{
		"at once":          iotest.ErrReader(errors.New("closed")),
		"ends":             strings.NewReader(""),
		"ends in a chunk":  strings.NewReader("four bytes, and no chunk"),
		"fails in a chunk": io.MultiReader(strings.NewReader("text"), iotest.ErrReader(errors.New("closed"))),
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if message := fmt.Sprint(recover()); !strings.Contains(message, "the entropy source failed") {
					t.Errorf("goes on: %s", message)
				}
			}()
			newBitReader(entropy).uint32()
		})
	}
	// A source that gives single bytes is read to the end of a chunk.
	b, same := newBitReader(iotest.OneByteReader(seeded(4))), newBitReader(seeded(4))
	for range 3000 {
		if b.uint32() != same.uint32() {
			t.Fatal("a slow source gives other bits")
		}
	}
}
