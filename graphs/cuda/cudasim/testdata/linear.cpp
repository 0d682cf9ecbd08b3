// Checks of cuBLAS and cuSOLVER against plain loops. Run with the name of one;
// see cudasim_test.go.
#include "check.h"

typedef long long Long;
#define BLAS(L, T)                                                                                 \
  int cublas##L##gemm_v2(Handle, int, int, int, int, int, const T *, Address, int, Address, int, const T *, Address, int); \
  int cublas##L##gemmStridedBatched(Handle, int, int, int, int, int, const T *, Address, int, Long, Address, int, Long, const T *, Address, int, Long, int); \
  int cublas##L##gemmBatched(Handle, int, int, int, int, int, const T *, Address, int, Address, int, const T *, Address, int, int); \
  int cublas##L##syrk_v2(Handle, int, int, int, int, const T *, Address, int, const T *, Address, int); \
  int cublas##L##trsm_v2(Handle, int, int, int, int, int, int, const T *, Address, int, Address, int); \
  int cublas##L##trsmBatched(Handle, int, int, int, int, int, int, const T *, Address, int, Address, int, int); \
  int cublas##L##trmm_v2(Handle, int, int, int, int, int, int, const T *, Address, int, Address, int, Address, int); \
  int cublas##L##symm_v2(Handle, int, int, int, int, const T *, Address, int, Address, int, const T *, Address, int); \
  int cublas##L##geam(Handle, int, int, int, int, const T *, Address, int, const T *, Address, int, Address, int); \
  int cublas##L##dgmm(Handle, int, int, int, Address, int, Address, int, Address, int);            \
  int cublas##L##gemv_v2(Handle, int, int, int, const T *, Address, int, Address, int, const T *, Address, int); \
  int cublas##L##symv_v2(Handle, int, int, const T *, Address, int, Address, int, const T *, Address, int); \
  int cublas##L##trsv_v2(Handle, int, int, int, int, Address, int, Address, int);                  \
  int cublas##L##ger_v2(Handle, int, int, const T *, Address, int, Address, int, Address, int);    \
  int cublas##L##dot_v2(Handle, int, Address, int, Address, int, void *);                          \
  int cublas##L##nrm2_v2(Handle, int, Address, int, void *);                                       \
  int cublas##L##asum_v2(Handle, int, Address, int, void *);                                       \
  int cublas##L##scal_v2(Handle, int, const T *, Address, int);                                    \
  int cublas##L##axpy_v2(Handle, int, const T *, Address, int, Address, int);                      \
  int cublas##L##copy_v2(Handle, int, Address, int, Address, int);                                 \
  int cublas##L##swap_v2(Handle, int, Address, int, Address, int);                                 \
  int cusolverDn##L##potrf_bufferSize(Handle, int, int, Address, int, int *);                      \
  int cusolverDn##L##potrf(Handle, int, int, Address, int, Address, int, Address);                 \
  int cusolverDn##L##potrfBatched(Handle, int, int, Address, int, Address, int);                   \
  int cusolverDn##L##potrs(Handle, int, int, int, Address, int, Address, int, Address);            \
  int cusolverDn##L##potrsBatched(Handle, int, int, int, Address, int, Address, int, Address, int); \
  int cusolverDn##L##potri_bufferSize(Handle, int, int, Address, int, int *);                      \
  int cusolverDn##L##potri(Handle, int, int, Address, int, Address, int, Address);                 \
  int cusolverDn##L##syevd_bufferSize(Handle, int, int, int, Address, int, Address, int *);        \
  int cusolverDn##L##syevd(Handle, int, int, int, Address, int, Address, Address, int, Address);   \
  }                                                                                                \
  template <> struct F<T> {                                                                        \
    static constexpr double eps = sizeof(T) == 8 ? 1e-11 : 3e-4;                                   \
    M(L, gemm_v2, gemm) M(L, gemmStridedBatched, strided) M(L, gemmBatched, batched) M(L, syrk_v2, syrk) M(L, trsm_v2, trsm) \
    M(L, trsmBatched, trsm_batched) M(L, trmm_v2, trmm) M(L, symm_v2, symm) M(L, geam, geam) M(L, dgmm, dgmm) M(L, gemv_v2, gemv) \
    M(L, symv_v2, symv) M(L, trsv_v2, trsv) M(L, ger_v2, ger) M(L, dot_v2, dot) M(L, nrm2_v2, nrm2) M(L, asum_v2, asum) \
    M(L, scal_v2, scal) M(L, axpy_v2, axpy) M(L, copy_v2, copy) M(L, swap_v2, swap)                \
    N(L, potrf_bufferSize, potrf_size) N(L, potrf, potrf) N(L, potrfBatched, potrf_batched) N(L, potrs, potrs) \
    N(L, potrsBatched, potrs_batched) N(L, potri_bufferSize, potri_size) N(L, potri, potri) N(L, syevd_bufferSize, syevd_size) \
    N(L, syevd, syevd)                                                                             \
  };
