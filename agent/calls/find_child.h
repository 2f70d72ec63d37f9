// Finds a node's child while the thread that owns the tree adds children.
#pragma once

#include <cstdint>

#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {

// The child for `routine`; 0 if it is not there (yet). On the writer thread, the only one that
// releases memory. The owning thread may be adding children, and changing where they are found:
// children that were there before are still found.
signal_safe::Ref FindChild(const signal_safe::Arena* arena, const signal_safe::Node& node,
                           uint32_t routine);

}  // namespace jtrace::calls
