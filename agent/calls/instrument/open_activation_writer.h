// blocks=on, blocks=paths: the activations that are in the middle of their blocks when the counts
// are read.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/calls/instrument/counted_bytecode.h"
#include "agent/calls/trees/tree_collector.h"
#include "agent/jvm/running_stacks.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::calls {

// An open activation has been counted at the begin of its block but not where the block ends: the
// trace's reader needs its instruction to derive counts. Activations that were open when the file
// began are written with negative counts, because this file does not count their arrival. Set on
// any thread, the rest on the writer thread.
class OpenActivationWriter {
 public:
  // `trees`: null: blocks are not counted by call path.
  OpenActivationWriter(const CountedBytecode& code, TreeCollector* trees)
      : code_(code), trees_(trees) {}

  // Replaces the open activations. `open`: thread by thread, innermost first.
  void Set(const std::vector<jvm::OpenActivation>& open);
  // Makes the next Write write the activations. Finds their nodes, which the next chunk defines.
  void Request();
  // Declares void the activations that the file has, and writes the present ones if requested.
  void Write(proto::Chunk& chunk);
  void BeginFile();

 private:
  // `node`: in the tree, as TreeCollector::NumberOf takes it; `number`: its number in this file.
  struct Open {
    uint64_t java_tid = 0;
    CountedBytecode::Instruction at;
    uint64_t node = 0;
    uint32_t number = 0;
  };

  void FindNodes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NumberNodes(std::vector<Open>& open) const;
  static void WriteAll(const std::vector<Open>& open, int64_t each, proto::Chunk& chunk);

  const CountedBytecode& code_;
  TreeCollector* const trees_;
  absl::Mutex mutex_;
  std::vector<Open> open_ ABSL_GUARDED_BY(mutex_);
  std::vector<Open> open_before_file_;
  bool is_due_ = false;      // Request was called since the last Write
  bool is_in_file_ = false;  // the file has open activations
};

}  // namespace jtrace::calls
