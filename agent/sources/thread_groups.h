// Which threads share a tree, so that neither memory nor trace nor reports grow with the number of
// threads that come and go: virtual threads always, platform threads beyond the first thousand.
// Writer thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "agent/jvmti/thread_registry.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::writer {

// "pool-3-thread-17" → "pool-*-thread-*": threads with the same pattern do the same work.
std::string NamePattern(absl::string_view name);

class ThreadGroups {
 public:
  // Platform threads with trees of their own.
  static constexpr size_t kOwnTrees = 1000;
  // Groups by pattern; names beyond that go to one group.
  static constexpr size_t kPatterns = 100;

  ThreadGroups(jvmti::ThreadRegistry& threads, RecordEncoder& encoder)
      : threads_(threads), encoder_(encoder) {}

  // Once for each thread with a tree: the group it is counted in, which holds for the life of the
  // JVM; 0: it gets a tree of its own.
  uint32_t Assign(uint64_t java_tid, bool is_virtual);
  // Number in the trace (Thread.id) of a group.
  uint32_t NumberOfGroup(uint32_t group);
  // Number for the records of a thread: its own, or that of the group it is in.
  uint32_t NumberOfThread(uint64_t java_tid);
  // The group of virtual threads without a name.
  uint32_t VirtualThreads() { return Group("", /*is_virtual=*/true); }
  // Stands for the threads for whose trees there was no memory.
  uint32_t Homeless() { return Group("[no memory]", /*is_virtual=*/false); }
  // Stands for what belongs to no thread.
  uint32_t Process() { return Group("[process]", /*is_virtual=*/false); }
  // A new trace begins: nothing is defined in it.
  void Clear();

 private:
  struct GroupInfo {
    std::string name;
    bool is_virtual;
    uint32_t number;  // 0: not defined in this trace
  };
  using ByPattern = absl::flat_hash_map<std::string, uint32_t>;

  uint32_t Group(absl::string_view name, bool is_virtual);

  jvmti::ThreadRegistry& threads_;
  RecordEncoder& encoder_;
  size_t own_trees_ = 0;
  std::vector<GroupInfo> groups_;  // group 1, 2, …
  ByPattern virtual_groups_;
  ByPattern platform_groups_;
};

}  // namespace jtrace::writer
