// Checks of memory, streams, contexts and devices. Run with the name of one;
// see cudasim_test.go.
#include "check.h"

#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

static const char *add = "extern \"C\" __global__ void add(double *x, double by) { x[threadIdx.x] += by; }";

TEST(devices) { // with CUDASIM_DEVICES=2 CUDASIM_CC=8.6 CUDASIM_DRIVER=12040 CUDASIM_MEMORY=1e6
  int n;
  WANT(3, cuDeviceGetCount(&n));
  DO(cuInit(0));
  DO(cuDeviceGetCount(&n));
  CHECK(n == 2);
  WANT(101, cuDeviceGet(&n, 2));
  DO(cuDeviceGet(&n, 1));
  char name[64];
  DO(cuDeviceGetName(name, sizeof name, 1));
  CHECK(std::string(name) == "Simulated CUDA device 1");
  DO(cuDeviceGetPCIBusId(name, sizeof name, 1));
  char uuid[16], other[16];
  DO(cuDeviceGetUuid(uuid, 0));
  DO(cuDeviceGetUuid(other, 1));
  CHECK(memcmp(uuid, other, 16) != 0);
  DO(cuDeviceGetAttribute(&n, 75, 0));
  CHECK(n == 8);
  DO(cuDeviceGetAttribute(&n, 76, 0));
  CHECK(n == 6);
  DO(cuDeviceGetAttribute(&n, 1, 0));
  CHECK(n == 1024);
  WANT(1, cuDeviceGetAttribute(&n, 9999, 0));
  DO(cuDriverGetVersion(&n));
  CHECK(n == 12040);
  size_t total, available;
  DO(cuDeviceTotalMem_v2(&total, 0));
  CHECK(total == 1000000);
  Handle c;
  DO(cuCtxCreate_v4(&c, nullptr, 0, 1));
  DO(cuCtxGetDevice(&n));
  CHECK(n == 1);
  Address a, b;
  DO(cuMemAlloc_v2(&a, 600000));
  WANT(2, cuMemAlloc_v2(&b, 600000)); // and it does not stick
  DO(cuMemGetInfo_v2(&available, &total));
  CHECK(available < 400000 && available > 399000);
  DO(cuMemFree_v2(a));
  DO(cuMemAlloc_v2(&b, 600000));
  const char *text;
  DO(cuGetErrorName(2, &text));
  CHECK(std::string(text) == "CUDA_ERROR_OUT_OF_MEMORY");
  DO(cuGetErrorString(2, &text));
  WANT(1, cuGetErrorName(12345, &text));
  WANT(801, cuGraphCreate(&c, 0));
}

TEST(hidden) { // with CUDASIM_DEVICES=0, or an empty CUDA_VISIBLE_DEVICES
  WANT(100, cuInit(0));
  int n;
  WANT(100, cuDeviceGetCount(&n));
  DO(cuDriverGetVersion(&n));
}

TEST(visible) { // with CUDASIM_DEVICES=3 CUDA_VISIBLE_DEVICES=2,0,7,1
  DO(cuInit(0));
  int n;
  DO(cuDeviceGetCount(&n));
  CHECK(n == 2);
  char name[64];
  DO(cuDeviceGetName(name, sizeof name, 0));
  CHECK(std::string(name) == "Simulated CUDA device 2");
}

TEST(contexts) {
  DO(cuInit(0));
  Address x;
  WANT(201, cuMemAlloc_v2(&x, 8));
  Handle primary, again, c, got;
  DO(cuDevicePrimaryCtxRetain(&primary, 0));
  DO(cuDevicePrimaryCtxRetain(&again, 0));
  CHECK(primary == again);
  WANT(201, cuMemAlloc_v2(&x, 8)); // retained is not current
  DO(cuCtxSetCurrent(primary));
  DO(cuMemAlloc_v2(&x, 8));
  DO(cuCtxCreate_v2(&c, 0, 0));
  DO(cuCtxGetCurrent(&got));
  CHECK(got == c);
  DO(cuCtxPopCurrent_v2(&got));
  CHECK(got == c);
  DO(cuCtxGetCurrent(&got));
  CHECK(got == primary);
  DO(cuCtxPushCurrent_v2(c));
  DO(cuCtxDestroy_v2(c));
  WANT(201, cuCtxDestroy_v2(c));
  WANT(201, cuCtxSetCurrent(c));
  DO(cuDevicePrimaryCtxRelease_v2(0));
  DO(cuCtxSynchronize());
  DO(cuDevicePrimaryCtxRelease_v2(0)); // takes the allocation with it
  CHECK(counted("leaked_allocations") == 1 && counted("live_allocations") == 0 && counted("live_contexts") == 0);
  WANT(709, cuCtxSynchronize());
  WANT(201, cuDevicePrimaryCtxRelease_v2(0));
}

