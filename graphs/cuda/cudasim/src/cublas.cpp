// libcublas: the real functions that dense linear algebra uses, in double and
// float. What else gorgonia.org/cu links is in unsupported_cublas.cpp.
#include "blas.h"
#include "device.h"
#include "version.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

using namespace cudasim;
using blas::Index;
using blas::View;

namespace {

enum Status { OK = 0, NO_HANDLE = 1, ALLOC_FAILED = 3, BAD_VALUE = 7, MAPPING_ERROR = 11, EXECUTION_FAILED = 13, INTERNAL = 14, UNSUPPORTED = 15, ARCH_MISMATCH = 8 };

struct Handle {
  StreamHandle stream = nullptr;
  int pointer_mode = 0, math_mode = 0, atomics_mode = 0;
};

std::mutex lock;
std::set<Handle *> handles;

bool valid(Handle *h) {
  std::lock_guard<std::mutex> hold(lock);
  return handles.count(h) != 0;
}

int status(int error) { return error == SUCCESS ? OK : error == INVALID_VALUE || error == INVALID_HANDLE ? MAPPING_ERROR : EXECUTION_FAILED; }

#define TAKE(condition)                                                                            \
  if (!valid(h)) return NO_HANDLE;                                                                 \
  if (!(condition)) return BAD_VALUE

// A number given by the host, which is read now, or by the device, which is
// read when the work runs.
template <class T> struct Scalar {
  const T *device = nullptr;
  T value{};
  int get(T *out) const {
    if (!device) {
      *out = value;
      return SUCCESS;
    }
    if (int e = reachable(device, sizeof(T), "cuBLAS scalar")) return e;
    *out = *device;
    return SUCCESS;
  }
};
template <class T> Scalar<T> scalar(Handle *h, const T *p) {
  Scalar<T> s;
  if (h->pointer_mode) s.device = p;
  else s.value = *p;
  return s;
}

// Bytes of a matrix of m rows and n columns.
size_t extent(Index m, Index n, Index ld, size_t size) { return m > 0 && n > 0 ? size_t(ld * (n - 1) + m) * size : 0; }
size_t vector_extent(Index n, Index inc, size_t size) { return n > 0 ? size_t((n - 1) * std::abs(inc) + 1) * size : 0; }
bool op(int t) { return t >= 0 && t <= 2; }
template <class T> View<const T> constant(View<T> v) { return {v.p, v.row, v.column}; }

#define REACH(p, bytes, what)                                                                      \
  if (int e_ = reachable(p, bytes, what)) return e_
#define SCALAR(T, name, from)                                                                      \
  T name;                                                                                          \
  if (int e_ = (from).get(&name)) return e_

// Element i of a vector, which runs backwards where its increment is negative.
template <class T> T &at(T *x, Index n, Index inc, Index i) { return inc >= 0 ? x[i * inc] : x[(i - (n - 1)) * inc]; }

// Puts work on the handle's stream.
int submit(Handle *h, const char *what, Work w) { return status(enqueue(h->stream, what, std::move(w))); }

// A result for the host is there when the call returns.
template <class T, class F> int submit_result(Handle *h, const char *what, T *result, F compute) {
  const bool on_device = h->pointer_mode != 0;
  int s = submit(h, what, [=] {
    if (on_device) REACH(result, sizeof(T), what);
    T v;
    if (int e = compute(&v)) return e;
    *result = v;
    return int(SUCCESS);
  });
  if (s != OK || on_device) return s;
  return status(synchronise(h->stream));
}

// --- level 3 ---------------------------------------------------------------------

template <class T> struct Gemm {
  int ta, tb;
  Index m, n, k, lda, ldb, ldc;
  bool good() const {
    return op(ta) && op(tb) && m >= 0 && n >= 0 && k >= 0 && lda >= std::max<Index>(1, ta ? k : m) &&
           ldb >= std::max<Index>(1, tb ? n : k) && ldc >= std::max<Index>(1, m);
  }
  int run(T alpha, const T *a, const T *b, T beta, T *c) const {
    if (m == 0 || n == 0) return SUCCESS;
    if (alpha != T(0)) {
      REACH(a, extent(ta ? k : m, ta ? m : k, lda, sizeof(T)), "cublasXgemm, A");
      REACH(b, extent(tb ? n : k, tb ? k : n, ldb, sizeof(T)), "cublasXgemm, B");
    }
    REACH(c, extent(m, n, ldc, sizeof(T)), "cublasXgemm, C");
    blas::gemm<T>(m, n, k, alpha, blas::view(a, lda, ta), blas::view(b, ldb, tb), beta, blas::view(c, ldc));
    return SUCCESS;
  }
};

template <class T>
int gemm(Handle *h, int ta, int tb, int m, int n, int k, const T *alpha, const T *a, int lda, Index sa, const T *b, int ldb, Index sb,
         const T *beta, T *c, int ldc, Index sc, int batch) {
  Gemm<T> g{ta, tb, m, n, k, lda, ldb, ldc};
  TAKE(g.good() && batch >= 0 && alpha && beta);
  auto al = scalar(h, alpha), be = scalar(h, beta);
  return submit(h, "cublasXgemm", [=] {
    SCALAR(T, x, al);
    SCALAR(T, y, be);
    for (int i = 0; i < batch; i++)
      if (int e = g.run(x, a + i * sa, b + i * sb, y, c + i * sc)) return e;
    return int(SUCCESS);
  });
}

template <class T>
int gemm_batched(Handle *h, int ta, int tb, int m, int n, int k, const T *alpha, const T *const *a, int lda, const T *const *b, int ldb,
                 const T *beta, T *const *c, int ldc, int batch) {
  Gemm<T> g{ta, tb, m, n, k, lda, ldb, ldc};
  TAKE(g.good() && batch >= 0 && alpha && beta);
  auto al = scalar(h, alpha), be = scalar(h, beta);
  return submit(h, "cublasXgemmBatched", [=] {
    SCALAR(T, x, al);
    SCALAR(T, y, be);
    const size_t bytes = size_t(batch) * sizeof(T *);
    REACH(a, bytes, "cublasXgemmBatched, pointers to A");
    REACH(b, bytes, "cublasXgemmBatched, pointers to B");
    REACH(c, bytes, "cublasXgemmBatched, pointers to C");
    for (int i = 0; i < batch; i++)
      if (int e = g.run(x, a[i], b[i], y, c[i])) return e;
    return int(SUCCESS);
  });
}

template <class T> int syrk(Handle *h, int uplo, int t, int n, int k, const T *alpha, const T *a, int lda, const T *beta, T *c, int ldc) {
  TAKE((uplo == 0 || uplo == 1) && op(t) && n >= 0 && k >= 0 && lda >= std::max(1, t ? k : n) && ldc >= std::max(1, n) && alpha && beta);
  auto al = scalar(h, alpha), be = scalar(h, beta);
  return submit(h, "cublasXsyrk", [=] {
    SCALAR(T, x, al);
    SCALAR(T, y, be);
    REACH(a, extent(t ? k : n, t ? n : k, lda, sizeof(T)), "cublasXsyrk, A");
    REACH(c, extent(n, n, ldc, sizeof(T)), "cublasXsyrk, C");
    auto v = blas::view(a, lda, t);
    blas::symmetric_product<T>(uplo == 0, n, k, x, v, v.transposed(), y, blas::view(c, ldc));
    return int(SUCCESS);
  });
}

// C = alpha A B + beta C with a symmetric A on the given side.
template <class T>
int symm(Handle *h, int side, int uplo, int m, int n, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) {
  const int order = side == 0 ? m : n;
  TAKE((side == 0 || side == 1) && (uplo == 0 || uplo == 1) && m >= 0 && n >= 0 && lda >= std::max(1, order) && ldb >= std::max(1, m) &&
       ldc >= std::max(1, m) && alpha && beta);
  auto al = scalar(h, alpha), be = scalar(h, beta);
  return submit(h, "cublasXsymm", [=] {
    SCALAR(T, x, al);
    SCALAR(T, y, be);
    REACH(a, extent(order, order, lda, sizeof(T)), "cublasXsymm, A");
    REACH(b, extent(m, n, ldb, sizeof(T)), "cublasXsymm, B");
    REACH(c, extent(m, n, ldc, sizeof(T)), "cublasXsymm, C");
    std::vector<T> full(size_t(order) * size_t(order));
    for (Index j = 0; j < order; j++)
      for (Index i = 0; i < order; i++) {
        const bool stored = uplo == 0 ? i >= j : i <= j;
        full[size_t(i + j * order)] = stored ? a[i + j * lda] : a[j + i * lda];
      }
    View<const T> s{full.data(), 1, order}, other = blas::view(b, ldb);
    if (side == 0) blas::gemm<T>(m, n, m, x, s, other, y, blas::view(c, ldc));
    else blas::gemm<T>(m, n, n, x, other, s, y, blas::view(c, ldc));
    return int(SUCCESS);
  });
}

template <class T> struct Trsm {
  int side, uplo, trans, diag;
  Index m, n, lda, ldb;
  bool good() const {
    return (side == 0 || side == 1) && (uplo == 0 || uplo == 1) && op(trans) && (diag == 0 || diag == 1) && m >= 0 && n >= 0 &&
           lda >= std::max<Index>(1, side == 0 ? m : n) && ldb >= std::max<Index>(1, m);
  }
  int run(T alpha, const T *a, T *b) const {
    if (m == 0 || n == 0) return SUCCESS;
    const Index order = side == 0 ? m : n;
    REACH(a, extent(order, order, lda, sizeof(T)), "cublasXtrsm, A");
    REACH(b, extent(m, n, ldb, sizeof(T)), "cublasXtrsm, B");
    auto x = blas::view(b, ldb);
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < m; i++) x(i, j) = alpha == T(0) ? T(0) : alpha * x(i, j);
    // op(A) X = B as it stands; X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ.
    const bool transposed = (trans != 0) != (side == 1);
    const bool lower = (uplo == 0) != transposed;
    if (side == 1) x = x.transposed();
    blas::solve<T>(lower, diag == 1, order, side == 0 ? n : m, blas::view(a, lda, transposed), x);
    return SUCCESS;
  }
};

