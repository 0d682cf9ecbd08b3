// libcuda: devices, contexts, memory, streams, events and modules.
#include "compile.h"
#include "device.h"
#include "faults.h"
#include "fiber.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <link.h>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace cudasim {
namespace {

std::recursive_mutex lock; // one for everything: calls are serialised
using Hold = std::lock_guard<std::recursive_mutex>;

constexpr size_t page = 4096, granule = 256, guard = 256;
constexpr size_t fence = 64 << 10; // on both sides of an allocation, without access
constexpr unsigned char guard_byte = 0xff; // reading it gives a NaN

// Counted since the library was loaded.
struct Counts {
  uint64_t allocations = 0, launches = 0, library_calls = 0, copies_in = 0, copies_out = 0, copies_inside = 0, bytes_in = 0, bytes_out = 0,
           graph_launches = 0, graph_nodes = 0, synchronisations = 0, bad_frees = 0, guard_violations = 0, leaked = 0, modules = 0;
} counts;

std::string last_error;

int report(int error, const std::string &message) {
  last_error = message;
  const char *log = getenv("CUDASIM_LOG");
  if (log && *log) fprintf(stderr, "cudasim: %s\n", message.c_str());
  return error;
}

uint64_t number(const char *name, uint64_t otherwise) {
  const char *v = getenv(name);
  if (!v || !*v) return otherwise;
  char *end;
  double n = strtod(v, &end);
  if (*end || n < 0) {
    fprintf(stderr, "cudasim: %s=%s is not a number\n", name, v);
    abort();
  }
  return uint64_t(n);
}

// --- memory -----------------------------------------------------------------------------

// A live allocation. The mapping is fence, slack, data, tail, fence:
// data begin at a multiple of 256 bytes and end within 256 bytes of the upper
// fence; slack and tail hold the guard byte.
struct Allocation {
  char *mapping = nullptr, *begin = nullptr;
  size_t mapped = 0, bytes = 0;
  int device = 0;
  bool host = false;
  struct Context *context = nullptr;
  bool damaged() const {
    const char *low = std::max(mapping + fence, begin - guard), *high = mapping + mapped - fence;
    for (const char *p = low; p < begin; p++)
      if (static_cast<unsigned char>(*p) != guard_byte) return true;
    for (const char *p = begin + bytes; p < high; p++)
      if (static_cast<unsigned char>(*p) != guard_byte) return true;
    return false;
  }
  void repair() const {
    memset(mapping + fence, guard_byte, size_t(begin - mapping) - fence);
    memset(begin + bytes, guard_byte, size_t(mapping + mapped - fence - begin) - bytes);
  }
};

std::map<uintptr_t, Allocation> memory; // by first address, all devices: unified addressing
std::deque<std::pair<char *, size_t>> freed; // addresses not given out again for a while, and without access

// The live allocation that holds address, its end included; null where none does.
Allocation *find(uintptr_t address) {
  auto it = memory.upper_bound(address);
  if (it == memory.begin()) return nullptr;
  --it;
  return address <= it->first + it->second.bytes ? &it->second : nullptr;
}

bool inside(const Allocation *a, uintptr_t p, size_t bytes) {
  return a && p >= uintptr_t(a->begin) && p + bytes <= uintptr_t(a->begin) + a->bytes && p + bytes >= p;
}

int allocate(struct Context *, size_t bytes, bool host, int device, char **out);

void unmap(const Allocation &a) {
  // The addresses stay fenced off, so that a use after the free is a fault.
  mmap(a.mapping, a.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  freed.emplace_back(a.mapping, a.mapped);
  if (freed.size() > 4096) {
    munmap(freed.front().first, freed.front().second);
    freed.pop_front();
  }
}

// --- streams -------------------------------------------------------------------------------

struct Stream;

// Up to where a stream must have come.
struct Until {
  std::shared_ptr<Stream> stream;
  uint64_t sequence = 0;
};

struct Operation {
  std::string what;
  std::vector<Until> after;
  Work work;
};

// Work that was captured, in its order: a graph is one queue after another here, as the capture of one stream is.
struct Graph {
  std::vector<Operation> nodes;
};

struct Stream {
  struct Context *context = nullptr;
  std::unique_ptr<Graph> captured; // while the stream captures
  bool invalid = false;            // the capture is
  int capture_mode = 0;
  bool blocking = true, legacy = false, destroyed = false;
  unsigned flags = 0;
  int priority = 0;
  std::deque<Operation> queue;
  uint64_t enqueued = 0, finished = 0;
};

struct Event {
  struct Context *context = nullptr;
  bool timing = true, recorded = false;
  Until at;
  std::chrono::steady_clock::time_point when;
};

struct Module {
  struct Context *context = nullptr;
  void *handle = nullptr;
  const cudasim_module_info *info = nullptr;
  std::string object;          // the file that it was loaded from
  std::set<uintptr_t> globals; // in `memory` while the module is loaded
};

struct Function {
  Module *module = nullptr;
  const cudasim_kernel *kernel = nullptr;
  size_t dynamic_limit = 0;
};

struct Context {
  int device = 0;
  bool primary = false;
  unsigned flags = 0;
  int error = SUCCESS; // sticks
  std::shared_ptr<Stream> legacy;
  std::vector<std::shared_ptr<Stream>> streams; // all, the legacy one too
};

struct Device {
  int number = 0;       // before CUDA_VISIBLE_DEVICES
  Context *primary = nullptr;
  unsigned retained = 0;
  bool lost = false;
};

enum Mode { DEFAULT = 0, PROHIBITED = 2, EXCLUSIVE_PROCESS = 3 }; // as attribute 20 numbers them

struct {
  Mode mode = DEFAULT;
  std::string slice; // of a GPU in MIG mode
  int status = NOT_INITIALIZED;
  uint64_t memory = 0, lost_after = 0;
  int version = 0, major = 0, minor = 0;
  Order order = FORWARD;
  uint64_t seed = 0;
} settings;

std::vector<Device> devices;
std::map<Context *, std::unique_ptr<Context>> contexts;
std::map<Stream *, std::shared_ptr<Stream>> streams;
std::map<Event *, std::shared_ptr<Event>> events;
std::map<Module *, std::unique_ptr<Module>> modules;
std::map<Graph *, std::unique_ptr<Graph>> graphs, executables;
std::map<Function *, std::unique_ptr<Function>> functions;
thread_local std::vector<Context *> current; // a stack per thread

Context *now() { return current.empty() || !contexts.count(current.back()) ? nullptr : current.back(); }

int stick(Context *c, int error, const std::string &message) {
  if (c->error == SUCCESS) c->error = error;
  report(error, message);
  return error;
}

// What every call with a context asks first.
int check(Context **out) {
  if (settings.status != SUCCESS) return settings.status;
  Context *c = now();
  *out = c;
  if (!c) return !current.empty() && current.back() ? CONTEXT_IS_DESTROYED : INVALID_CONTEXT;
  if (devices[size_t(c->device)].lost) return LAUNCH_FAILED;
  return c->error;
}

#define CONTEXT(c)                                                                                 \
  Hold hold(lock);                                                                                 \
  if (int e = ordered(__func__)) return report(e, std::string(__func__) + ": ordered by CUDASIM_FAIL"); \
  Context *c;                                                                                      \
  if (int e = check(&c)) return e
#define INITIALISED                                                                                \
  Hold hold(lock);                                                                                 \
  if (int e = ordered(__func__)) return report(e, std::string(__func__) + ": ordered by CUDASIM_FAIL"); \
  if (settings.status != SUCCESS) return settings.status

void damage(Context *c, const Allocation &a, const std::string &who) {
  counts.guard_violations++;
  a.repair();
  char where[160];
  snprintf(where, sizeof where, "wrote outside of the allocation of %zu bytes at %p", a.bytes, static_cast<void *>(a.begin));
  stick(c, ILLEGAL_ADDRESS, who + " " + where);
}

void run_until(const Until &u) {
  Stream &s = *u.stream;
  while (s.finished < u.sequence && !s.queue.empty()) {
    Operation op = std::move(s.queue.front());
    s.queue.pop_front();
    for (auto &a : op.after) run_until(a);
    // After an error nothing runs any more; the queue drains.
    if (s.context->error == SUCCESS && !devices[size_t(s.context->device)].lost && op.work) {
      current.push_back(s.context);
      int error = op.work();
      current.pop_back();
      if (error != SUCCESS && s.context->error == SUCCESS) s.context->error = error;
    }
    s.finished++;
  }
}

void run_all(const std::shared_ptr<Stream> &s) { run_until({s, s->enqueued}); }

int state(Context *c) { return devices[size_t(c->device)].lost ? int(LAUNCH_FAILED) : c->error; }

void put(const std::shared_ptr<Stream> &s, std::string what, Work work, std::vector<Until> after = {}) {
  if (s->captured) {
    s->captured->nodes.push_back({std::move(what), {}, std::move(work)});
    return;
  }
  // The legacy stream waits for all blocking streams, and they for it.
  Context *c = s->context;
  if (s->legacy) {
    for (auto &other : c->streams)
      if (other != s && other->blocking && other->finished < other->enqueued) after.push_back({other, other->enqueued});
  } else if (s->blocking && c->legacy->finished < c->legacy->enqueued) {
    after.push_back({c->legacy, c->legacy->enqueued});
  }
  s->queue.push_back({std::move(what), std::move(after), std::move(work)});
  s->enqueued++;
}

int stream_of(Context *c, void *handle, std::shared_ptr<Stream> &out) {
  if (handle == nullptr || handle == reinterpret_cast<void *>(1)) {
    out = c->legacy;
    return SUCCESS;
  }
  if (handle == reinterpret_cast<void *>(2)) return report(NOT_SUPPORTED, "the per-thread default stream is not simulated");
  auto it = streams.find(static_cast<Stream *>(handle));
  if (it == streams.end()) return INVALID_HANDLE;
  if (it->second->context != c) return report(INVALID_HANDLE, "the stream belongs to another context");
  out = it->second;
  return SUCCESS;
}

// What cannot be done to a stream that captures invalidates the capture.
int no_capture(const std::shared_ptr<Stream> &s, const char *who) {
  if (!s->captured) return SUCCESS;
  s->invalid = true;
  return report(CAPTURE_UNSUPPORTED, std::string(who) + " on a stream that captures");
}

// The same for calls that captures in another mode than the relaxed one forbid, or, with relaxed, all captures.
int no_captures(Context *c, const char *who, bool relaxed) {
  for (auto &s : c->streams)
    if (s->captured && (relaxed || s->capture_mode != 2)) return no_capture(s, who);
  return SUCCESS;
}

void check_guards(Context *c, const char *who) {
  for (auto &entry : memory)
    if (entry.second.context == c && entry.second.mapping && entry.second.damaged()) damage(c, entry.second, who);
}

int synchronise_context(Context *c) {
  for (size_t i = 0; i < c->streams.size(); i++) run_all(c->streams[i]);
  c->streams.erase(std::remove_if(c->streams.begin(), c->streams.end(), [](auto &s) { return s->destroyed && s->queue.empty(); }),
                   c->streams.end());
  check_guards(c, "something");
  return state(c);
}

// What a synchronous copy waits for: the legacy stream.
int synchronise_legacy(Context *c) {
  put(c->legacy, "synchronisation", nullptr);
  run_all(c->legacy);
  return state(c);
}

int allocate(Context *c, size_t bytes, bool host, int device, char **out) {
  Device &d = devices[size_t(device)];
  const size_t rounded = (bytes + granule - 1) / granule * granule;
  if (rounded < bytes || (!host && !take(d.number, rounded, 0, settings.memory, false))) return OUT_OF_MEMORY;
  Allocation a;
  a.mapped = (rounded + page - 1) / page * page + 2 * fence;
  void *p = mmap(nullptr, a.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  auto back = [&] {
    if (!host) give(d.number, rounded, 0);
    return int(OUT_OF_MEMORY);
  };
  if (p == MAP_FAILED) return back();
  a.mapping = static_cast<char *>(p);
  if (mprotect(a.mapping + fence, a.mapped - 2 * fence, PROT_READ | PROT_WRITE) != 0) {
    munmap(a.mapping, a.mapped);
    return back();
  }
  a.begin = a.mapping + a.mapped - fence - rounded;
  a.bytes = bytes;
  a.device = device;
  a.host = host;
  a.context = c;
  memset(a.mapping + fence, guard_byte, a.mapped - 2 * fence); // poison and guard are the same byte
  memory[uintptr_t(a.begin)] = a;
  counts.allocations++;
  *out = a.begin;
  return SUCCESS;
}

void release(Context *c, std::map<uintptr_t, Allocation>::iterator it, const char *who) {
  Allocation a = it->second;
  memory.erase(it);
  if (a.mapping && a.damaged()) damage(c, a, who);
  if (!a.host) give(devices[size_t(a.device)].number, (a.bytes + granule - 1) / granule * granule, 0);
  unmap(a);
}

void unload(Module *m) {
  for (uintptr_t g : m->globals) memory.erase(g);
  for (auto it = functions.begin(); it != functions.end();) it = it->second->module == m ? functions.erase(it) : std::next(it);
  dlclose(m->handle);
  modules.erase(m);
}

// Null where the compute mode does not allow one.
Context *new_context(int device, unsigned flags) {
  const Device &d = devices[size_t(device)];
  if (settings.mode == PROHIBITED || !take(d.number, 0, 1, settings.memory, settings.mode == EXCLUSIVE_PROCESS)) return nullptr;
  auto owned = std::make_unique<Context>();
  Context *c = owned.get();
  c->device = device;
  c->flags = flags;
  c->legacy = std::make_shared<Stream>();
  c->legacy->context = c;
  c->legacy->legacy = true;
  c->streams.push_back(c->legacy);
  contexts[c] = std::move(owned);
  return c;
}

void destroy_context(Context *c) {
  synchronise_context(c);
  for (auto it = modules.begin(); it != modules.end();) {
    Module *m = it->first;
    ++it;
    if (m->context == c) unload(m);
  }
  for (auto it = memory.begin(); it != memory.end();) {
    auto here = it++;
    if (here->second.context != c) continue;
    counts.leaked++;
    release(c, here, "something");
  }
  for (auto it = streams.begin(); it != streams.end();) it = it->second->context == c ? streams.erase(it) : std::next(it);
  for (auto it = events.begin(); it != events.end();) it = it->second->context == c ? events.erase(it) : std::next(it);
  give(devices[size_t(c->device)].number, 0, 1);
  contexts.erase(c);
}

void read_settings() {
  settings.memory = number("CUDASIM_MEMORY", uint64_t(4) << 30);
  settings.version = int(number("CUDASIM_DRIVER", 12080));
  settings.lost_after = number("CUDASIM_LOST_AFTER", 0);
  const char *cc = getenv("CUDASIM_CC");
  if (sscanf(cc && *cc ? cc : "9.0", "%d.%d", &settings.major, &settings.minor) != 2) {
    fprintf(stderr, "cudasim: CUDASIM_CC=%s is not of the form 9.0\n", cc);
    abort();
  }
  const char *mode = getenv("CUDASIM_COMPUTE_MODE");
  if (!mode || !*mode || strcmp(mode, "default") == 0) settings.mode = DEFAULT;
  else if (strcmp(mode, "exclusive") == 0) settings.mode = EXCLUSIVE_PROCESS;
  else if (strcmp(mode, "prohibited") == 0) settings.mode = PROHIBITED;
  else {
    fprintf(stderr, "cudasim: CUDASIM_COMPUTE_MODE=%s is not default, exclusive or prohibited\n", mode);
    abort();
  }
  const char *slice = getenv("CUDASIM_MIG");
  settings.slice = slice ? slice : "";
  const char *order = getenv("CUDASIM_ORDER");
  if (!order || !*order) order = "forward";
  unsigned long long seed;
  char rest;
  if (strcmp(order, "forward") == 0) settings.order = FORWARD;
  else if (strcmp(order, "reverse") == 0) settings.order = REVERSE;
  else if (strcmp(order, "random") == 0) {
    settings.order = RANDOM;
    settings.seed = uint64_t(std::chrono::system_clock::now().time_since_epoch().count()) % 1000000;
    fprintf(stderr, "cudasim: CUDASIM_ORDER=random:%llu\n", (unsigned long long)settings.seed);
  } else if (sscanf(order, "random:%llu%c", &seed, &rest) == 1) {
    settings.order = RANDOM;
    settings.seed = seed;
  } else {
    fprintf(stderr, "cudasim: CUDASIM_ORDER=%s is not forward, reverse, random or random:SEED\n", order);
    abort();
  }
  checks_races(); // refuses a setting that it does not know
}

std::string uuid_text(int n) {
  char out[64];
  snprintf(out, sizeof out, "%s-00000000-0000-0000-0000-%012x", settings.slice.empty() ? "GPU" : "MIG", n + 1);
  return out;
}

// The devices that CUDA_VISIBLE_DEVICES leaves, in its order. The list ends at
// the first entry that names no device.
std::vector<int> visible(int count) {
  std::vector<int> out;
  const char *list = getenv("CUDA_VISIBLE_DEVICES");
  if (!list) {
    for (int i = 0; i < count; i++) out.push_back(i);
    return out;
  }
  std::istringstream in(list);
  for (std::string entry; std::getline(in, entry, ',');) {
    entry.erase(0, entry.find_first_not_of(" "));
    int n = -1;
    if (entry.rfind("GPU-", 0) == 0 || entry.rfind("MIG-", 0) == 0) {
      for (int i = 0; i < count; i++)
        if (uuid_text(i).rfind(entry, 0) == 0) n = i;
    } else if (!entry.empty() && isdigit((unsigned char)entry[0])) {
      n = atoi(entry.c_str());
    }
    if (n < 0 || n >= count || std::find(out.begin(), out.end(), n) != out.end()) break;
    out.push_back(n);
  }
  return out;
}

bool device(int d) { return d >= 0 && size_t(d) < devices.size(); }

// --- copies ---------------------------------------------------------------------------------

int device_range(Context *, uintptr_t p, size_t bytes, const char *what) {
  Allocation *a = find(p);
  if (inside(a, p, bytes)) return SUCCESS;
  char text[200];
  if (a) snprintf(text, sizeof text, "%s: %zu bytes at %p reach beyond the allocation of %zu bytes at %p", what, bytes, reinterpret_cast<void *>(p), a->bytes, static_cast<void *>(a->begin));
  else snprintf(text, sizeof text, "%s: %p is not in a live allocation", what, reinterpret_cast<void *>(p));
  return report(INVALID_VALUE, text);
}

bool pinned(const void *p, size_t bytes) {
  Allocation *a = find(uintptr_t(p));
  return inside(a, uintptr_t(p), bytes) && a->host;
}

int copy_in(Context *c, const std::shared_ptr<Stream> &s, uintptr_t to, const void *from, size_t bytes) {
  if (bytes == 0) return SUCCESS;
  if (!from) return INVALID_VALUE;
  if (int e = device_range(c, to, bytes, "copy to the device")) return e;
  counts.copies_in++;
  counts.bytes_in += bytes;
  if (pinned(from, bytes)) { // read when the copy runs
    put(s, "copy to the device", [=] { memmove(reinterpret_cast<void *>(to), from, bytes); return int(SUCCESS); });
  } else { // pageable memory is staged before the call returns
    auto staged = std::make_shared<std::vector<char>>(static_cast<const char *>(from), static_cast<const char *>(from) + bytes);
    put(s, "copy to the device", [=] { memcpy(reinterpret_cast<void *>(to), staged->data(), bytes); return int(SUCCESS); });
  }
  return SUCCESS;
}

int copy_out(Context *c, const std::shared_ptr<Stream> &s, void *to, uintptr_t from, size_t bytes) {
  if (bytes == 0) return SUCCESS;
  if (!to) return INVALID_VALUE;
  if (int e = device_range(c, from, bytes, "copy to the host")) return e;
  counts.copies_out++;
  counts.bytes_out += bytes;
  put(s, "copy to the host", [=] { memmove(to, reinterpret_cast<const void *>(from), bytes); return int(SUCCESS); });
  return SUCCESS;
}

int copy_inside(Context *c, const std::shared_ptr<Stream> &s, uintptr_t to, uintptr_t from, size_t bytes) {
  if (bytes == 0) return SUCCESS;
  if (int e = device_range(c, to, bytes, "copy on the device, target")) return e;
  if (int e = device_range(c, from, bytes, "copy on the device, source")) return e;
  counts.copies_inside++;
  put(s, "copy on the device", [=] { memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes); return int(SUCCESS); });
  return SUCCESS;
}

template <class T> int fill(Context *c, const std::shared_ptr<Stream> &s, uintptr_t to, T value, size_t count) {
  if (count == 0) return SUCCESS;
  if (to % sizeof(T)) return INVALID_VALUE;
  if (int e = device_range(c, to, count * sizeof(T), "memset")) return e;
  put(s, "memset", [=] { std::fill_n(reinterpret_cast<T *>(to), count, value); return int(SUCCESS); });
  return SUCCESS;
}

// --- kernels ----------------------------------------------------------------------------------

// What stands for PTX of NVIDIA's compiler, which is not simulated: for NAME.ptx in the folder CUDASIM_PTX its NAME.sim.
std::string stand_in(const char *image) {
  const char *folder = getenv("CUDASIM_PTX");
  if (!folder || !*folder) return "";
  auto read = [](const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  };
  std::error_code none;
  for (auto &entry : std::filesystem::directory_iterator(folder, none))
    if (entry.path().extension() == ".ptx" && read(entry.path()) == image) return read(std::filesystem::path(entry.path()).replace_extension(".sim"));
  return "";
}

int load(Context *c, const char *image, Module **out) {
  const std::string stands = stand_in(image);
  if (!stands.empty()) image = stands.c_str();
  size_t line = strcspn(image, "\n");
  std::string first(image, line);
  char kind[8];
  int cc, compiler;
  if (sscanf(first.c_str(), (std::string(magic) + " %7s %d %d").c_str(), kind, &cc, &compiler) != 3 || !image[line])
    return report(INVALID_IMAGE, "the image was not made by the simulated NVRTC");
  const int here = settings.major * 10 + settings.minor;
  if (strcmp(kind, "ptx") == 0) {
    if (cc > here) return report(NO_BINARY_FOR_GPU, "PTX for compute capability " + std::to_string(cc) + " on a device of " + std::to_string(here));
    if (compiler > settings.version)
      return report(UNSUPPORTED_PTX_VERSION, "PTX of NVRTC " + std::to_string(compiler) + " for a driver of " + std::to_string(settings.version));
  } else if (cc / 10 != settings.major || cc > here) {
    return report(NO_BINARY_FOR_GPU, "CUBIN for compute capability " + std::to_string(cc) + " on a device of " + std::to_string(here));
  } else if (compiler / 1000 > settings.version / 1000) {
    return report(INVALID_IMAGE, "CUBIN of NVRTC " + std::to_string(compiler) + " for a driver of " + std::to_string(settings.version));
  }
  std::string path, log;
  if (!build(image + line + 1, path, log)) return report(INVALID_PTX, log);
  // Each load has globals of its own, but dlopen knows a path once: load a copy.
  static int copies = 0;
  std::string copy = path + "." + std::to_string(getpid()) + "." + std::to_string(copies++);
  {
    std::ifstream in(path, std::ios::binary);
    std::ofstream to(copy, std::ios::binary);
    to << in.rdbuf();
    if (!in || !to) return report(INVALID_IMAGE, "cannot copy " + path);
  }
  void *handle = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::string failure = handle ? "" : dlerror();
  unlink(copy.c_str());
  if (!handle) return report(INVALID_IMAGE, failure);
  auto info = static_cast<const cudasim_module_info *>(dlsym(handle, "cudasim_module"));
  if (!info) {
    dlclose(handle);
    return report(INVALID_IMAGE, "the module has no table of kernels");
  }
  auto m = std::make_unique<Module>();
  m->context = c;
  m->handle = handle;
  m->info = info;
  m->object = path;
  *info->runtime = &runtime;
  *out = m.get();
  modules[m.get()] = std::move(m);
  counts.modules++;
  return SUCCESS;
}

struct Launch {
  Grid grid;
  Function *function;
  std::vector<char> arguments;
  std::vector<size_t> offsets;
};

int run_kernel(Context *c, const Launch &l) {
  const cudasim_kernel &k = *l.function->kernel;
  std::vector<void *> pointers;
  std::vector<Allocation *> touched;
  for (unsigned i = 0; i < k.count; i++) {
    char *argument = const_cast<char *>(l.arguments.data()) + l.offsets[i];
    pointers.push_back(argument);
    if (!k.pointers[i]) continue;
    uintptr_t p;
    memcpy(&p, argument, sizeof p);
    if (!p) continue;
    Allocation *a = find(p);
    if (!a || (!a->host && a->device != c->device)) {
      char text[200];
      snprintf(text, sizeof text, "%s: argument %u, %p, is not in a live allocation of the device", k.name, i, reinterpret_cast<void *>(p));
      return stick(c, ILLEGAL_ADDRESS, text);
    }
    touched.push_back(a);
  }
  std::string message;
  if (int e = execute(l.grid, *l.function->module->info, k, pointers.data(), message)) return stick(c, e, message);
  for (Allocation *a : touched)
    if (a->mapping && a->damaged()) damage(c, *a, std::string("kernel ") + k.name);
  return c->error;
}

size_t static_shared(const cudasim_kernel &k) { return k.shared_begin ? size_t(k.shared_end - k.shared_begin) : 0; }
int max_threads(const cudasim_kernel &k) { return k.max_threads > 0 ? k.max_threads : 1024; }

constexpr size_t shared_default = 48 << 10, shared_most = 227 << 10;

Function *function_of(void *f) {
  auto it = functions.find(static_cast<Function *>(f));
  return it == functions.end() ? nullptr : it->second.get();
}

Event *event_of(void *e, std::shared_ptr<Event> &out) {
  auto it = events.find(static_cast<Event *>(e));
  if (it == events.end()) return nullptr;
  out = it->second;
  return out.get();
}

} // namespace

// --- for the other libraries --------------------------------------------------------------

void poison(void *p, size_t bytes) { memset(p, 0xff, bytes); }

int usable() {
  Hold hold(lock);
  Context *c;
  return check(&c);
}

int capability() { return 10 * settings.major + settings.minor; }

int enqueue(StreamHandle handle, std::string what, Work work) {
  CONTEXT(c);
  std::shared_ptr<Stream> s;
  if (int e = stream_of(c, handle, s)) return e;
  counts.library_calls++;
  put(s, std::move(what), std::move(work));
  return SUCCESS;
}

int synchronise(StreamHandle handle) {
  CONTEXT(c);
  std::shared_ptr<Stream> s;
  if (int e = stream_of(c, handle, s)) return e;
  if (int e = no_capture(s, "a library's wait")) return e;
  run_all(s);
  return state(c);
}

int reachable(const void *p, size_t bytes, const char *what) {
  Hold hold(lock);
  if (bytes == 0) return SUCCESS;
  Allocation *a = find(uintptr_t(p));
  if (inside(a, uintptr_t(p), bytes) && (a->host || a->device == now()->device)) return SUCCESS;
  char text[240];
  snprintf(text, sizeof text, "%s: %zu bytes at %p are not inside a live allocation of the device", what, bytes, p);
  return report(ILLEGAL_ADDRESS, text);
}

} // namespace cudasim

