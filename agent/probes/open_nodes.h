// Finds the tree nodes of a thread's open activations (blocks=paths).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "agent/hot/layout.h"

namespace jtrace {

// For each of a thread's open activations, given by routine, outermost first: its node; 0: not
// known. On the writer thread: the thread may have gone on, or ended, since its stack was read.
std::vector<hot::Ref> FindOpenNodes(const hot::Arena* arena, const hot::ThreadState& state,
                                    absl::Span<const uint32_t> routines);

}  // namespace jtrace