template <class T>
int trsm(Handle *h, int side, int uplo, int trans, int diag, int m, int n, const T *alpha, const T *a, int lda, T *b, int ldb) {
  Trsm<T> t{side, uplo, trans, diag, m, n, lda, ldb};
  TAKE(t.good() && alpha);
  auto al = scalar(h, alpha);
  return submit(h, "cublasXtrsm", [=] {
    SCALAR(T, x, al);
    return t.run(x, a, b);
  });
}

template <class T>
int trsm_batched(Handle *h, int side, int uplo, int trans, int diag, int m, int n, const T *alpha, const T *const *a, int lda, T *const *b,
                 int ldb, int batch) {
  Trsm<T> t{side, uplo, trans, diag, m, n, lda, ldb};
  TAKE(t.good() && alpha && batch >= 0);
  auto al = scalar(h, alpha);
  return submit(h, "cublasXtrsmBatched", [=] {
    SCALAR(T, x, al);
    REACH(a, size_t(batch) * sizeof(T *), "cublasXtrsmBatched, pointers to A");
    REACH(b, size_t(batch) * sizeof(T *), "cublasXtrsmBatched, pointers to B");
    for (int i = 0; i < batch; i++)
      if (int e = t.run(x, a[i], b[i])) return e;
    return int(SUCCESS);
  });
}

