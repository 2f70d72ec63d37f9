#include "postproc/reader/loaded_chunk.h"

namespace jtrace::postproc {

void LoadedChunk::Load(ChunkPayload::Content content) {
  if (!decoder_.Decompress(frame, bytes_)) {
    result_ = Result::kBadPayload;
    return;
  }
  switch (payload_.Parse(bytes_, content)) {
    case ChunkPayload::Result::kOk:
      result_ = Result::kOk;
      break;
    case ChunkPayload::Result::kMalformed:
      result_ = Result::kMalformed;
      break;
    case ChunkPayload::Result::kTooLarge:
      result_ = Result::kTooLarge;
      break;
  }
}

void LoadedChunk::Reduce(const Definitions& definitions, LeastRun least) {
  if (reducer_ == nullptr) reducer_ = std::make_unique<CallReducer>(definitions);
  plan_.Reduce(*reducer_, least);
}

}  // namespace jtrace::postproc
