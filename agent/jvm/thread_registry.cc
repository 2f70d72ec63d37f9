#include "agent/jvm/thread_registry.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/match.h"
#include "agent/jvm/jvmti_calls.h"
#include "proto/trace_format.h"

namespace jtrace::jvm {
namespace {

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

TraceThreadIds NumbersOf(const ThreadEntry& thread) {
  return {.number = thread.number,
          .java_tid = thread.identity.java_tid,
          .os_tid = thread.identity.os_tid};
}

bool IsOfCollector(absl::string_view name) {
  return absl::StartsWith(name, "GC ") || absl::StartsWith(name, "G1 ") ||
         absl::StartsWith(name, "ZWorker") || absl::StartsWith(name, "Shenandoah");
}

}  // namespace

TraceThreadIds ThreadRegistry::Start(JNIEnv* jni, jthread thread) {
  ThreadIdentity identity = fields_.Of(jni, thread);
  identity.os_tid = gettid();
  if (identity.java_tid != 0) {
    // The main thread reports its start before VMInit, which also runs on it.
    ThreadTable::Access threads(table_);
    const ThreadEntry& known = threads.Start(identity);
    if (known.number != 0) return NumbersOf(known);
  }
  return Define(jni, thread, identity);
}

// Two threads may define one thread: itself at its start, and one that lists the running threads.
TraceThreadIds ThreadRegistry::Define(JNIEnv* jni, jthread thread, const ThreadIdentity& identity) {
  NameAndKind described = Describe(env_, jni, thread);
  const bool named = !described.name.empty();
  TraceThreadIds numbers = {.java_tid = identity.java_tid, .os_tid = identity.os_tid};
  {
    ThreadTable::Access threads(table_);
    ThreadEntry* const known = threads.OfJava(identity.java_tid);
    if (known != nullptr && known->number != 0) return NumbersOf(*known);
    if (known == nullptr && identity.java_tid != 0) return numbers;  // it has ended meanwhile
    numbers.number = encoder_.DefineThread({.name = described.name,
                                            .os_tid = identity.os_tid,
                                            .java_tid = static_cast<int64_t>(identity.java_tid),
                                            .is_daemon = described.is_daemon});
    if (known != nullptr) {
      known->number = numbers.number;
      known->name = std::move(described.name);
    }
  }
  encoder_.AddEvent({.time_ns = clock_.Now(),
                     .thread = numbers.number,
                     .major = format::kThread,
                     .minor = named ? format::kThreadNamed : format::kThreadUnnamed});
  return numbers;
}

RunningThread ThreadRegistry::Adopt(JNIEnv* jni, jthread thread,
                                    absl::FunctionRef<pid_t(uintptr_t)> os_tid) {
  RunningThread found = FindRunning(jni, thread);
  if (found.numbers.number != 0) return found;
  // A thread without a JavaThread has not started or has ended.
  if (found.numbers.java_tid == 0 || found.java_thread == 0) return found;
  found.numbers.os_tid = os_tid(found.java_thread);
  if (found.numbers.os_tid < 0) return found;
  const ThreadIdentity identity = {.java_tid = found.numbers.java_tid,
                                   .os_tid = found.numbers.os_tid,
                                   .java_thread = found.java_thread};
  if (ThreadTable::Access(table_).Adopt(identity) == nullptr) return found;
  found.numbers = Define(jni, thread, identity);
  return found;
}

void ThreadRegistry::Clear() { ThreadTable::Access(table_).ClearNumbers(); }

TraceThreadIds ThreadRegistry::End() {
  TraceThreadIds numbers = {.os_tid = gettid()};
  bool named = true;
  {
    ThreadTable::Access threads(table_);
    const ThreadEntry* const ended = threads.End(numbers.os_tid);
    if (ended == nullptr) return numbers;
    numbers = NumbersOf(*ended);
    named = !ended->name.empty();
  }
  if (numbers.number == 0) return numbers;
  const uint32_t begin = named ? format::kThreadNamed : format::kThreadUnnamed;
  encoder_.AddEvent({.time_ns = clock_.Now(),
                     .thread = numbers.number,
                     .major = format::kThread,
                     .minor = begin | format::kEnd});
  return numbers;
}

void ThreadRegistry::Release(uint64_t java_tid) { ThreadTable::Access(table_).Release(java_tid); }

RunningThread ThreadRegistry::FindRunning(JNIEnv* jni, jthread thread) {
  const ThreadIdentity identity = fields_.Of(jni, thread);
  RunningThread found = {.numbers = {.java_tid = identity.java_tid},
                         .java_thread = identity.java_thread};
  ThreadTable::Access threads(table_);
  const ThreadEntry* const known = threads.OfJava(identity.java_tid);
  if (known == nullptr || known->number == 0) return found;
  found.numbers = NumbersOf(*known);
  return found;
}

std::vector<RunningThread> ThreadRegistry::Running() {
  std::vector<RunningThread> running;
  for (const ThreadEntry& thread : ThreadTable::Access(table_).Numbered()) {
    running.push_back({NumbersOf(thread), thread.identity.java_thread});
  }
  return running;
}

void ThreadRegistry::StartVirtual(JNIEnv* jni, jthread thread) {
  NameAndKind described = Describe(env_, jni, thread);
  if (described.name.empty()) return;
  const uint64_t java_tid = JavaTid(jni, thread);
  ThreadTable::Access threads(table_);
  threads.Virtual(java_tid).name = std::move(described.name);
}

void ThreadRegistry::ForgetEnded() {
  ThreadTable::Access(table_).ForgetEnded(
      [this](uint32_t number) { encoder_.ForgetThread(number); });
}

KnownThread ThreadRegistry::Find(uint64_t java_tid) {
  ThreadTable::Access threads(table_);
  const ThreadEntry* const known = threads.OfJava(java_tid);
  if (known == nullptr) return {0, true, ""};
  return {known->number, known->number == 0 || known->identity.os_tid == 0, known->name};
}

uint32_t ThreadRegistry::NumberOfJava(uint64_t java_tid) {
  ThreadTable::Access threads(table_);
  ThreadEntry& thread = threads.Virtual(java_tid);
  if (thread.number != 0) return thread.number;
  const bool is_virtual = thread.identity.os_tid == 0;
  thread.number = encoder_.DefineThread({.name = thread.name,
                                         .os_tid = thread.identity.os_tid,
                                         .java_tid = static_cast<int64_t>(java_tid),
                                         .is_virtual = is_virtual,
                                         .is_daemon = is_virtual});
  return thread.number;
}

uint32_t ThreadRegistry::NumberOfEphemeral(uint64_t java_tid) {
  const uint32_t number = NumberOfJava(java_tid);
  ThreadTable::Access threads(table_);
  const ThreadEntry* const thread = threads.OfJava(java_tid);
  // The end of a thread whose start gave its name is reported: it keeps both until then.
  const bool has_reported_start = thread != nullptr && !thread->name.empty() && !thread->has_ended;
  if (!has_reported_start) threads.ReleaseLater(java_tid);
  return number;
}

uint32_t ThreadRegistry::NumberOfNative(pid_t os_tid) {
  ThreadTable::Access threads(table_);
  const ThreadEntry* const known = threads.NativeOn(os_tid);
  return known != nullptr ? known->number : 0;
}

uint32_t ThreadRegistry::DefineNative(pid_t os_tid, absl::string_view name) {
  uint32_t number;
  {
    ThreadTable::Access threads(table_);
    ThreadEntry& thread = threads.Native(os_tid);
    if (thread.number != 0 && thread.name == name) return thread.number;
    number = encoder_.DefineThread(
        {.name = std::string(name), .os_tid = os_tid, .is_daemon = true, .is_vm_internal = true});
    thread.number = number;
    thread.name = std::string(name);
  }
  encoder_.AddEvent({.time_ns = clock_.Now(),
                     .thread = number,
                     .major = format::kThread,
                     .minor = IsOfCollector(name) ? format::kThreadGc : format::kThreadNamed,
                     .value = 1});  // a system thread
  return number;
}

std::vector<pid_t> ThreadRegistry::DrainEndedTids() {
  return ThreadTable::Access(table_).DrainEndedTids();
}

bool ThreadRegistry::HasJavaThread(pid_t os_tid) {
  ThreadTable::Access threads(table_);
  const ThreadEntry* const known = threads.JavaOn(os_tid);
  return known != nullptr && known->number != 0 && !known->has_ended;
}

}  // namespace jtrace::jvm
