// Checks of NVRTC and of kernels. Run with the name of one; see cudasim_test.go.
#include "check.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

TEST(saxpy) {
  context();
  Handle m = module(R"(
extern "C" __global__ void __launch_bounds__(256) saxpy(int n, float a, const float *__restrict__ x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
})", {"--gpu-architecture=compute_80", "-DUNUSED=1"});
  Handle f = function(m, "saxpy");
  std::vector<float> x(1000), y(1000);
  for (int i = 0; i < 1000; i++) x[i] = i, y[i] = 1;
  Address dx = put(x), dy = put(y);
  DO(launch(f, 4, 256, 0, nullptr, 1000, 2.0f, dx, dy));
  auto out = get<float>(dy, 1000);
  for (int i = 0; i < 1000; i++) CHECK(out[i] == 2.0f * i + 1);
  int v;
  DO(cuFuncGetAttribute(&v, 0, f));
  CHECK(v == 256);
  WANT(1, launch(f, 4, 512, 0, nullptr, 1000, 2.0f, dx, dy));
  WANT(1, launch(f, 0, 256, 0, nullptr, 1000, 2.0f, dx, dy));
  DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&v, f, 256, 0));
  CHECK(v == 8);
  // The same through the packed form of arguments.
  struct { int n; float a; Address x, y; } packed = {1000, 1.0f, dx, dx};
  size_t size = sizeof packed;
  void *extra[] = {(void *)1, &packed, (void *)2, &size, nullptr};
  DO(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
  CHECK(get<float>(dx, 1000)[999] == 2 * 999);
}

TEST(barriers) {
  context();
  // Static and dynamic shared memory, a tree reduction, and warps.
  Handle m = module(R"(
#define N 256
template <class T> __device__ __forceinline__ T warp_sum(T v) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}
extern "C" __global__ void tree(const double *x, double *out) {
  __shared__ double s[N];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * N + t];
  __syncthreads();
  for (int d = N / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void warps(const double *x, double *out) {
  extern __shared__ double part[];
  int t = threadIdx.x;
  double v = warp_sum(x[blockIdx.x * blockDim.x + t]);
  if ((t & 31) == 0) part[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = t < blockDim.x / 32 ? part[t] : 0;
    v = warp_sum(v);
    if (t == 0) atomicAdd(out + blockIdx.x, v);
  }
}
extern "C" __global__ void lanes(int *out) {
  int t = threadIdx.x;
  out[t] = __shfl_xor_sync(0xffffffffu, t, 1);
  out[64 + t] = __shfl_sync(0xffffffffu, t, 5);
  out[128 + t] = __shfl_up_sync(0xffffffffu, t, 1, 8);
  out[192 + t] = (int)__ballot_sync(0xffffffffu, t & 1);
})");
  std::vector<double> x(1024);
  for (int i = 0; i < 1024; i++) x[i] = i;
  Address dx = put(x), out = put(std::vector<double>(4, 0.0)), lanes = put(std::vector<int>(256, -7));
  DO(launch(function(m, "tree"), 4, 256, 0, nullptr, dx, out));
  auto sums = get<double>(out, 4);
  for (int b = 0; b < 4; b++) CHECK(sums[b] == 256 * (256 * b) + 255 * 128);
  DO(launch(function(m, "warps"), 4, 256, 8 * sizeof(double), nullptr, dx, out));
  auto twice = get<double>(out, 4);
  for (int b = 0; b < 4; b++) CHECK(twice[b] == 2 * sums[b]);
  DO(launch(function(m, "lanes"), 1, 64, 0, nullptr, lanes));
  auto l = get<int>(lanes, 256);
  for (int t = 0; t < 64; t++) {
    CHECK(l[t] == (t ^ 1));
    CHECK(l[64 + t] == (t & ~31) + 5);
    CHECK(l[128 + t] == (t % 8 ? t - 1 : t));
    CHECK(l[192 + t] == (int)0xaaaaaaaa);
  }
  int v;
  DO(cuFuncGetAttribute(&v, 1, function(m, "tree")));
  CHECK(v == 256 * 8);
  DO(cuFuncGetAttribute(&v, 1, function(m, "warps")));
  CHECK(v == 0);
}