TEST(copies) {
  context();
  std::vector<double> v = {1, 2, 3, 4};
  Address a = put(v), b;
  DO(cuMemAlloc_v2(&b, 32));
  CHECK(std::isnan(get<double>(b, 4)[3])); // never written
  DO(cuMemcpyDtoD_v2(b, a + 8, 16));
  auto w = get<double>(b, 4);
  CHECK(w[0] == 2 && w[1] == 3 && std::isnan(w[2]));
  DO(cuMemsetD8_v2(b, 0, 32));
  DO(cuMemsetD32_v2(b + 4, 0x3ff00000, 1));
  CHECK(get<double>(b, 4)[0] == 1 && get<double>(b, 4)[1] == 0);
  WANT(1, cuMemcpyHtoD_v2(a, v.data(), 40));
  CHECK(says("beyond"));
  WANT(1, cuMemcpyDtoH_v2(v.data(), a + 8, 32));
  WANT(1, cuMemcpyDtoD_v2(b, a + 24, 16));
  WANT(1, cuMemcpyHtoD_v2((Address)(uintptr_t)v.data(), v.data(), 8)); // a host address
  WANT(1, cuMemAlloc_v2(&b, 0));
  WANT(1, cuMemsetD32_v2(a + 2, 0, 1));
  CHECK(counted("copies_to_device") == 1);
  DO(cuMemFree_v2(a));
  WANT(1, cuMemcpyDtoH_v2(v.data(), a, 8));
  WANT(1, cuMemFree_v2(a));
  DO(cuMemFree_v2(0));
  CHECK(counted("bad_frees") == 1 && counted("live_allocations") == 1);
  void *host;
  DO(cuMemAllocHost_v2(&host, 64));
  WANT(1, cuMemFree_v2((Address)(uintptr_t)host));
  DO(cuMemFreeHost(host));
  WANT(1, cuMemFreeHost(host));
  CHECK(counted("guard_violations") == 0);
}

// Nothing runs on a stream before something waits for it.
TEST(laziness) {
  context();
  Handle s;
  DO(cuStreamCreate(&s, 1));
  Handle f = function(module(add), "add");
  Address x = put(std::vector<double>{1, 2});
  double *pinned;
  DO(cuMemAllocHost_v2((void **)&pinned, 16));
  DO(launch(f, 1, 2, 0, s, x, 10.0));
  DO(cuMemcpyDtoHAsync_v2(pinned, x, 16, s));
  CHECK(std::isnan(pinned[0]) && counted("pending") == 2);
  // A stream that does not block is not waited for by a synchronous copy.
  CHECK(get<double>(x, 2)[0] == 1);
  DO(cuStreamSynchronize(s));
  CHECK(pinned[0] == 11 && pinned[1] == 12 && counted("pending") == 0);

  // Pinned memory is read when the copy runs, pageable memory at the call.
  pinned[0] = 100;
  double pageable = 5;
  DO(cuMemcpyHtoDAsync_v2(x, pinned, 8, s));
  DO(cuMemcpyHtoDAsync_v2(x + 8, &pageable, 8, s));
  pinned[0] = 200;
  pageable = 6;
  DO(cuStreamSynchronize(s));
  CHECK(get<double>(x, 2)[0] == 200 && get<double>(x, 2)[1] == 5);

  // A question makes progress, so that a loop of them ends.
  DO(launch(f, 1, 2, 0, s, x, 1.0));
  WANT(600, cuStreamQuery(s));
  DO(cuStreamQuery(s));
  CHECK(get<double>(x, 2)[0] == 201);

  // Arguments are read at the launch.
  double by = 1;
  void *p[] = {&x, &by};
  DO(cuLaunchKernel(f, 1, 1, 1, 2, 1, 1, 0, s, p, nullptr));
  by = 1000;
  DO(cuCtxSynchronize());
  CHECK(get<double>(x, 2)[0] == 202);

  // A free waits for everything.
  Address y = put(std::vector<double>{0, 0});
  DO(launch(f, 1, 2, 0, s, x, 1.0));
  DO(cuMemFree_v2(y));
  CHECK(counted("pending") == 0 && get<double>(x, 2)[0] == 203);

  // A stream that is destroyed still does its work.
  DO(launch(f, 1, 2, 0, s, x, 1.0));
  DO(cuStreamDestroy_v2(s));
  WANT(400, cuStreamSynchronize(s));
  CHECK(get<double>(x, 2)[0] == 203);
  DO(cuCtxSynchronize());
  CHECK(get<double>(x, 2)[0] == 204);
}

