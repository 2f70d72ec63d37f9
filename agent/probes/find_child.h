#ifndef JTRACE_AGENT_PROBES_FIND_CHILD_H_
#define JTRACE_AGENT_PROBES_FIND_CHILD_H_

#include <cstdint>

#include "agent/hot/layout.h"

namespace jtrace {

// The child for `routine`; 0 if it is not there (yet). On the writer thread, which alone gives
// memory back. The owning thread may be adding children, and changing where they are found: what
// was there before is found all the same.
hot::Ref FindChild(const hot::Arena* arena, const hot::Node& node, uint32_t routine);

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_FIND_CHILD_H_