TEST(indices) {
  context();
  Handle m = module(R"(
extern "C" __global__ void where(unsigned *out) {
  unsigned bx = blockDim.x, by = blockDim.y, bz = blockDim.z;
  unsigned t = threadIdx.x + bx * (threadIdx.y + by * threadIdx.z);
  unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[b * bx * by * bz + t] += b * 1000 + t;
})");
  const unsigned n = 2 * 3 * 4 * 5 * 2 * 3;
  Address out = put(std::vector<unsigned>(n, 0));
  void *p[] = {&out};
  DO(cuLaunchKernel(function(m, "where"), 2, 3, 4, 5, 2, 3, 0, nullptr, p, nullptr));
  auto v = get<unsigned>(out, n);
  for (unsigned i = 0; i < n; i++) CHECK(v[i] == i / 30 * 1000 + i % 30);
}

TEST(mathematics) {
  context();
  Handle m = module(R"(
__constant__ double table[3] = {1, 2, 3};
__device__ int counter;
extern "C" __global__ void f(double *out) {
  double x = 0.7; float y = 0.7f; int i = 0;
  out[i++] = exp(x) - (1 + expm1(x));
  out[i++] = expf(y) - exp(y);
  out[i++] = log1p(x) - log(1 + x);
  out[i++] = tanh(x) - sinh(x) / cosh(x);
  out[i++] = pow(x, 2) - x * x;
  out[i++] = powf(y, 2.0f) - y * y;
  out[i++] = rsqrt(x) * sqrt(x) - 1;
  out[i++] = fma(x, x, 1.0) - (x * x + 1);
  out[i++] = isfinite(x) && !isnan(y) && isinf(1 / (x - x)) && isnan((x - x) / (x - x)) ? 0 : 1;
  out[i++] = max(1, 2) + min(1.5, 2.5) + fmaxf(1, y) + max(x, 0.f) - (2 + 1.5 + 1 + x);
  out[i++] = __ldg(table + 2) - 3;
  out[i++] = __int_as_float(0x3f800000) + __longlong_as_double(0x3ff0000000000000ll) - 2;
  out[i++] = normcdf(0.0) - 0.5 + erf(x) + erfc(x) - 1;
  out[i++] = __fma_rn(x, x, x) - fma(x, x, x) + fabs(-x) - x;
  out[i++] = atomicMax(&counter, 5) + atomicCAS(&counter, 5, 9) + atomicAdd(&counter, 1) - (0 + 5 + 9);
  out[i++] = atomicExch(&counter, 3) - 10;
})");
  const int n = 16;
  Address out = put(std::vector<double>(n, 1e9));
  DO(launch(function(m, "f"), 1, 1, 0, nullptr, out));
  auto v = get<double>(out, n);
  for (int i = 0; i < n; i++)
    if (!(std::fabs(v[i]) < 1e-6)) die(__FILE__, __LINE__, "expression " + std::to_string(i) + " is off by " + std::to_string(v[i]));
  Address table, counter;
  size_t bytes;
  DO(cuModuleGetGlobal_v2(&table, &bytes, m, "table"));
  CHECK(bytes == 24);
  double changed[3] = {4, 5, 6};
  DO(cuMemcpyHtoD_v2(table, changed, 24));
  CHECK(get<double>(table, 3)[1] == 5);
  WANT(1, cuMemcpyHtoD_v2(table, changed, 25));
  DO(cuModuleGetGlobal_v2(&counter, &bytes, m, "counter"));
  CHECK(get<int>(counter, 1)[0] == 3);
  WANT(500, cuModuleGetGlobal_v2(&counter, &bytes, m, "nothing"));
  DO(cuModuleUnload(m));
  WANT(400, cuModuleUnload(m));
}

