#include "agent/jvm/thread_table.h"

#include <algorithm>

namespace jtrace::jvm {

ThreadEntry* ThreadTable::Access::OfJava(uint64_t java_tid) {
  const auto found = table_.java_.find(java_tid);
  return found != table_.java_.end() ? &found->second : nullptr;
}

ThreadEntry* ThreadTable::Access::JavaOn(pid_t os_tid) {
  const auto found = table_.java_tid_on_.find(os_tid);
  return found != table_.java_tid_on_.end() ? OfJava(found->second) : nullptr;
}

ThreadEntry* ThreadTable::Access::NativeOn(pid_t os_tid) {
  const auto found = table_.native_.find(os_tid);
  return found != table_.native_.end() ? &found->second : nullptr;
}

// ---- Threads start ----------------------------------------------------------------------------

ThreadEntry& ThreadTable::Access::Start(const ThreadIdentity& identity) {
  table_.ended_unknown_.erase(identity.os_tid);
  ThreadEntry* const before = JavaOn(identity.os_tid);
  if (before != nullptr && before->identity.java_tid != identity.java_tid) {
    const uint64_t ended = before->identity.java_tid;
    if (!before->has_ended) RememberEnded(ended);
    before->has_ended = true;
    Release(ended);
  }
  ThreadEntry& thread = table_.java_[identity.java_tid];
  thread.identity = identity;
  table_.java_tid_on_[identity.os_tid] = identity.java_tid;
  return thread;
}

ThreadEntry* ThreadTable::Access::Adopt(const ThreadIdentity& identity) {
  if (HasEnded(identity.java_tid)) return nullptr;
  if (identity.os_tid != 0) {
    const auto [on, is_new] = table_.java_tid_on_.try_emplace(identity.os_tid, identity.java_tid);
    if (!is_new && on->second != identity.java_tid) return nullptr;
  }
  ThreadEntry& thread = table_.java_[identity.java_tid];
  // What the thread has reported itself is better known.
  if (thread.identity.os_tid == 0) thread.identity = identity;
  return &thread;
}

ThreadEntry& ThreadTable::Access::Virtual(uint64_t java_tid) {
  ThreadEntry& thread = table_.java_[java_tid];
  thread.identity.java_tid = java_tid;
  return thread;
}

ThreadEntry& ThreadTable::Access::Native(pid_t os_tid) {
  // The ends of most native threads are not seen, so their number must be limited here.
  // Those that the trace names keep their numbers.
  if (table_.native_.size() >= kMaxKernelIds && !table_.native_.contains(os_tid)) {
    absl::erase_if(table_.native_, [](const auto& it) {
      return it.second.counters == nullptr && it.second.number == 0;
    });
  }
  ThreadEntry& thread = table_.native_[os_tid];
  thread.identity.os_tid = os_tid;
  return thread;
}

// ---- Threads end ------------------------------------------------------------------------------

bool ThreadTable::Access::HasEnded(uint64_t java_tid) const {
  const auto found = table_.java_.find(java_tid);
  return (found != table_.java_.end() && found->second.has_ended) ||
         table_.ended_java_.contains(java_tid);
}

bool ThreadTable::Access::MayBeGone(uint64_t java_tid, pid_t os_tid, uint64_t now_ns) const {
  if (HasEnded(java_tid)) return true;
  const auto ended = table_.ended_unknown_.find(os_tid);
  return ended != table_.ended_unknown_.end() && now_ns - ended->second < kMaxEndingNs;
}

void ThreadTable::Access::RememberUnknownEnd(pid_t os_tid, uint64_t now_ns) {
  table_.ended_unknown_[os_tid] = now_ns;
  // Searched only when the map has doubled: many threads may end within kMaxEndingNs.
  if (table_.ended_unknown_.size() < table_.clean_unknown_at_) return;
  absl::erase_if(table_.ended_unknown_,
                 [&](const auto& ended) { return now_ns - ended.second >= kMaxEndingNs; });
  table_.clean_unknown_at_ = std::max(kMinUnknownEnds, 2 * table_.ended_unknown_.size());
}

void ThreadTable::Access::RememberEnded(uint64_t java_tid) {
  table_.ended_java_.insert(java_tid);
  table_.ended_order_.push_back(java_tid);
  if (table_.ended_order_.size() <= kMaxEnded) return;
  table_.ended_java_.erase(table_.ended_order_.front());
  table_.ended_order_.pop_front();
}

ThreadEntry* ThreadTable::Access::End(pid_t os_tid, uint64_t now_ns) {
  ThreadEntry* const thread = JavaOn(os_tid);
  const bool is_known_end = thread != nullptr && thread->has_ended;
  // Nobody may ever ask for the list, so its size is limited.
  if (!is_known_end && table_.ended_tids_.size() < kMaxKernelIds) {
    table_.ended_tids_.push_back(os_tid);
  }
  if (thread == nullptr) {
    RememberUnknownEnd(os_tid, now_ns);
    return nullptr;
  }
  if (!thread->has_ended) RememberEnded(thread->identity.java_tid);
  thread->has_ended = true;
  return thread;
}

void ThreadTable::Access::Release(uint64_t java_tid) {
  const auto found = table_.java_.find(java_tid);
  if (found == table_.java_.end()) return;
  ThreadEntry& thread = found->second;
  thread.has_ended = true;
  const auto on = table_.java_tid_on_.find(thread.identity.os_tid);
  if (on != table_.java_tid_on_.end() && on->second == java_tid) table_.java_tid_on_.erase(on);
  if (thread.number != 0 || !thread.name.empty()) {
    ReleaseLater(java_tid);
  } else if (thread.counters == nullptr) {
    table_.java_.erase(found);
  }
}

void ThreadTable::Access::EndNative(pid_t os_tid) {
  const auto found = table_.native_.find(os_tid);
  if (found == table_.native_.end()) return;
  if (found->second.number == 0 && found->second.counters == nullptr) table_.native_.erase(found);
}

// A thread that was released because it may have ended keeps its entry while it is counted.
void ThreadTable::Access::EraseUnused(uint64_t java_tid) {
  const auto found = table_.java_.find(java_tid);
  if (found == table_.java_.end()) return;
  found->second.number = 0;
  found->second.name.clear();
  const bool may_have_ended = found->second.has_ended || found->second.identity.os_tid == 0;
  if (may_have_ended && found->second.counters == nullptr) table_.java_.erase(found);
}

void ThreadTable::Access::ForgetEnded(absl::FunctionRef<void(uint32_t number)> forget) {
  for (const uint64_t java_tid : table_.ended_before_) {
    const ThreadEntry* const thread = OfJava(java_tid);
    if (thread == nullptr) continue;
    if (thread->number != 0) forget(thread->number);
    EraseUnused(java_tid);
  }
  table_.ended_before_ = std::exchange(table_.ended_now_, {});
}

// ---- Traces -----------------------------------------------------------------------------------

std::vector<ThreadEntry> ThreadTable::Access::Numbered() const {
  std::vector<ThreadEntry> numbered;
  for (const auto& [java_tid, thread] : table_.java_) {
    if (thread.number == 0 || thread.identity.os_tid == 0 || thread.has_ended) continue;
    numbered.push_back(thread);
  }
  std::sort(numbered.begin(), numbered.end(),
            [](const ThreadEntry& a, const ThreadEntry& b) { return a.number < b.number; });
  return numbered;
}

void ThreadTable::Access::ClearNumbers() {
  for (std::vector<uint64_t>* const released : {&table_.ended_now_, &table_.ended_before_}) {
    for (const uint64_t java_tid : *released) EraseUnused(java_tid);
    released->clear();
  }
  const auto clear = [](ThreadEntry& thread, bool is_platform) {
    thread.number = 0;
    thread.name.clear();
    return !is_platform && thread.counters == nullptr;
  };
  absl::erase_if(table_.java_,
                 [&](auto& it) { return clear(it.second, it.second.identity.os_tid != 0); });
  absl::erase_if(table_.native_, [&](auto& it) { return clear(it.second, false); });
}

}  // namespace jtrace::jvm
