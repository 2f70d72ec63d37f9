#include "agent/probes/address_space.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>

namespace jtrace {

uint64_t AddressSpaceLeft() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<uint64_t>::max();
  }
  uint64_t pages = 0;  // the first number: all that is mapped
  std::ifstream("/proc/self/statm") >> pages;
  const uint64_t mapped = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0;
}

}  // namespace jtrace