// Products and sums are contracted unless --fmad=false says otherwise, and what is rounded by itself never is.
TEST(contraction) {
  context();
  const char *source = R"(
#define CONTRACTED(T, name)                                                  \
  extern "C" __global__ void name(T a, T b, T c, T *out) {                   \
    out[0] = a * b + c;                                                      \
    out[1] = b * b - -c;                                                     \
    T product = a * a;                                                       \
    out[2] = c + product;                                                    \
  }
#define ROUNDED(T, name, letter, fma)                                        \
  extern "C" __global__ void name(T a, T b, T c, T *out) {                   \
    out[3] = __##letter##mul_rn(a, b) + c;                                   \
    out[4] = __##letter##add_rn(a * a, c);                                   \
    out[5] = __##letter##sub_rn(b * b, b * b);                               \
    out[6] = fma(a, b, c);                                                   \
    out[7] = __##letter##mul_rn(a, b) - __##letter##mul_rn(b, a);            \
  }
CONTRACTED(double, contracted) CONTRACTED(float, contractedf)
ROUNDED(double, rounded, d, __fma_rn) ROUNDED(float, roundedf, f, __fmaf_rn)
)";
  bool has = true; // the processor has an instruction for it
#if defined(__x86_64__) || defined(__i386__)
  has = __builtin_cpu_supports("fma");
#endif
  volatile double a = 1 + 1e-9, b = 1 - 1e-9, c = -1, ab = a * b, bb = b * b, aa = a * a;
  volatile float af = 1.0001f, bf = 0.9999f, cf = -1, abf = af * bf, bbf = bf * bf, aaf = af * af;
  CHECK(ab == 1 && abf == 1); // the error of the product is lost where it is rounded
  for (bool contract : {true, false}) {
    std::vector<const char *> options;
    if (!contract) options.push_back("--fmad=false");
    Handle m = module(source, options);
    Address out = put(std::vector<double>(8, -7)), outf = put(std::vector<float>(8, -7));
    for (const char *f : {"contracted", "rounded"})
      DO(launch(function(m, f), 1, 1, 0, nullptr, double(a), double(b), double(c), out));
    for (const char *f : {"contractedf", "roundedf"})
      DO(launch(function(m, f), 1, 1, 0, nullptr, float(af), float(bf), float(cf), outf));
    auto v = get<double>(out, 8);
    auto w = get<float>(outf, 8);
    const bool fused = contract && has;
    CHECK(v[0] == (fused ? std::fma(a, b, c) : ab + c) && w[0] == (fused ? std::fma(af, bf, cf) : abf + cf));
    CHECK(v[1] == (fused ? std::fma(b, b, c) : bb + c) && w[1] == (fused ? std::fma(bf, bf, cf) : bbf + cf));
    CHECK(v[2] == (fused ? std::fma(a, a, c) : aa + c) && w[2] == (fused ? std::fma(af, af, cf) : aaf + cf));
    CHECK(std::fma(a, a, c) != aa + c && std::fma(af, af, cf) != aaf + cf); // the numbers show which it was
    CHECK(v[3] == ab + c && v[4] == aa + c && w[3] == abf + cf && w[4] == aaf + cf);
    CHECK(v[5] == 0 && v[7] == 0 && w[5] == 0 && w[7] == 0);
    CHECK(v[6] == std::fma(a, b, c) && w[6] == std::fma(af, bf, cf));
  }
  std::string image, log;
  WANT(5, compile(source, {"--fmad=perhaps"}, image, log));
}

