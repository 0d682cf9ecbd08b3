// What the checks share: the C interfaces, declared by hand as a program
// without CUDA headers would, and helpers that end the process with a message.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

typedef void *Handle;
typedef uint64_t Address;

extern "C" {
int cuInit(unsigned);
int cuMemsetD8Async(Address, unsigned char, size_t, Handle);
int cuStreamBeginCapture_v2(Handle, int);
int cuStreamEndCapture(Handle, Handle *);
int cuGraphInstantiateWithFlags(Handle *, Handle, unsigned long long);
int cuGraphLaunch(Handle, Handle);
int cuGraphDestroy(Handle);
int cuGraphExecDestroy(Handle);
int cuDriverGetVersion(int *);
int cuDeviceGetCount(int *);
int cuDeviceGet(int *, int);
int cuDeviceGetName(char *, int, int);
int cuDeviceGetAttribute(int *, int, int);
int cuDeviceTotalMem_v2(size_t *, int);
int cuDeviceGetUuid(char *, int);
int cuDeviceGetPCIBusId(char *, int, int);
int cuDevicePrimaryCtxRetain(Handle *, int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuCtxCreate_v2(Handle *, unsigned, int);
int cuCtxCreate_v4(Handle *, void *, unsigned, int);
int cuCtxDestroy_v2(Handle);
int cuCtxSetCurrent(Handle);
int cuCtxGetCurrent(Handle *);
int cuCtxPushCurrent_v2(Handle);
int cuCtxPopCurrent_v2(Handle *);
int cuCtxGetDevice(int *);
int cuCtxSynchronize();
int cuMemAlloc_v2(Address *, size_t);
int cuMemFree_v2(Address);
int cuMemGetInfo_v2(size_t *, size_t *);
int cuMemAllocHost_v2(void **, size_t);
int cuMemFreeHost(void *);
int cuMemcpyHtoD_v2(Address, const void *, size_t);
int cuMemcpyDtoH_v2(void *, Address, size_t);
int cuMemcpyDtoD_v2(Address, Address, size_t);
int cuMemcpyHtoDAsync_v2(Address, const void *, size_t, Handle);
int cuMemcpyDtoHAsync_v2(void *, Address, size_t, Handle);
int cuMemcpyDtoDAsync_v2(Address, Address, size_t, Handle);
int cuMemsetD8_v2(Address, unsigned char, size_t);
int cuMemsetD32_v2(Address, unsigned, size_t);
int cuMemsetD32Async(Address, unsigned, size_t, Handle);
int cuStreamCreate(Handle *, unsigned);
int cuStreamDestroy_v2(Handle);
int cuStreamSynchronize(Handle);
int cuStreamQuery(Handle);
int cuStreamWaitEvent(Handle, Handle, unsigned);
int cuEventCreate(Handle *, unsigned);
int cuEventDestroy_v2(Handle);
int cuEventRecord(Handle, Handle);
int cuEventSynchronize(Handle);
int cuEventQuery(Handle);
int cuEventElapsedTime(float *, Handle, Handle);
int cuModuleLoadData(Handle *, const void *);
int cuModuleUnload(Handle);
int cuModuleGetFunction(Handle *, Handle, const char *);
int cuModuleGetGlobal_v2(Address *, size_t *, Handle, const char *);
int cuFuncGetAttribute(int *, int, Handle);
int cuFuncSetAttribute(Handle, int, int);
int cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **, void **);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, Handle, int, size_t);
int cuGetErrorName(int, const char **);
int cuGetErrorString(int, const char **);
int cuGraphCreate(Handle *, unsigned);
size_t cudasim_report(char *, size_t);
size_t cudasim_last_error(char *, size_t);

int nvrtcVersion(int *, int *);
int nvrtcCreateProgram(Handle *, const char *, const char *, int, const char *const *, const char *const *);
int nvrtcDestroyProgram(Handle *);
int nvrtcCompileProgram(Handle, int, const char *const *);
int nvrtcGetPTXSize(Handle, size_t *);
int nvrtcGetPTX(Handle, char *);
int nvrtcGetCUBINSize(Handle, size_t *);
int nvrtcGetCUBIN(Handle, char *);
int nvrtcGetProgramLogSize(Handle, size_t *);
int nvrtcGetProgramLog(Handle, char *);
int nvrtcAddNameExpression(Handle, const char *);
int nvrtcGetLoweredName(Handle, const char *, const char **);
const char *nvrtcGetErrorString(int);
int nvrtcGetNumSupportedArchs(int *);
int nvrtcGetSupportedArchs(int *);
}