// C = alpha op(A) B with a triangular A on the given side; C may be B.
template <class T>
int trmm(Handle *h, int side, int uplo, int trans, int diag, int m, int n, const T *alpha, const T *a, int lda, const T *b, int ldb, T *c,
         int ldc) {
  Trsm<T> t{side, uplo, trans, diag, m, n, lda, ldb};
  TAKE(t.good() && alpha && ldc >= std::max(1, m));
  auto al = scalar(h, alpha);
  return submit(h, "cublasXtrmm", [=] {
    SCALAR(T, x, al);
    const Index order = side == 0 ? m : n;
    REACH(a, extent(order, order, lda, sizeof(T)), "cublasXtrmm, A");
    REACH(b, extent(m, n, ldb, sizeof(T)), "cublasXtrmm, B");
    REACH(c, extent(m, n, ldc, sizeof(T)), "cublasXtrmm, C");
    std::vector<T> full(size_t(order * order)), copy(size_t(Index(m) * n));
    for (Index j = 0; j < order; j++)
      for (Index i = 0; i < order; i++)
        full[size_t(i + j * order)] = i == j ? (diag == 1 ? T(1) : a[i + j * lda]) : (uplo == 0) == (i > j) ? a[i + j * lda] : T(0);
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < m; i++) copy[size_t(i + j * m)] = b[i + j * ldb];
    View<const T> s = blas::view(const_cast<const T *>(full.data()), order, trans), other{copy.data(), 1, m};
    if (side == 0) blas::gemm<T>(m, n, m, x, s, other, T(0), blas::view(c, ldc));
    else blas::gemm<T>(m, n, n, x, other, s, T(0), blas::view(c, ldc));
    return int(SUCCESS);
  });
}

