// libcusolver: Cholesky factorisations, solves and inverses, single and
// batched, and symmetric eigen-decompositions, in double and float.
#include "blas.h"
#include "device.h"
#include "version.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

using namespace cudasim;
using blas::Index;
using blas::View;

namespace {

enum Status { OK = 0, NO_HANDLE = 1, BAD_VALUE = 3, ARCH_MISMATCH = 4, EXECUTION_FAILED = 6, INTERNAL_ERROR = 7 };

struct Handle {
  StreamHandle stream = nullptr;
};

std::mutex lock;
std::set<Handle *> handles;

bool valid(Handle *h) {
  std::lock_guard<std::mutex> hold(lock);
  return handles.count(h) != 0;
}

#define TAKE(condition)                                                                            \
  if (!valid(h)) return NO_HANDLE;                                                                 \
  if (!(condition)) return BAD_VALUE
#define REACH(p, bytes, what)                                                                      \
  if (int e_ = reachable(p, bytes, what)) return e_

int submit(Handle *h, const char *what, Work w) { return enqueue(h->stream, what, std::move(w)) == SUCCESS ? OK : EXECUTION_FAILED; }

bool triangle(int uplo) { return uplo == 0 || uplo == 1; }
size_t extent(Index m, Index n, Index ld, size_t size) { return m > 0 && n > 0 ? size_t(ld * (n - 1) + m) * size : 0; }

// The stored triangle as a lower one: an upper triangle is the lower one of the transpose.
template <class T> View<T> lower_view(int uplo, T *a, Index lda) { return blas::view(a, lda, uplo == 1); }
template <class T> View<const T> constant(View<T> v) { return {v.p, v.row, v.column}; }

// Workspaces hold nothing that a caller could use; that shows best when they
// are overwritten.
template <class T> int workspace(T *work, int lwork, const char *what) {
  REACH(work, size_t(lwork) * sizeof(T), what);
  poison(work, size_t(lwork) * sizeof(T));
  return SUCCESS;
}

int work_potrf(int n) { return std::max(1, 32 * n); }
int work_potri(int n) { return std::max(1, n * n); }
int work_syevd(int n) { return std::max(1, 2 * n * n + 6 * n + 1); }

template <class T> int potrf(Handle *h, int uplo, int n, T *a, int lda, T *work, int lwork, int *info) {
  TAKE(triangle(uplo) && n >= 0 && lda >= std::max(1, n) && lwork >= work_potrf(n));
  return submit(h, "cusolverDnXpotrf", [=] {
    REACH(info, sizeof(int), "cusolverDnXpotrf, devInfo");
    REACH(a, extent(n, n, lda, sizeof(T)), "cusolverDnXpotrf, A");
    if (int e = workspace(work, lwork, "cusolverDnXpotrf, workspace")) return e;
    *info = int(blas::cholesky<T>(n, lower_view(uplo, a, lda)));
    return int(SUCCESS);
  });
}

template <class T> int potrf_batched(Handle *h, int uplo, int n, T *const *a, int lda, int *info, int batch) {
  TAKE(triangle(uplo) && n >= 0 && lda >= std::max(1, n) && batch >= 0);
  return submit(h, "cusolverDnXpotrfBatched", [=] {
    REACH(a, size_t(batch) * sizeof(T *), "cusolverDnXpotrfBatched, pointers to A");
    REACH(info, size_t(batch) * sizeof(int), "cusolverDnXpotrfBatched, infoArray");
    for (int i = 0; i < batch; i++) {
      REACH(a[i], extent(n, n, lda, sizeof(T)), "cusolverDnXpotrfBatched, A");
      info[i] = int(blas::cholesky<T>(n, lower_view(uplo, a[i], lda)));
    }
    return int(SUCCESS);
  });
}

template <class T> void solve_factored(int uplo, Index n, Index m, const T *a, Index lda, T *b, Index ldb) {
  auto l = lower_view(uplo, a, lda);
  blas::solve<T>(true, false, n, m, l, blas::view(b, ldb));
  blas::solve<T>(false, false, n, m, l.transposed(), blas::view(b, ldb));
}

template <class T> int potrs(Handle *h, int uplo, int n, int nrhs, const T *a, int lda, T *b, int ldb, int *info) {
  TAKE(triangle(uplo) && n >= 0 && nrhs >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, n));
  return submit(h, "cusolverDnXpotrs", [=] {
    REACH(info, sizeof(int), "cusolverDnXpotrs, devInfo");
    REACH(a, extent(n, n, lda, sizeof(T)), "cusolverDnXpotrs, A");
    REACH(b, extent(n, nrhs, ldb, sizeof(T)), "cusolverDnXpotrs, B");
    *info = 0;
    solve_factored<T>(uplo, n, nrhs, a, lda, b, ldb);
    return int(SUCCESS);
  });
}

