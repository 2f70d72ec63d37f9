// A frame of a trace that becomes a chunk: the work that does not need other chunks.
#pragma once

#include <memory>
#include <string>

#include "postproc/reader/call_reducer.h"
#include "postproc/reader/chunk_payload.h"
#include "postproc/reader/chunk_plan.h"
#include "postproc/reader/frame_scanner.h"

namespace jtrace::postproc {

// Buffers are kept from chunk to chunk. One thread uses an object at a time.
class LoadedChunk {
 public:
  enum class Result {
    kOk,
    kBadPayload,  // cannot be decompressed
    kMalformed,
    kTooLarge,
  };

  TraceFrame frame;  // set first

  // Decompresses and parses the frame.
  void Load(ChunkPayload::Content content = ChunkPayload::Content::kAll);
  // Then: determines the order in which to pass it on.
  void MakePlan() { plan_.Make(payload_); }
  // Then: reduces runs of calls.
  void Reduce(const Definitions& definitions, LeastRun least);

  Result result() const { return result_; }
  const ChunkPayload& payload() const { return payload_; }
  ChunkPlan& plan() { return plan_; }

 private:
  FrameDecoder decoder_;
  std::string bytes_;
  ChunkPayload payload_;
  Result result_ = Result::kOk;
  ChunkPlan plan_;
  std::unique_ptr<CallReducer> reducer_;
};

}  // namespace jtrace::postproc
