#include "agent/jvm/thread_registry.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/match.h"
#include "agent/jvm/env.h"
#include "common/name_pattern.h"
#include "proto/trace_format.h"

namespace jtrace::jvm {
namespace {

constexpr size_t kMostTids = 1 << 16;

struct NameAndKind {
  std::string name;
  bool is_daemon = false;
};

NameAndKind Describe(jvmtiEnv* env, JNIEnv* jni, jthread thread) {
  jvmtiThreadInfo info = {};
  if (env->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return {};
  // GetThreadInfo returns local references that a long-lived native frame would keep.
  LocalRef<jobject> group(jni, info.thread_group);
  LocalRef<jobject> loader(jni, info.context_class_loader);
  Allocated<char> name(env);
  *name.out() = info.name;
  return {info.name != nullptr ? info.name : "", info.is_daemon == JNI_TRUE};
}

}  // namespace

ThreadNumbers ThreadRegistry::Start(JNIEnv* jni, jthread thread) {
  ThreadNumbers numbers = {.java_tid = JavaTid(jni, thread), .os_tid = gettid()};
  {
    // The main thread reports its start before VMInit, which also runs on it.
    absl::MutexLock lock(&mutex_);
    const auto known = java_.find(numbers.java_tid);
    if (known != java_.end() && known->second.os_tid == numbers.os_tid) {
      numbers.number = known->second.number;
      return numbers;
    }
  }
  Define(jni, thread, numbers);
  return numbers;
}

void ThreadRegistry::Define(JNIEnv* jni, jthread thread, ThreadNumbers& numbers) {
  NameAndKind described = Describe(env_, jni, thread);
  const bool named = !described.name.empty();
  numbers.number = encoder_.DefineThread({.name = described.name,
                                          .os_tid = numbers.os_tid,
                                          .java_tid = static_cast<int64_t>(numbers.java_tid),
                                          .is_daemon = described.is_daemon});
  {
    absl::MutexLock lock(&mutex_);
    java_[numbers.java_tid] = {numbers.number, numbers.os_tid, std::move(described.name)};
    if (numbers.os_tid != 0) by_os_tid_[numbers.os_tid] = numbers;
  }
  encoder_.AddEvent({.time_ns = clock_.Now(),
                     .thread = numbers.number,
                     .major = format::kThread,
                     .minor = named ? format::kThreadNamed : format::kThreadUnnamed});
}

RunningThread ThreadRegistry::Adopt(JNIEnv* jni, jthread thread,
                                    absl::FunctionRef<pid_t(uintptr_t)> os_tid) {
  RunningThread found = FindRunning(jni, thread);
  if (found.numbers.number != 0) return found;
  // A thread without a JavaThread has not started or has ended.
  if (found.numbers.java_tid == 0 || found.java_thread == 0) return found;
  found.numbers.os_tid = os_tid(found.java_thread);
  if (found.numbers.os_tid < 0) return found;
  Define(jni, thread, found.numbers);
  return found;
}

void ThreadRegistry::Clear() {
  absl::MutexLock lock(&mutex_);
  java_.clear();
  by_os_tid_.clear();
  native_.clear();
  virtual_names_.clear();
}

ThreadNumbers ThreadRegistry::End() {
  ThreadNumbers numbers = {.os_tid = gettid()};
  bool named = true;
  {
    absl::MutexLock lock(&mutex_);
    // The list may never be read.
    if (ended_tids_.size() < kMostTids) ended_tids_.push_back(numbers.os_tid);
    const auto found = by_os_tid_.find(numbers.os_tid);
    if (found == by_os_tid_.end()) return numbers;
    numbers = found->second;
    by_os_tid_.erase(found);
    ended_now_.push_back(numbers.java_tid);
    const auto java = java_.find(numbers.java_tid);
    named = java == java_.end() || !java->second.name.empty();
  }
  const uint32_t begin = named ? format::kThreadNamed : format::kThreadUnnamed;
  encoder_.AddEvent({.time_ns = clock_.Now(),
                     .thread = numbers.number,
                     .major = format::kThread,
                     .minor = begin | format::kEnd});
  return numbers;
}

RunningThread ThreadRegistry::FindRunning(JNIEnv* jni, jthread thread) {
  const ThreadIdentity identity = fields_.Of(jni, thread);
  RunningThread found = {.numbers = {.java_tid = identity.java_tid},
                         .java_thread = identity.java_thread};
  absl::MutexLock lock(&mutex_);
  const auto entry = java_.find(found.numbers.java_tid);
  if (entry == java_.end()) return found;
  found.numbers.number = entry->second.number;
  found.numbers.os_tid = entry->second.os_tid;
  return found;
}

void ThreadRegistry::StartVirtual(JNIEnv* jni, jthread thread) {
  NameAndKind described = Describe(env_, jni, thread);
  if (described.name.empty()) return;
  const uint64_t java_tid = JavaTid(jni, thread);
  absl::MutexLock lock(&mutex_);
  virtual_names_[java_tid] = std::move(described.name);
}

uint64_t ThreadRegistry::EndVirtual(JNIEnv* jni, jthread thread) {
  const uint64_t java_tid = JavaTid(jni, thread);
  absl::MutexLock lock(&mutex_);
  if (virtual_names_.contains(java_tid) || java_.contains(java_tid)) ended_now_.push_back(java_tid);
  return java_tid;
}

void ThreadRegistry::ForgetEnded() {
  absl::MutexLock lock(&mutex_);
  for (const uint64_t java_tid : ended_before_) {
    virtual_names_.erase(java_tid);
    const auto found = java_.find(java_tid);
    if (found == java_.end()) continue;
    encoder_.ForgetThread(found->second.number);
    java_.erase(found);
  }
  ended_before_ = std::exchange(ended_now_, {});
}

KnownThread ThreadRegistry::Find(uint64_t java_tid) const {
  absl::MutexLock lock(&mutex_);
  if (const auto found = java_.find(java_tid); found != java_.end()) {
    return {found->second.number, found->second.os_tid == 0, found->second.name};
  }
  const auto found = virtual_names_.find(java_tid);
  return {0, true, found != virtual_names_.end() ? found->second : std::string()};
}

uint32_t ThreadRegistry::NumberOfJava(uint64_t java_tid) {
  std::string name;
  {
    absl::MutexLock lock(&mutex_);
    if (const auto found = java_.find(java_tid); found != java_.end()) return found->second.number;
    if (const auto found = virtual_names_.find(java_tid); found != virtual_names_.end()) {
      name = found->second;
    }
  }
  const uint32_t number = encoder_.DefineThread({.name = name,
                                                 .java_tid = static_cast<int64_t>(java_tid),
                                                 .is_virtual = true,
                                                 .is_daemon = true});
  absl::MutexLock lock(&mutex_);
  java_[java_tid] = {number, 0, std::move(name)};
  return number;
}

uint32_t ThreadRegistry::NumberOfPassing(uint64_t java_tid) {
  const uint32_t number = NumberOfJava(java_tid);
  absl::MutexLock lock(&mutex_);
  ended_now_.push_back(java_tid);
  return number;
}

uint32_t ThreadRegistry::NumberOfNative(pid_t os_tid) const {
  absl::MutexLock lock(&mutex_);
  const auto found = native_.find(os_tid);
  return found != native_.end() ? found->second.number : 0;
}

uint32_t ThreadRegistry::DefineInternal(pid_t os_tid, absl::string_view name) {
  {
    absl::MutexLock lock(&mutex_);
    const auto found = native_.find(os_tid);
    if (found != native_.end() && found->second.name == name) return found->second.number;
  }
  const uint32_t number = encoder_.DefineThread(
      {.name = std::string(name), .os_tid = os_tid, .is_daemon = true, .is_vm_internal = true});
  const bool is_gc = absl::StartsWith(name, "GC ") || absl::StartsWith(name, "G1 ") ||
                     absl::StartsWith(name, "ZWorker") || absl::StartsWith(name, "Shenandoah");
  encoder_.AddEvent({.time_ns = clock_.Now(),
                     .thread = number,
                     .major = format::kThread,
                     .minor = is_gc ? format::kThreadGc : format::kThreadNamed,
                     .value = 1});  // a system thread
  absl::MutexLock lock(&mutex_);
  if (native_.size() >= kMostTids) native_.clear();  // the ends of these threads are not seen
  native_[os_tid] = {number, os_tid, std::string(name)};
  return number;
}

std::vector<pid_t> ThreadRegistry::TakeEndedTids() {
  absl::MutexLock lock(&mutex_);
  return std::exchange(ended_tids_, {});
}

bool ThreadRegistry::HasJavaThread(pid_t os_tid) const {
  absl::MutexLock lock(&mutex_);
  return by_os_tid_.contains(os_tid);
}

uint32_t ThreadGroups::Assign(uint64_t java_tid, bool is_virtual) {
  if (!is_virtual && own_trees_ < kOwnTrees) {
    ++own_trees_;
    return 0;
  }
  return Group(threads_.Find(java_tid).name, is_virtual);
}

uint32_t ThreadGroups::NumberOfGroup(uint32_t group) {
  GroupInfo& info = groups_[group - 1];
  if (info.number == 0) {
    info.number = encoder_.DefineThread({.name = info.name, .is_virtual = info.is_virtual});
  }
  return info.number;
}

uint32_t ThreadGroups::NumberOfThread(uint64_t java_tid) {
  const KnownThread known = threads_.Find(java_tid);
  if (!known.is_virtual && known.number != 0) return known.number;
  return NumberOfGroup(Group(known.name, known.is_virtual));
}

void ThreadGroups::Clear() {
  for (GroupInfo& info : groups_) info.number = 0;
}

uint32_t ThreadGroups::Group(absl::string_view name, bool is_virtual) {
  ByPattern& by_pattern = is_virtual ? virtual_groups_ : platform_groups_;
  std::string pattern = NamePattern({name.data(), name.size()});
  if (pattern.empty() || (by_pattern.size() > kPatterns && !by_pattern.contains(pattern))) {
    pattern = is_virtual ? "[virtual threads]" : "[more threads]";
  }
  const auto next = static_cast<uint32_t>(groups_.size() + 1);
  const auto [entry, inserted] = by_pattern.try_emplace(pattern, next);
  if (inserted) groups_.push_back({pattern, is_virtual, 0});
  return entry->second;
}

}  // namespace jtrace::jvm
