// Random numbers of the kernel. std::random_device is not for products: libstdc++'s archive takes
// them from a function of the C library that 2.31 lacks.
#pragma once

#include <cstddef>
#include <string>

namespace jtrace::postproc {

// At most 256 bytes, which arrive in one piece once the kernel has any. Throws std::runtime_error
// if it has none.
std::string RandomBytes(size_t size);

}  // namespace jtrace::postproc