TEST(sources) {
  context();
  // Kernels made by macros, in a block of extern "C", overloaded by templates.
  const char *text = R"(
#define SCALE(T, name) extern "C" __global__ void scale_##name(T *x, T by) { x[threadIdx.x] *= by; }
SCALE(float, f32)
SCALE(double, f64)
extern "C" {
__global__ void twice(double *x) { x[threadIdx.x] *= FACTOR; }
}
// __global__ void comment(int) {}
const char *s = "__global__ void text(int) {}";
__global__ void mangled(double *x) { x[0] = 1; }
template <class T> __global__ void generic(T *x) { __shared__ T s[1]; s[0] = 3; x[threadIdx.x] *= s[0]; }
extern __shared__ __align__(16) double whole[];
extern "C" __global__ void file_scope(double *x) { whole[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[threadIdx.x] = whole[1 - threadIdx.x]; }
)";
  Handle p;
  DO(nvrtcCreateProgram(&p, text, nullptr, 0, nullptr, nullptr));
  DO(nvrtcAddNameExpression(p, "generic<double>"));
  const char *lowered;
  WANT(9, nvrtcGetLoweredName(p, "generic<double>", &lowered));
  const char *options[] = {"-DFACTOR=2", "-arch=sm_90", "--std=c++14", "-lineinfo", "--fmad=false"};
  DO(nvrtcCompileProgram(p, 5, options));
  DO(nvrtcGetLoweredName(p, "generic<double>", &lowered));
  size_t n;
  DO(nvrtcGetCUBINSize(p, &n));
  std::string image(n, 0);
  DO(nvrtcGetCUBIN(p, &image[0]));
  Handle m, f;
  DO(cuModuleLoadData(&m, image.data()));
  Address x = put(std::vector<double>{1, 2});
  DO(launch(function(m, "scale_f64"), 1, 2, 0, nullptr, x, 5.0));
  DO(launch(function(m, "twice"), 1, 2, 0, nullptr, x));
  DO(launch(function(m, lowered), 1, 2, 0, nullptr, x));
  DO(launch(function(m, "file_scope"), 1, 2, 16, nullptr, x));
  auto v = get<double>(x, 2);
  CHECK(v[0] == 60 && v[1] == 30);
  WANT(500, cuModuleGetFunction(&f, m, "mangled"));
  CHECK(says("not extern"));
  WANT(500, cuModuleGetFunction(&f, m, "comment"));
  WANT(500, cuModuleGetFunction(&f, m, "text"));
  DO(nvrtcDestroyProgram(&p));
  WANT(4, nvrtcDestroyProgram(&p));
}

TEST(compile_errors) {
  context();
  std::string image, log;
  WANT(6, compile("extern \"C\" __global__ void f(double *x) {\n  x[0] = missing;\n}\n", {}, image, log));
  CHECK(log.find("check.cu:2") != std::string::npos && log.find("missing") != std::string::npos);
  WANT(6, compile("#include <cmath>\n", {}, image, log));
  CHECK(log.find("cmath") != std::string::npos);
  WANT(6, compile("#error stop\n", {}, image, log));
  WANT(5, compile("", {"-O9"}, image, log));
  CHECK(log.find("-O9") != std::string::npos);
  WANT(5, compile("", {"-arch=sm_11"}, image, log));
  WANT(6, compile("__device__ double x = M_PI;", {}, image, log)); // no such macro without a header
  CHECK(std::string(nvrtcGetErrorString(6)) == "NVRTC_ERROR_COMPILATION");
  Handle m;
  WANT(200, cuModuleLoadData(&m, "no image"));
  // An image for a later device, and PTX of a later compiler than the driver.
  DO(compile("extern \"C\" __global__ void f() {}", {"-arch=compute_100"}, image, log));
  WANT(209, cuModuleLoadData(&m, image.c_str()));
  DO(compile("extern \"C\" __global__ void f() {}", {"-arch=sm_80"}, image, log));
  WANT(209, cuModuleLoadData(&m, image.c_str()));
  setenv("CUDASIM_NVRTC", "12090", 1);
  DO(compile("extern \"C\" __global__ void f() {}", {"-arch=compute_90"}, image, log));
  WANT(222, cuModuleLoadData(&m, image.c_str()));
  DO(compile("extern \"C\" __global__ void f() {}", {"-arch=sm_90"}, image, log));
  DO(cuModuleLoadData(&m, image.c_str()));
  int major, minor, count, archs[64];
  DO(nvrtcVersion(&major, &minor));
  CHECK(major == 12 && minor == 9);
  DO(nvrtcGetNumSupportedArchs(&count));
  DO(nvrtcGetSupportedArchs(archs));
  CHECK(archs[0] == 50 && count > 10);
}

// Runs a kernel that must fail, in a context of its own, and sees the error stick.
static void faulty(int want, const char *words, const char *source, unsigned block, unsigned shared = 0, size_t bytes = 64) {
  Handle c = context();
  Handle f = function(module(source), "f");
  Address x;
  DO(cuMemAlloc_v2(&x, bytes));
  DO(launch(f, 1, block, shared, nullptr, x));
  WANT(want, cuCtxSynchronize());
  CHECK(says(words));
  CHECK(says("f"));
  Address other;
  WANT(want, cuMemAlloc_v2(&other, 8));
  WANT(want, launch(f, 1, 1, 0, nullptr, x));
  WANT(want, cuMemFree_v2(x));
  DO(cuCtxDestroy_v2(c));
  context(); // and a new one works
  DO(cuMemAlloc_v2(&x, 8));
}

