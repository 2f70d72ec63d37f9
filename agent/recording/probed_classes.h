// The classes of one recording: adds probes to loaded classes, removes them, and finds classes in
// scope without probes. Under the session's lock; ReportLateClass on any Java thread.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/calls/instrument/instrumentation.h"
#include "agent/options/options.h"
#include "agent/recording/agent_state.h"
#include "agent/recording/class_batches.h"

namespace jtrace {

class ProbedClasses {
 public:
  // Errors: an invalid pattern of include= or exclude=.
  static absl::StatusOr<std::unique_ptr<ProbedClasses>> Create(JvmState& jvm, ProbeState& probes,
                                                               const Options& options);

  // For a recording whose classes have the probes of `resting` already, and keep them.
  static std::unique_ptr<ProbedClasses> Sharing(JvmState& jvm, ProbeState& probes,
                                                const Options& options,
                                                const ProbedClasses& resting);

  // Adds probes to loaded classes in scope, at load. Even then there may be classes of the program:
  // a JVM with an AOT cache links them before VMInit, and a class-file hook at that time would
  // disable the cache.
  void AddToLoaded(JNIEnv* jni);
  // The same in a running program: lists the classes, which then get their probes in batches.
  void PlanAdding(JNIEnv* jni);
  bool IsAdding() const { return is_adding_; }
  // Adds probes to the next classes. After the last ones also to those that were still loading when
  // the list was made.
  void AddBatch(JNIEnv* jni, const std::function<void(jclass)>& added);
  // Reports to DescribePlan that resting probes do not fit the recording, whose `option` differs.
  void SetRestingMismatch(absl::string_view option) { replaces_resting_ = std::string(option); }
  // Returns what the plan costs, and how to make it cheaper: lines for people.
  std::vector<std::string> DescribePlan() const;
  std::string DescribePriority() const;
  // Adds probes to prepared classes in scope that have none. On a Java thread that holds no lock of
  // the JVM.
  void AddToPrepared(JNIEnv* jni);
  // Records that a prepared class in scope has no probes. Returns whether AddToPrepared is due.
  bool ReportLateClass(jclass klass);
  // Whether ReportLateClass returned true since the last call.
  bool ConsumeLateClasses() { return has_late_.exchange(false); }
  // Adds no more probes; those that are in stay.
  void DropPlan(JNIEnv* jni);
  // Adds no more probes, and lists the classes that have some for RemoveBatch.
  void PlanRemoving(JNIEnv* jni);
  // Removes the probes of the next classes; false: those of all listed classes are out.
  bool RemoveBatch(JNIEnv* jni);
  // Removes all probes that are left, at once. `wait_for_hooks` waits for running class-file hooks,
  // which may still add probes.
  void Remove(JNIEnv* jni, const std::function<void()>& wait_for_hooks);
  // Returns the classes whose probes the JVM did not remove, and why; "": there are none.
  std::string DescribeKeptProbes() const;
  // The batches that add or remove probes.
  ClassBatches& batches() { return batches_; }
  const ClassBatches& batches() const { return batches_; }

  calls::Instrumentation& instrumentation() { return *instrumentation_; }
  const calls::Instrumentation& instrumentation() const { return *instrumentation_; }

 private:
  struct NamedClass {
    uint32_t number = 0;  // ClassDef.id
    std::string name;
  };

  ProbedClasses(JvmState& jvm, ProbeState& probes, const Options& options,
                std::shared_ptr<calls::Instrumentation> instrumentation)
      : jvm_(jvm),
        probe_state_(probes),
        budget_percent_(options.probe_budget),
        compilers_first_(options.compilers_first),
        instrumentation_(std::move(instrumentation)),
        batches_(jvm.env, options.probe_budget, probes.compilers) {}

  // Returns the class if it may get probes and may change; counts one that may not change as a
  // loss.
  std::optional<NamedClass> FindModifiableInScope(jclass klass);
  // The same, but only if the class has not passed the rewriter and no loss explains that.
  std::optional<NamedClass> FindUnprobed(jclass klass);
  void Add(JNIEnv* jni, std::span<const jclass> classes);
  // Whether all planned classes get their probes in one batch.
  bool AddsAtOnce() const;
  // Gives the JIT's compilers processor time first until they rest, if the kernel allows it.
  void PreferCompilers();
  // Records what a retransformation that adds probes did.
  void RecordAdded(std::span<const jclass> classes, const jvm::RetransformResult& result);
  // Records that the class has its probes from now on.
  void RecordProbes(jclass klass);
  // Returns the loaded classes that have probes.
  std::vector<jclass> WithProbes();
  void RemoveOnce(JNIEnv* jni);
  void RecordRemoved(std::span<const jclass> classes, const jvm::RetransformResult& result);
  std::string NameOf(jclass klass) const;
  size_t MethodsOf(jclass klass) const;
  // Keeps the old methods of classes that are about to change: threads inside continue in these.
  void KeepOldMethods(std::span<const jclass> classes);
  void ReportRunningLoops(JNIEnv* jni, std::span<const jclass> classes);

  JvmState& jvm_;
  ProbeState& probe_state_;
  const int budget_percent_;
  const bool compilers_first_;
  const std::shared_ptr<calls::Instrumentation> instrumentation_;
  ClassBatches batches_;
  std::vector<calls::ClassToProbe> planned_;  // empty while no classes wait for probes
  bool is_adding_ = false;
  bool adds_at_once_ = false;
  std::string replaces_resting_;  // "": none rest
  bool compilers_are_preferred_ = false;
  std::vector<std::string> kept_;  // classes whose probes the JVM did not remove, with its reason
  // All classes in scope that were loaded when the recording began have probes.
  std::atomic<bool> loaded_have_probes_{false};
  // Classes in scope that were not loaded then wait for the control thread.
  std::atomic<bool> has_late_{false};
};

}  // namespace jtrace
