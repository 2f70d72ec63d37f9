// The exact calls of a recording: the classes with probes, what the probes count (calls, metrics by
// call path, basic blocks), and the source that writes it.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "agent/calls/instrument/instrumentation.h"
#include "agent/calls/trees/tree_source.h"
#include "agent/jvm/class_registry.h"
#include "agent/metrics/live_objects_source.h"
#include "agent/metrics/tree_windows.h"
#include "agent/options/options.h"
#include "agent/recording/agent_state.h"
#include "agent/recording/metrics_part.h"
#include "agent/recording/probed_classes.h"
#include "agent/recording/recording_part.h"
#include "agent/recording/resting_probes.h"
#include "agent/samples/context_switch_source.h"
#include "agent/trace/chunk_source.h"

namespace jtrace {

// ProbeState::sets owns the collectors, which are never freed; all else here ends with the
// recording.
class CallsPart : public RecordingPart {
 public:
  // `switches`: thread switches for logs; null: the kernel records none.
  // `wake`: makes the control thread check what is due. `wait_for_callbacks`: waits until no
  // callback is inside the closed gate, kGateTimeout at most.
  CallsPart(AgentState& agent, const Options& options, MetricsPart& metrics,
            samples::ContextSwitchSource* switches, std::function<void()> wake,
            std::function<void()> wait_for_callbacks)
      : jvm_(agent.jvm),
        probe_state_(agent.probes),
        descendants_(agent.descendants),
        options_(options),
        metrics_(metrics),
        switches_(switches),
        wake_(std::move(wake)),
        wait_for_callbacks_(std::move(wait_for_callbacks)) {}

  absl::Status Prepare() override;
  // Defines or reuses the probes that the options request, and begins to count.
  absl::Status Start(JNIEnv* jni) override;
  void ReportStart() override;
  // At load, adds probes to loaded classes in scope; in a running JVM these are only listed, and
  // AddBatch does it.
  void AddExisting(JNIEnv* jni) override;
  void Run() override;
  std::vector<trace::ChunkSource*> sources() override;
  void ClassPrepared(jclass klass) override;
  void MethodCompiled(jmethodID method) override;
  void CompleteCounts() override;
  void StopListening() override;
  void ReportEnd() override;
  void ReleaseWaitingThreads() override;
  void CleanUp(JNIEnv* jni) override;
  void AddToEnd(proto::SessionEnd& end) const override;
  std::string Summary() const override;
  std::string Status() const override;

  // ---- Probes go in and out while the program runs

  bool IsAdding() const { return classes_->IsAdding(); }
  // Adds probes to the next classes, and calls `added` with each.
  void AddBatch(JNIEnv* jni, const std::function<void(jclass)>& added) {
    classes_->AddBatch(jni, added);
  }
  // The gate is closed. Waits for callbacks, which may add probes, and plans RemoveBatch.
  void PlanRemoving(JNIEnv* jni);
  // Removes the probes of the next classes; false: those of all listed classes are out.
  bool RemoveBatch(JNIEnv* jni) { return resting_ == nullptr && classes_->RemoveBatch(jni); }
  // Describes the classes that keep their probes; empty: none does.
  std::string DescribeKeptProbes() const {
    return classes_ != nullptr ? classes_->DescribeKeptProbes() : "";
  }
  // After Prepare.
  ProbedClasses& classes() { return *classes_; }
  const ProbedClasses& classes() const { return *classes_; }

  // ---- For samples

  // Whether the recording keeps call trees or logs, so that samples have nodes. After Start.
  bool has_trees() const { return trees_ != nullptr; }
  // Returns the trace's number of the node that a sample belongs to. On the writer thread.
  uint32_t TreePosition(uint64_t raw_node, jvm::MethodKey innermost) const;
  // Null: the recording counts no blocks.
  calls::BlockCountSource* blocks() const { return classes_->instrumentation().blocks(); }

  // ---- For questions of the program

  // Null: the recording keeps no call trees (record=flat, record=log).
  metrics::TreeWindows* windows() const { return windows_.get(); }

  // ---- On the writer thread

  // The classes were unloaded.
  void Forget(const absl::flat_hash_set<uint32_t>& classes) {
    classes_->instrumentation().Forget(classes);
  }
  // Whether records of earlier polls may still be unread.
  bool IsBehind() const { return source_ != nullptr && source_->IsBehind(); }

 private:
  // Defines the functions that only some probes call.
  absl::Status DefineCallees(JNIEnv* jni);
  // Restarts counting, for routine numbers below `routines`. Returns the source of the counts.
  std::unique_ptr<trace::ChunkSource> BeginCounting(uint32_t routines);
  calls::TreeSource BeginTrees(const calls::CallKinds& kinds);
  // Reports the fallback for a clock that is unavailable.
  void ReportClock();
  // Returns what finds the call site of a node's calls; null: call sites are not distinguished.
  calls::FindCallSite CallSites() const;
  // The calls since the recording's start, and those in its current file.
  uint64_t calls() const;
  uint64_t file_calls() const;
  bool is_started() const { return probes_ != nullptr; }
  calls::Instrumentation& instrumentation() const { return classes_->instrumentation(); }

  JvmState& jvm_;
  ProbeState& probe_state_;
  const metrics::ThreadDescendants& descendants_;
  const Options& options_;
  MetricsPart& metrics_;
  samples::ContextSwitchSource* const switches_;
  const std::function<void()> wake_;
  const std::function<void()> wait_for_callbacks_;
  std::unique_ptr<ProbedClasses> classes_;  // after Prepare
  RestingProbes* resting_ = nullptr;        // whose probes are used; null: the recording's own
  calls::Probes* probes_ = nullptr;         // after Start
  calls::TreeCollector* trees_ = nullptr;   // record=tree, record=log
  calls::FlatCollector* counts_ = nullptr;  // record=flat
  calls::LogCollector* logs_ = nullptr;     // record=log
  // Whether interpreted and compiled calls are both recorded; calls() counts both in any case.
  bool records_all_ = true;
  std::unique_ptr<trace::ChunkSource> source_;
  std::unique_ptr<metrics::LiveObjectsSource> live_objects_;
  std::unique_ptr<metrics::TreeWindows> windows_;
};

}  // namespace jtrace