using namespace cudasim;

extern "C" {

// Counts, one "name value" a line, and what is alive. Gives the length of the
// text, which is cut where the buffer is too small.
size_t cudasim_report(char *out, size_t size) {
  Hold hold(lock);
  uint64_t live = 0, live_bytes = 0, pending = 0;
  for (auto &entry : memory)
    if (entry.second.mapping) live++, live_bytes += entry.second.bytes;
  for (auto &c : contexts)
    for (auto &s : c.first->streams) pending += s->queue.size();
  char text[1024];
  int n = snprintf(text, sizeof text,
                   "live_allocations %llu\nlive_bytes %llu\nlive_contexts %zu\nlive_streams %zu\nlive_events %zu\nlive_modules %zu\n"
                   "pending %llu\nallocations %llu\nleaked_allocations %llu\nlaunches %llu\nlibrary_calls %llu\ncopies_to_device %llu\n"
                   "copies_to_host %llu\ngraph_launches %llu\ngraph_nodes %llu\nlive_graphs %zu\ncopies_on_device %llu\nbytes_to_device %llu\nbytes_to_host %llu\nsynchronisations %llu\n"
                   "bad_frees %llu\nguard_violations %llu\nmodules %llu\nchecked_accesses %llu\n",
                   (unsigned long long)live, (unsigned long long)live_bytes, contexts.size(), streams.size(), events.size(), modules.size(),
                   (unsigned long long)pending, (unsigned long long)counts.allocations, (unsigned long long)counts.leaked,
                   (unsigned long long)counts.launches, (unsigned long long)counts.library_calls, (unsigned long long)counts.copies_in,
                   (unsigned long long)counts.copies_out,
                   (unsigned long long)counts.graph_launches, (unsigned long long)counts.graph_nodes, graphs.size() + executables.size(),
                   (unsigned long long)counts.copies_inside, (unsigned long long)counts.bytes_in,
                   (unsigned long long)counts.bytes_out, (unsigned long long)counts.synchronisations, (unsigned long long)counts.bad_frees,
                   (unsigned long long)counts.guard_violations, (unsigned long long)counts.modules,
                   (unsigned long long)checked_accesses());
  if (out && size) snprintf(out, size, "%s", text);
  return size_t(n);
}

// What the last error was about, in words.
size_t cudasim_last_error(char *out, size_t size) {
  Hold hold(lock);
  if (out && size) snprintf(out, size, "%s", last_error.c_str());
  return last_error.size();
}

// --- the driver interface: initialisation and devices ---------------------------------

int cuInit(unsigned flags) {
  Hold hold(lock);
  if (flags) return INVALID_VALUE;
  if (int e = ordered(__func__)) return report(e, "cuInit: ordered by CUDASIM_FAIL");
  if (settings.status == SUCCESS) return SUCCESS;
  read_settings();
  devices.clear();
  for (int n : visible(int(number("CUDASIM_DEVICES", 1)))) {
    devices.emplace_back();
    devices.back().number = n;
  }
  settings.status = devices.empty() ? NO_DEVICE : SUCCESS;
  return settings.status;
}

int cuDriverGetVersion(int *version) {
  Hold hold(lock);
  if (!version) return INVALID_VALUE;
  *version = int(number("CUDASIM_DRIVER", 12080));
  return SUCCESS;
}

int cuGetErrorName(int error, const char **out);
int cuGetErrorString(int error, const char **out);

int cuDeviceGetCount(int *count) {
  INITIALISED;
  if (!count) return INVALID_VALUE;
  *count = int(devices.size());
  return SUCCESS;
}
int cuDeviceGet(int *out, int ordinal) {
  INITIALISED;
  if (!out) return INVALID_VALUE;
  if (!device(ordinal)) return INVALID_DEVICE;
  *out = ordinal;
  return SUCCESS;
}
int cuDeviceGetName(char *out, int size, int d) {
  INITIALISED;
  if (!out || size <= 0) return INVALID_VALUE;
  if (!device(d)) return INVALID_DEVICE;
  snprintf(out, size_t(size), "Simulated CUDA device %d%s%s", devices[size_t(d)].number, settings.slice.empty() ? "" : " MIG ",
           settings.slice.c_str());
  return SUCCESS;
}
int cuDeviceGetUuid(char *out, int d) {
  INITIALISED;
  if (!out) return INVALID_VALUE;
  if (!device(d)) return INVALID_DEVICE;
  memset(out, 0, 16);
  out[15] = char(devices[size_t(d)].number + 1);
  return SUCCESS;
}
int cuDeviceGetUuid_v2(char *out, int d) { return cuDeviceGetUuid(out, d); }
int cuDeviceGetPCIBusId(char *out, int size, int d) {
  INITIALISED;
  if (!out || size <= 0) return INVALID_VALUE;
  if (!device(d)) return INVALID_DEVICE;
  snprintf(out, size_t(size), "0000:%02X:00.0", devices[size_t(d)].number + 1);
  return SUCCESS;
}
int cuDeviceTotalMem_v2(size_t *out, int d) {
  INITIALISED;
  if (!out) return INVALID_VALUE;
  if (!device(d)) return INVALID_DEVICE;
  *out = settings.memory;
  return SUCCESS;
}
int cuDeviceTotalMem(unsigned *out, int d) {
  size_t n = 0;
  int e = cuDeviceTotalMem_v2(&n, d);
  if (!e && out) *out = unsigned(std::min(n, size_t(0xffffffffu)));
  return e;
}
int cuDeviceComputeCapability(int *major, int *minor, int d) {
  INITIALISED;
  if (!major || !minor) return INVALID_VALUE;
  if (!device(d)) return INVALID_DEVICE;
  *major = settings.major;
  *minor = settings.minor;
  return SUCCESS;
}
int cuDeviceGetAttribute(int *out, int attribute, int d) {
  INITIALISED;
  if (!out) return INVALID_VALUE;
  if (!device(d)) return INVALID_DEVICE;
  static const std::map<int, int> values = {
      {1, 1024},     {2, 1024},       {3, 1024},      {4, 64},         {5, 2147483647}, {6, 65535},      {7, 65535},
      {8, 49152},    {9, 65536},      {10, 32},       {11, 2147483647}, {12, 65536},     {13, 1500000},   {14, 512},
      {15, 1},       {16, 4},         {17, 0},        {18, 0},         {19, 1},         {31, 1},
      {32, 0},       {34, 0},         {35, 0},        {36, 1000000},   {37, 256},       {38, 4194304},   {39, 2048},
      {40, 2},       {41, 1},         {50, 0},        {78, 1},         {79, 1},         {80, 1},         {81, 233472},
      {82, 65536},   {83, 0},         {84, 0},        {86, 0},         {87, 2},         {88, 0},         {89, 0},
      {90, 1},       {91, 1},         {95, 0},        {97, int(shared_most)}, {99, 1},  {100, 0},        {101, 0},
      {106, 32},     {111, 1024},     {115, 0}};
  if (attribute == 75) *out = settings.major;
  else if (attribute == 76) *out = settings.minor;
  else if (attribute == 20) *out = settings.mode;
  else if (attribute == 33) *out = devices[size_t(d)].number + 1;
  else if (auto it = values.find(attribute); it != values.end()) *out = it->second;
  else if (attribute > 0 && attribute < 144) *out = 0;
  else return INVALID_VALUE;
  return SUCCESS;
}
int cuDeviceCanAccessPeer(int *out, int d, int peer) {
  INITIALISED;
  if (!out) return INVALID_VALUE;
  if (!device(d) || !device(peer)) return INVALID_DEVICE;
  *out = 0;
  return SUCCESS;
}

// --- contexts -----------------------------------------------------------------------------

int cuDevicePrimaryCtxRetain(Context **out, int d) {
  INITIALISED;
  if (!out) return INVALID_VALUE;
  if (!device(d)) return INVALID_DEVICE;
  Device &dev = devices[size_t(d)];
  if (dev.lost) return LAUNCH_FAILED;
  if (!dev.primary) {
    if (!(dev.primary = new_context(d, 0))) return DEVICE_UNAVAILABLE;
    dev.primary->primary = true;
  }
  dev.retained++;
  *out = dev.primary;
  return SUCCESS;
}
int cuDevicePrimaryCtxRelease_v2(int d) {
  INITIALISED;
  if (!device(d)) return INVALID_DEVICE;
  Device &dev = devices[size_t(d)];
  if (dev.retained == 0) return INVALID_CONTEXT;
  if (--dev.retained == 0) {
    destroy_context(dev.primary);
    dev.primary = nullptr;
  }
  return SUCCESS;
}
int cuDevicePrimaryCtxRelease(int d) { return cuDevicePrimaryCtxRelease_v2(d); }
int cuDevicePrimaryCtxReset_v2(int d) {
  INITIALISED;
  if (!device(d)) return INVALID_DEVICE;
  Device &dev = devices[size_t(d)];
  if (dev.primary) destroy_context(dev.primary);
  dev.primary = nullptr;
  dev.retained = 0;
  return SUCCESS;
}
int cuDevicePrimaryCtxReset(int d) { return cuDevicePrimaryCtxReset_v2(d); }
int cuDevicePrimaryCtxGetState(int d, unsigned *flags, int *active) {
  INITIALISED;
  if (!flags || !active) return INVALID_VALUE;
  if (!device(d)) return INVALID_DEVICE;
  Context *p = devices[size_t(d)].primary;
  *flags = p ? p->flags : 0;
  *active = p != nullptr;
  return SUCCESS;
}
int cuDevicePrimaryCtxSetFlags_v2(int d, unsigned flags) {
  INITIALISED;
  if (!device(d)) return INVALID_DEVICE;
  if (Context *p = devices[size_t(d)].primary) p->flags = flags;
  return SUCCESS;
}
int cuCtxCreate_v2(Context **out, unsigned flags, int d) {
  INITIALISED;
  if (!out) return INVALID_VALUE;
  if (!device(d)) return INVALID_DEVICE;
  if (devices[size_t(d)].lost) return LAUNCH_FAILED;
  if (!(*out = new_context(d, flags))) return DEVICE_UNAVAILABLE;
  current.push_back(*out);
  return SUCCESS;
}
int cuCtxCreate_v4(Context **out, void *, unsigned flags, int d) { return cuCtxCreate_v2(out, flags, d); }
int cuCtxDestroy_v2(Context *c) {
  INITIALISED;
  if (!contexts.count(c)) return INVALID_CONTEXT;
  if (c->primary) return INVALID_CONTEXT;
  destroy_context(c);
  if (!current.empty() && current.back() == c) current.pop_back();
  return SUCCESS;
}
int cuCtxSetCurrent(Context *c) {
  INITIALISED;
  if (c && !contexts.count(c)) return INVALID_CONTEXT;
  if (!current.empty()) current.pop_back();
  if (c) current.push_back(c);
  return SUCCESS;
}
int cuCtxGetCurrent(Context **out) {
  INITIALISED;
  if (!out) return INVALID_VALUE;
  *out = current.empty() ? nullptr : current.back();
  return SUCCESS;
}
int cuCtxPushCurrent_v2(Context *c) {
  INITIALISED;
  if (!contexts.count(c)) return INVALID_CONTEXT;
  current.push_back(c);
  return SUCCESS;
}
int cuCtxPopCurrent_v2(Context **out) {
  INITIALISED;
  if (current.empty()) return INVALID_CONTEXT;
  if (out) *out = current.back();
  current.pop_back();
  return SUCCESS;
}
int cuCtxGetDevice(int *out) {
  CONTEXT(c);
  if (!out) return INVALID_VALUE;
  *out = c->device;
  return SUCCESS;
}
int cuCtxSynchronize() {
  CONTEXT(c);
  if (int e = no_captures(c, __func__, true)) return e;
  counts.synchronisations++;
  return synchronise_context(c);
}
int cuCtxGetFlags(unsigned *out) {
  CONTEXT(c);
  if (!out) return INVALID_VALUE;
  *out = c->flags;
  return SUCCESS;
}
int cuCtxGetApiVersion(Context *c, unsigned *out) {
  INITIALISED;
  if (!out) return INVALID_VALUE;
  if (c && !contexts.count(c)) return INVALID_CONTEXT;
  *out = 3020;
  return SUCCESS;
}
int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  CONTEXT(c);
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return SUCCESS;
}

