#include "agent/jvm/thread_tree_groups.h"

#include "common/name_pattern.h"

namespace jtrace::jvm {

uint32_t ThreadTreeGroups::Assign(uint64_t java_tid, bool is_virtual) {
  if (!is_virtual && own_trees_ < kOwnTrees) {
    ++own_trees_;
    return 0;
  }
  return Group(threads_.Find(java_tid).name, is_virtual);
}

uint32_t ThreadTreeGroups::NumberOfGroup(uint32_t group) {
  GroupInfo& info = groups_[group - 1];
  if (info.number == 0) {
    info.number = encoder_.DefineThread({.name = info.name, .is_virtual = info.is_virtual});
  }
  return info.number;
}

uint32_t ThreadTreeGroups::NumberOfThread(uint64_t java_tid) {
  const KnownThread known = threads_.Find(java_tid);
  if (!known.is_virtual && known.number != 0) return known.number;
  return NumberOfGroup(Group(known.name, known.is_virtual));
}

void ThreadTreeGroups::Clear() {
  for (GroupInfo& info : groups_) info.number = 0;
}

uint32_t ThreadTreeGroups::Group(absl::string_view name, bool is_virtual) {
  const ByPattern& by_pattern = is_virtual ? virtual_groups_ : platform_groups_;
  std::string pattern = NamePattern({name.data(), name.size()});
  if (pattern.empty() || (by_pattern.size() > kPatterns && !by_pattern.contains(pattern))) {
    pattern = is_virtual ? "[virtual threads]" : "[more threads]";
  }
  return GroupOfPattern(pattern, is_virtual);
}

uint32_t ThreadTreeGroups::GroupOfPattern(const std::string& pattern, bool is_virtual) {
  ByPattern& by_pattern = is_virtual ? virtual_groups_ : platform_groups_;
  const auto next = static_cast<uint32_t>(groups_.size() + 1);
  const auto [entry, inserted] = by_pattern.try_emplace(pattern, next);
  if (inserted) groups_.push_back({pattern, is_virtual, 0});
  return entry->second;
}

}  // namespace jtrace::jvm