// The real function takes one right-hand side per matrix only.
template <class T> int potrs_batched(Handle *h, int uplo, int n, int nrhs, T *const *a, int lda, T *const *b, int ldb, int *info, int batch) {
  TAKE(triangle(uplo) && n >= 0 && nrhs == 1 && lda >= std::max(1, n) && ldb >= std::max(1, n) && batch >= 0);
  return submit(h, "cusolverDnXpotrsBatched", [=] {
    REACH(a, size_t(batch) * sizeof(T *), "cusolverDnXpotrsBatched, pointers to A");
    REACH(b, size_t(batch) * sizeof(T *), "cusolverDnXpotrsBatched, pointers to B");
    REACH(info, sizeof(int), "cusolverDnXpotrsBatched, info");
    *info = 0;
    for (int i = 0; i < batch; i++) {
      REACH(a[i], extent(n, n, lda, sizeof(T)), "cusolverDnXpotrsBatched, A");
      REACH(b[i], extent(n, 1, ldb, sizeof(T)), "cusolverDnXpotrsBatched, B");
      solve_factored<T>(uplo, n, 1, a[i], lda, b[i], ldb);
    }
    return int(SUCCESS);
  });
}

// The inverse from the Cholesky factor, in the same triangle.
template <class T> int potri(Handle *h, int uplo, int n, T *a, int lda, T *work, int lwork, int *info) {
  TAKE(triangle(uplo) && n >= 0 && lda >= std::max(1, n) && lwork >= work_potri(n));
  return submit(h, "cusolverDnXpotri", [=] {
    REACH(info, sizeof(int), "cusolverDnXpotri, devInfo");
    REACH(a, extent(n, n, lda, sizeof(T)), "cusolverDnXpotri, A");
    if (int e = workspace(work, lwork, "cusolverDnXpotri, workspace")) return e;
    auto l = lower_view(uplo, a, lda);
    *info = 0;
    for (Index i = 0; i < n; i++)
      if (l(i, i) == T(0)) {
        *info = int(i + 1); // the factor is singular; A is left alone
        return int(SUCCESS);
      }
    std::vector<T> inverse(size_t(n) * size_t(n), T(0));
    for (Index i = 0; i < n; i++) inverse[size_t(i + i * n)] = T(1);
    solve_factored<T>(uplo, n, n, a, lda, inverse.data(), n);
    for (Index j = 0; j < n; j++)
      for (Index i = j; i < n; i++) l(i, j) = inverse[size_t(i + j * n)];
    return int(SUCCESS);
  });
}