TEST(faults) {
  faulty(715, "__syncthreads", "extern \"C\" __global__ void f(int *x) { if (threadIdx.x > 3) return; __syncthreads(); x[threadIdx.x] = 1; }", 8);
  faulty(715, "lines", "extern \"C\" __global__ void f(int *x) {\n if (threadIdx.x > 3) {\n __syncthreads();\n } else {\n __syncthreads();\n }\n}", 8);
  faulty(715, "mask", "extern \"C\" __global__ void f(int *x) { if (threadIdx.x < 4) x[0] = __shfl_sync(0xffu, 1, 0); else __syncthreads(); }", 8);
  faulty(700, "wrote outside", "extern \"C\" __global__ void f(int *x) { x[16] = 1; }", 1);
  faulty(700, "wrote outside", "extern \"C\" __global__ void f(int *x) { x[-1] = 1; }", 1);
  faulty(700, "touches", "extern \"C\" __global__ void f(int *x) { x[-9000] = 1; }", 1);
  faulty(700, "touches", "extern \"C\" __global__ void f(int *x) { x[0] = x[10000]; }", 1);
  faulty(700, "touches", "extern \"C\" __global__ void f(int *x) { int *none = nullptr; asm volatile(\"\" : \"+r\"(none)); *none = 1; }", 1);
  faulty(700, "touches", "extern \"C\" __global__ void f(int *x) { extern __shared__ double s[]; s[threadIdx.x + 600] = 1; __syncthreads(); }", 32, 64);
  faulty(719, "index", "extern \"C\" __global__ void f(int *x) { __shared__ int s[8]; s[threadIdx.x] = 1; __syncthreads(); x[0] = s[0]; }", 9);
  faulty(719, "zero", "extern \"C\" __global__ void f(int *x) { x[1] = 7 / (x[0] + 1); }", 1);
  faulty(719, "assertion", "extern \"C\" __global__ void f(int *x) { assert(threadIdx.x < 2); }", 4);
}

TEST(bad_arguments) {
  Handle c = context();
  Handle f = function(module("extern \"C\" __global__ void f(int *x) { x[0] = 1; }"), "f");
  int host = 0;
  DO(launch(f, 1, 1, 0, nullptr, &host));
  WANT(700, cuCtxSynchronize());
  CHECK(says("argument 0") && host == 0);
  DO(cuCtxDestroy_v2(c));
  context();
  f = function(module("extern \"C\" __global__ void f(int *x) { x[0] = 1; }"), "f");
  Address x;
  DO(cuMemAlloc_v2(&x, 4));
  WANT(1, launch(f, 1, 1, 50000, nullptr, x));
  DO(cuFuncSetAttribute(f, 8, 100000));
  DO(launch(f, 1, 1, 50000, nullptr, x));
  DO(cuMemFree_v2(x));
  DO(launch(f, 1, 1, 0, nullptr, x)); // a use after the free
  WANT(700, cuCtxSynchronize());
}

