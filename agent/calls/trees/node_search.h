// Finds nodes in a tree while its thread adds nodes to it.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

// Returns the child for `routine`; 0 if there is none (yet). On the writer thread, the only one
// that releases nodes. The owning thread may add children and move the slots meanwhile: children
// that were there before are still found.
signal_safe::Ref FindChild(const signal_safe::Arena* arena, const signal_safe::Node& node,
                           uint32_t routine);

// blocks=paths: returns the node of each of a thread's open activations, which are given by their
// routines, outermost first; 0: not known. On the writer thread; the thread may have left these
// activations, or ended, since its stack was read.
std::vector<signal_safe::Ref> FindOpenNodes(const signal_safe::Arena* arena,
                                            const signal_safe::ThreadState& state,
                                            absl::Span<const uint32_t> routines);

}  // namespace jtrace::calls