// --- memory -------------------------------------------------------------------------------------

int cuMemAlloc_v2(uintptr_t *out, size_t bytes) {
  CONTEXT(c);
  if (!out || bytes == 0) return INVALID_VALUE;
  if (int e = no_captures(c, __func__, false)) return e;
  char *p;
  if (int e = allocate(c, bytes, false, c->device, &p))
    return report(e, "no memory for " + std::to_string(bytes) + " bytes: " + std::to_string(held(devices[size_t(c->device)].number).bytes) + " of " +
                         std::to_string(settings.memory) + " are in use");
  *out = uintptr_t(p);
  return SUCCESS;
}
int cuMemFree_v2(uintptr_t p) {
  CONTEXT(c);
  if (!p) return SUCCESS;
  auto it = memory.find(p);
  if (it == memory.end() || it->second.host || !it->second.mapping) {
    counts.bad_frees++;
    return report(INVALID_VALUE, "free of an address that is not a live allocation");
  }
  synchronise_context(c);
  release(c, it, "something");
  return state(c);
}
int cuMemGetInfo_v2(size_t *available, size_t *total) {
  CONTEXT(c);
  if (available) *available = settings.memory - held(devices[size_t(c->device)].number).bytes;
  if (total) *total = settings.memory;
  return SUCCESS;
}
int cuMemGetAddressRange_v2(uintptr_t *base, size_t *size, uintptr_t p) {
  CONTEXT(c);
  Allocation *a = find(p);
  if (!a) return NOT_FOUND;
  if (base) *base = uintptr_t(a->begin);
  if (size) *size = a->bytes;
  return SUCCESS;
}
int cuMemHostAlloc(void **out, size_t bytes, unsigned) {
  CONTEXT(c);
  if (!out || bytes == 0) return INVALID_VALUE;
  char *p;
  if (int e = allocate(c, bytes, true, c->device, &p)) return e;
  *out = p;
  return SUCCESS;
}
int cuMemAllocHost_v2(void **out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }
int cuMemFreeHost(void *p) {
  CONTEXT(c);
  auto it = memory.find(uintptr_t(p));
  if (it == memory.end() || !it->second.host) {
    counts.bad_frees++;
    return report(INVALID_VALUE, "free of host memory that was not allocated by the driver");
  }
  synchronise_context(c);
  release(c, it, "something");
  return state(c);
}
int cuMemHostGetDevicePointer_v2(uintptr_t *out, void *p, unsigned flags) {
  CONTEXT(c);
  if (!out || flags || !pinned(p, 1)) return INVALID_VALUE;
  *out = uintptr_t(p);
  return SUCCESS;
}

