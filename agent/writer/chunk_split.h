// A chunk that came out too large for one frame, as several. Writer thread.
#pragma once

#include <cstddef>
#include <vector>

#include "trace.pb.h"

namespace jtrace::writer {

// Chunks of about `limit` bytes at most, as far as moving events apart achieves that: the first
// holds all else, which the events refer to, and the last the session's end. Attaching to a large
// JVM describes all its classes and compiled code at once.
std::vector<proto::Chunk> SplitChunk(proto::Chunk whole, size_t limit);

}  // namespace jtrace::writer
