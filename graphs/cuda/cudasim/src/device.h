// What the simulated libraries share: the state of devices, contexts, streams
// and memory, which lives in libcuda. Declarations are ours; names and numbers
// are those of the CUDA driver interface.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace cudasim {

enum Error : int {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  DEVICE_UNAVAILABLE = 46,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  NO_BINARY_FOR_GPU = 209,
  PEER_ACCESS_UNSUPPORTED = 217,
  INVALID_PTX = 218,
  UNSUPPORTED_PTX_VERSION = 222,
  FILE_NOT_FOUND = 301,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_OUT_OF_RESOURCES = 701,
  PRIMARY_CONTEXT_ACTIVE = 708,
  CONTEXT_IS_DESTROYED = 709,
  ILLEGAL_INSTRUCTION = 715,
  MISALIGNED_ADDRESS = 716,
  LAUNCH_FAILED = 719,
  NOT_SUPPORTED = 801,
  CAPTURE_UNSUPPORTED = 900,
  CAPTURE_INVALIDATED = 901,
  ILLEGAL_STATE = 401,
  UNKNOWN = 999,
};

using StreamHandle = struct OpaqueStream *;
using Work = std::function<int()>; // gives an Error, which sticks to the context

// Puts work of a library (cuBLAS, cuSOLVER) at the end of a stream of the
// current context. what is named in messages.
int enqueue(StreamHandle, std::string what, Work);

// Waits for a stream of the current context.
int synchronise(StreamHandle);

// Whether a context is current on this thread and not in error.
int usable();

// The devices' compute capability, such as 90 for 9.0.
int capability();

// For work that runs: whether bytes at p lie inside a live allocation of the
// context's device. What does not is reported as ILLEGAL_ADDRESS.
int reachable(const void *p, size_t bytes, const char *what);

// Memory in which reading before writing shows: all bits set, a NaN in every
// floating-point format.
void poison(void *p, size_t bytes);

} // namespace cudasim
