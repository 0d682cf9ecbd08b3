// Dense linear algebra on the host, column-major, behind simulated cuBLAS and
// cuSOLVER. Blocked where a thousand rows would otherwise take long.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace cudasim {
namespace blas {

using Index = std::ptrdiff_t;

// Only these need to be fast: the rest is compiled quickly, and none of them
// is inlined into every caller, which would take the compiler half a minute.
#define CUDASIM_ONCE __attribute__((noinline, optimize("O3")))

// A rectangle of a column-major matrix, or of its transpose.
template <class T> struct View {
  T *p;
  Index row, column; // strides
  T &operator()(Index i, Index j) const { return p[i * row + j * column]; }
  View at(Index i, Index j) const { return {p + i * row + j * column, row, column}; }
  View transposed() const { return {p, column, row}; }
};
template <class T> View<T> view(T *p, Index ld, bool transposed = false) {
  return transposed ? View<T>{p, ld, 1} : View<T>{p, 1, ld};
}

// C = beta C + alpha A B on an m×n tile, k products. A is packed in strips of
// MR rows, B in strips of NR columns, so that the inner loop runs over
// neighbouring numbers whatever is transposed.
template <class T> CUDASIM_ONCE void gemm(Index m, Index n, Index k, T alpha, View<const T> a, View<const T> b, T beta, View<T> c) {
  constexpr Index MR = sizeof(T) == 8 ? 8 : 16, NR = 4, KC = 256, MC = 128, NC = 512;
  if (beta != T(1))
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < m; i++) c(i, j) = beta == T(0) ? T(0) : beta * c(i, j);
  if (alpha == T(0) || k == 0) return;
  std::vector<T> pa(size_t(MC * KC)), pb(size_t(NC * KC));
  for (Index p0 = 0; p0 < k; p0 += KC) {
    const Index kc = std::min(KC, k - p0);
    for (Index j0 = 0; j0 < n; j0 += NC) {
      const Index nc = std::min(NC, n - j0);
      for (Index j = 0; j < nc; j += NR)
        for (Index p = 0; p < kc; p++)
          for (Index r = 0; r < NR; r++) pb[size_t(j * kc + p * NR + r)] = j + r < nc ? b(p0 + p, j0 + j + r) : T(0);
      for (Index i0 = 0; i0 < m; i0 += MC) {
        const Index mc = std::min(MC, m - i0);
        for (Index i = 0; i < mc; i += MR)
          for (Index p = 0; p < kc; p++)
            for (Index r = 0; r < MR; r++) pa[size_t(i * kc + p * MR + r)] = i + r < mc ? a(i0 + i + r, p0 + p) : T(0);
        for (Index j = 0; j < nc; j += NR)
          for (Index i = 0; i < mc; i += MR) {
            T acc[NR][MR] = {};
            const T *x = &pa[size_t(i * kc)], *y = &pb[size_t(j * kc)];
            for (Index p = 0; p < kc; p++, x += MR, y += NR)
              for (Index s = 0; s < NR; s++)
                for (Index r = 0; r < MR; r++) acc[s][r] += x[r] * y[s];
            for (Index s = 0; s < NR && j + s < nc; s++)
              for (Index r = 0; r < MR && i + r < mc; r++) c(i0 + i + r, j0 + j + s) += alpha * acc[s][r];
          }
      }
    }
  }
}

constexpr Index block = 64;

// The triangle of C = beta C + alpha (A B), which is symmetric; n×k times k×n.
// The other triangle is left alone.
template <class T> CUDASIM_ONCE void symmetric_product(bool lower, Index n, Index k, T alpha, View<const T> a, View<const T> b, T beta, View<T> c) {
  std::vector<T> tile(size_t(block * block));
  for (Index j = 0; j < n; j += block) {
    const Index w = std::min(block, n - j);
    View<T> t{tile.data(), 1, block};
    gemm<T>(w, w, k, alpha, a.at(j, 0), b.at(0, j), T(0), t);
    for (Index s = 0; s < w; s++)
      for (Index r = lower ? s : 0; r < (lower ? w : s + 1); r++) c(j + r, j + s) = t(r, s) + (beta == T(0) ? T(0) : beta * c(j + r, j + s));
    const Index from = lower ? j + w : 0, count = lower ? n - j - w : j;
    if (count > 0) gemm<T>(count, w, k, alpha, a.at(from, 0), b.at(0, j), beta, c.at(from, j));
  }
}