template <class T> int syevd(Handle *h, int job, int uplo, int n, T *a, int lda, T *w, T *work, int lwork, int *info) {
  TAKE((job == 0 || job == 1) && triangle(uplo) && n >= 0 && lda >= std::max(1, n) && lwork >= work_syevd(n));
  return submit(h, "cusolverDnXsyevd", [=] {
    REACH(info, sizeof(int), "cusolverDnXsyevd, devInfo");
    REACH(a, extent(n, n, lda, sizeof(T)), "cusolverDnXsyevd, A");
    REACH(w, size_t(n) * sizeof(T), "cusolverDnXsyevd, W");
    if (int e = workspace(work, lwork, "cusolverDnXsyevd, workspace")) return e;
    std::vector<double> full(size_t(n) * size_t(n)), values, z;
    auto l = lower_view(uplo, a, lda);
    for (Index j = 0; j < n; j++)
      for (Index i = j; i < n; i++) full[size_t(i + j * n)] = full[size_t(j + i * n)] = double(l(i, j));
    *info = blas::symmetric_eigen(n, full, values, job == 1, z) ? 0 : n;
    for (Index i = 0; i < n; i++) w[i] = T(values[size_t(i)]);
    for (Index j = 0; j < n; j++) // without vectors the content is destroyed
      for (Index i = 0; i < n; i++) {
        if (job == 1) a[i + j * lda] = T(z[size_t(i + j * n)]);
        else poison(&a[i + j * lda], sizeof(T));
      }
    return int(SUCCESS);
  });
}

} // namespace