#define M(L, function, name) static constexpr auto name = cublas##L##function;
#define N(L, function, name) static constexpr auto name = cusolverDn##L##function;
template <class T> struct F;
extern "C" {
int cublasCreate_v2(Handle *);
int cublasDestroy_v2(Handle);
int cublasSetStream_v2(Handle, Handle);
int cublasSetPointerMode_v2(Handle, int);
int cublasSetMathMode(Handle, int);
int cublasGetVersion_v2(Handle, int *);
int cublasIdamax_v2(Handle, int, Address, int, int *);
int cublasZgemm_v2();
int cusolverDnCreate(Handle *);
int cusolverDnDestroy(Handle);
int cusolverDnSetStream(Handle, Handle);
BLAS(S, float)
extern "C" {
BLAS(D, double)

// A column-major matrix with a leading dimension above its rows; what lies
// between columns must stay.
template <class T> struct Matrix {
  int m, n, ld;
  std::vector<T> v;
  Matrix(int m, int n, int pad = 3) : m(m), n(n), ld(m + pad), v(size_t(ld) * n, T(77)) {}
  T &operator()(int i, int j) { return v[i + size_t(j) * ld]; }
  Matrix &random(unsigned seed) {
    for (int j = 0; j < n; j++)
      for (int i = 0; i < m; i++) {
        seed = seed * 1664525u + 1013904223u;
        (*this)(i, j) = T(seed >> 8) / T(1 << 24) - T(0.5);
      }
    return *this;
  }
  Address device() { return put(v); }
  Matrix read(Address a) {
    Matrix r = *this;
    r.v = get<T>(a, v.size());
    return r;
  }
};
template <class T> T op(Matrix<T> &a, int t, int i, int j) { return t ? a(j, i) : a(i, j); }
template <class T> void same(const char *what, Matrix<T> got, Matrix<T> want, double scale = 1) {
  for (size_t i = 0; i < want.v.size(); i++)
    if (!(std::fabs(double(got.v[i]) - double(want.v[i])) <= F<T>::eps * scale))
      die(__FILE__, __LINE__, std::string(what) + ": element " + std::to_string(i) + " is " + std::to_string(got.v[i]) + ", not " + std::to_string(want.v[i]));
}
static Handle blas() {
  Handle h;
  DO(cublasCreate_v2(&h));
  return h;
}
template <class T> Matrix<T> product(Matrix<T> a, int ta, Matrix<T> b, int tb, int m, int n, int k, T alpha, T beta, Matrix<T> c) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double s = 0;
      for (int p = 0; p < k; p++) s += double(op(a, ta, i, p)) * double(op(b, tb, p, j));
      c(i, j) = T(alpha * s + (beta ? beta * c(i, j) : 0));
    }
  return c;
}

