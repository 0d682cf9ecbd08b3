#include "version.h"

#include <cstdlib>

namespace cudasim {

int toolkit_major() { return CUDASIM_MAJOR; }

int toolkit_version() {
  const char *v = getenv("CUDASIM_NVRTC");
  return v && *v ? atoi(v) : toolkit_major() == 12 ? 12080 : toolkit_major() * 1000;
}

} // namespace cudasim