template <class T>
int geam(Handle *h, int ta, int tb, int m, int n, const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc) {
  TAKE(op(ta) && op(tb) && m >= 0 && n >= 0 && lda >= std::max(1, ta ? n : m) && ldb >= std::max(1, tb ? n : m) && ldc >= std::max(1, m) &&
       alpha && beta && !(a == c && (ta || lda != ldc)) && !(b == c && (tb || ldb != ldc)));
  auto al = scalar(h, alpha), be = scalar(h, beta);
  return submit(h, "cublasXgeam", [=] {
    SCALAR(T, x, al);
    SCALAR(T, y, be);
    if (x != T(0)) REACH(a, extent(ta ? n : m, ta ? m : n, lda, sizeof(T)), "cublasXgeam, A");
    if (y != T(0)) REACH(b, extent(tb ? n : m, tb ? m : n, ldb, sizeof(T)), "cublasXgeam, B");
    REACH(c, extent(m, n, ldc, sizeof(T)), "cublasXgeam, C");
    auto va = blas::view(a, lda, ta), vb = blas::view(b, ldb, tb);
    auto vc = blas::view(c, ldc);
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < m; i++) vc(i, j) = (x == T(0) ? T(0) : x * va(i, j)) + (y == T(0) ? T(0) : y * vb(i, j));
    return int(SUCCESS);
  });
}

template <class T> int dgmm(Handle *h, int side, int m, int n, const T *a, int lda, const T *x, int inc, T *c, int ldc) {
  TAKE((side == 0 || side == 1) && m >= 0 && n >= 0 && lda >= std::max(1, m) && ldc >= std::max(1, m));
  return submit(h, "cublasXdgmm", [=] {
    const Index length = side == 0 ? m : n;
    REACH(a, extent(m, n, lda, sizeof(T)), "cublasXdgmm, A");
    REACH(x, vector_extent(length, inc, sizeof(T)), "cublasXdgmm, x");
    REACH(c, extent(m, n, ldc, sizeof(T)), "cublasXdgmm, C");
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < m; i++) c[i + j * ldc] = a[i + j * lda] * at(x, length, Index(inc), side == 0 ? i : j);
    return int(SUCCESS);
  });
}

// --- level 2 -----------------------------------------------------------------------

template <class T>
int gemv(Handle *h, int t, int m, int n, const T *alpha, const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy) {
  TAKE(op(t) && m >= 0 && n >= 0 && lda >= std::max(1, m) && incx && incy && alpha && beta);
  auto al = scalar(h, alpha), be = scalar(h, beta);
  return submit(h, "cublasXgemv", [=] {
    SCALAR(T, s, al);
    SCALAR(T, b, be);
    const Index rows = t ? n : m, columns = t ? m : n;
    REACH(a, extent(m, n, lda, sizeof(T)), "cublasXgemv, A");
    REACH(x, vector_extent(columns, incx, sizeof(T)), "cublasXgemv, x");
    REACH(y, vector_extent(rows, incy, sizeof(T)), "cublasXgemv, y");
    if (m == 0 || n == 0) return int(SUCCESS);
    auto v = blas::view(a, lda, t);
    std::vector<T> sum(size_t(rows), T(0));
    if (t)
      for (Index i = 0; i < rows; i++)
        for (Index j = 0; j < columns; j++) sum[size_t(i)] += v(i, j) * at(x, columns, Index(incx), j);
    else
      for (Index j = 0; j < columns; j++)
        for (Index i = 0; i < rows; i++) sum[size_t(i)] += v(i, j) * at(x, columns, Index(incx), j);
    for (Index i = 0; i < rows; i++) {
      T &out = at(y, rows, Index(incy), i);
      out = s * sum[size_t(i)] + (b == T(0) ? T(0) : b * out);
    }
    return int(SUCCESS);
  });
}

