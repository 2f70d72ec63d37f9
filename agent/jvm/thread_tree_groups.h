// Decides which threads share a tree, so that memory, trace and reports do not grow with the number
// of threads that start and end: virtual threads always, platform threads beyond the first
// thousand. Writer thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "agent/jvm/thread_registry.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::jvm {

class ThreadTreeGroups {
 public:
  // Platform threads with their own trees.
  static constexpr size_t kOwnTrees = 1000;
  // Groups by pattern; further names share one group.
  static constexpr size_t kPatterns = 100;

  ThreadTreeGroups(ThreadRegistry& threads, trace::RecordEncoder& encoder)
      : threads_(threads), encoder_(encoder) {}

  // Returns the group in which the thread is counted, for the life of the JVM; 0: it gets its own
  // tree. Called once for each thread with a tree.
  uint32_t Assign(uint64_t java_tid, bool is_virtual);
  // Returns a group's number in the trace (Thread.id).
  uint32_t NumberOfGroup(uint32_t group);
  // Returns the number for a thread's records: its own, or its group's.
  uint32_t NumberOfThread(uint64_t java_tid);
  // The group of virtual threads without a name.
  uint32_t VirtualThreads() { return Group("", /*is_virtual=*/true); }
  // The group of threads for whose trees there was no memory.
  uint32_t NoMemoryGroup() { return GroupOfPattern("[no memory]", /*is_virtual=*/false); }
  // The group of platform threads whose patterns are too many to have groups of their own.
  uint32_t MoreThreads() { return Group("", /*is_virtual=*/false); }
  // The group of threads that ended before the file began.
  uint32_t EndedThreads() { return GroupOfPattern("[ended threads]", /*is_virtual=*/false); }
  // The group of what belongs to no thread.
  uint32_t Process() { return GroupOfPattern("[process]", /*is_virtual=*/false); }
  // A new trace begins, in which no group is defined.
  void Clear();

 private:
  struct GroupInfo {
    std::string name;
    bool is_virtual;
    uint32_t number;  // 0: not defined in this trace
  };
  using ByPattern = absl::flat_hash_map<std::string, uint32_t>;

  uint32_t Group(absl::string_view name, bool is_virtual);
  // Returns the pattern's group, made if it is new, whatever the number of patterns.
  uint32_t GroupOfPattern(const std::string& pattern, bool is_virtual);

  ThreadRegistry& threads_;
  trace::RecordEncoder& encoder_;
  size_t own_trees_ = 0;
  std::vector<GroupInfo> groups_;  // group 1, 2, …
  ByPattern virtual_groups_;
  ByPattern platform_groups_;
};

}  // namespace jtrace::jvm
