// Random chunks, for tests of what is true of every chunk.
#pragma once

#include <cstdint>

#include "proto/trace.pb.h"

namespace jtrace::testing {

// A chunk with records of all kinds, whose numbers refer to each other as a writer's do.
proto::Chunk RandomChunk(uint32_t seed);

}  // namespace jtrace::testing
