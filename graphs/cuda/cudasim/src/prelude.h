// CUDA C++ for a host compiler: the part of the language that kernels compiled
// by NVRTC may use without any header. It includes no system header, so that
// device code which leans on one fails here as it does there.
#pragma once
#include "kernel.h"

#pragma GCC diagnostic ignored "-Wattributes"
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"

typedef decltype(sizeof(0)) size_t;
#define NULL 0

static cudasim_state cudasim_now;
static const cudasim_runtime *cudasim_rt;

// --- qualifiers -----------------------------------------------------------------
#define __global__ __attribute__((used, visibility("default")))
#define __device__
#define __host__
#define __constant__ __attribute__((used, visibility("default")))
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
// Static shared memory of kernel k has a section of its own, which is poisoned
// before every block. That of templates and device functions has none, since
// such functions may be merged by the linker.
#define cudasim_shared_of(k) static __attribute__((section("cudasim_shared_" #k)))
#define cudasim_shared_plain static

// --- vector types ------------------------------------------------------------------
struct uint3 : cudasim_uint3 {
  constexpr uint3(unsigned a = 0, unsigned b = 0, unsigned c = 0) : cudasim_uint3{a, b, c} {}
  constexpr uint3(const cudasim_uint3 &v) : cudasim_uint3(v) {}
};
struct dim3 : cudasim_uint3 {
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : cudasim_uint3{a, b, c} {}
};
#define cudasim_vectors(T, name)                                                                   \
  struct name##1 { T x; };                                                                         \
  struct __align__(2 * sizeof(T)) name##2 { T x, y; };                                             \
  struct __align__(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; };             \
  static inline name##1 make_##name##1(T x) { return {x}; }                                        \
  static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                \
  static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define cudasim_vector3(T, name)                                                                   \
  struct name##3 { T x, y, z; };                                                                   \
  static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
cudasim_vectors(float, float) cudasim_vectors(double, double) cudasim_vectors(int, int)
cudasim_vectors(unsigned, uint) cudasim_vectors(long long, longlong)
cudasim_vector3(float, float) cudasim_vector3(double, double) cudasim_vector3(int, int)
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return uint3(x, y, z); }

static const cudasim_uint3 &threadIdx = cudasim_now.thread;
static const cudasim_uint3 &blockIdx = cudasim_now.block;
static const cudasim_uint3 &blockDim = cudasim_now.block_dim;
static const cudasim_uint3 &gridDim = cudasim_now.grid_dim;
static constexpr int warpSize = 32;

// --- synchronisation ------------------------------------------------------------------
static inline void __syncthreads(int line = __builtin_LINE()) {
  cudasim_rt->barrier(line);
  asm volatile("" ::: "memory");
}
static inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  cudasim_rt->exchange(cudasim_sync_warp, mask, 0, 0, line);
  asm volatile("" ::: "memory");
}
static inline void __threadfence() { asm volatile("" ::: "memory"); }
static inline void __threadfence_block() { asm volatile("" ::: "memory"); }
static inline void __threadfence_system() { asm volatile("" ::: "memory"); }

// A shuffle reads from the lane that source names inside the group of width
// lanes; where that is outside, a lane reads itself.
template <class T>
static inline T cudasim_shuffle_from(unsigned mask, T v, int source, int width, int line) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
  if (width != 32 && width != 16 && width != 8 && width != 4 && width != 2 && width != 1)
    cudasim_rt->fail("the width of a shuffle must be a power of two up to 32", line);
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &v, sizeof v);
  bits = cudasim_rt->exchange(cudasim_shuffle, mask, bits, (unsigned)source, line);
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}
static inline int cudasim_lane() { return (int)(cudasim_now.linear & 31u); }
template <class T>
static inline T __shfl_sync(unsigned mask, T v, int source, int width = 32, int line = __builtin_LINE()) {
  int lane = cudasim_lane();
  return cudasim_shuffle_from(mask, v, (lane & ~(width - 1)) | (source & (width - 1)), width, line);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32, int line = __builtin_LINE()) {
  int lane = cudasim_lane(), in = lane & (width - 1);
  return cudasim_shuffle_from(mask, v, in + (int)delta < width ? lane + (int)delta : lane, width, line);
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32, int line = __builtin_LINE()) {
  int lane = cudasim_lane(), in = lane & (width - 1);
  return cudasim_shuffle_from(mask, v, in >= (int)delta ? lane - (int)delta : lane, width, line);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T v, int other, int width = 32, int line = __builtin_LINE()) {
  int lane = cudasim_lane(), to = lane ^ other;
  return cudasim_shuffle_from(mask, v, (to & ~(width - 1)) <= (lane & ~(width - 1)) ? to : lane, width, line);
}
static inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return (unsigned)cudasim_rt->exchange(cudasim_ballot, mask, predicate != 0, 0, line);
}
static inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) != 0;
}
static inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, !predicate, line) == 0;
}

