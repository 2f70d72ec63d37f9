// blocks=on, blocks=paths: the class files and methods whose blocks are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "agent/calls/classfile/class_rewriter.h"
#include "agent/jvm/running_stacks.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::calls {

// Maps positions in the methods' present code to their class files, and writes the definitions
// that the trace needs. WriteDefinitions and BeginFile on the writer thread, the rest on any.
class CountedBytecode {
 public:
  explicit CountedBytecode(trace::RecordEncoder& encoder) : encoder_(encoder) {}

  // Adds a rewritten class. `bytes`: before rewriting. `by_path`: it counts by call path.
  void Add(uint32_t class_id, classfile::Bytes bytes, const classfile::RewriteResult& result,
           bool by_path);
  // Remembers the name. Returns whether it was known before.
  bool HasSeen(std::string_view class_name);

  // Returns where in the class file the instruction at `bci` of the routine's present code is; for
  // a probe, the instruction after it. Returns `bci` itself if the routine has no counters.
  uint32_t OriginalBci(uint32_t routine, uint32_t bci) const;

  // An instruction of a class file.
  struct Instruction {
    uint32_t routine = 0;
    uint32_t class_code = 0;  // ClassCode.id
    uint32_t method = 0;      // its number in the class
    uint32_t bci = 0;
  };
  // Returns the activation's instruction. None: the entry probe, or code without counters.
  std::optional<Instruction> InstructionOf(const jvm::OpenActivation& open) const;

  // Writes the classes and methods that this file does not have yet.
  void WriteDefinitions(proto::Chunk& chunk);
  void BeginFile() { classes_written_ = methods_written_ = 0; }

 private:
  // Class number, name and descriptor.
  using Key = std::tuple<uint32_t, std::string, std::string>;
  using Moves = std::vector<classfile::MethodOutcome::Moved>;

  trace::RecordEncoder& encoder_;
  mutable absl::Mutex mutex_;
  // The present code of methods: indexes of methods_ and moves_.
  absl::flat_hash_map<Key, size_t> codes_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint32_t, size_t> by_routine_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::string> names_ ABSL_GUARDED_BY(mutex_);
  std::vector<proto::ClassCode> classes_ ABSL_GUARDED_BY(mutex_);  // ids are indexes plus 1
  std::vector<proto::MethodCounters> methods_ ABSL_GUARDED_BY(mutex_);
  std::vector<Moves> moves_ ABSL_GUARDED_BY(mutex_);  // of each of methods_
  size_t classes_written_ = 0;                        // in this file
  size_t methods_written_ = 0;
};

}  // namespace jtrace::calls