namespace cudasim {
namespace blas {

bool symmetric_eigen(Index n, std::vector<double> &a, std::vector<double> &d, bool vectors, std::vector<double> &z) {
  auto at = [&](Index i, Index j) -> double & { return a[size_t(i + j * n)]; };
  d.assign(size_t(n), 0);
  std::vector<double> e(size_t(n), 0), v(static_cast<size_t>(n)), p(static_cast<size_t>(n)), scale(static_cast<size_t>(n), 0);
  std::vector<std::vector<double>> reflectors;
  for (double x : a)
    if (!std::isfinite(x)) { // what LAPACK makes of it is not specified; nothing converges
      std::fill(d.begin(), d.end(), std::nan(""));
      z.assign(size_t(n * n), std::nan(""));
      return false;
    }

  // Column k below the diagonal becomes (alpha, 0, ...) under H = I - beta v vᵀ.
  for (Index k = 0; k + 1 < n; k++) {
    double norm = 0, largest = 0;
    for (Index i = k + 1; i < n; i++) largest = std::max(largest, std::fabs(at(i, k)));
    std::fill(v.begin(), v.end(), 0);
    double beta = 0, alpha = at(k + 1, k);
    bool below = false;
    for (Index i = k + 2; i < n; i++) below |= at(i, k) != 0;
    if (below) {
      for (Index i = k + 1; i < n; i++) {
        double x = at(i, k) / largest;
        v[size_t(i)] = x;
        norm += x * x;
      }
      norm = std::sqrt(norm);
      double head = v[size_t(k + 1)], to = head > 0 ? -norm : norm;
      v[size_t(k + 1)] = head - to;
      beta = 1 / (norm * (norm + std::fabs(head)));
      alpha = to * largest;
      // A = H A H on what remains: p = beta A v, q = p - (beta pᵀv / 2) v, A -= v qᵀ + q vᵀ.
      std::fill(p.begin(), p.end(), 0);
      for (Index j = k + 1; j < n; j++) {
        const double s = beta * v[size_t(j)];
        const double *column = &a[size_t(j * n)];
        for (Index i = k + 1; i < n; i++) p[size_t(i)] += s * column[i];
      }
      double dot = 0;
      for (Index i = k + 1; i < n; i++) dot += p[size_t(i)] * v[size_t(i)];
      for (Index i = k + 1; i < n; i++) p[size_t(i)] -= 0.5 * beta * dot * v[size_t(i)];
      for (Index j = k + 1; j < n; j++) {
        const double vj = v[size_t(j)], pj = p[size_t(j)];
        double *column = &a[size_t(j * n)];
        for (Index i = k + 1; i < n; i++) column[i] -= v[size_t(i)] * pj + p[size_t(i)] * vj;
      }
    }
    e[size_t(k)] = alpha;
    scale[size_t(k)] = beta;
    if (vectors) reflectors.emplace_back(v.begin() + k + 1, v.end());
  }
  for (Index i = 0; i < n; i++) d[size_t(i)] = at(i, i);

  if (vectors) { // Q = H(0) H(1) ..., applied from the last
    z.assign(size_t(n * n), 0);
    for (Index i = 0; i < n; i++) z[size_t(i + i * n)] = 1;
    for (Index k = n - 2; k >= 0; k--) {
      const double beta = scale[size_t(k)];
      if (beta == 0) continue;
      const double *r = reflectors[size_t(k)].data();
      for (Index j = k + 1; j < n; j++) {
        double *column = &z[size_t(k + 1 + j * n)], s = 0;
        for (Index i = 0; i < n - k - 1; i++) s += r[i] * column[i];
        s *= beta;
        for (Index i = 0; i < n - k - 1; i++) column[i] -= s * r[i];
      }
    }
  }

  // QL with implicit shifts on (d, e), from the top of each unreduced block. What is small
  // beside the whole matrix splits a block too, as the reduction's errors are no smaller:
  // QL would turn for ever in what rounding leaves of a matrix of low rank.
  const double eps = 2.2204460492503131e-16;
  double whole = 0;
  for (Index i = 0; i < n; i++) whole = std::max(whole, std::fabs(d[size_t(i)]) + std::fabs(e[size_t(i)]));
  for (Index l = 0; l < n; l++) {
    for (int iteration = 0;; iteration++) {
      auto coupled = [&](Index i) {
        const double size = std::fabs(e[size_t(i)]);
        return size > eps * whole && size > eps * (std::fabs(d[size_t(i)]) + std::fabs(d[size_t(i + 1)]));
      };
      Index m = l;
      while (m + 1 < n && coupled(m)) m++;
      if (m == l) break;
      if (iteration == 60) return false;
      double g = (d[size_t(l + 1)] - d[size_t(l)]) / (2 * e[size_t(l)]), r = std::hypot(g, 1.0);
      g = d[size_t(m)] - d[size_t(l)] + e[size_t(l)] / (g + std::copysign(r, g));
      double s = 1, c = 1, shift = 0;
      Index i = m - 1;
      for (; i >= l; i--) {
        double f = s * e[size_t(i)], b = c * e[size_t(i)];
        r = std::hypot(f, g);
        e[size_t(i + 1)] = r;
        if (r == 0) { // the block splits
          d[size_t(i + 1)] -= shift;
          if (m < n) e[size_t(m)] = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = d[size_t(i + 1)] - shift;
        r = (d[size_t(i)] - g) * s + 2 * c * b;
        shift = s * r;
        d[size_t(i + 1)] = g + shift;
        g = c * r - b;
        if (vectors) {
          double *x = &z[size_t(i * n)], *y = &z[size_t((i + 1) * n)];
          for (Index k = 0; k < n; k++) {
            const double t = y[k];
            y[k] = s * x[k] + c * t;
            x[k] = c * x[k] - s * t;
          }
        }
      }
      if (i >= l) continue;
      d[size_t(l)] -= shift;
      e[size_t(l)] = g;
      if (m < n) e[size_t(m)] = 0;
    }
  }

  std::vector<Index> order(static_cast<size_t>(n));
  for (Index i = 0; i < n; i++) order[size_t(i)] = i;
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return d[size_t(i)] < d[size_t(j)]; });
  std::vector<double> values(static_cast<size_t>(n)), sorted(z.size());
  for (Index j = 0; j < n; j++) {
    values[size_t(j)] = d[size_t(order[size_t(j)])];
    if (vectors) std::copy_n(&z[size_t(order[size_t(j)] * n)], n, &sorted[size_t(j * n)]);
  }
  d = values;
  z = sorted;
  return true;
}

} // namespace blas
} // namespace cudasim