// --- races: what -fsanitize=thread puts before every access --------------------------------
// Only its instrumentation is used, with these functions in place of its library.
#if CUDASIM_RACES
#define cudasim_unchecked __attribute__((no_sanitize("thread")))
#define cudasim_before_atomic(p) cudasim_rt->access(p, sizeof *(p), cudasim_atomic, __builtin_return_address(0))
#define cudasim_shared_array(a) cudasim_rt->shared(#a, (const void *)&a, sizeof a)
#define cudasim_hook extern "C" __attribute__((no_sanitize("thread"), visibility("hidden"), used)) inline void
#define cudasim_accesses(n)                                                                        \
  cudasim_hook __tsan_read##n(void *p) { cudasim_rt->access(p, n, cudasim_read, __builtin_return_address(0)); } \
  cudasim_hook __tsan_write##n(void *p) { cudasim_rt->access(p, n, cudasim_write, __builtin_return_address(0)); } \
  cudasim_hook __tsan_unaligned_read##n(void *p) { cudasim_rt->access(p, n, cudasim_read, __builtin_return_address(0)); } \
  cudasim_hook __tsan_unaligned_write##n(void *p) { cudasim_rt->access(p, n, cudasim_write, __builtin_return_address(0)); }
cudasim_accesses(1) cudasim_accesses(2) cudasim_accesses(4) cudasim_accesses(8) cudasim_accesses(16)
cudasim_hook __tsan_read_range(void *p, unsigned long n) { cudasim_rt->access(p, n, cudasim_read, __builtin_return_address(0)); }
cudasim_hook __tsan_write_range(void *p, unsigned long n) { cudasim_rt->access(p, n, cudasim_write, __builtin_return_address(0)); }
cudasim_hook __tsan_func_entry(void *) {}
cudasim_hook __tsan_func_exit() {}
cudasim_hook __tsan_init() {}
#else
#define cudasim_unchecked
#define cudasim_before_atomic(p) ((void)0)
#define cudasim_shared_array(a) ((void)0)
#endif

// --- atomics: threads run one at a time, so a plain read and write is atomic ---------------
#define cudasim_atomic_function(T, name, parameters, change)                                       \
  cudasim_unchecked static inline T name parameters {                                              \
    cudasim_before_atomic(p);                                                                      \
    T old = *p;                                                                                    \
    change;                                                                                        \
    return old;                                                                                    \
  }
#define cudasim_atomics(T)                                                                         \
  cudasim_atomic_function(T, atomicAdd, (T *p, T v), *p = old + v)                                 \
  cudasim_atomic_function(T, atomicExch, (T *p, T v), *p = v)                                      \
  cudasim_atomic_function(T, atomicAdd_block, (T *p, T v), *p = old + v)
#define cudasim_extremes(T)                                                                        \
  cudasim_atomic_function(T, atomicMax, (T *p, T v), if (v > old) *p = v)                          \
  cudasim_atomic_function(T, atomicMin, (T *p, T v), if (v < old) *p = v)
#define cudasim_integer_atomics(T)                                                                 \
  cudasim_extremes(T)                                                                              \
  cudasim_atomic_function(T, atomicAnd, (T *p, T v), *p = old & v)                                 \
  cudasim_atomic_function(T, atomicOr, (T *p, T v), *p = old | v)                                  \
  cudasim_atomic_function(T, atomicXor, (T *p, T v), *p = old ^ v)                                 \
  cudasim_atomic_function(T, atomicCAS, (T *p, T compare, T v), if (old == compare) *p = v)