int cuMemcpyHtoD_v2(uintptr_t to, const void *from, size_t bytes) {
  CONTEXT(c);
  counts.synchronisations++;
  if (int e = copy_in(c, c->legacy, to, from, bytes)) return e;
  return synchronise_legacy(c);
}
int cuMemcpyDtoH_v2(void *to, uintptr_t from, size_t bytes) {
  CONTEXT(c);
  counts.synchronisations++;
  if (int e = copy_out(c, c->legacy, to, from, bytes)) return e;
  return synchronise_legacy(c);
}
// A copy on the device does not wait: it is only ordered.
int cuMemcpyDtoD_v2(uintptr_t to, uintptr_t from, size_t bytes) {
  CONTEXT(c);
  return copy_inside(c, c->legacy, to, from, bytes);
}
#define STREAM(s, handle)                                                                          \
  std::shared_ptr<Stream> s;                                                                       \
  if (int e = stream_of(c, handle, s)) return e
int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t bytes, void *stream) {
  CONTEXT(c);
  STREAM(s, stream);
  return copy_in(c, s, to, from, bytes);
}
int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t bytes, void *stream) {
  CONTEXT(c);
  STREAM(s, stream);
  return copy_out(c, s, to, from, bytes);
}
int cuMemcpyDtoDAsync_v2(uintptr_t to, uintptr_t from, size_t bytes, void *stream) {
  CONTEXT(c);
  STREAM(s, stream);
  return copy_inside(c, s, to, from, bytes);
}
// Unified addresses: what is not device memory is the host's.
int cuMemcpyAsync(uintptr_t to, uintptr_t from, size_t bytes, void *stream) {
  CONTEXT(c);
  STREAM(s, stream);
  bool to_device = find(to) != nullptr, from_device = find(from) != nullptr;
  if (to_device && from_device) return copy_inside(c, s, to, from, bytes);
  if (to_device) return copy_in(c, s, to, reinterpret_cast<const void *>(from), bytes);
  if (from_device) return copy_out(c, s, reinterpret_cast<void *>(to), from, bytes);
  return INVALID_VALUE;
}
int cuMemcpy(uintptr_t to, uintptr_t from, size_t bytes) {
  CONTEXT(c);
  counts.synchronisations++;
  if (int e = cuMemcpyAsync(to, from, bytes, nullptr)) return e;
  return synchronise_legacy(c);
}
// Filling does not wait either.
int cuMemsetD8Async(uintptr_t to, unsigned char v, size_t n, void *stream) {
  CONTEXT(c);
  STREAM(s, stream);
  return fill(c, s, to, v, n);
}
int cuMemsetD16Async(uintptr_t to, unsigned short v, size_t n, void *stream) {
  CONTEXT(c);
  STREAM(s, stream);
  return fill(c, s, to, v, n);
}
int cuMemsetD32Async(uintptr_t to, unsigned v, size_t n, void *stream) {
  CONTEXT(c);
  STREAM(s, stream);
  return fill(c, s, to, v, n);
}
int cuMemsetD8_v2(uintptr_t to, unsigned char v, size_t n) { return cuMemsetD8Async(to, v, n, nullptr); }
int cuMemsetD16_v2(uintptr_t to, unsigned short v, size_t n) { return cuMemsetD16Async(to, v, n, nullptr); }
int cuMemsetD32_v2(uintptr_t to, unsigned v, size_t n) { return cuMemsetD32Async(to, v, n, nullptr); }

