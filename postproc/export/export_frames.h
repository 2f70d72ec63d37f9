// A node's routine in exports: its name, where it is defined, and its module.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/call_site.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

struct ExportFrame {
  std::string name;  // never empty; a root's is its thread's
  // Traces name no source files: the class of a method, the module of native code, "[threads]" of a
  // thread's root.
  std::string source;
  std::string module;  // "libc.so.6", "[java]"
};

class ExportFrames {
 public:
  explicit ExportFrames(const ReportInput& input);

  // Index of the frame of a node.
  uint32_t Of(const CallNode& node) const {
    return node.routine ? of_routine_[node.routine.value] : of_thread_[node.thread.value];
  }
  // The frames of the tree's nodes; several threads of one name have several.
  const std::vector<ExportFrame>& frames() const { return frames_; }

 private:
  std::vector<uint32_t> of_routine_;
  std::vector<uint32_t> of_thread_;
  std::vector<ExportFrame> frames_;
};

// A frame, and the place from which it calls the next one of its stack.
struct PlacedFrame {
  uint32_t frame = 0;
  CallSite place = kNoCallSite;
};

// Numbers for the frames with their places that are in the tree: those of ExportFrames, then, where
// places were recorded, the others.
class PlacedFrames {
 public:
  PlacedFrames(const ReportInput& input, const ExportFrames& frames);

  uint32_t Of(uint32_t frame, CallSite place) const {
    return place == kNoCallSite ? frame : number_.at({frame, place});
  }
  const std::vector<PlacedFrame>& all() const { return all_; }

 private:
  std::vector<PlacedFrame> all_;
  absl::flat_hash_map<std::pair<uint32_t, CallSite>, uint32_t> number_;
};

}  // namespace jtrace::postproc
