// Where threads begin in the GNU C library, which distributions strip: the code of clone3 that a
// new thread runs has a range of its own in the unwind table, and no symbol.
#pragma once

#include <cstdint>
#include <optional>

#include "common/elf_image.h"

namespace jtrace::postproc {

// Where clone3 begins, if `address` is the last byte of the call by which it enters a new thread's
// function; x86-64.
std::optional<uint64_t> FindClone3(const ElfImage& image, uint64_t address);

}  // namespace jtrace::postproc