template <class T> void gemm() {
  Handle h = blas();
  const T alpha = T(1.5), beta = T(-0.5), zero = 0;
  for (auto size : {std::vector<int>{1, 1, 1}, {7, 5, 3}, {130, 70, 300}, {33, 517, 2}})
    for (int ta = 0; ta < 2; ta++)
      for (int tb = 0; tb < 2; tb++) {
        int m = size[0], n = size[1], k = size[2];
        Matrix<T> a = Matrix<T>(ta ? k : m, ta ? m : k).random(1), b = Matrix<T>(tb ? n : k, tb ? k : n).random(2), c = Matrix<T>(m, n).random(3);
        Address da = a.device(), db = b.device(), dc = c.device();
        DO(F<T>::gemm(h, ta, tb, m, n, k, &alpha, da, a.ld, db, b.ld, &beta, dc, c.ld));
        same("gemm", c.read(dc), product(a, ta, b, tb, m, n, k, alpha, beta, c));
        Matrix<T> unset = c; // beta = 0 must not read C
        for (int j = 0; j < n; j++)
          for (int i = 0; i < m; i++) unset(i, j) = T(NAN);
        Address du = unset.device();
        DO(F<T>::gemm(h, ta, tb, m, n, k, &alpha, da, a.ld, db, b.ld, &zero, du, c.ld));
        same("gemm", c.read(du), product(a, ta, b, tb, m, n, k, alpha, zero, unset));
      }
  // Batches: strided, and by pointers; the second A is the first.
  Matrix<T> a = Matrix<T>(4, 3, 0).random(1), b = Matrix<T>(3, 10, 0).random(2), c(4, 10, 0);
  Address da = a.device(), db = b.device(), dc = c.device();
  const T one = 1;
  DO(F<T>::strided(h, 0, 0, 4, 5, 3, &one, da, 4, 0, db, 3, 15, &zero, dc, 4, 20, 2));
  same("gemmStridedBatched", c.read(dc), product(a, 0, b, 0, 4, 10, 3, one, zero, c));
  Address other = c.device(), pa = put(std::vector<Address>{da, da}), pb = put(std::vector<Address>{db, db + 15 * sizeof(T)}),
          pc = put(std::vector<Address>{other, other + 20 * sizeof(T)});
  DO(F<T>::batched(h, 0, 0, 4, 5, 3, &one, pa, 4, pb, 3, &zero, pc, 4, 2));
  same("gemmBatched", c.read(other), c.read(dc));
  WANT(7, F<T>::gemm(h, 0, 0, 4, 5, 3, &one, da, 3, db, 3, &zero, dc, 4));
  WANT(7, F<T>::strided(h, 0, 0, 4, 5, 3, &one, da, 3, 0, db, 3, 15, &zero, dc, 4, 20, 2));
  WANT(7, F<T>::strided(h, 0, 0, 4, 5, 3, &one, da, 4, 0, db, 3, 15, &zero, dc, 4, 20, -1));
  DO(cublasDestroy_v2(h));
  WANT(1, F<T>::gemm(h, 0, 0, 4, 5, 3, &one, da, 4, db, 3, &zero, dc, 4));
}

template <class T> void triangles() {
  Handle h = blas();
  const T alpha = T(0.5), beta = T(2);
  for (int uplo = 0; uplo < 2; uplo++)
    for (int t = 0; t < 2; t++) {
      const int n = 150, k = 20;
      Matrix<T> a = Matrix<T>(t ? k : n, t ? n : k).random(4), c = Matrix<T>(n, n).random(5), want = product(a, t, a, !t, n, n, k, alpha, beta, c);
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
          if (uplo == 0 ? i < j : i > j) want(i, j) = c(i, j);
      Address da = a.device(), dc = c.device();
      DO(F<T>::syrk(h, uplo, t, n, k, &alpha, da, a.ld, &beta, dc, c.ld));
      same("syrk", c.read(dc), want);
    }
  for (int side = 0; side < 2; side++)
    for (int uplo = 0; uplo < 2; uplo++)
      for (int t = 0; t < 2; t++)
        for (int diag = 0; diag < 2; diag++) {
          const int m = 70, n = 90, order = side ? n : m;
          Matrix<T> a = Matrix<T>(order, order).random(6), x = Matrix<T>(m, n).random(7), full(order, order), b(m, n);
          for (int j = 0; j < order; j++)
            for (int i = 0; i < order; i++) {
              a(i, j) /= 20;
              full(i, j) = 0;
              if (i == j) {
                full(i, j) = diag ? T(1) : (a(i, j) = T(2) + a(i, j));
                if (diag) a(i, j) = T(NAN);
              } else if ((uplo == 0) == (i > j)) full(i, j) = a(i, j);
              else a(i, j) = T(NAN); // must not be read
            }
          b = side ? product(x, 0, full, t, m, n, n, T(1), T(0), b) : product(full, t, x, 0, m, n, m, T(1), T(0), b);
          Matrix<T> want = x;
          for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) want(i, j) *= alpha;
          Address da = a.device(), db = b.device(), dx = x.device(), dc = b.device();
          DO(F<T>::trsm(h, side, uplo, t, diag, m, n, &alpha, da, a.ld, db, b.ld));
          same("trsm", b.read(db), want);
          const T one = 1;
          DO(F<T>::trmm(h, side, uplo, t, diag, m, n, &one, da, a.ld, dx, x.ld, dc, b.ld));
          same("trmm", b.read(dc), b);
          Address again = b.device(), pa = put(std::vector<Address>{da}), pb = put(std::vector<Address>{again});
          DO(F<T>::trsm_batched(h, side, uplo, t, diag, m, n, &alpha, pa, a.ld, pb, b.ld, 1));
          same("trsmBatched", b.read(again), want);
          if (side == 0) {
            Address v = put(std::vector<T>(b.v.begin(), b.v.begin() + m));
            DO(F<T>::trsv(h, uplo, t, diag, m, da, a.ld, v, 1));
            auto got = get<T>(v, m);
            for (int i = 0; i < m; i++) CHECK(std::fabs(got[i] - x(i, 0)) < F<T>::eps);
          }
        }
}