// Memory that a kernel did not write shows as NaN, in every block.
TEST(poison) {
  context();
  Handle f = function(module(R"(
extern "C" __global__ void f(double *x) {
  __shared__ double s[2];
  extern __shared__ double d[];
  if (blockIdx.x == 0) { s[0] = 1; d[0] = 2; }
  __syncthreads();
  x[2 * blockIdx.x] = s[0];
  x[2 * blockIdx.x + 1] = d[0];
})"), "f");
  Address x;
  DO(cuMemAlloc_v2(&x, 5 * 8));
  DO(launch(f, 2, 1, 8, nullptr, x));
  auto v = get<double>(x, 5);
  CHECK(v[0] == 1 && v[1] == 2 && std::isnan(v[2]) && std::isnan(v[3]) && std::isnan(v[4]));
}

// A kernel that lacks a barrier gives other results in reverse order.
TEST(order) {
  context();
  Handle f = function(module(R"(
extern "C" __global__ void f(int *x) {
  __shared__ int s[4];
  s[threadIdx.x] = threadIdx.x;
  x[threadIdx.x] = s[3 - threadIdx.x];
})"), "f");
  Address x = put(std::vector<int>(4, 0));
  DO(launch(f, 1, 4, 0, nullptr, x));
  auto v = get<int>(x, 4);
  const bool reverse = getenv("CUDASIM_ORDER") != nullptr;
  CHECK(reverse ? v[0] == 3 && v[1] == 2 && v[3] == -1 : v[0] == -1 && v[2] == 1 && v[3] == 0);
}

// The order in which 3 blocks of 40 threads ran, before and after a barrier, in two launches.
static std::vector<int> arrivals() {
  context();
  Handle f = function(module(R"(
extern "C" __global__ void f(int *count, int *at) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  at[atomicAdd(count, 1)] = t;
  __syncthreads();
  at[atomicAdd(count, 1)] = t;
})"), "f");
  Address count = put(std::vector<int>(1, 0)), at = put(std::vector<int>(480, -1));
  for (int i = 0; i < 2; i++) DO(launch(f, 3, 40, 0, nullptr, count, at));
  return get<int>(at, 480);
}

// Runs f in a process of its own, whose output and end it gives.
static std::vector<int> elsewhere(std::vector<int> (*f)(), int *status) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    auto v = f();
    _exit(write(ends[1], v.data(), v.size() * sizeof(int)) < 0);
  }
  close(ends[1]);
  std::vector<int> out(4096);
  ssize_t n = read(ends[0], out.data(), out.size() * sizeof(int));
  CHECK(n >= 0 && waitpid(child, status, 0) == child);
  out.resize(size_t(n) / sizeof(int));
  return out;
}