extern "C" {

int cudasim_cublas_major();

// It calls cuBLAS, as the real one does: that of another version is none that it knows.
int cusolverDnCreate(Handle **out) {
  if (!out) return BAD_VALUE;
  if (cudasim_cublas_major() != toolkit_major()) {
    fprintf(stderr, "cudasim: cuSOLVER of CUDA %d calls cuBLAS of CUDA %d\n", toolkit_major(), cudasim_cublas_major());
    return INTERNAL_ERROR;
  }
  if (usable() != SUCCESS) return NO_HANDLE;
  if (toolkit_major() >= 13 && cudasim::capability() < 75) return ARCH_MISMATCH;
  std::lock_guard<std::mutex> hold(lock);
  *out = new Handle;
  handles.insert(*out);
  return OK;
}
int cusolverDnDestroy(Handle *h) {
  std::lock_guard<std::mutex> hold(lock);
  if (!handles.erase(h)) return NO_HANDLE;
  delete h;
  return OK;
}
int cusolverDnSetStream(Handle *h, StreamHandle s) {
  TAKE(true);
  h->stream = s;
  return OK;
}
int cusolverDnGetStream(Handle *h, StreamHandle *s) {
  TAKE(s);
  *s = h->stream;
  return OK;
}
int cusolverGetVersion(int *version) {
  if (!version) return BAD_VALUE;
  *version = 11700;
  return OK;
}
int cusolverGetProperty(int type, int *out) { return property(type, out); }

#define FUNCTIONS(L, T)                                                                            \
  int cusolverDn##L##potrf_bufferSize(Handle *h, int uplo, int n, T *, int lda, int *size) {       \
    TAKE(triangle(uplo) && n >= 0 && lda >= std::max(1, n) && size);                               \
    *size = work_potrf(n);                                                                         \
    return OK;                                                                                     \
  }                                                                                                \
  int cusolverDn##L##potrf(Handle *h, int uplo, int n, T *a, int lda, T *work, int lwork, int *info) { \
    return potrf<T>(h, uplo, n, a, lda, work, lwork, info);                                        \
  }                                                                                                \
  int cusolverDn##L##potrfBatched(Handle *h, int uplo, int n, T *const *a, int lda, int *info, int batch) { \
    return potrf_batched<T>(h, uplo, n, a, lda, info, batch);                                      \
  }                                                                                                \
  int cusolverDn##L##potrs(Handle *h, int uplo, int n, int m, const T *a, int lda, T *b, int ldb, int *info) { \
    return potrs<T>(h, uplo, n, m, a, lda, b, ldb, info);                                          \
  }                                                                                                \
  int cusolverDn##L##potrsBatched(Handle *h, int uplo, int n, int m, T *const *a, int lda, T *const *b, int ldb, int *info, int batch) { \
    return potrs_batched<T>(h, uplo, n, m, a, lda, b, ldb, info, batch);                           \
  }                                                                                                \
  int cusolverDn##L##potri_bufferSize(Handle *h, int uplo, int n, T *, int lda, int *size) {       \
    TAKE(triangle(uplo) && n >= 0 && lda >= std::max(1, n) && size);                               \
    *size = work_potri(n);                                                                         \
    return OK;                                                                                     \
  }                                                                                                \
  int cusolverDn##L##potri(Handle *h, int uplo, int n, T *a, int lda, T *work, int lwork, int *info) { \
    return potri<T>(h, uplo, n, a, lda, work, lwork, info);                                        \
  }                                                                                                \
  int cusolverDn##L##syevd_bufferSize(Handle *h, int job, int uplo, int n, const T *, int lda, const T *, int *size) { \
    TAKE((job == 0 || job == 1) && triangle(uplo) && n >= 0 && lda >= std::max(1, n) && size);     \
    *size = work_syevd(n);                                                                         \
    return OK;                                                                                     \
  }                                                                                                \
  int cusolverDn##L##syevd(Handle *h, int job, int uplo, int n, T *a, int lda, T *w, T *work, int lwork, int *info) { \
    return syevd<T>(h, job, uplo, n, a, lda, w, work, lwork, info);                                \
  }
FUNCTIONS(S, float)
FUNCTIONS(D, double)

} // extern "C"