cudasim_atomics(int) cudasim_atomics(unsigned) cudasim_atomics(unsigned long long)
cudasim_atomics(float) cudasim_atomics(double)
cudasim_integer_atomics(int) cudasim_integer_atomics(unsigned)
cudasim_integer_atomics(unsigned long long) cudasim_extremes(long long)
cudasim_atomic_function(int, atomicSub, (int *p, int v), *p = old - v)
cudasim_atomic_function(unsigned, atomicSub, (unsigned *p, unsigned v), *p = old - v)
cudasim_atomic_function(unsigned, atomicInc, (unsigned *p, unsigned v), *p = old >= v ? 0 : old + 1)
cudasim_atomic_function(unsigned, atomicDec, (unsigned *p, unsigned v), *p = old == 0 || old > v ? v : old - 1)

// --- memory ------------------------------------------------------------------------------
template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T __ldcs(const T *p) { return *p; }
template <class T> static inline T __ldcg(const T *p) { return *p; }
extern "C" int printf(const char *, ...);
#define assert(x) ((x) ? (void)0 : cudasim_rt->fail("assertion failed: " #x, __LINE__))
static inline void __trap() { cudasim_rt->fail("__trap", 0); }

// --- bits -----------------------------------------------------------------------------------
template <class To, class From> static inline To cudasim_bits(From v) {
  static_assert(sizeof(To) == sizeof(From), "");
  To out;
  __builtin_memcpy(&out, &v, sizeof out);
  return out;
}
static inline int __float_as_int(float v) { return cudasim_bits<int>(v); }
static inline unsigned __float_as_uint(float v) { return cudasim_bits<unsigned>(v); }
static inline float __int_as_float(int v) { return cudasim_bits<float>(v); }
static inline float __uint_as_float(unsigned v) { return cudasim_bits<float>(v); }
static inline long long __double_as_longlong(double v) { return cudasim_bits<long long>(v); }
static inline double __longlong_as_double(long long v) { return cudasim_bits<double>(v); }
static inline int __double2int_rn(double v) { return (int)__builtin_rint(v); }
static inline int __float2int_rn(float v) { return (int)__builtin_rintf(v); }
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }

// --- arithmetic -----------------------------------------------------------------------------
template <bool, class T> struct cudasim_if {};
template <class T> struct cudasim_if<true, T> { typedef T type; };
template <class T> struct cudasim_integer { static constexpr bool is = T(1) / T(2) == T(0); };

