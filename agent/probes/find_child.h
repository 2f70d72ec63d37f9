// Finds a node's child while the thread that owns the tree adds children.
#pragma once

#include <cstdint>

#include "agent/hot/layout.h"

namespace jtrace {

// The child for `routine`; 0 if it is not there (yet). On the writer thread, the only one that
// releases memory. The owning thread may be adding children, and changing where they are found:
// children that were there before are still found.
hot::Ref FindChild(const hot::Arena* arena, const hot::Node& node, uint32_t routine);

}  // namespace jtrace