// The legacy default stream and blocking streams wait for each other.
TEST(default_stream) {
  context();
  Handle s, t;
  DO(cuStreamCreate(&s, 0));
  DO(cuStreamCreate(&t, 0));
  Handle f = function(module(add), "add");
  Address x = put(std::vector<double>{1});
  DO(launch(f, 1, 1, 0, s, x, 10.0));
  CHECK(get<double>(x, 1)[0] == 11); // the copy waits for s
  double seen = 0;
  DO(launch(f, 1, 1, 0, s, x, 10.0));
  DO(cuMemsetD32_v2(x, 0, 2)); // after s
  DO(launch(f, 1, 1, 0, t, x, 1.0)); // after the memset
  DO(cuMemcpyDtoHAsync_v2(&seen, x, 8, t));
  DO(cuStreamSynchronize(t));
  CHECK(seen == 1);
}

TEST(events) {
  context();
  Handle s, t, e, end;
  DO(cuStreamCreate(&s, 1));
  DO(cuStreamCreate(&t, 1));
  DO(cuEventCreate(&e, 0));
  DO(cuEventCreate(&end, 0));
  Handle f = function(module(add), "add");
  Address x = put(std::vector<double>{1});
  DO(cuEventQuery(e)); // never recorded
  double seen = 0;
  DO(launch(f, 1, 1, 0, s, x, 10.0));
  DO(cuMemcpyDtoHAsync_v2(&seen, x, 8, t)); // without a wait: stale
  DO(cuStreamSynchronize(t));
  CHECK(seen == 1);
  DO(cuEventRecord(e, s));
  DO(launch(f, 1, 1, 0, s, x, 100.0)); // after the event: not waited for
  DO(cuStreamWaitEvent(t, e, 0));
  DO(cuMemcpyDtoHAsync_v2(&seen, x, 8, t));
  DO(cuEventRecord(end, t));
  float ms;
  WANT(600, cuEventElapsedTime(&ms, e, end));
  DO(cuStreamSynchronize(t));
  CHECK(seen == 11);
  DO(cuEventSynchronize(end));
  DO(cuEventElapsedTime(&ms, e, end));
  CHECK(ms >= 0);
  DO(cuEventRecord(e, s));
  WANT(600, cuEventQuery(e));
  DO(cuEventSynchronize(e));
  DO(cuEventQuery(e));
  CHECK(get<double>(x, 1)[0] == 111);
  DO(cuEventDestroy_v2(e));
  WANT(400, cuEventRecord(e, s));
  WANT(400, cuStreamWaitEvent(t, e, 0));
}

TEST(captures) {
  DO(cuInit(0));
  Handle c, s, g, x, again;
  Address a, b;
  DO(cuCtxCreate_v4(&c, nullptr, 0, 0));
  DO(cuStreamCreate(&s, 1));
  DO(cuMemAlloc_v2(&a, 16));
  DO(cuMemAlloc_v2(&b, 16));
  DO(cuMemsetD8Async(a, 1, 16, s));
  unsigned char out[16] = {0};
  WANT(401, cuStreamEndCapture(s, &g));
  WANT(900, cuStreamBeginCapture_v2(nullptr, 2));
  DO(cuStreamBeginCapture_v2(s, 2));
  WANT(401, cuStreamBeginCapture_v2(s, 2));
  DO(cuMemcpyDtoDAsync_v2(b, a, 16, s));
  DO(cuMemsetD8Async(a, 7, 8, s));
  DO(cuStreamEndCapture(s, &g));
  DO(cuMemcpyDtoH_v2(out, a, 16));
  DO(cuStreamSynchronize(s));
  DO(cuMemcpyDtoH_v2(out, a, 16));
  CHECK(out[0] == 1); // nothing that was captured has run
  DO(cuGraphInstantiateWithFlags(&x, g, 0));
  DO(cuGraphDestroy(g));
  WANT(1, cuGraphDestroy(g));
  for (int launch = 0; launch < 2; launch++) {
    DO(cuGraphLaunch(x, s));
    DO(cuStreamSynchronize(s));
    DO(cuMemcpyDtoH_v2(out, b, 16));
    CHECK(out[0] == (launch ? 7 : 1) && out[8] == 1); // in its order, from what is there
  }
  DO(cuGraphExecDestroy(x));
  WANT(400, cuGraphLaunch(x, s));
  // A wait invalidates, in any mode, and an allocation in all but the relaxed one.
  DO(cuStreamBeginCapture_v2(s, 2));
  DO(cuMemAlloc_v2(&b, 16));
  WANT(900, cuStreamSynchronize(s));
  WANT(901, cuStreamEndCapture(s, &again));
  CHECK(!again);
  DO(cuStreamBeginCapture_v2(s, 1));
  WANT(900, cuMemAlloc_v2(&b, 16));
  WANT(901, cuStreamEndCapture(s, &again));
  DO(cuStreamSynchronize(s));
}