template <class T> void vectors() {
  Handle h = blas();
  const T alpha = T(2), beta = T(3), one = 1, zero = 0;
  const int m = 6, n = 4;
  Matrix<T> a = Matrix<T>(m, n).random(8), s = Matrix<T>(m, m).random(9), r(m, 1, 0), y(m, 1, 0);
  Matrix<T> x = Matrix<T>(n, 1, 0).random(10), z = Matrix<T>(m, 1, 0).random(11);
  Address da = a.device(), dx = x.device(), dz = z.device();
  DO(F<T>::gemv(h, 0, m, n, &alpha, da, a.ld, dx, 1, &beta, dz, 1));
  same("gemv", z.read(dz), product(a, 0, x, 0, m, 1, n, alpha, beta, z));
  dz = z.device();
  DO(F<T>::gemv(h, 1, m, n, &alpha, da, a.ld, dz, 1, &beta, dx, 1));
  same("gemv", x.read(dx), product(a, 1, z, 0, n, 1, m, alpha, beta, x));
  Matrix<T> full = s;
  for (int uplo = 0; uplo < 2; uplo++) {
    for (int j = 0; j < m; j++)
      for (int i = 0; i < m; i++) full(i, j) = (uplo == 0) == (i >= j) || i == j ? s(i, j) : s(j, i);
    Address ds = s.device(), dy = y.device(), dm = a.device();
    DO(F<T>::symv(h, uplo, m, &alpha, ds, s.ld, dz, 1, &zero, dy, 1));
    same("symv", y.read(dy), product(full, 0, z, 0, m, 1, m, alpha, zero, y));
    DO(F<T>::symm(h, 0, uplo, m, n, &alpha, ds, s.ld, da, a.ld, &zero, dm, a.ld));
    same("symm", a.read(dm), product(full, 0, a, 0, m, n, m, alpha, zero, a));
  }
  dx = x.device();
  DO(F<T>::ger(h, m, n, &alpha, dz, 1, dx, 1, da, a.ld));
  same("ger", a.read(da), product(z, 0, x, 1, m, n, 1, alpha, one, a));

  Matrix<T> b = Matrix<T>(n, m).random(12), c(m, n), want = c;
  da = a.device();
  Address db = b.device(), dc = c.device();
  DO(F<T>::geam(h, 0, 1, m, n, &alpha, da, a.ld, &beta, db, b.ld, dc, c.ld));
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) want(i, j) = alpha * a(i, j) + beta * b(j, i);
  same("geam", c.read(dc), want);
  DO(F<T>::geam(h, 1, 0, m, n, &one, db, b.ld, &zero, 0, m, dc, c.ld)); // a transposition; B is not read
  for (int side = 0; side < 2; side++) {
    DO(F<T>::dgmm(h, side, m, n, da, a.ld, side ? dx : dz, 1, dc, c.ld));
    for (int j = 0; j < n; j++)
      for (int i = 0; i < m; i++) want(i, j) = a(i, j) * (side ? x(j, 0) : z(i, 0));
    same("dgmm", c.read(dc), want);
  }

  Address u = put(std::vector<T>{3, -4, 0, 12}), v = put(std::vector<T>{1, 2, 3, 4});
  T result;
  DO(F<T>::nrm2(h, 4, u, 1, &result));
  CHECK(std::fabs(result - 13) < 1e-5);
  DO(F<T>::asum(h, 2, u, 2, &result));
  CHECK(result == 3);
  DO(F<T>::dot(h, 4, u, 1, v, 1, &result));
  CHECK(result == 43);
  DO(F<T>::dot(h, 4, u, 1, v, -1, &result));
  CHECK(result == 12 - 12 + 0 + 12);
  // Device pointer mode: the result is on the device, and the call does not wait.
  Address d = put(std::vector<T>{T(-1)});
  DO(cublasSetPointerMode_v2(h, 1));
  DO(F<T>::dot(h, 4, u, 1, v, 1, (void *)(uintptr_t)d));
  CHECK(counted("pending") == 1 && get<T>(d, 1)[0] == 43);
  DO(F<T>::scal(h, 4, (const T *)(uintptr_t)d, v, 1));
  CHECK(get<T>(v, 4)[3] == 172);
  DO(cublasSetPointerMode_v2(h, 0));
  DO(F<T>::axpy(h, 4, &alpha, u, 1, v, 1));
  CHECK(get<T>(v, 4)[0] == 49);
  DO(F<T>::swap(h, 4, u, 1, v, 1));
  DO(F<T>::copy(h, 2, u, 1, v, 1));
  CHECK(get<T>(v, 4)[0] == 49 && get<T>(v, 4)[3] == 12);
}