// --- streams and events -----------------------------------------------------------------------------

int cuStreamCreateWithPriority(Stream **out, unsigned flags, int priority) {
  CONTEXT(c);
  if (!out || flags > 1) return INVALID_VALUE;
  auto s = std::make_shared<Stream>();
  s->context = c;
  s->flags = flags;
  s->priority = priority;
  s->blocking = !(flags & 1);
  streams[s.get()] = s;
  c->streams.push_back(s);
  *out = s.get();
  return SUCCESS;
}
int cuStreamCreate(Stream **out, unsigned flags) { return cuStreamCreateWithPriority(out, flags, 0); }
// The work in it is still done, when something waits for it.
int cuStreamDestroy_v2(Stream *s) {
  CONTEXT(c);
  auto it = streams.find(s);
  if (it == streams.end()) return INVALID_HANDLE;
  it->second->destroyed = true;
  streams.erase(it);
  return SUCCESS;
}
int cuStreamSynchronize(void *stream) {
  CONTEXT(c);
  STREAM(s, stream);
  if (int e = no_capture(s, __func__)) return e;
  counts.synchronisations++;
  if (s->legacy) return synchronise_legacy(c);
  run_all(s);
  return state(c);
}
// Each question brings the stream one step on, so that a loop of them ends.
int cuStreamQuery(void *stream) {
  CONTEXT(c);
  STREAM(s, stream);
  if (int e = no_capture(s, __func__)) return e;
  if (s->queue.empty()) return SUCCESS;
  run_until({s, s->finished + 1});
  if (int e = state(c)) return e;
  return NOT_READY;
}
int cuStreamGetFlags(void *stream, unsigned *out) {
  CONTEXT(c);
  STREAM(s, stream);
  if (!out) return INVALID_VALUE;
  *out = s->flags;
  return SUCCESS;
}
int cuStreamGetPriority(void *stream, int *out) {
  CONTEXT(c);
  STREAM(s, stream);
  if (!out) return INVALID_VALUE;
  *out = s->priority;
  return SUCCESS;
}
int cuStreamGetCtx(void *stream, Context **out) {
  CONTEXT(c);
  STREAM(s, stream);
  if (!out) return INVALID_VALUE;
  *out = s->context;
  return SUCCESS;
}
int cuStreamWaitEvent(void *stream, void *event, unsigned) {
  CONTEXT(c);
  STREAM(s, stream);
  std::shared_ptr<Event> e;
  if (!event_of(event, e)) return INVALID_HANDLE;
  if (int error = no_capture(s, __func__)) return error; // not simulated
  if (e->recorded) put(s, "wait for an event", nullptr, {e->at});
  return SUCCESS;
}
int cuLaunchHostFunc(void *stream, void (*f)(void *), void *argument) {
  CONTEXT(c);
  STREAM(s, stream);
  if (!f) return INVALID_VALUE;
  put(s, "host function", [=] { f(argument); return int(SUCCESS); });
  return SUCCESS;
}
// --- captures and graphs ----------------------------------------------------------------------------

