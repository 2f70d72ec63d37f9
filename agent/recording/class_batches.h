// Loaded classes that are retransformed in batches, within a budget of processor time, while the
// program runs and commands are answered in between.
//
// With each batch the JVM discards compiled code that depends on its classes, and the program is
// slow until that is compiled again. So the next batch waits until the compilers rest, and is as
// large as their work after the last one allows (BatchSizer). Without a budget, batches have no
// pauses.
//
// The cost of a batch is the processor time of the thread that retransforms (which parses, rewrites
// and verifies) and of the VM thread (which swaps the code while all threads stand). Compilers that
// replace the code that is lost are not in it. Any Java thread, one at a time.
#pragma once

#include <jvmti.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/base/cpu_budget.h"
#include "agent/base/thread_priority_boost.h"
#include "agent/calls/instrument/program_scope.h"
#include "agent/jvm/loaded_classes.h"
#include "agent/recording/batch_sizer.h"

namespace jtrace {

// How much of the planned work the batches have done.
struct BatchProgress {
  calls::ProbeWork done;
  calls::ProbeWork all;
  absl::Duration cost;  // processor time so far

  calls::ProbeWork Left() const;
  absl::Duration CostLeft() const;
};

// "probes are in 312 of 1,950 classes, about 9.1 s of processor time left"; `where`: "in", "out
// of".
std::string DescribeProgress(const BatchProgress& progress, absl::string_view where);

class ClassBatches {
 public:
  struct Planned {
    jclass klass;
    size_t methods;
  };
  // All threads stand while code is swapped: about 0.1 s for a thousand classes, more on a busy
  // machine.
  static constexpr size_t kMaxBatchClasses = 4096;

  // `percent`: see CpuBudget. `compilers`: the JIT's threads.
  ClassBatches(jvmtiEnv* env, int percent, ThreadPriorityBoost& compilers)
      : env_(env),
        budget_(percent),
        batch_cost_(calls::CostOfABatch(percent)),
        has_budget_(percent < 100),
        compilers_(compilers) {}
  ClassBatches(const ClassBatches&) = delete;
  ClassBatches& operator=(const ClassBatches&) = delete;

  // Lists the classes for the next batches, in place of those that are left. They may be unloaded
  // meanwhile. `at_once`: in batches of kMaxBatchClasses, whatever they cost.
  void Plan(JNIEnv* jni, const std::vector<Planned>& classes, bool at_once = false);
  // Drops the classes that are left.
  void Drop(JNIEnv* jni);
  bool empty() const { return next_ == classes_.size(); }
  // Returns how long the next batch has to wait at least; zero: it may begin.
  absl::Duration Pause();
  // Retransforms the next classes that are still loaded and that `wanted` accepts. Calls `begin`
  // with them before, and `end` after.
  void RunNext(
      JNIEnv* jni, const std::function<bool(jclass)>& wanted,
      const std::function<void(const std::vector<jclass>&)>& begin,
      const std::function<void(const std::vector<jclass>&, const jvm::RetransformResult&)>& end);
  const BatchProgress& progress() const { return progress_; }

 private:
  struct Waiting {
    jweak klass;
    size_t methods;
  };

  std::vector<jclass> TakeNext(JNIEnv* jni, const std::function<bool(jclass)>& wanted);
  absl::Duration Cost() const;
  // Returns how long until the next check of the compilers; zero: the batch need not wait for them.
  absl::Duration UntilCompilersRest();

  jvmtiEnv* const env_;
  const CpuBudget budget_;
  const absl::Duration batch_cost_;
  std::vector<Waiting> classes_;
  size_t next_ = 0;
  bool is_at_once_ = false;
  pid_t vm_thread_ = 0;
  BatchProgress progress_;
  absl::Duration next_batch_;  // when it may begin, by the monotonic clock
  const bool has_budget_;
  ThreadPriorityBoost& compilers_;
  BatchSizer sizer_ = BatchSizer::Unlimited();
  absl::Duration pace_ends_;
  // The compilers' work since the last batch, until they rest. Times are of the monotonic clock.
  struct CompilerWork {
    size_t classes = 0;
    absl::Duration used;  // CPU time of the compilers before the batch
    absl::Duration latest;
    absl::Duration checked;
    int quiet = 0;  // checks in a row in which they rested
  };
  std::optional<CompilerWork> compiler_work_;
};

}  // namespace jtrace