template <class T> void cholesky() {
  Handle h;
  DO(cusolverDnCreate(&h));
  const int n = 150, nrhs = 3;
  for (int uplo = 0; uplo < 2; uplo++) {
    Matrix<T> g = Matrix<T>(n, n).random(13), a(n, n), b = Matrix<T>(n, nrhs).random(14);
    a = product(g, 0, g, 1, n, n, n, T(1), T(0), a);
    for (int i = 0; i < n; i++) a(i, i) += 5;
    Matrix<T> stored = a;
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++)
        if (uplo == 0 ? i < j : i > j) stored(i, j) = T(NAN); // must be neither read nor written
    Address da = stored.device(), db = b.device(), info = put(std::vector<int>{-9}), work;
    int lwork;
    DO(F<T>::potrf_size(h, uplo, n, da, a.ld, &lwork));
    DO(cuMemAlloc_v2(&work, lwork * sizeof(T)));
    DO(F<T>::potrf(h, uplo, n, da, a.ld, work, lwork, info));
    CHECK(get<int>(info, 1)[0] == 0);
    Matrix<T> f = a.read(da), l(n, n), back(n, n);
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) {
        const bool in = uplo == 0 ? i >= j : i <= j;
        CHECK(in != std::isnan(f(i, j)));
        l(i, j) = in ? f(i, j) : 0;
      }
    same("potrf", product(l, uplo, l, !uplo, n, n, n, T(1), T(0), back), a, 100);
    DO(F<T>::potrs(h, uplo, n, nrhs, da, a.ld, db, b.ld, info));
    same("potrs", product(a, 0, b.read(db), 0, n, nrhs, n, T(1), T(0), b), b, 10);
    DO(F<T>::potri_size(h, uplo, n, da, a.ld, &lwork));
    DO(cuMemAlloc_v2(&work, lwork * sizeof(T)));
    DO(F<T>::potri(h, uplo, n, da, a.ld, work, lwork, info));
    Matrix<T> inverse = a.read(da), unit(n, n);
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) {
        if (uplo == 0 ? i < j : i > j) inverse(i, j) = inverse(j, i);
        unit(i, j) = i == j;
      }
    same("potri", product(a, 0, inverse, 0, n, n, n, T(1), T(0), unit), unit, 10);

    // A batch, of which the second matrix is not positive definite from order 2 on.
    Matrix<T> two(2, 4, 0);
    two.v = {4, 2, 2, 5, 1, 2, 2, 1};
    Address d2 = two.device(), rhs = put(std::vector<T>{8, 12}), pa = put(std::vector<Address>{d2, d2 + 4 * sizeof(T)}),
            pb = put(std::vector<Address>{rhs}), infos = put(std::vector<int>{-9, -9});
    DO(F<T>::potrf_batched(h, uplo, 2, pa, 2, infos, 2));
    auto status = get<int>(infos, 2);
    CHECK(status[0] == 0 && status[1] == 2);
    DO(F<T>::potrs_batched(h, uplo, 2, 1, pa, 2, pb, 2, infos, 1));
    auto x = get<T>(rhs, 2);
    CHECK(std::fabs(x[0] - 1) < 1e-5 && std::fabs(x[1] - 2) < 1e-5);
    WANT(3, F<T>::potrs_batched(h, uplo, 2, 2, pa, 2, pb, 2, infos, 1));
    WANT(3, F<T>::potrf(h, uplo, n, da, a.ld, work, 1, info));
  }
}

