// Finds nodes in a tree while its thread adds nodes to it.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {

// The child for `routine`; 0 if it is not there (yet). On the writer thread, the only one that
// releases memory. The owning thread may be adding children, and changing where they are found:
// children that were there before are still found.
signal_safe::Ref FindChild(const signal_safe::Arena* arena, const signal_safe::Node& node,
                           uint32_t routine);

// blocks=paths: for each of a thread's open activations, given by routine, outermost first: its
// node; 0: not known. On the writer thread: the thread may have gone on, or ended, since its stack
// was read.
std::vector<signal_safe::Ref> FindOpenNodes(const signal_safe::Arena* arena,
                                            const signal_safe::ThreadState& state,
                                            absl::Span<const uint32_t> routines);

}  // namespace jtrace::calls
