// blocks=on, blocks=paths: the activations that are in the middle of their blocks when the counts
// are read.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/calls/instrument/counted_code.h"
#include "agent/calls/tree_collector.h"
#include "agent/jvm/running_stacks.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::calls {

// An activation leaves its blocks where it is: the counts of what follows in its method do not have
// it. Those that were open when the file began arrived in it without having been counted. Set on
// any thread, the rest on the writer thread.
class OpenBlocks {
 public:
  // `trees`: null: blocks are not counted by call path.
  OpenBlocks(const CountedCode& code, TreeCollector* trees) : code_(code), trees_(trees) {}

  // The activations of now, thread by thread, innermost first.
  void Set(const std::vector<jvm::OpenActivation>& open);
  // They belong to the next counts. Finds their nodes, which the next chunk defines.
  void Request();
  // Takes back those that the file has, and writes those of now if they were requested.
  void Write(proto::Chunk& chunk);
  void BeginFile();

 private:
  // `node`: of the tree, as TreeCollector::TraceNode takes it; `number`: its number in this file.
  struct Open {
    uint64_t java_tid = 0;
    CountedCode::Instruction at;
    uint64_t node = 0;
    uint32_t number = 0;
  };

  void FindNodes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NumberNodes(std::vector<Open>& open) const;
  static void WriteAll(const std::vector<Open>& open, int64_t each, proto::Chunk& chunk);

  const CountedCode& code_;
  TreeCollector* const trees_;
  absl::Mutex mutex_;
  std::vector<Open> open_ ABSL_GUARDED_BY(mutex_);
  std::vector<Open> open_before_file_;
  bool is_due_ = false;      // with the next counts
  bool is_in_file_ = false;  // the file has open activations
};

}  // namespace jtrace::calls
