#include "postproc/support/random_bytes.h"

#include <sys/random.h>

#include <stdexcept>

namespace jtrace::postproc {

std::string RandomBytes(size_t size) {
  std::string bytes(size, '\0');
  if (getrandom(bytes.data(), size, 0) != static_cast<ssize_t>(size)) {
    throw std::runtime_error("the kernel has no random numbers");
  }
  return bytes;
}

}  // namespace jtrace::postproc
