#include "fiber.h"
#include "compile.h"
#include "device.h"
#include "races.h"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <numeric>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace cudasim {
namespace {

constexpr size_t page = 4096;
constexpr size_t shared_fence = 1 << 20; // more than all shared memory of a block
constexpr size_t stack_size = 256 << 10; // local memory of a thread; the lowest page is a fence

// --- switching stacks ----------------------------------------------------------------

#ifdef __x86_64__
// Saves what a callee must keep and the stack pointer, and takes another's.
// swapcontext would ask the kernel for the signal mask at every barrier.
extern "C" void cudasim_switch(void **save, void *to);
asm(R"(
.text
.type cudasim_switch, @function
cudasim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cudasim_switch, .-cudasim_switch
)");

struct Point {
  void *sp = nullptr;
};
void swap(Point &from, Point &to) { cudasim_switch(&from.sp, to.sp); }
void prepare(Point &p, char *stack, void (*entry)()) {
  auto top = reinterpret_cast<void **>(stack + stack_size);
  *--top = nullptr; // where entry would return to
  *--top = reinterpret_cast<void *>(entry);
  for (int i = 0; i < 6; i++) *--top = nullptr;
  p.sp = top;
}
#else
struct Point {
  ucontext_t context;
};
void swap(Point &from, Point &to) { swapcontext(&from.context, &to.context); }
void prepare(Point &p, char *stack, void (*entry)()) {
  getcontext(&p.context);
  p.context.uc_stack.ss_sp = stack;
  p.context.uc_stack.ss_size = stack_size;
  p.context.uc_link = nullptr;
  makecontext(&p.context, entry, 0);
}
#endif

// --- a block ------------------------------------------------------------------------------

enum Where { RUNNING, ENDED, AT_BARRIER, AT_EXCHANGE };

struct Fiber {
  Point point;
  char *stack = nullptr;
  Where where = ENDED;
  cudasim_state state;
  int line = 0;
  // of an exchange
  int kind = 0;
  unsigned mask = 0, source = 0;
  unsigned long long value = 0;
};

struct Executor {
  const Grid *grid;
  const cudasim_module_info *module;
  const cudasim_kernel *kernel;
  void **arguments;
  cudasim_block block;
  std::vector<Fiber> fibers;
  size_t used = 0;      // fibers of this block
  Fiber *now = nullptr; // the one that runs
  Point home;
  std::vector<unsigned char> done;
  std::vector<Fiber *> by_thread; // whole warps; null where no stack is kept
  std::vector<unsigned> order;    // of the threads of this block
  std::vector<size_t> turns;      // of its fibers
  uint64_t random = 0;
  void *place = nullptr;          // where the program has made its last access
  void *race = nullptr;           // where it has made one that is a race
  sigjmp_buf failed;
  int error = SUCCESS;
  char message[512];
};

Executor *executor; // one kernel runs at a time, under the driver's lock
Races races;

// SplitMix64 (Steele, Lea and Flood 2014).
uint64_t draw(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// The first n numbers in the order of a grid.
template <class T> void arrange(std::vector<T> &v, size_t n, Order order, uint64_t &random) {
  v.resize(n);
  std::iota(v.begin(), v.end(), T(0));
  if (order == REVERSE) std::reverse(v.begin(), v.end());
  if (order == RANDOM)
    for (size_t i = n; i > 1; i--) std::swap(v[i - 1], v[draw(random) % i]);
}

[[noreturn]] void fail(int error) {
  executor->error = error;
  siglongjmp(executor->failed, 1);
}

[[noreturn]] void fiber_main() {
  for (;;) {
    Executor *e = executor;
    Fiber *f = e->now;
    e->kernel->run(&e->block, e->arguments);
    f->where = ENDED;
    swap(f->point, e->home);
  }
}

char *new_stack() {
  void *p = mmap(nullptr, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  mprotect(p, page, PROT_NONE);
  return static_cast<char *>(p);
}

void go(Fiber &f) {
  executor->now = &f;
  f.where = RUNNING;
  swap(executor->home, f.point);
}

void resume(Fiber &f) {
  *executor->module->state = f.state;
  go(f);
}

void park(Where where) {
  Fiber *f = executor->now;
  f->where = where;
  f->state = *executor->module->state;
  swap(f->point, executor->home);
}

void describe_thread(char *out, size_t n, const cudasim_state &s) {
  snprintf(out, n, "thread (%u, %u, %u) of block (%u, %u, %u)", s.thread.x, s.thread.y, s.thread.z, s.block.x, s.block.y, s.block.z);
}

// Gives every lane of one warp operation its value, if all are there.
bool exchange_complete(Fiber *const *lanes, Fiber *first) {
  unsigned there = 0;
  for (int l = 0; l < 32; l++)
    if (Fiber *f = lanes[l]; f && f->where == AT_EXCHANGE && f->kind == first->kind && f->mask == first->mask && f->line == first->line)
      there |= 1u << (f->state.linear & 31);
  // Lanes that have ended, or never were, are not waited for.
  Executor *e = executor;
  unsigned warp = first->state.linear & ~31u, alive = 0;
  for (unsigned l = 0; l < 32 && warp + l < e->block.threads; l++)
    if (!e->done[warp + l]) alive |= 1u << l;
  if ((first->mask & alive & ~there) != 0) return false;
  unsigned long long values[32];
  memset(values, 0xff, sizeof values); // a lane that takes no part has nothing to give
  unsigned ballot = 0;
  for (unsigned l = 0; l < 32; l++)
    if (there >> l & 1) {
      values[l] = lanes[l]->value;
      if (lanes[l]->value) ballot |= 1u << l;
    }
  // A shuffle or a vote orders no accesses to memory.
  if (e->grid->races && first->kind == cudasim_sync_warp) races.exchange(warp, there);
  for (unsigned l = 0; l < 32; l++)
    if (there >> l & 1) {
      Fiber *f = lanes[l];
      f->where = RUNNING;
      if (f->kind == cudasim_shuffle) f->value = values[f->source & 31];
      if (f->kind == cudasim_ballot) f->value = ballot;
    }
  return true;
}

[[noreturn]] void fail_race(void *place) {
  executor->race = place;
  snprintf(executor->message, sizeof executor->message, "race: %s", races.message.c_str());
  fail(LAUNCH_FAILED);
}

void stuck() {
  Executor *e = executor;
  for (size_t i = 0; i < e->used; i++) {
    Fiber &f = e->fibers[i];
    if (f.where != AT_BARRIER && f.where != AT_EXCHANGE) continue;
    char who[160];
    describe_thread(who, sizeof who, f.state);
    if (f.where == AT_BARRIER)
      snprintf(e->message, sizeof e->message, "%s waits at __syncthreads in line %d, which not all threads of its block reach: %u of %u have ended",
               who, f.line, e->block.finished, e->block.threads);
    else
      snprintf(e->message, sizeof e->message, "%s waits in line %d for lanes of mask 0x%08x, which do not come", who, f.line, f.mask);
    break;
  }
  fail(ILLEGAL_INSTRUCTION);
}

void run_block() {
  Executor *e = executor;
  cudasim_block &b = e->block;
  b.started = b.finished = 0;
  memset(e->done.data(), 0, e->done.size());
  e->used = 0;
  arrange(e->order, b.threads, e->grid->order, e->random);
  b.order = e->order.data();
  if (e->grid->races) races.block(e->module->state->block);
  while (b.started < b.threads) {
    if (e->used == e->fibers.size()) { // never beyond the capacity that execute reserved
      e->fibers.emplace_back();
      Fiber &f = e->fibers.back();
      f.stack = new_stack();
      if (!f.stack) {
        snprintf(e->message, sizeof e->message, "no memory for the stacks of the threads");
        fail(LAUNCH_OUT_OF_RESOURCES);
      }
      prepare(f.point, f.stack, fiber_main);
    }
    go(e->fibers[e->used++]);
  }
  // A thread that parked keeps its stack until it ends.
  std::fill(e->by_thread.begin(), e->by_thread.end(), nullptr);
  for (size_t i = 0; i < e->used; i++)
    if (e->fibers[i].where != ENDED) e->by_thread[e->fibers[i].state.linear] = &e->fibers[i];
  while (b.finished < b.threads) {
    // Warps first: their lanes may go on to a barrier.
    bool moved = false;
    for (unsigned t = 0; t < b.threads; t++)
      if (Fiber *f = e->by_thread[t]; f && f->where == AT_EXCHANGE) moved |= exchange_complete(&e->by_thread[t & ~31u], f);
    if (!moved) {
      size_t waiting = 0;
      int line = 0;
      for (size_t i = 0; i < e->used; i++) {
        Fiber &f = e->fibers[i];
        if (f.where != AT_BARRIER) continue;
        if (waiting++ && f.line != line) {
          snprintf(e->message, sizeof e->message, "threads of one block wait at different calls of __syncthreads, in lines %d and %d", line, f.line);
          fail(ILLEGAL_INSTRUCTION);
        }
        line = f.line;
      }
      if (waiting != b.threads) stuck();
      if (e->grid->races) races.barrier(line);
      for (size_t i = 0; i < e->used; i++) e->fibers[i].where = RUNNING;
    }
    // The fibers are in the order of their threads already; a random one is new after every barrier.
    arrange(e->turns, e->used, e->grid->order == RANDOM ? RANDOM : FORWARD, e->random);
    for (size_t i : e->turns)
      if (e->fibers[i].where == RUNNING) resume(e->fibers[i]);
  }
  if (e->grid->races && !races.settle()) fail_race(e->place);
}

// --- faults ---------------------------------------------------------------------------------

struct sigaction before[3];
const int faults[3] = {SIGSEGV, SIGBUS, SIGFPE};
pthread_t fault_thread;
volatile sig_atomic_t watching = 0;

// A fault of the thread that runs a kernel ends the kernel. Any other belongs
// to whoever was asked before: in a Go program, its runtime.
void on_fault(int number, siginfo_t *info, void *context) {
  if (watching && pthread_equal(pthread_self(), fault_thread)) {
    Executor *e = executor;
    char who[160];
    describe_thread(who, sizeof who, *e->module->state);
    if (number == SIGFPE) {
      snprintf(e->message, sizeof e->message, "%s divides an integer by zero", who);
      e->error = LAUNCH_FAILED;
    } else {
      snprintf(e->message, sizeof e->message, "%s touches address %p", who, info->si_addr);
      e->error = ILLEGAL_ADDRESS;
    }
    siglongjmp(e->failed, 1);
  }
  const struct sigaction *old = nullptr;
  for (int i = 0; i < 3; i++)
    if (faults[i] == number) old = &before[i];
  if (old->sa_flags & SA_SIGINFO) {
    old->sa_sigaction(number, info, context);
  } else if (old->sa_handler == SIG_DFL) {
    sigaction(number, old, nullptr); // the instruction runs again and meets the default
  } else if (old->sa_handler != SIG_IGN) {
    old->sa_handler(number);
  }
}

// Watches for faults while a kernel runs.
struct Watch {
  stack_t old_stack;
  bool own_stack = false;
  Watch() {
    sigaltstack(nullptr, &old_stack);
    if (old_stack.ss_flags & SS_DISABLE) { // Go's threads have one; others may not
      static thread_local char *area = static_cast<char *>(malloc(64 << 10));
      stack_t s{};
      s.ss_sp = area;
      s.ss_size = 64 << 10;
      own_stack = sigaltstack(&s, nullptr) == 0;
    }
    fault_thread = pthread_self();
    struct sigaction act{};
    act.sa_sigaction = on_fault;
    act.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&act.sa_mask);
    for (int i = 0; i < 3; i++) sigaction(faults[i], &act, &before[i]);
    watching = 1;
  }
  ~Watch() {
    watching = 0;
    for (int i = 0; i < 3; i++) sigaction(faults[i], &before[i], nullptr);
    if (own_stack) sigaltstack(&old_stack, nullptr);
  }
};

// Dynamic shared memory, between two fences that nobody may touch.
struct Shared {
  size_t bytes, slack, mapped = 0;
  char *base = nullptr, *begin = nullptr;
  explicit Shared(size_t n) : bytes(n) {
    size_t rounded = (n + 15) / 16 * 16; // aligned as the compiler expects
    slack = rounded - n;
    size_t usable = (rounded + page - 1) / page * page;
    mapped = usable + 2 * shared_fence;
    base = static_cast<char *>(mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (base == MAP_FAILED || mprotect(base + shared_fence, usable, PROT_READ | PROT_WRITE) != 0) {
      if (base != MAP_FAILED) munmap(base, mapped);
      base = nullptr;
      return;
    }
    begin = base + mapped - shared_fence - rounded;
    memset(base + shared_fence, 0xff, usable);
  }
  ~Shared() {
    if (base) munmap(base, mapped);
  }
  void reset() const { poison(begin, bytes); }
  bool overrun() const {
    for (size_t i = 0; i < slack; i++)
      if (static_cast<unsigned char>(begin[bytes + i]) != 0xff) return true;
    return false;
  }
};

void barrier(int line) {
  executor->now->line = line;
  park(AT_BARRIER);
}

unsigned long long exchange(int kind, unsigned mask, unsigned long long value, unsigned source, int line) {
  Executor *e = executor;
  Fiber *f = e->now;
  unsigned lane = e->module->state->linear & 31;
  if (!(mask >> lane & 1)) {
    char who[160];
    describe_thread(who, sizeof who, *e->module->state);
    snprintf(e->message, sizeof e->message, "%s is not in the mask 0x%08x that it names in line %d", who, mask, line);
    fail(ILLEGAL_INSTRUCTION);
  }
  f->kind = kind;
  f->mask = mask;
  f->value = value;
  f->source = source;
  f->line = line;
  park(AT_EXCHANGE);
  return f->value;
}

void module_fail(const char *text, int line) {
  Executor *e = executor;
  char who[160];
  describe_thread(who, sizeof who, *e->module->state);
  snprintf(e->message, sizeof e->message, "%s, in line %d: %s", who, line, text);
  fail(LAUNCH_FAILED);
}

void access(const void *at, unsigned long bytes, int kind, void *place) {
  Executor *e = executor;
  const char *p = static_cast<const char *>(at), *state = reinterpret_cast<const char *>(e->module->state);
  if (!e->grid->races || size_t(p - e->now->stack) < stack_size || size_t(p - state) < sizeof(cudasim_state)) return;
  static const Races::Kind kinds[] = {Races::READ, Races::WRITE, Races::ATOMIC};
  void *before = e->place; // where the write was that proves to be a race only now
  e->place = place;
  if (!races.access(e->module->state->linear, p, bytes, kinds[kind])) fail_race(races.late ? before : place);
}

void shared(const char *name, const void *begin, unsigned long bytes) {
  if (executor->grid->races) races.shared(name, static_cast<const char *>(begin), bytes);
}

// The line of a source that a place in the program belongs to, where the tools that come with the compiler can say.
std::string source_line(const Executor &e) {
  Dl_info info;
  if (!e.race || !dladdr(e.race, &info)) return "";
  const std::string line = line_of(e.grid->object, uintptr_t(e.race) - uintptr_t(info.dli_fbase) - 1);
  return line.empty() ? "" : ", at " + line;
}

} // namespace

uint64_t checked_accesses() { return races.accesses; }

const cudasim_runtime runtime = {barrier, exchange, module_fail, access, shared};

int execute(const Grid &grid, const cudasim_module_info &module, const cudasim_kernel &kernel, void **arguments, std::string &message) {
  static Executor e; // keeps its stacks for the next kernel
  Shared shared(grid.dynamic_shared);
  if (!shared.base) {
    message = "no memory for shared memory";
    return LAUNCH_OUT_OF_RESOURCES;
  }
  unsigned threads = grid.block.x * grid.block.y * grid.block.z;
  executor = &e;
  e.fibers.reserve(1024); // fibers must not move
  e.grid = &grid;
  e.module = &module;
  e.kernel = &kernel;
  e.arguments = arguments;
  e.error = SUCCESS;
  e.message[0] = 0;
  e.done.resize(threads);
  e.by_thread.resize((threads + 31) / 32 * 32);
  e.block = {threads, 0, 0, nullptr, e.done.data(), grid.block.x, grid.block.y};
  e.random = grid.seed;
  e.place = e.race = nullptr;
  if (grid.races) races.launch(grid.block, kernel.shared_begin, kernel.shared_end, shared.begin, shared.begin + shared.bytes);
  *module.runtime = &runtime;
  std::vector<uint64_t> blocks;
  arrange(blocks, size_t(grid.grid.x) * grid.grid.y * grid.grid.z, grid.order, e.random);
  {
    Watch watch;
    if (sigsetjmp(e.failed, 1) == 0) {
      for (uint64_t n : blocks) {
        cudasim_state &s = *module.state;
        s.block = {unsigned(n % grid.grid.x), unsigned(n / grid.grid.x % grid.grid.y), unsigned(n / grid.grid.x / grid.grid.y)};
        s.block_dim = grid.block;
        s.grid_dim = grid.grid;
        s.dynamic_shared = shared.begin;
        if (kernel.shared_begin) poison(kernel.shared_begin, size_t(kernel.shared_end - kernel.shared_begin));
        shared.reset();
        run_block();
        if (shared.overrun()) {
          snprintf(e.message, sizeof e.message, "block (%u, %u, %u) writes past the end of dynamic shared memory", s.block.x, s.block.y, s.block.z);
          fail(ILLEGAL_ADDRESS);
        }
      }
    } else {
      // The threads that were parked are gone: their stacks begin anew.
      for (Fiber &f : e.fibers) {
        f.where = ENDED;
        prepare(f.point, f.stack, fiber_main);
      }
    }
  }
  if (grid.races) races.finish();
  if (e.error) message = std::string(grid.name) + ": " + e.message + source_line(e);
  return e.error;
}

} // namespace cudasim
