// A node's routine in exports: its name, where it is defined, and its module.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace jtrace::postproc
