// Runs the threads of a block with barriers among them.
#pragma once
#include "kernel.h"

#include <string>

namespace cudasim {

struct Grid {
  const char *name;
  cudasim_uint3 grid, block;
  size_t dynamic_shared;
  bool reverse; // run the last block and the last thread first
};

// Runs a kernel to its end. Gives an Error; message says what was wrong.
int execute(const Grid &, const cudasim_module_info &, const cudasim_kernel &, void **arguments, std::string &message);

extern const cudasim_runtime runtime;

} // namespace cudasim
