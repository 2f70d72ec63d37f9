// Recycles the chunks of an arena.
#pragma once

#include "agent/hot/layout.h"

namespace jtrace {

// Returns a chunk to which nothing refers any more to the probes, zeroed. On the writer thread.
void FreeChunk(hot::Arena* arena, hot::Chunk& chunk);

}  // namespace jtrace