// f in double, f and its name with an f in float; an integer counts as double.
#define cudasim_unary(name)                                                                        \
  static inline double name(double x) { return __builtin_##name(x); }                              \
  static inline float name(float x) { return __builtin_##name##f(x); }                             \
  static inline float name##f(float x) { return __builtin_##name##f(x); }                          \
  template <class T> static inline typename cudasim_if<cudasim_integer<T>::is, double>::type name(T x) { return __builtin_##name((double)x); }
#define cudasim_binary(name)                                                                       \
  static inline double name(double x, double y) { return __builtin_##name(x, y); }                 \
  static inline float name(float x, float y) { return __builtin_##name##f(x, y); }                 \
  static inline float name##f(float x, float y) { return __builtin_##name##f(x, y); }              \
  static inline double name(double x, float y) { return __builtin_##name(x, (double)y); }          \
  static inline double name(float x, double y) { return __builtin_##name((double)x, y); }          \
  static inline double name(double x, int y) { return __builtin_##name(x, (double)y); }            \
  static inline double name(int x, double y) { return __builtin_##name((double)x, y); }
cudasim_unary(exp) cudasim_unary(exp2) cudasim_unary(expm1)
cudasim_unary(log) cudasim_unary(log2) cudasim_unary(log10) cudasim_unary(log1p)
cudasim_unary(sqrt) cudasim_unary(cbrt)
cudasim_unary(sin) cudasim_unary(cos) cudasim_unary(tan)
cudasim_unary(asin) cudasim_unary(acos) cudasim_unary(atan)
cudasim_unary(sinh) cudasim_unary(cosh) cudasim_unary(tanh)
cudasim_unary(asinh) cudasim_unary(acosh) cudasim_unary(atanh)
cudasim_unary(erf) cudasim_unary(erfc) cudasim_unary(tgamma) cudasim_unary(lgamma)
cudasim_unary(fabs) cudasim_unary(floor) cudasim_unary(ceil) cudasim_unary(trunc)
cudasim_unary(rint) cudasim_unary(nearbyint) cudasim_unary(round)
cudasim_binary(pow) cudasim_binary(fmod) cudasim_binary(atan2) cudasim_binary(hypot)
cudasim_binary(fmin) cudasim_binary(fmax) cudasim_binary(copysign) cudasim_binary(fdim)
static inline float pow(float x, int y) { return __builtin_powf(x, (float)y); }
static inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
static inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double rsqrt(double x) { return 1 / __builtin_sqrt(x); }
static inline float rsqrt(float x) { return 1 / __builtin_sqrtf(x); }
static inline float rsqrtf(float x) { return 1 / __builtin_sqrtf(x); }
static inline double exp10(double x) { return __builtin_pow(10, x); }
static inline float exp10f(float x) { return __builtin_powf(10, x); }
static inline double normcdf(double x) { return 0.5 * __builtin_erfc(-x * 0.70710678118654752440); }
static inline float normcdff(float x) { return (float)normcdf((double)x); }
static inline double ldexp(double x, int e) { return __builtin_ldexp(x, e); }
static inline float ldexpf(float x, int e) { return __builtin_ldexpf(x, e); }
static inline double frexp(double x, int *e) { return __builtin_frexp(x, e); }
static inline void sincos(double x, double *s, double *c) { *s = __builtin_sin(x); *c = __builtin_cos(x); }
static inline void sincosf(float x, float *s, float *c) { *s = __builtin_sinf(x); *c = __builtin_cosf(x); }
static inline float fdividef(float x, float y) { return x / y; }

#define cudasim_classify(f, builtin)                                                               \
  static inline bool f(double x) { return builtin(x); }                                            \
  static inline bool f(float x) { return builtin(x); }
cudasim_classify(isnan, __builtin_isnan) cudasim_classify(isinf, __builtin_isinf)
cudasim_classify(isfinite, __builtin_isfinite) cudasim_classify(signbit, __builtin_signbit)

static inline int abs(int x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return x < 0 ? -x : x; }
static inline long long llabs(long long x) { return x < 0 ? -x : x; }
static inline double abs(double x) { return __builtin_fabs(x); }
static inline float abs(float x) { return __builtin_fabsf(x); }

// min and max of floating-point numbers ignore a NaN, as fmin and fmax do.
#define cudasim_minmax(T)                                                                          \
  static inline T min(T a, T b) { return b < a ? b : a; }                                          \
  static inline T max(T a, T b) { return a < b ? b : a; }
#define cudasim_minmax_mixed(R, A, B)                                                              \
  static inline R min(A a, B b) { return min((R)a, (R)b); }                                        \
  static inline R max(A a, B b) { return max((R)a, (R)b); }                                        \
  static inline R min(B a, A b) { return min((R)a, (R)b); }                                        \
  static inline R max(B a, A b) { return max((R)a, (R)b); }
cudasim_minmax(int) cudasim_minmax(unsigned) cudasim_minmax(long) cudasim_minmax(unsigned long)
cudasim_minmax(long long) cudasim_minmax(unsigned long long)
static inline double min(double a, double b) { return __builtin_fmin(a, b); }
static inline double max(double a, double b) { return __builtin_fmax(a, b); }
static inline float min(float a, float b) { return __builtin_fminf(a, b); }
static inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
cudasim_minmax_mixed(unsigned, int, unsigned) cudasim_minmax_mixed(double, float, double)
cudasim_minmax_mixed(unsigned long long, long long, unsigned long long)

// Fast approximations are exact here.
static inline float __expf(float x) { return __builtin_expf(x); }
static inline float __exp10f(float x) { return __builtin_powf(10, x); }
static inline float __logf(float x) { return __builtin_logf(x); }
static inline float __log2f(float x) { return __builtin_log2f(x); }
static inline float __sinf(float x) { return __builtin_sinf(x); }
static inline float __cosf(float x) { return __builtin_cosf(x); }
static inline float __powf(float x, float y) { return __builtin_powf(x, y); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
// What is rounded by itself must not be contracted with its neighbours, before or after inlining: the compiler does not
// see that what goes in is what comes out.
#if defined(__x86_64__)
#define cudasim_opaque(v) asm("" : "+x"(v))
#elif defined(__aarch64__)
#define cudasim_opaque(v) asm("" : "+w"(v))
#else
#define cudasim_opaque(v) asm("" : "+m"(v))
#endif
#define cudasim_rounded(T, letter)                                                                 \
  static inline T __##letter##add_rn(T a, T b) { cudasim_opaque(a); cudasim_opaque(b); return a + b; } \
  static inline T __##letter##sub_rn(T a, T b) { cudasim_opaque(a); cudasim_opaque(b); return a - b; } \
  static inline T __##letter##mul_rn(T a, T b) { a *= b; cudasim_opaque(a); return a; }            \
  static inline T __##letter##div_rn(T a, T b) { return a / b; }                                   \
  static inline T __##letter##rcp_rn(T a) { return 1 / a; }                                        \
  static inline T __##letter##sqrt_rn(T a) { return sqrt(a); }
cudasim_rounded(float, f) cudasim_rounded(double, d)
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}

// --- dynamic shared memory ---------------------------------------------------------------------
// Stands for `extern __shared__ T name[]` at file scope.
template <class T> struct cudasim_dynamic {
  operator T *() const { return reinterpret_cast<T *>(cudasim_now.dynamic_shared); }
};

// --- bounds of arrays: called by what -fsanitize=bounds adds -------------------------------------
struct cudasim_bounds_site {
  const char *file;
  unsigned line, column;
};
extern "C" __attribute__((visibility("hidden"), used)) inline void
__ubsan_handle_out_of_bounds(cudasim_bounds_site *site, size_t) {
  cudasim_rt->fail("an index is outside of its array", (int)site->line);
}

// --- entries ---------------------------------------------------------------------------------------
template <class T> struct cudasim_pointer { static constexpr unsigned char is = 0; };
template <class T> struct cudasim_pointer<T *> { static constexpr unsigned char is = 1; };
template <class T> struct cudasim_pointer<T *const> { static constexpr unsigned char is = 1; };
template <class T> struct cudasim_pointer<T *__restrict> { static constexpr unsigned char is = 1; };
template <class T> struct cudasim_pointer<T *const __restrict> { static constexpr unsigned char is = 1; };

template <unsigned... I> struct cudasim_indices {};
template <unsigned N, unsigned... I> struct cudasim_range : cudasim_range<N - 1, N - 1, I...> {};
template <unsigned... I> struct cudasim_range<0, I...> { typedef cudasim_indices<I...> type; };

template <auto F, class Signature> struct cudasim_entry;
template <auto F, class... A> struct cudasim_entry<F, void (*)(A...)> {
  static constexpr unsigned count = sizeof...(A);
  static constexpr unsigned sizes[] = {sizeof(A)..., 0};
  static constexpr unsigned alignments[] = {alignof(A)..., 0};
  static constexpr unsigned char pointers[] = {cudasim_pointer<A>::is..., 0};

  template <unsigned... I> cudasim_unchecked static void loop(cudasim_block *b, void **arguments, cudasim_indices<I...>) {
    (void)arguments;
    while (b->started < b->threads) {
      unsigned t = b->order[b->started++];
      cudasim_now.linear = t;
      unsigned rest = t / b->dim_x;
      cudasim_now.thread = {t - rest * b->dim_x, rest % b->dim_y, rest / b->dim_y};
      F(*static_cast<A *>(arguments[I])...);
      b->done[t] = 1;
      b->finished++;
    }
  }
  cudasim_unchecked static void run(cudasim_block *b, void **arguments) { loop(b, arguments, typename cudasim_range<count>::type()); }
};

#define cudasim_section(k)                                                                         \
  extern char __start_cudasim_shared_##k[] __attribute__((weak, visibility("hidden")));            \
  extern char __stop_cudasim_shared_##k[] __attribute__((weak, visibility("hidden")));
#define cudasim_describe(name, f, begin, end, bounds, symbol)                                       \
  { name, &cudasim_entry<f, decltype(&f)>::run, cudasim_entry<f, decltype(&f)>::count,              \
    cudasim_entry<f, decltype(&f)>::sizes, cudasim_entry<f, decltype(&f)>::alignments,              \
    cudasim_entry<f, decltype(&f)>::pointers, begin, end, bounds, symbol }