TEST(random_order) { // with CUDASIM_ORDER=random:SEED
  int status;
  auto before = elsewhere(arrivals, &status), all = arrivals();
  CHECK(status == 0 && before == all); // a seed fixes the order
  std::vector<std::vector<int>> runs; // of each launch, block and side of the barrier
  for (int i = 0; i < 480; i += 40) {
    std::vector<int> run(all.begin() + i, all.begin() + i + 40);
    const int first = run[0] / 40 * 40;
    for (int &t : run) t -= first;
    auto sorted = run;
    std::sort(sorted.begin(), sorted.end());
    for (int t = 0; t < 40; t++) CHECK(sorted[t] == t);
    CHECK(run != sorted && std::find(runs.begin(), runs.end(), run) == runs.end());
    runs.push_back(run);
  }
  setenv("CUDASIM_ORDER", "sideways", 1);
  elsewhere([] { // in which nothing has been initialised before
    execl("/proc/self/exe", "kernels", "saxpy", nullptr);
    return std::vector<int>();
  }, &status);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

// Runs a kernel of two pieces of memory on the device, and wants the words in its error; without any, no error.
static void racing(const char *name, std::vector<const char *> words, const char *body, unsigned grid, unsigned block) {
  Handle c = context();
  std::string source = std::string("template <class T> __device__ T sum(T v) { __shared__ T part[64]; part[threadIdx.x] = v; return part[0]; }\n"
                                   "extern \"C\" __global__ void f(double *x, char *bytes) {\n"
                                   "int t = threadIdx.x, b = blockIdx.x, n = blockDim.x; extern __shared__ double dynamic[];\n") + body + "\n}";
  Address x = put(std::vector<double>(256, 1.0)), bytes = put(std::vector<char>(256, 1));
  DO(launch(function(module(source.c_str()), "f"), grid, block, 64 * sizeof(double), nullptr, x, bytes));
  int got = cuCtxSynchronize();
  bool good = got == (words.empty() ? 0 : 719);
  for (auto w : words) good &= says(w);
  if (!good) die(__FILE__, __LINE__, std::string(name) + " gives " + std::to_string(got));
  DO(cuCtxDestroy_v2(c));
}

TEST(races) { // with CUDASIM_CHECK=races
  const char *since = "since __syncthreads in line 5, barrier 1 of the block";
  racing("a barrier", {}, "__shared__ double s[64]; s[t] = t;\n __syncthreads();\n x[64 * b + t] = s[n - 1 - t];", 2, 64);
  racing("no barrier", {"f: race: thread (", " of s, which thread (", "since the block began", "check.cu:4"},
         "__shared__ double s[64]; s[t] = t; x[64 * b + t] = s[n - 1 - t];", 2, 64);
  racing("no barrier before the next write", {" of s, which thread (", since, "check.cu:6"},
         "__shared__ double s[64]; s[t] = t;\n __syncthreads();\n x[t] = s[n - 1 - t]; s[t] = x[t];", 1, 64);
  racing("two arrays", {" of second, which thread ("},
         "__shared__ float s[4], second[2][32]; if (t < 4) s[t] = 0; __syncthreads(); second[t / 32][t % 32] = t; x[t] = second[1][31];", 1, 64);
  racing("dynamic shared memory", {" of dynamic shared memory, which thread ("}, "dynamic[t] = t; x[t] = dynamic[n - 1 - t];", 1, 64);
  racing("array of a function", {" of part, which thread ("}, "x[t] = sum(1.0 * t);", 1, 64);
  const char *halving = "__shared__ volatile double s[64]; s[t] = t; __syncthreads();\n"
                        "if (t < 32) for (int d = 32; d > 0; d /= 2) { double v = s[t + d]; %s if (t < d) s[t] += v; %s }\n"
                        "__syncthreads(); if (t == 0) x[b] = s[0];";
  char text[512];
  snprintf(text, sizeof text, halving, "", "");
  racing("a warp without barriers", {" of s, which thread ("}, text, 1, 64);
  snprintf(text, sizeof text, halving, "__syncwarp();", "");
  racing("a warp with half of its barriers", {" of s, which thread ("}, text, 1, 64);
  snprintf(text, sizeof text, halving, "__shfl_sync(~0u, t, 0);", "__shfl_sync(~0u, t, 0);");
  racing("a shuffle is no barrier", {" of s, which thread ("}, text, 1, 64);
  snprintf(text, sizeof text, halving, "__syncwarp();", "__syncwarp();");
  racing("a warp with barriers", {}, text, 1, 64);
  racing("barriers of two warps", {" of s, which thread ("},
         "__shared__ double s[64]; s[t] = t; __syncwarp(); x[t] = s[n - 1 - t];", 1, 64);
  racing("barriers of half warps", {" of s, which thread ("},
         "__shared__ double s[64]; s[t] = t; if (t % 32 < 16) __syncwarp(0xffffu); else __syncwarp(0xffff0000u); x[t] = s[t ^ 16];", 1, 32);
  racing("lanes of a half warp", {},
         "__shared__ double s[64]; s[t] = t; if (t % 32 < 16) __syncwarp(0xffffu); else __syncwarp(0xffff0000u); x[t] = s[t ^ 15];", 1, 32);
  racing("a barrier handed on", {}, // lane 2 has met 1, which has met 0
         "__shared__ double s[64]; if (t == 0) s[0] = 1; if (t < 2) __syncwarp(3u); if (t == 1 || t == 2) __syncwarp(6u); if (t == 2) x[0] = s[0];", 1, 32);
  racing("device memory in a block", {"address 0x", "which thread (", "since the block began"}, "x[t] = t; x[64 + t] = x[n - 1 - t];", 1, 64);
  racing("device memory with a barrier", {}, "x[t] = t; __syncthreads(); x[64 + t] = x[n - 1 - t];", 1, 64);
  racing("device memory between blocks", {"which block (", "nothing orders two blocks"}, "x[b] = b; __syncthreads(); x[2 + b] = x[1 - b];", 2, 1);
  racing("read by one block, written by another", {"which block (", "nothing orders two blocks"}, "if (b == 1) x[0] = 2; else x[1] = x[0];", 2, 1);
  racing("the same value", {}, "if (x[t] == 1) x[200] = 7;", 2, 64);
  racing("another value", {"another value", "nothing orders two blocks"}, "x[200] = b;", 2, 1);
  racing("another value last", {"another value", "since the block began"}, "x[200] = t;", 1, 2);
  racing("neighbouring bytes", {}, "bytes[t] = bytes[64 + t]; dynamic[t] = 1; reinterpret_cast<char *>(dynamic)[8 * t + 3] = 2;", 1, 64);
  racing("one byte", {"which thread ("}, "bytes[t / 2] = t;", 1, 64);
  racing("part of a word", {"which thread ("}, "if (t == 0) x[0] = 2; else reinterpret_cast<char *>(x)[5] = 3;", 1, 2);
  racing("sixteen bytes", {"which thread ("}, "if (t == 0) *reinterpret_cast<double2 *>(x) = make_double2(1, 2); else x[1] = 3;", 1, 2);
  racing("atomic operations", {}, "__shared__ int s; if (t == 0) s = 0; __syncthreads(); atomicAdd(&s, t); atomicAdd(x, 1.0); __syncthreads(); x[1 + 64 * b + t] = s;", 2, 64);
  racing("an atomic operation and a read", {" of s, which thread ("}, "__shared__ int s; if (t == 0) s = 0; __syncthreads(); if (t) atomicAdd(&s, t); else x[0] = s;", 1, 64);
  racing("an atomic operation and a write", {" of s, which thread ("}, "__shared__ int s; if (t == 0) s = 0; if (t == 1) atomicAdd(&s, t);", 1, 64);
  racing("local arrays", {}, "double own[8]; for (int i = 0; i < 8; i++) own[(i + t) % 8] = i; double *p = own + t % 8; asm volatile(\"\" : \"+r\"(p) : : \"memory\"); x[t] = *p;", 1, 64);
  CHECK(counted("checked_accesses") > 1000);
}

// Sums and maxima that a block of the project's kernels takes one after another, as it does for a matrix of more rows
// than there are blocks: slower cases of the parity tests would be needed to see that.
TEST(sums_in_a_row) { // with CUDASIM_CHECK=races
  context();
  std::ifstream file("../../kernels/common.cu");
  std::stringstream text;
  text << file.rdbuf() << R"(
extern "C" __global__ void f(double *x) {
  int t = threadIdx.x;
  double sum = 0, largest = 0;
  for (int i = 1; i <= 3; i++) {
    sum += blockSum(i * t);
    largest += blockMax(i * t);
    largest += blockMax(-i * t);
    sum += blockSum(i);
  }
  x[blockIdx.x * BLOCK + t] = sum + largest;
})";
  CHECK(file.good());
  Handle f = function(module(text.str().c_str(), {"-DREAL=double", "-DSINGLE=0"}), "f");
  Address x = put(std::vector<double>(2 * 256, -7));
  DO(launch(f, 2, 256, 0, nullptr, x));
  DO(cuCtxSynchronize());
  for (double v : get<double>(x, 2 * 256)) CHECK(v == 6 * (255 * 128 + 255 + 256));
}