template <class T>
int symv(Handle *h, int uplo, int n, const T *alpha, const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy) {
  TAKE((uplo == 0 || uplo == 1) && n >= 0 && lda >= std::max(1, n) && incx && incy && alpha && beta);
  auto al = scalar(h, alpha), be = scalar(h, beta);
  return submit(h, "cublasXsymv", [=] {
    SCALAR(T, s, al);
    SCALAR(T, b, be);
    REACH(a, extent(n, n, lda, sizeof(T)), "cublasXsymv, A");
    REACH(x, vector_extent(n, incx, sizeof(T)), "cublasXsymv, x");
    REACH(y, vector_extent(n, incy, sizeof(T)), "cublasXsymv, y");
    std::vector<T> sum(size_t(n), T(0));
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < n; i++) {
        const bool stored = uplo == 0 ? i >= j : i <= j;
        sum[size_t(i)] += (stored ? a[i + j * lda] : a[j + i * lda]) * at(x, Index(n), Index(incx), j);
      }
    for (Index i = 0; i < n; i++) {
      T &out = at(y, Index(n), Index(incy), i);
      out = s * sum[size_t(i)] + (b == T(0) ? T(0) : b * out);
    }
    return int(SUCCESS);
  });
}

template <class T> int trsv(Handle *h, int uplo, int trans, int diag, int n, const T *a, int lda, T *x, int incx) {
  TAKE((uplo == 0 || uplo == 1) && op(trans) && (diag == 0 || diag == 1) && n >= 0 && lda >= std::max(1, n) && incx);
  return submit(h, "cublasXtrsv", [=] {
    REACH(a, extent(n, n, lda, sizeof(T)), "cublasXtrsv, A");
    REACH(x, vector_extent(n, incx, sizeof(T)), "cublasXtrsv, x");
    std::vector<T> v(static_cast<size_t>(n));
    for (Index i = 0; i < n; i++) v[size_t(i)] = at(x, Index(n), Index(incx), i);
    blas::solve<T>((uplo == 0) != (trans != 0), diag == 1, n, 1, blas::view(a, lda, trans), blas::view(v.data(), n));
    for (Index i = 0; i < n; i++) at(x, Index(n), Index(incx), i) = v[size_t(i)];
    return int(SUCCESS);
  });
}

template <class T> int ger(Handle *h, int m, int n, const T *alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) {
  TAKE(m >= 0 && n >= 0 && incx && incy && lda >= std::max(1, m) && alpha);
  auto al = scalar(h, alpha);
  return submit(h, "cublasXger", [=] {
    SCALAR(T, s, al);
    REACH(x, vector_extent(m, incx, sizeof(T)), "cublasXger, x");
    REACH(y, vector_extent(n, incy, sizeof(T)), "cublasXger, y");
    REACH(a, extent(m, n, lda, sizeof(T)), "cublasXger, A");
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < m; i++) a[i + j * lda] += s * at(x, Index(m), Index(incx), i) * at(y, Index(n), Index(incy), j);
    return int(SUCCESS);
  });
}

// --- level 1: as in the reference BLAS, an increment below one has no elements
// where there is one vector ---------------------------------------------------------

