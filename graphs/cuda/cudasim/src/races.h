// Finds two accesses of a kernel to one byte whose order nothing fixes: by two
// threads of a block without a barrier between them, or by two blocks. Kernels
// that are to be checked are compiled with a call before every access.
#pragma once
#include "kernel.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudasim {

class Races {
public:
  enum Kind { READ, WRITE, ATOMIC };

  // A launch begins, whose blocks have so many threads. Shared memory of known places is
  // [begin, end) twice, that of the kernel and the dynamic one.
  void launch(cudasim_uint3 block_dim, const char *kernel_begin, const char *kernel_end, const char *dynamic_begin, const char *dynamic_end);
  void block(cudasim_uint3 index);
  // All threads of the block have met at the __syncthreads of a line.
  void barrier(int line);
  // Lanes of one warp have met; bit l of lanes is thread warp + l.
  void exchange(unsigned warp, unsigned lanes);
  // An array in shared memory, which the kernel's text calls name.
  void shared(const char *name, const char *begin, size_t bytes);

  // What a thread is about to do. False with a message where it is a race, of this access or of the one before it.
  bool access(unsigned thread, const char *at, size_t bytes, Kind kind);
  // The last access is over. False with a message if it was a race.
  bool settle();
  void finish(); // of the launch, whatever became of it

  std::string message;
  bool late = false;     // the message is of the access before, as settle gives it
  uint64_t accesses = 0; // checked since the library was loaded

private:
  // Every thread has a stamp, a new one after each barrier and each exchange: the
  // numbers are never used twice. Those of a launch, of a block and of the
  // stretch from one barrier to the next are contiguous, because blocks run one after
  // another. A cell keeps the stamps of the last accesses to a byte, times two;
  // one more says that it was atomic.
  struct Cell {
    uint32_t write, read, other; // other: of another reader than read
  };
  // A page of memory has a cell for every 8 bytes, or for every 4, 2 or 1 once an access needs that.
  struct Page {
    unsigned shift;
    Cell *cells;
  };
  struct Array {
    const char *name, *begin;
    size_t bytes;
  };
  static constexpr size_t page = 4096, cached = 1024, most_pages = 4096;

  Page &page_of(uintptr_t at, unsigned shift);
  bool check(unsigned thread, const char *at, size_t bytes, Kind kind);
  bool ordered(uint32_t before, unsigned thread, const char *at) const;
  bool in_shared(const char *at) const;
  void stretch();
  void forget();
  std::string describe(unsigned thread, const char *at, const char *verb, uint32_t before, const char *did) const;

  unsigned threads = 0;
  cudasim_uint3 dim{}, index{};
  std::vector<Array> ranges, arrays;
  std::vector<uint32_t> stamps;           // of each thread
  std::vector<uint32_t> known;            // 32 for each thread: up to which stamp of a lane it has met that lane
  bool met = false;                       // whether known has anything
  std::vector<unsigned> owners;           // threads by stamp, from first_of_stretch
  std::vector<std::pair<uint32_t, cudasim_uint3>> blocks; // by first stamp
  uint32_t next = 1, first_of_launch = 1, first_of_block = 1, first_of_stretch = 1;
  int line = 0;                           // of the last barrier, 0 before the first
  unsigned passed = 0;                    // barriers
  std::unordered_map<uintptr_t, Page> pages; // by number
  std::pair<uintptr_t, Page *> cache[cached] = {};

  // A write to memory of the device that another thread has written too. It is no race if it changes nothing.
  const char *pending = nullptr;
  size_t pending_bytes = 0;
  unsigned char pending_value[16];
  std::string pending_message;
};

} // namespace cudasim
