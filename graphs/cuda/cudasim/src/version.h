// The version of the libraries of a toolkit.
#pragma once

namespace cudasim {

// That of the library's name: 12 or 13. Every library has these functions for itself.
__attribute__((visibility("hidden"))) int toolkit_major();

// Such as 12080, or what CUDASIM_NVRTC says.
__attribute__((visibility("hidden"))) int toolkit_version();

// Functions like cublasGetProperty: 0, 1 and 2 are major, minor and patch.
inline int property(int type, int *out) {
  const int v = toolkit_version();
  if (!out || type < 0 || type > 2) return 7;
  *out = type == 0 ? v / 1000 : type == 1 ? v % 1000 / 10 : v % 10;
  return 0;
}

} // namespace cudasim