int cuStreamBeginCapture_v2(void *stream, int mode) {
  CONTEXT(c);
  STREAM(s, stream);
  if (mode < 0 || mode > 2) return INVALID_VALUE;
  if (s->legacy) return report(CAPTURE_UNSUPPORTED, "the legacy stream cannot be captured");
  if (s->captured) return report(ILLEGAL_STATE, "the stream captures already");
  s->captured = std::make_unique<Graph>();
  s->invalid = false;
  s->capture_mode = mode;
  return SUCCESS;
}
int cuStreamEndCapture(void *stream, Graph **out) {
  CONTEXT(c);
  STREAM(s, stream);
  if (!s->captured) return report(ILLEGAL_STATE, "the stream does not capture");
  auto g = std::move(s->captured);
  if (out) *out = nullptr;
  if (s->invalid) return report(CAPTURE_INVALIDATED, "the capture was invalidated");
  if (!out) return INVALID_VALUE;
  *out = g.get();
  graphs[g.get()] = std::move(g);
  return SUCCESS;
}
int cuGraphInstantiateWithFlags(Graph **out, Graph *g, unsigned long long flags) {
  CONTEXT(c);
  if (!out || flags) return INVALID_VALUE;
  if (!graphs.count(g)) return INVALID_HANDLE;
  auto x = std::make_unique<Graph>(*g);
  *out = x.get();
  executables[x.get()] = std::move(x);
  return SUCCESS;
}
int cuGraphDestroy(Graph *g) {
  CONTEXT(c);
  return graphs.erase(g) ? SUCCESS : INVALID_VALUE;
}
// Launches that are queued keep their work.
int cuGraphExecDestroy(Graph *x) {
  CONTEXT(c);
  return executables.erase(x) ? SUCCESS : INVALID_VALUE;
}
int cuGraphLaunch(Graph *x, void *stream) {
  CONTEXT(c);
  STREAM(s, stream);
  auto it = executables.find(x);
  if (it == executables.end()) return INVALID_HANDLE;
  if (int e = no_capture(s, __func__)) return e; // not simulated
  counts.graph_launches++;
  counts.graph_nodes += it->second->nodes.size();
  for (auto &node : it->second->nodes) put(s, node.what, node.work);
  return SUCCESS;
}

