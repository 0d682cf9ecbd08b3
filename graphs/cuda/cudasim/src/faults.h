// Faults that environment variables order, and the other processes on a device.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cudasim {

// The error that CUDASIM_FAIL orders for this call of a function of the driver, or 0.
int ordered(const char *function);

// What the processes with one file CUDASIM_SHARED have on a device. Without that variable
// a process is alone.
struct Held {
  uint64_t bytes = 0;
  uint32_t contexts = 0;
};

// Asks for bytes and contexts on a device. With the memory that the device has, and where
// it is exclusive, nothing is taken and false returned if others hold too much.
bool take(int device, uint64_t bytes, uint32_t contexts, uint64_t memory, bool exclusive);
void give(int device, uint64_t bytes, uint32_t contexts);

// What all processes hold.
Held held(int device);

} // namespace cudasim