template <class T> void eigen() {
  Handle h;
  DO(cusolverDnCreate(&h));
  for (int n : {1, 2, 3, 60, 500})
    for (int uplo = 0; uplo < 2; uplo++)
      for (int kind = 0; kind < 4; kind++) { // random; of rank one; diagonal with repeats; graded, of rank one
        if (n == 500 && kind != 3) continue;
        Matrix<T> g = Matrix<T>(n, n).random(15), a(n, n);
        for (int j = 0; j < n; j++)
          for (int i = 0; i < n; i++)
            a(i, j) = kind == 0   ? g(i, j) + g(j, i)
                      : kind == 1 ? g(i, 0) * g(j, 0)
                      : kind == 3 ? T(double(i) * j / n / n)
                      : i == j    ? T(n - i / 2)
                                  : T(0);
        Matrix<T> stored = a;
        for (int j = 0; j < n; j++)
          for (int i = 0; i < n; i++)
            if (uplo == 0 ? i < j : i > j) stored(i, j) = T(NAN);
        Address da = stored.device(), dv = stored.device(), w, only, work, info = put(std::vector<int>{-9});
        int lwork;
        DO(cuMemAlloc_v2(&w, n * sizeof(T)));
        DO(cuMemAlloc_v2(&only, n * sizeof(T)));
        DO(F<T>::syevd_size(h, 1, uplo, n, da, a.ld, w, &lwork));
        DO(cuMemAlloc_v2(&work, lwork * sizeof(T)));
        DO(F<T>::syevd(h, 1, uplo, n, da, a.ld, w, work, lwork, info));
        CHECK(get<int>(info, 1)[0] == 0);
        Matrix<T> z = a.read(da), scaled = z, unit(n, n);
        auto values = get<T>(w, n);
        for (int j = 0; j < n; j++) {
          CHECK(j == 0 || values[j - 1] <= values[j]);
          for (int i = 0; i < n; i++) {
            scaled(i, j) = z(i, j) * values[j];
            unit(i, j) = i == j;
          }
        }
        same("syevd, A", product(scaled, 0, z, 1, n, n, n, T(1), T(0), a), a, 10);
        same("syevd, orthogonal", product(z, 1, z, 0, n, n, n, T(1), T(0), unit), unit, 10);
        DO(F<T>::syevd(h, 0, uplo, n, dv, a.ld, only, work, lwork, info));
        auto again = get<T>(only, n);
        for (int i = 0; i < n; i++) CHECK(std::fabs(again[i] - values[i]) < F<T>::eps * 10);
      }
}

TEST(gemm_double) { context(), gemm<double>(); }
TEST(gemm_float) { context(), gemm<float>(); }
TEST(triangles_double) { context(), triangles<double>(); }
TEST(triangles_float) { context(), triangles<float>(); }
TEST(vectors_double) { context(), vectors<double>(); }
TEST(vectors_float) { context(), vectors<float>(); }
TEST(cholesky_double) { context(), cholesky<double>(); }
TEST(cholesky_float) { context(), cholesky<float>(); }
TEST(eigen_double) { context(), eigen<double>(); }
TEST(eigen_float) { context(), eigen<float>(); }

TEST(libraries) {
  DO(cuInit(0));
  Handle h, solver, s;
  WANT(1, cublasCreate_v2(&h)); // without a context
  WANT(1, cusolverDnCreate(&solver));
  Handle c = context();
  h = blas();
  int version, at;
  DO(cublasGetVersion_v2(h, &version));
  CHECK(version == 120800);
  WANT(15, cublasZgemm_v2());
  // Work is done on the handle's stream, when that is waited for.
  DO(cuStreamCreate(&s, 1));
  DO(cublasSetStream_v2(h, s));
  Address x = put(std::vector<double>{1, -7, 3});
  double alpha = 2;
  DO(cublasDscal_v2(h, 3, &alpha, x, 1));
  alpha = 5;
  CHECK(get<double>(x, 3)[0] == 1);
  DO(cublasIdamax_v2(h, 3, x, 1, &at)); // for the host: waits
  CHECK(at == 2 && get<double>(x, 3)[0] == 2);
  DO(cusolverDnCreate(&solver));
  DO(cusolverDnSetStream(solver, s));
  DO(cusolverDnDestroy(solver));
  WANT(1, cusolverDnDestroy(solver));
  // A matrix that reaches beyond its memory, and one of the host.
  DO(cublasDscal_v2(h, 4, &alpha, x, 1));
  WANT(700, cuStreamSynchronize(s));
  CHECK(says("cublasXscal"));
  WANT(13, cublasDscal_v2(h, 3, &alpha, x, 1));
  DO(cuCtxDestroy_v2(c));
  context();
  h = blas();
  double host[3] = {1, 2, 3};
  DO(cublasDscal_v2(h, 3, &alpha, (Address)(uintptr_t)host, 1));
  WANT(700, cuCtxSynchronize());
}