int cuEventCreate(Event **out, unsigned flags) {
  CONTEXT(c);
  if (!out || flags > 7) return INVALID_VALUE;
  auto e = std::make_shared<Event>();
  e->context = c;
  e->timing = !(flags & 2);
  events[e.get()] = e;
  *out = e.get();
  return SUCCESS;
}
int cuEventDestroy_v2(Event *e) {
  CONTEXT(c);
  return events.erase(e) ? SUCCESS : INVALID_HANDLE;
}
int cuEventRecord(void *event, void *stream) {
  CONTEXT(c);
  STREAM(s, stream);
  std::shared_ptr<Event> e;
  if (!event_of(event, e)) return INVALID_HANDLE;
  if (e->context != c) return INVALID_HANDLE;
  if (int error = no_capture(s, __func__)) return error; // not simulated
  std::weak_ptr<Event> weak = e;
  put(s, "event", [weak] {
    if (auto e = weak.lock()) e->when = std::chrono::steady_clock::now();
    return int(SUCCESS);
  });
  e->recorded = true;
  e->at = {s, s->enqueued};
  return SUCCESS;
}
int cuEventSynchronize(void *event) {
  CONTEXT(c);
  std::shared_ptr<Event> e;
  if (!event_of(event, e)) return INVALID_HANDLE;
  counts.synchronisations++;
  if (e->recorded) run_until(e->at);
  return state(c);
}
int cuEventQuery(void *event) {
  CONTEXT(c);
  std::shared_ptr<Event> e;
  if (!event_of(event, e)) return INVALID_HANDLE;
  if (!e->recorded || e->at.stream->finished >= e->at.sequence) return SUCCESS;
  run_until({e->at.stream, e->at.stream->finished + 1});
  if (int error = state(c)) return error;
  return NOT_READY;
}
int cuEventElapsedTime(float *out, void *from, void *to) {
  CONTEXT(c);
  std::shared_ptr<Event> a, b;
  if (!event_of(from, a) || !event_of(to, b)) return INVALID_HANDLE;
  if (!out) return INVALID_VALUE;
  if (!a->recorded || !b->recorded || !a->timing || !b->timing) return INVALID_HANDLE;
  if (a->at.stream->finished < a->at.sequence || b->at.stream->finished < b->at.sequence) return NOT_READY;
  *out = std::chrono::duration<float, std::milli>(b->when - a->when).count();
  return SUCCESS;
}
int cuEventElapsedTime_v2(float *out, void *from, void *to) { return cuEventElapsedTime(out, from, to); }

// --- modules and launches -----------------------------------------------------------------------------

