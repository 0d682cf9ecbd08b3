#include "faults.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <signal.h>
#include <sstream>
#include <string>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cudasim {
namespace {

struct Fault {
  int error = 0;
  unsigned long after = 0, calls = 0;
};

// Reads "cuInit=805,cuMemAlloc_v2=2@10".
std::map<std::string, Fault> read_faults() {
  std::map<std::string, Fault> out;
  const char *list = getenv("CUDASIM_FAIL");
  std::istringstream in(list ? list : "");
  for (std::string entry; std::getline(in, entry, ',');) {
    char name[64], rest;
    Fault f;
    int n = sscanf(entry.c_str(), "%63[^=]=%d@%lu%c", name, &f.error, &f.after, &rest);
    if ((n == 2 && entry.find('@') == std::string::npos) || n == 3) {
      out[name] = f;
      continue;
    }
    fprintf(stderr, "cudasim: CUDASIM_FAIL=%s is not of the form function=error or function=error@calls\n", list);
    abort();
  }
  return out;
}

// A process on a device. Those that have ended hold nothing.
struct Slot {
  pid_t pid;
  int device;
  Held held;
};
constexpr size_t slots = 256;

// The table of all processes, locked while this lives.
struct Table {
  int file = -1;
  Slot *slot = nullptr;
  Table() {
    const char *path = getenv("CUDASIM_SHARED");
    if (!path || !*path) {
      static Slot own[slots];
      slot = own;
      return;
    }
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || flock(file, LOCK_EX) != 0 || ftruncate(file, sizeof(Slot) * slots) != 0) {
      perror(path);
      abort();
    }
    void *p = mmap(nullptr, sizeof(Slot) * slots, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p == MAP_FAILED) {
      perror(path);
      abort();
    }
    slot = static_cast<Slot *>(p);
    for (size_t i = 0; i < slots; i++)
      if (slot[i].pid && kill(slot[i].pid, 0) != 0) slot[i] = Slot();
  }
  ~Table() {
    if (file < 0) return;
    munmap(slot, sizeof(Slot) * slots);
    close(file);
  }
  Held others(int device) const {
    Held sum;
    for (size_t i = 0; i < slots; i++)
      if (slot[i].pid && slot[i].pid != getpid() && slot[i].device == device) {
        sum.bytes += slot[i].held.bytes;
        sum.contexts += slot[i].held.contexts;
      }
    return sum;
  }
  Held &own(int device) {
    Slot *empty = nullptr;
    for (size_t i = 0; i < slots; i++) {
      if (slot[i].pid == getpid() && slot[i].device == device) return slot[i].held;
      if (!slot[i].pid && !empty) empty = &slot[i];
    }
    if (!empty) {
      fprintf(stderr, "cudasim: more than %zu processes share CUDASIM_SHARED\n", slots);
      abort();
    }
    *empty = Slot{getpid(), device, {}};
    return empty->held;
  }
};

} // namespace

int ordered(const char *function) {
  static std::map<std::string, Fault> faults = read_faults();
  auto it = faults.find(function);
  return it == faults.end() || it->second.calls++ < it->second.after ? 0 : it->second.error;
}

bool take(int device, uint64_t bytes, uint32_t contexts, uint64_t memory, bool exclusive) {
  Table t;
  const Held others = t.others(device);
  Held &own = t.own(device);
  if (bytes && (bytes > memory || others.bytes + own.bytes > memory - bytes)) return false;
  if (contexts && exclusive && others.contexts) return false;
  own.bytes += bytes;
  own.contexts += contexts;
  return true;
}

void give(int device, uint64_t bytes, uint32_t contexts) {
  Table t;
  Held &own = t.own(device);
  own.bytes -= bytes;
  own.contexts -= contexts;
}

Held held(int device) {
  Table t;
  Held sum = t.others(device);
  const Held &own = t.own(device);
  sum.bytes += own.bytes;
  sum.contexts += own.contexts;
  return sum;
}

} // namespace cudasim
