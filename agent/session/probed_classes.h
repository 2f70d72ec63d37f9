// The classes of one recording: adds probes to loaded ones, and finds classes in scope without
// probes.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "agent/instrument/instrumentation.h"
#include "agent/options/options.h"
#include "agent/session/jvm_parts.h"

namespace jtrace {

class ProbedClasses {
 public:
  // Errors: an invalid pattern of include= or exclude=.
  static absl::StatusOr<std::unique_ptr<ProbedClasses>> Create(JvmParts& jvm,
                                                               const Options& options);

  // Adds probes to loaded classes in scope. Even at load there may be classes of the program: a JVM
  // with an AOT cache links them before VMInit, and a class-file hook at that time would disable
  // the cache.
  void AddToLoaded(JNIEnv* jni, const Progress& progress);
  // Adds probes to prepared classes in scope that have none. On a Java thread that holds no lock of
  // the JVM.
  void AddToPrepared(JNIEnv* jni);
  // Notes a prepared class that is in scope but has no probes. Returns whether AddToPrepared is
  // due.
  bool NoteLate(jclass klass);
  // Whether NoteLate returned true since the last call.
  bool TakeLate() { return has_late_.exchange(false); }
  // Removes all probes. `wait_for_hooks` returns when no class-file hook runs that asked before.
  void Remove(JNIEnv* jni, const Progress& progress, const std::function<void()>& wait_for_hooks);

  Instrumentation& instrumentation() { return *instrumentation_; }
  const Instrumentation& instrumentation() const { return *instrumentation_; }

 private:
  struct NamedClass {
    uint32_t number = 0;  // ClassDef.id
    std::string name;
  };

  ProbedClasses(JvmParts& jvm, std::unique_ptr<Instrumentation> instrumentation)
      : jvm_(jvm), instrumentation_(std::move(instrumentation)) {}

  // The class if it is in scope and may change; one that may not change is counted as a loss.
  std::optional<NamedClass> InScope(jclass klass);
  // The same, but only if it has not passed the rewriter and no loss reports why.
  std::optional<NamedClass> WithoutProbes(jclass klass);
  void Add(JNIEnv* jni, std::span<const jclass> classes, const Progress& progress);
  void RemoveOnce(JNIEnv* jni, const Progress& progress);
  // Threads that are inside methods of these classes continue in the old versions.
  void NoteOldMethods(std::span<const jclass> classes);
  void ReportRunningLoops(JNIEnv* jni, std::span<const jclass> classes);

  JvmParts& jvm_;
  const std::unique_ptr<Instrumentation> instrumentation_;
  // All classes in scope that were loaded when the recording began have probes.
  std::atomic<bool> loaded_have_probes_{false};
  // Classes in scope that were not loaded then wait for the control thread.
  std::atomic<bool> has_late_{false};
};

}  // namespace jtrace