TEST(ordered) { // with CUDASIM_FAIL=cuMemAlloc_v2=810@1,cuCtxSynchronize=719
  DO(cuInit(0));
  Handle c;
  DO(cuCtxCreate_v4(&c, nullptr, 0, 0));
  Address a;
  DO(cuMemAlloc_v2(&a, 100));
  WANT(810, cuMemAlloc_v2(&a, 100));
  WANT(719, cuCtxSynchronize());
  const char *text;
  DO(cuGetErrorName(810, &text));
  CHECK(std::string(text) == "CUDA_ERROR_MPS_CLIENT_TERMINATED");
}

TEST(unreachable) { WANT(805, cuInit(0)); } // with CUDASIM_FAIL=cuInit=805

TEST(slices) { // with CUDASIM_MIG=1g.10gb CUDASIM_DEVICES=2 CUDA_VISIBLE_DEVICES=MIG-00000000-0000-0000-0000-000000000002
  DO(cuInit(0));
  int n;
  DO(cuDeviceGetCount(&n));
  CHECK(n == 1);
  char name[64];
  DO(cuDeviceGetName(name, sizeof name, 0));
  CHECK(std::string(name) == "Simulated CUDA device 1 MIG 1g.10gb");
}

// Two processes, each of which says by a pipe when the other may go on.
struct Pipe {
  int ends[2];
  Pipe() { CHECK(pipe(ends) == 0); }
  void say() { CHECK(write(ends[1], "x", 1) == 1); }
  void hear() {
    char c;
    CHECK(read(ends[0], &c, 1) == 1);
  }
};

TEST(shared) { // with CUDASIM_SHARED=file CUDASIM_MEMORY=1e6
  Pipe here, there;
  pid_t child = fork();
  DO(cuInit(0));
  Handle c;
  Address a;
  if (!child) {
    DO(cuCtxCreate_v4(&c, nullptr, 0, 0));
    DO(cuMemAlloc_v2(&a, 600000));
    there.say();
    here.hear();
    _exit(0); // as a process that is killed, with all that it has
  }
  there.hear();
  DO(cuCtxCreate_v4(&c, nullptr, 0, 0));
  WANT(2, cuMemAlloc_v2(&a, 600000));
  size_t available, total;
  DO(cuMemGetInfo_v2(&available, &total));
  CHECK(available < 400000 && available > 399000 && total == 1000000);
  here.say();
  waitpid(child, nullptr, 0);
  DO(cuMemAlloc_v2(&a, 600000));
}

TEST(exclusive) { // with CUDASIM_SHARED=file CUDASIM_COMPUTE_MODE=exclusive
  Pipe here, there;
  pid_t child = fork();
  DO(cuInit(0));
  Handle c;
  if (!child) {
    DO(cuDevicePrimaryCtxRetain(&c, 0));
    there.say();
    here.hear();
    DO(cuDevicePrimaryCtxRelease_v2(0));
    there.say();
    here.hear();
    _exit(0);
  }
  int mode;
  DO(cuDeviceGetAttribute(&mode, 20, 0));
  CHECK(mode == 3);
  there.hear();
  WANT(46, cuDevicePrimaryCtxRetain(&c, 0));
  here.say();
  there.hear();
  DO(cuDevicePrimaryCtxRetain(&c, 0));
  here.say();
}

TEST(prohibited) { // with CUDASIM_COMPUTE_MODE=prohibited
  DO(cuInit(0));
  Handle c;
  WANT(46, cuDevicePrimaryCtxRetain(&c, 0));
  WANT(46, cuCtxCreate_v4(&c, nullptr, 0, 0));
}

TEST(stand_in) { // with CUDASIM_PTX=folder, in which its text stands for PTX of a compiler
  DO(cuInit(0));
  Handle c, m;
  DO(cuCtxCreate_v4(&c, nullptr, 0, 0));
  std::string image, log;
  DO(compile(add, {"--gpu-architecture=compute_70"}, image, log));
  const std::string folder = getenv("CUDASIM_PTX");
  auto write = [&](const char *name, const std::string &text) { std::ofstream(folder + name, std::ios::binary) << text; };
  write("/add.ptx", "// of a compiler");
  write("/add.sim", image.c_str());
  DO(cuModuleLoadData(&m, "// of a compiler"));
  function(m, "add");
  WANT(200, cuModuleLoadData(&m, "// of another compiler"));
}
