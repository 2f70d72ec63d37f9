// Turns a chunk's samples into chains of named frames.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/call_site.h"
#include "postproc/model/import_stats.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/definitions.h"
#include "proto/trace.pb.h"

namespace jtrace::postproc {

class SampleFrames {
 public:
  SampleFrames(Definitions& definitions, TraceModel& model, ImportStats& stats)
      : definitions_(definitions), model_(model), stats_(stats) {}

  // Begins the samples of this chunk, which must exist until the next Begin.
  void Begin(const proto::Chunk& chunk);
  // The sample's chain, the interrupted frame first, and where each frame was, if the chunk says
  // so. Between two native frames it has the function
  // that ended in a jump, if any (NativeSymbols::TailCaller).
  void Read(const proto::Sample& sample, int64_t time, std::vector<FrameId>& frames,
            std::vector<CallSite>& places);
  // The bytecode index in the sample's interrupted frame; none: unknown, or of another frame than
  // a Java one.
  std::optional<uint16_t> InnermostBci(const proto::Sample& sample) const;

 private:
  // A native frame of the chunk, as last named.
  struct Native {
    NativeSymbols::Found found;
    bool is_caller = false;
  };
  NativeSymbols::Found NativeAt(uint32_t index, bool is_caller, int64_t time);
  FrameId FrameAt(uint32_t index);
  // The part that does not depend on the time.
  FrameId FrameOf(const proto::Frame& frame);
  FrameId MakeFrame(Origin origin, std::string_view module, std::string_view name);

  Definitions& definitions_;
  TraceModel& model_;
  ImportStats& stats_;
  const proto::Chunk* chunk_ = nullptr;
  bool has_places_ = false;            // any frame of the chunk has one
  std::vector<FrameId> chunk_frames_;  // of frames whose name does not depend on the time
  std::vector<Native> chunk_natives_;
};

}  // namespace jtrace::postproc
