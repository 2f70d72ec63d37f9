// Classes and loaders that the JVM has unloaded, until everything about them is written and the
// agent can forget them.
//
// Records of a class may still be unwritten when it is unloaded: samples in a ring, calls in a
// tree. So the class is kept for one more round of the writer thread's sources, and longer until
// there are enough of them to justify a pass over everything known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::jvm {

class UnloadedClasses : public trace::ChunkSource {
 public:
  struct Batch {
    absl::flat_hash_set<uint32_t> classes;  // ClassDef.id
    absl::flat_hash_set<uint32_t> loaders;  // ClassDef.loader
    size_t size() const { return classes.size() + loaders.size(); }
  };
  // `forget` is called on the writer thread and returns how many classes are known then;
  // `is_behind` says whether records of earlier rounds may still be unread.
  UnloadedClasses(std::function<size_t(Batch)> forget, std::function<bool()> is_behind)
      : forget_(std::move(forget)), is_behind_(std::move(is_behind)) {}

  // Any thread.
  void AddClass(uint32_t class_id);
  void AddLoader(uint32_t loader);

  // Forgets in batches what was unloaded before the last call. Must come after all other sources.
  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;
  // The same while no recording writes, without batches.
  void ForgetNow();

 private:
  void Age();

  const std::function<size_t(Batch)> forget_;
  const std::function<bool()> is_behind_;
  std::mutex mutex_;
  Batch fresh_;  // guarded by mutex_
  // Used by the writer thread, or by the caller of ForgetNow while there is no writer: what was
  // unloaded before the last AddChanges, and what before an earlier one.
  Batch waiting_;
  Batch releasable_;
  size_t known_ = 0;
};

}  // namespace jtrace::jvm
