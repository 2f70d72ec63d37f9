#ifndef JTRACE_AGENT_PROBES_CHUNK_RECYCLER_H_
#define JTRACE_AGENT_PROBES_CHUNK_RECYCLER_H_

#include "agent/hot/layout.h"

namespace jtrace {

// Returns a chunk to which nothing refers any more to the probes, zeroed. On the writer thread.
void FreeChunk(hot::Arena* arena, hot::Chunk& chunk);

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_CHUNK_RECYCLER_H_
