// Memory for lookups in handlers that can be on huge pages. A program that works on much memory has
// evicted other pages from the TLB by the next sample: each lookup would begin with a page walk.
#pragma once

#include <cstddef>

namespace jtrace::samples {

// The huge page of x86-64; a table that fills whole ones shares none with anything else.
inline constexpr size_t kHugePage = 2 << 20;

// Memory to be put on huge pages.
struct MemoryRange {
  void* begin;
  size_t bytes;
};

}  // namespace jtrace::samples