// Solves A X = B in place; A is n×n triangular, B n×m.
template <class T> CUDASIM_ONCE void solve(bool lower, bool unit, Index n, Index m, View<const T> a, View<T> b) {
  for (Index step = 0; step < n; step += block) {
    const Index w = std::min(block, n - step), at = lower ? step : n - step - w;
    View<const T> d = a.at(at, at);
    View<T> x = b.at(at, 0);
    T head[block * block], column[block]; // neighbours in memory, whatever the strides
    for (Index j = 0; j < w; j++)
      for (Index i = 0; i < w; i++)
        if (lower ? j < i || (j == i && !unit) : j > i || (j == i && !unit)) head[i * block + j] = d(i, j);
    for (Index c = 0; c < m; c++) {
      for (Index i = 0; i < w; i++) column[i] = x(i, c);
      for (Index s = 0; s < w; s++) {
        const Index i = lower ? s : w - 1 - s;
        T v = column[i];
        for (Index j = lower ? 0 : i + 1; j < (lower ? i : w); j++) v -= head[i * block + j] * column[j];
        column[i] = unit ? v : v / head[i * block + i];
      }
      for (Index i = 0; i < w; i++) x(i, c) = column[i];
    }
    const Index from = lower ? at + w : 0, count = lower ? n - at - w : at;
    if (count > 0) gemm<T>(count, m, w, T(-1), a.at(from, at), View<const T>{x.p, x.row, x.column}, T(1), b.at(from, 0));
  }
}

// Cholesky factor of the triangle of A, in place: A = L Lᵀ, or Uᵀ U where A is
// given as the transposed view. Gives 0, or the order of the leading minor
// that is not positive definite.
template <class T> CUDASIM_ONCE Index cholesky(Index n, View<T> a) {
  for (Index k = 0; k < n; k += block) {
    const Index w = std::min(block, n - k);
    for (Index j = k; j < k + w; j++) {
      T d = a(j, j);
      for (Index p = k; p < j; p++) d -= a(j, p) * a(j, p);
      if (!(d > T(0))) return j + 1;
      d = std::sqrt(d);
      a(j, j) = d;
      for (Index i = j + 1; i < k + w; i++) {
        T v = a(i, j);
        for (Index p = k; p < j; p++) v -= a(i, p) * a(j, p);
        a(i, j) = v / d;
      }
    }
    const Index rest = n - k - w;
    if (rest == 0) break;
    // L21 = A21 L11⁻ᵀ: a solve with L11 from the transposed side.
    View<T> below = a.at(k + w, k);
    View<const T> head{a.at(k, k).p, a.row, a.column};
    solve<T>(true, false, w, rest, head, below.transposed());
    View<const T> left{below.p, below.row, below.column};
    symmetric_product<T>(true, rest, w, T(-1), left, left.transposed(), T(1), a.at(k + w, k + w));
  }
  return 0;
}

// Eigenvalues, ascending, and on request eigenvectors in the columns of z of a
// symmetric matrix given in full: Householder's reduction to a tridiagonal
// matrix, then implicit QL steps with Wilkinson's shift (Golub and Van Loan,
// Matrix Computations, sections 8.3.1 and 8.3.3). False where QL does not converge.
CUDASIM_ONCE bool symmetric_eigen(Index n, std::vector<double> &a, std::vector<double> &values, bool vectors, std::vector<double> &z);

} // namespace blas
} // namespace cudasim