template <class T> int dot(Handle *h, int n, const T *x, int incx, const T *y, int incy, T *result) {
  TAKE(result);
  return submit_result(h, "cublasXdot", result, [=](T *out) {
    REACH(x, vector_extent(n, incx, sizeof(T)), "cublasXdot, x");
    REACH(y, vector_extent(n, incy, sizeof(T)), "cublasXdot, y");
    T s = 0;
    for (Index i = 0; i < n; i++) s += at(x, Index(n), Index(incx), i) * at(y, Index(n), Index(incy), i);
    *out = s;
    return int(SUCCESS);
  });
}
template <class T> int nrm2(Handle *h, int n, const T *x, int inc, T *result) {
  TAKE(result);
  return submit_result(h, "cublasXnrm2", result, [=](T *out) {
    const Index count = inc > 0 ? n : 0;
    REACH(x, vector_extent(count, inc, sizeof(T)), "cublasXnrm2, x");
    double largest = 0, s = 0;
    for (Index i = 0; i < count; i++) {
      double v = std::fabs(double(x[i * inc]));
      if (!(v <= largest)) largest = v; // takes a NaN
    }
    for (Index i = 0; i < count; i++) {
      double v = double(x[i * inc]) / largest;
      s += v * v;
    }
    *out = largest > 0 && std::isfinite(largest) ? T(largest * std::sqrt(s)) : T(largest);
    return int(SUCCESS);
  });
}
template <class T> int asum(Handle *h, int n, const T *x, int inc, T *result) {
  TAKE(result);
  return submit_result(h, "cublasXasum", result, [=](T *out) {
    const Index count = inc > 0 ? n : 0;
    REACH(x, vector_extent(count, inc, sizeof(T)), "cublasXasum, x");
    T s = 0;
    for (Index i = 0; i < count; i++) s += std::fabs(x[i * inc]);
    *out = s;
    return int(SUCCESS);
  });
}
// Index of the element of largest or smallest magnitude, counted from 1.
template <class T> int extreme(Handle *h, bool largest, int n, const T *x, int inc, int *result) {
  TAKE(result);
  return submit_result(h, "cublasIamax", result, [=](int *out) {
    const Index count = inc > 0 ? n : 0;
    REACH(x, vector_extent(count, inc, sizeof(T)), "cublasIamax, x");
    Index best = -1;
    for (Index i = 0; i < count; i++) {
      T v = std::fabs(x[i * inc]);
      if (best < 0 || (largest ? v > std::fabs(x[best * inc]) : v < std::fabs(x[best * inc]))) best = i;
    }
    *out = int(best + 1);
    return int(SUCCESS);
  });
}
template <class T> int scal(Handle *h, int n, const T *alpha, T *x, int inc) {
  TAKE(alpha);
  auto al = scalar(h, alpha);
  return submit(h, "cublasXscal", [=] {
    SCALAR(T, s, al);
    const Index count = inc > 0 ? n : 0;
    REACH(x, vector_extent(count, inc, sizeof(T)), "cublasXscal, x");
    for (Index i = 0; i < count; i++) x[i * inc] *= s;
    return int(SUCCESS);
  });
}
template <class T> int axpy(Handle *h, int n, const T *alpha, const T *x, int incx, T *y, int incy) {
  TAKE(alpha);
  auto al = scalar(h, alpha);
  return submit(h, "cublasXaxpy", [=] {
    SCALAR(T, s, al);
    REACH(x, vector_extent(n, incx, sizeof(T)), "cublasXaxpy, x");
    REACH(y, vector_extent(n, incy, sizeof(T)), "cublasXaxpy, y");
    for (Index i = 0; i < n; i++) at(y, Index(n), Index(incy), i) += s * at(x, Index(n), Index(incx), i);
    return int(SUCCESS);
  });
}
template <class T> int copy(Handle *h, int n, const T *x, int incx, T *y, int incy) {
  TAKE(true);
  return submit(h, "cublasXcopy", [=] {
    REACH(x, vector_extent(n, incx, sizeof(T)), "cublasXcopy, x");
    REACH(y, vector_extent(n, incy, sizeof(T)), "cublasXcopy, y");
    for (Index i = 0; i < n; i++) at(y, Index(n), Index(incy), i) = at(x, Index(n), Index(incx), i);
    return int(SUCCESS);
  });
}
template <class T> int exchange(Handle *h, int n, T *x, int incx, T *y, int incy) {
  TAKE(true);
  return submit(h, "cublasXswap", [=] {
    REACH(x, vector_extent(n, incx, sizeof(T)), "cublasXswap, x");
    REACH(y, vector_extent(n, incy, sizeof(T)), "cublasXswap, y");
    for (Index i = 0; i < n; i++) std::swap(at(y, Index(n), Index(incy), i), at(x, Index(n), Index(incx), i));
    return int(SUCCESS);
  });
}

} // namespace

