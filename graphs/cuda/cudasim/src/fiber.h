// Runs the threads of a block with barriers among them.
#pragma once
#include "kernel.h"

#include <cstdint>
#include <string>

namespace cudasim {

// In which blocks run, and threads between two barriers.
enum Order { FORWARD, REVERSE, RANDOM };

struct Grid {
  const char *name;
  cudasim_uint3 grid, block;
  size_t dynamic_shared;
  Order order;
  uint64_t seed;        // of a random order
  bool races;           // check for them
  const char *object;   // file of the module, to name lines of its source by
};

// How many accesses were checked for races since the library was loaded.
uint64_t checked_accesses();

// Runs a kernel to its end. Gives an Error; message says what was wrong.
int execute(const Grid &, const cudasim_module_info &, const cudasim_kernel &, void **arguments, std::string &message);

extern const cudasim_runtime runtime;

} // namespace cudasim