[[noreturn]] inline void die(const char *file, int line, const std::string &what) {
  char text[2048] = "";
  cudasim_last_error(text, sizeof text);
  fprintf(stderr, "%s:%d: %s\n  last error: %s\n", strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line, what.c_str(), text);
  exit(1);
}
#define CHECK(x)                                                                                   \
  do {                                                                                             \
    if (!(x)) die(__FILE__, __LINE__, "not so: " #x);                                              \
  } while (0)
#define WANT(status, x)                                                                            \
  do {                                                                                             \
    int got_ = (x), want_ = (status);                                                              \
    if (got_ != want_) die(__FILE__, __LINE__, #x " gives " + std::to_string(got_) + ", not " + std::to_string(want_)); \
  } while (0)
#define DO(x) WANT(0, x)

// A context on device 0, current.
inline Handle context() {
  Handle c;
  DO(cuInit(0));
  DO(cuCtxCreate_v2(&c, 0, 0));
  return c;
}

inline std::string last_error() {
  char text[2048];
  cudasim_last_error(text, sizeof text);
  return text;
}
inline bool says(const std::string &part) {
  if (last_error().find(part) != std::string::npos) return true;
  fprintf(stderr, "last error is %s\n", last_error().c_str());
  return false;
}

inline long long counted(const std::string &name) {
  char text[4096];
  cudasim_report(text, sizeof text);
  std::string all = std::string("\n") + text;
  size_t at = all.find("\n" + name + " ");
  if (at == std::string::npos) die(__FILE__, __LINE__, "no count " + name);
  return atoll(all.c_str() + at + name.size() + 2);
}

// Compiles and loads; the image is PTX unless the architecture is a real one.
inline int compile(const char *source, std::vector<const char *> options, std::string &image, std::string &log) {
  Handle p;
  DO(nvrtcCreateProgram(&p, source, "check.cu", 0, nullptr, nullptr));
  int status = nvrtcCompileProgram(p, int(options.size()), options.data());
  size_t n;
  DO(nvrtcGetProgramLogSize(p, &n));
  log.resize(n);
  DO(nvrtcGetProgramLog(p, &log[0]));
  if (status == 0) {
    DO(nvrtcGetCUBINSize(p, &n));
    if (n) {
      image.resize(n);
      DO(nvrtcGetCUBIN(p, &image[0]));
    } else {
      DO(nvrtcGetPTXSize(p, &n));
      image.resize(n);
      DO(nvrtcGetPTX(p, &image[0]));
    }
  }
  DO(nvrtcDestroyProgram(&p));
  return status;
}
inline Handle module(const char *source, std::vector<const char *> options = {}) {
  std::string image, log;
  if (int e = compile(source, options, image, log)) die(__FILE__, __LINE__, "compile gives " + std::to_string(e) + ": " + log);
  Handle m;
  DO(cuModuleLoadData(&m, image.c_str()));
  return m;
}
inline Handle function(Handle m, const char *name) {
  Handle f;
  DO(cuModuleGetFunction(&f, m, name));
  return f;
}

template <class T> Address put(const std::vector<T> &v) {
  Address a;
  DO(cuMemAlloc_v2(&a, v.size() * sizeof(T)));
  DO(cuMemcpyHtoD_v2(a, v.data(), v.size() * sizeof(T)));
  return a;
}
template <class T> std::vector<T> get(Address a, size_t n) {
  std::vector<T> v(n);
  DO(cuMemcpyDtoH_v2(v.data(), a, n * sizeof(T)));
  return v;
}
template <class... A> int launch(Handle f, unsigned grid, unsigned block, unsigned shared, Handle stream, A... a) {
  void *p[] = {&a..., nullptr};
  return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, stream, p, nullptr);
}

// The checks of one program, by name.
inline std::map<std::string, std::function<void()>> &checks() {
  static std::map<std::string, std::function<void()>> all;
  return all;
}
struct Register {
  Register(const char *name, std::function<void()> f) { checks()[name] = f; }
};
#define TEST(name)                                                                                 \
  static void name();                                                                              \
  static Register register_##name(#name, name);                                                    \
  static void name()

// Each program includes this file once: without arguments it lists its checks.
int main(int argc, char **argv) {
  auto it = argc == 2 ? checks().find(argv[1]) : checks().end();
  if (it == checks().end()) {
    for (auto &c : checks()) puts(c.first.c_str());
    return argc == 2 ? 2 : 0;
  }
  it->second();
}