extern "C" {

int cublasCreate_v2(Handle **out) {
  if (!out) return BAD_VALUE;
  if (usable() != SUCCESS) return NO_HANDLE;
  if (toolkit_major() >= 13 && cudasim::capability() < 75) return ARCH_MISMATCH;
  std::lock_guard<std::mutex> hold(lock);
  *out = new Handle;
  handles.insert(*out);
  return OK;
}
int cublasDestroy_v2(Handle *h) {
  std::lock_guard<std::mutex> hold(lock);
  if (!handles.erase(h)) return NO_HANDLE;
  delete h;
  return OK;
}
int cublasGetVersion_v2(Handle *h, int *version) {
  TAKE(version);
  *version = toolkit_version() * 10;
  return OK;
}
int cublasGetProperty(int type, int *out) { return property(type, out); }
int cudasim_cublas_major() { return toolkit_major(); }
int cublasSetStream_v2(Handle *h, StreamHandle s) {
  TAKE(true);
  h->stream = s;
  return OK;
}
int cublasGetStream_v2(Handle *h, StreamHandle *s) {
  TAKE(s);
  *s = h->stream;
  return OK;
}
int cublasSetPointerMode_v2(Handle *h, int mode) {
  TAKE(mode == 0 || mode == 1);
  h->pointer_mode = mode;
  return OK;
}
int cublasGetPointerMode_v2(Handle *h, int *mode) {
  TAKE(mode);
  *mode = h->pointer_mode;
  return OK;
}
int cublasSetMathMode(Handle *h, int mode) {
  TAKE(true);
  h->math_mode = mode;
  return OK;
}
int cublasGetMathMode(Handle *h, int *mode) {
  TAKE(mode);
  *mode = h->math_mode;
  return OK;
}
int cublasSetAtomicsMode(Handle *h, int mode) {
  TAKE(mode == 0 || mode == 1);
  h->atomics_mode = mode;
  return OK;
}
int cublasGetAtomicsMode(Handle *h, int *mode) {
  TAKE(mode);
  *mode = h->atomics_mode;
  return OK;
}
int cublasSetWorkspace_v2(Handle *h, void *, size_t) {
  TAKE(true);
  return OK;
}
const char *cublasGetStatusName(int s) {
  switch (s) {
  case OK: return "CUBLAS_STATUS_SUCCESS";
  case NO_HANDLE: return "CUBLAS_STATUS_NOT_INITIALIZED";
  case ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
  case BAD_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
  case MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
  case EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
  case INTERNAL: return "CUBLAS_STATUS_INTERNAL_ERROR";
  case UNSUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "CUBLAS_STATUS_UNKNOWN";
}
const char *cublasGetStatusString(int s) { return cublasGetStatusName(s); }

#define FUNCTIONS(L, T)                                                                            \
  int cublas##L##gemm_v2(Handle *h, int ta, int tb, int m, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, \
                         const T *beta, T *c, int ldc) {                                           \
    return gemm<T>(h, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);           \
  }                                                                                                \
  int cublas##L##gemmStridedBatched(Handle *h, int ta, int tb, int m, int n, int k, const T *alpha, const T *a, int lda, long long sa, \
                                    const T *b, int ldb, long long sb, const T *beta, T *c, int ldc, long long sc, int batch) { \
    return gemm<T>(h, ta, tb, m, n, k, alpha, a, lda, Index(sa), b, ldb, Index(sb), beta, c, ldc, Index(sc), batch); \
  }                                                                                                \
  int cublas##L##gemmBatched(Handle *h, int ta, int tb, int m, int n, int k, const T *alpha, const T *const *a, int lda, \
                             const T *const *b, int ldb, const T *beta, T *const *c, int ldc, int batch) { \
    return gemm_batched<T>(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch);        \
  }                                                                                                \
  int cublas##L##syrk_v2(Handle *h, int u, int t, int n, int k, const T *al, const T *a, int lda, const T *be, T *c, int ldc) { \
    return syrk<T>(h, u, t, n, k, al, a, lda, be, c, ldc);                                         \
  }                                                                                                \
  int cublas##L##symm_v2(Handle *h, int s, int u, int m, int n, const T *al, const T *a, int lda, const T *b, int ldb, const T *be, T *c, \
                         int ldc) {                                                                \
    return symm<T>(h, s, u, m, n, al, a, lda, b, ldb, be, c, ldc);                                 \
  }                                                                                                \
  int cublas##L##trsm_v2(Handle *h, int s, int u, int t, int d, int m, int n, const T *al, const T *a, int lda, T *b, int ldb) { \
    return trsm<T>(h, s, u, t, d, m, n, al, a, lda, b, ldb);                                       \
  }                                                                                                \
  int cublas##L##trsmBatched(Handle *h, int s, int u, int t, int d, int m, int n, const T *al, const T *const *a, int lda, T *const *b, \
                             int ldb, int batch) {                                                 \
    return trsm_batched<T>(h, s, u, t, d, m, n, al, a, lda, b, ldb, batch);                        \
  }                                                                                                \
  int cublas##L##trmm_v2(Handle *h, int s, int u, int t, int d, int m, int n, const T *al, const T *a, int lda, const T *b, int ldb, T *c, \
                         int ldc) {                                                                \
    return trmm<T>(h, s, u, t, d, m, n, al, a, lda, b, ldb, c, ldc);                               \
  }                                                                                                \
  int cublas##L##geam(Handle *h, int ta, int tb, int m, int n, const T *al, const T *a, int lda, const T *be, const T *b, int ldb, T *c, \
                      int ldc) {                                                                   \
    return geam<T>(h, ta, tb, m, n, al, a, lda, be, b, ldb, c, ldc);                               \
  }                                                                                                \
  int cublas##L##dgmm(Handle *h, int s, int m, int n, const T *a, int lda, const T *x, int inc, T *c, int ldc) { \
    return dgmm<T>(h, s, m, n, a, lda, x, inc, c, ldc);                                            \
  }                                                                                                \
  int cublas##L##gemv_v2(Handle *h, int t, int m, int n, const T *al, const T *a, int lda, const T *x, int incx, const T *be, T *y, \
                         int incy) {                                                               \
    return gemv<T>(h, t, m, n, al, a, lda, x, incx, be, y, incy);                                  \
  }                                                                                                \
  int cublas##L##symv_v2(Handle *h, int u, int n, const T *al, const T *a, int lda, const T *x, int incx, const T *be, T *y, int incy) { \
    return symv<T>(h, u, n, al, a, lda, x, incx, be, y, incy);                                     \
  }                                                                                                \
  int cublas##L##trsv_v2(Handle *h, int u, int t, int d, int n, const T *a, int lda, T *x, int inc) { \
    return trsv<T>(h, u, t, d, n, a, lda, x, inc);                                                 \
  }                                                                                                \
  int cublas##L##ger_v2(Handle *h, int m, int n, const T *al, const T *x, int incx, const T *y, int incy, T *a, int lda) { \
    return ger<T>(h, m, n, al, x, incx, y, incy, a, lda);                                          \
  }                                                                                                \
  int cublas##L##dot_v2(Handle *h, int n, const T *x, int incx, const T *y, int incy, T *r) { return dot<T>(h, n, x, incx, y, incy, r); } \
  int cublas##L##nrm2_v2(Handle *h, int n, const T *x, int inc, T *r) { return nrm2<T>(h, n, x, inc, r); } \
  int cublas##L##asum_v2(Handle *h, int n, const T *x, int inc, T *r) { return asum<T>(h, n, x, inc, r); } \
  int cublas##L##scal_v2(Handle *h, int n, const T *al, T *x, int inc) { return scal<T>(h, n, al, x, inc); } \
  int cublas##L##axpy_v2(Handle *h, int n, const T *al, const T *x, int incx, T *y, int incy) {    \
    return axpy<T>(h, n, al, x, incx, y, incy);                                                    \
  }                                                                                                \
  int cublas##L##copy_v2(Handle *h, int n, const T *x, int incx, T *y, int incy) { return copy<T>(h, n, x, incx, y, incy); } \
  int cublas##L##swap_v2(Handle *h, int n, T *x, int incx, T *y, int incy) { return exchange<T>(h, n, x, incx, y, incy); }
FUNCTIONS(S, float)
FUNCTIONS(D, double)

int cublasIsamax_v2(Handle *h, int n, const float *x, int inc, int *r) { return extreme(h, true, n, x, inc, r); }
int cublasIdamax_v2(Handle *h, int n, const double *x, int inc, int *r) { return extreme(h, true, n, x, inc, r); }
int cublasIsamin_v2(Handle *h, int n, const float *x, int inc, int *r) { return extreme(h, false, n, x, inc, r); }
int cublasIdamin_v2(Handle *h, int n, const double *x, int inc, int *r) { return extreme(h, false, n, x, inc, r); }

} // extern "C"
