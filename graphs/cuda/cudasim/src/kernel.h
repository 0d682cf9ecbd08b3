// What a compiled module and the simulated driver know of each other. The
// prelude of every module includes this file and so does libcuda; it must not
// include any other, because device code sees no system headers.
#pragma once

// A block in execution. The module's loop takes the next thread, runs it to
// its end and takes another; a thread that meets a barrier parks its stack in
// the driver, which goes on with the loop on a new one. A kernel without
// barriers is therefore a plain loop.
struct cudasim_block {
  unsigned threads;           // in the block
  unsigned started;           // threads taken so far
  unsigned finished;          // threads that have returned
  const unsigned *order;      // the threads as they are taken
  unsigned char *done;        // one byte a thread
  unsigned dim_x, dim_y;      // of the block
};

struct cudasim_uint3 {
  unsigned x, y, z;
};

// The state of the running thread, one per module.
struct cudasim_state {
  cudasim_uint3 thread, block, block_dim, grid_dim;
  unsigned linear;            // number of the thread in its block
  char *dynamic_shared;
};

enum cudasim_exchange_kind : int {
  cudasim_sync_warp,          // no value
  cudasim_shuffle,            // the value of another lane
  cudasim_ballot,             // a bit per lane
};

// What the driver offers to device code.
struct cudasim_runtime {
  // Waits for all threads of the block. line is that of the call.
  void (*barrier)(int line);
  // Waits for the lanes of mask, and returns what kind says; source is the lane to read.
  unsigned long long (*exchange)(int kind, unsigned mask, unsigned long long value, unsigned source, int line);
  // Ends the kernel with an error.
  void (*fail)(const char *message, int line);
  // With a check for races: what is accessed next, at a place of the program; and the arrays in shared memory.
  void (*access)(const void *at, unsigned long bytes, int kind, void *place);
  void (*shared)(const char *name, const void *begin, unsigned long bytes);
};

enum cudasim_access_kind : int { cudasim_read, cudasim_write, cudasim_atomic };


struct cudasim_kernel {
  const char *name;
  void (*run)(cudasim_block *, void **arguments);
  unsigned count;                   // arguments
  const unsigned *sizes;            // of each, in bytes
  const unsigned *alignments;
  const unsigned char *pointers;    // 1 where the argument is a pointer
  char *shared_begin, *shared_end;  // static shared memory
  int max_threads;                  // __launch_bounds__, 0 without
  const char *symbol;               // what extern "C" must export, or null
};

// What a module exports under the name cudasim_module.
struct cudasim_module_info {
  cudasim_state *state;
  const cudasim_runtime **runtime;
  const cudasim_kernel *kernels;
  unsigned count;
};