int cuModuleLoadData(Module **out, const void *image) {
  CONTEXT(c);
  if (!out || !image) return INVALID_VALUE;
  return load(c, static_cast<const char *>(image), out);
}
int cuModuleLoadDataEx(Module **out, const void *image, unsigned, int *, void **) { return cuModuleLoadData(out, image); }
int cuModuleLoad(Module **out, const char *path) {
  CONTEXT(c);
  if (!out || !path) return INVALID_VALUE;
  std::ifstream in(path, std::ios::binary);
  if (!in) return FILE_NOT_FOUND;
  std::ostringstream text;
  text << in.rdbuf();
  return load(c, text.str().c_str(), out);
}
int cuModuleUnload(Module *m) {
  CONTEXT(c);
  if (!modules.count(m)) return INVALID_HANDLE;
  synchronise_context(c);
  unload(m);
  return state(c);
}
int cuModuleGetFunction(Function **out, Module *m, const char *name) {
  CONTEXT(c);
  if (!modules.count(m)) return INVALID_HANDLE;
  if (!out || !name) return INVALID_VALUE;
  for (unsigned i = 0; i < m->info->count; i++) {
    const cudasim_kernel &k = m->info->kernels[i];
    if (strcmp(k.name, name) != 0) continue;
    // Without extern "C" the real name is a mangled one.
    if (k.symbol && !dlsym(m->handle, k.symbol)) return report(NOT_FOUND, std::string("kernel ") + name + " is not extern \"C\"");
    for (auto &f : functions)
      if (f.second->module == m && f.second->kernel == &k) {
        *out = f.first;
        return SUCCESS;
      }
    auto f = std::make_unique<Function>();
    f->module = m;
    f->kernel = &k;
    f->dynamic_limit = shared_default - std::min(shared_default, static_shared(k));
    *out = f.get();
    functions[f.get()] = std::move(f);
    return SUCCESS;
  }
  return report(NOT_FOUND, std::string("the module has no kernel ") + name);
}
int cuModuleGetGlobal_v2(uintptr_t *address, size_t *bytes, Module *m, const char *name) {
  CONTEXT(c);
  if (!modules.count(m)) return INVALID_HANDLE;
  if (!name) return INVALID_VALUE;
  void *p = dlsym(m->handle, name);
  Dl_info info;
  ElfW(Sym) *symbol = nullptr;
  if (!p || !dladdr1(p, &info, reinterpret_cast<void **>(&symbol), RTLD_DL_SYMENT) || !symbol) return NOT_FOUND;
  Allocation a; // without a mapping: the linker owns it
  a.begin = static_cast<char *>(p);
  a.bytes = symbol->st_size;
  a.device = c->device;
  a.context = c;
  memory[uintptr_t(p)] = a;
  m->globals.insert(uintptr_t(p));
  if (address) *address = uintptr_t(p);
  if (bytes) *bytes = a.bytes;
  return SUCCESS;
}
int cuFuncGetAttribute(int *out, int attribute, void *function) {
  CONTEXT(c);
  Function *f = function_of(function);
  if (!f) return INVALID_HANDLE;
  if (!out) return INVALID_VALUE;
  switch (attribute) {
  case 0: *out = max_threads(*f->kernel); break;
  case 1: *out = int(static_shared(*f->kernel)); break;
  case 4: *out = 32; break;
  case 5: case 6: *out = settings.major * 10 + settings.minor; break;
  case 8: *out = int(f->dynamic_limit); break;
  case 2: case 3: case 7: case 9: *out = 0; break;
  default: return INVALID_VALUE;
  }
  return SUCCESS;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  CONTEXT(c);
  Function *f = function_of(function);
  if (!f) return INVALID_HANDLE;
  if (attribute == 9) return SUCCESS;
  if (attribute != 8 || value < 0 || size_t(value) + static_shared(*f->kernel) > shared_most) return INVALID_VALUE;
  f->dynamic_limit = size_t(value);
  return SUCCESS;
}
int cuFuncSetCacheConfig(void *function, int) {
  CONTEXT(c);
  return function_of(function) ? SUCCESS : INVALID_HANDLE;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, void *function, int block, size_t dynamic) {
  CONTEXT(c);
  Function *f = function_of(function);
  if (!f) return INVALID_HANDLE;
  if (!out || block <= 0) return INVALID_VALUE;
  if (block > max_threads(*f->kernel) || dynamic > f->dynamic_limit) *out = 0;
  else {
    size_t shared = static_shared(*f->kernel) + dynamic + 1024;
    *out = int(std::min({size_t(32), size_t(2048 / ((block + 31) / 32 * 32)), size_t(233472) / shared}));
  }
  return SUCCESS;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, void *function, int block, size_t dynamic, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(out, function, block, dynamic);
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **parameters, void **extra) {
  CONTEXT(c);
  STREAM(s, stream);
  Function *f = function_of(function);
  if (!f || f->module->context != c) return INVALID_HANDLE;
  const cudasim_kernel &k = *f->kernel;
  auto refuse = [&](const std::string &why) { return report(INVALID_VALUE, std::string("launch of ") + k.name + ": " + why); };
  if (!gx || !gy || !gz || !bx || !by || !bz) return refuse("a dimension is zero");
  if (gx > 2147483647u || gy > 65535 || gz > 65535) return refuse("the grid is too large");
  if (bx > 1024 || by > 1024 || bz > 64 || uint64_t(bx) * by * bz > uint64_t(max_threads(k)))
    return refuse("a block of " + std::to_string(uint64_t(bx) * by * bz) + " threads; at most " + std::to_string(max_threads(k)));
  if (shared > f->dynamic_limit) return refuse(std::to_string(shared) + " bytes of dynamic shared memory; at most " + std::to_string(f->dynamic_limit));
  if (static_shared(k) > shared_default) return refuse("more than 48 KiB of static shared memory");
  if (parameters && extra) return refuse("kernelParams and extra are both given");

  // Arguments are read now; the kernel runs later.
  auto l = std::make_shared<Launch>();
  size_t size = 0;
  for (unsigned i = 0; i < k.count; i++) {
    size = (size + k.alignments[i] - 1) / k.alignments[i] * k.alignments[i];
    l->offsets.push_back(size);
    size += k.sizes[i];
  }
  if (size > 4096) return refuse(std::to_string(size) + " bytes of arguments; at most 4096");
  l->arguments.resize(size);
  if (k.count && parameters) {
    for (unsigned i = 0; i < k.count; i++) {
      if (!parameters[i]) return refuse("argument " + std::to_string(i) + " of " + std::to_string(k.count) + " is missing");
      memcpy(l->arguments.data() + l->offsets[i], parameters[i], k.sizes[i]);
    }
  } else if (k.count) {
    const void *buffer = nullptr;
    size_t given = 0;
    for (void **e = extra; e && *e; e += 2) {
      if (*e == reinterpret_cast<void *>(1)) buffer = e[1];
      else if (*e == reinterpret_cast<void *>(2)) given = *static_cast<size_t *>(e[1]);
      else return refuse("an unknown entry in extra");
    }
    if (!buffer || given < size) return refuse("the kernel takes " + std::to_string(size) + " bytes of arguments, not " + std::to_string(given));
    memcpy(l->arguments.data(), buffer, size);
  }
  l->function = f;
  l->grid = {k.name, {gx, gy, gz}, {bx, by, bz}, shared, settings.order, 0, checks_races(), f->module->object.c_str()};
  if (!s->captured) counts.launches++;
  l->grid.seed = (settings.seed << 32) + counts.launches; // two launches of one kernel differ, two runs of one program do not
  if (settings.lost_after && counts.launches > settings.lost_after) {
    put(s, k.name, [c] {
      devices[size_t(c->device)].lost = true;
      return report(LAUNCH_FAILED, "the device is lost");
    });
    return SUCCESS;
  }
  put(s, k.name, [c, l] { return run_kernel(c, *l); });
  return SUCCESS;
}

} // extern "C"