// What the compiler knows is the same number as what the kernel reads.
TEST(constants) {
  context();
  Handle f = function(module(R"(
extern "C" __global__ void f(double *x) {
  x[1] = expm1(x[0]);
  x[2] = expm1(1.0);
  x[0] = x[0] == 1 ? expm1(x[0]) : 0;
})"), "f");
  Address x = put(std::vector<double>{1, 0, 0});
  DO(launch(f, 1, 1, 0, nullptr, x));
  DO(cuCtxSynchronize());
  std::vector<double> got = get<double>(x, 3);
  CHECK(got[1] > 1.7182818284590448 && got[1] < 1.7182818284590456);
  CHECK(got[2] == got[1]);
  CHECK(got[0] == got[1]);
}

TEST(lost) { // with CUDASIM_LOST_AFTER=2
  Handle c = context();
  Handle f = function(module("extern \"C\" __global__ void f(int *x) { x[0] += 1; }"), "f");
  Address x = put(std::vector<int>(1, 0));
  for (int i = 0; i < 2; i++) DO(launch(f, 1, 1, 0, nullptr, x));
  CHECK(get<int>(x, 1)[0] == 2);
  DO(launch(f, 1, 1, 0, nullptr, x));
  WANT(719, cuCtxSynchronize());
  int v;
  WANT(719, cuMemcpyDtoH_v2(&v, x, 4));
  DO(cuCtxDestroy_v2(c));
  WANT(719, cuCtxCreate_v2(&c, 0, 0));
}
