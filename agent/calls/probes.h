// The probes in the JVM: defines their classes and the natives that they call, and is the handle to
// them and to their memory.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "agent/calls/clocks/clock_scale.h"
#include "agent/calls/clocks/coarse_clock.h"
#include "agent/calls/trees/path_metrics.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/probe_clock.h"

namespace jtrace::calls {

class BasicBlockCounters;

// The behaviour of a probe class, fixed when it is defined.
struct ProbeOptions {
  bool flat = false;          // record=flat
  uint64_t memory_limit = 0;  // bytes for trees and counters; 0: no limit but the address space
  bool log = false;           // record=log
  signal_safe::ProbeClock clock = signal_safe::ProbeClock::kNone;  // not with `flat`
  // False (clock=manual, for tests): Arena::tick changes only by JTraceClock.advance.
  bool clock_ticks = true;
  uint32_t max_depth = 1000;  // of nodes; recursion below it is folded
  PathMetrics metrics = {};   // charged to call paths; neither with `flat` nor with `log`
  bool blocks = false;        // blocks=on
  bool path_blocks = false;   // blocks=paths: by call path; `blocks` too, not with `flat` or `log`
  bool call_sites = false;    // sites=on; only for trees
  double prune_percent = 0;   // nodes with less of their parent's calls may be pruned; 0: none
  double exit_percent = 0;    // the same of its time, when an activation ends; needs a clock
  bool resting = false;       // probes=resting: calls only, counted while EnableCounting says so

  bool operator==(const ProbeOptions&) const = default;
};

// The probes as they are in the JVM. Compiled code refers to the arena forever, so neither it nor
// the class is ever freed; this object is only the handle to them.
class Probes {
 public:
  // `ticks`: whether Begin starts a CoarseClockThread. `resting`: see ProbeOptions.
  Probes(signal_safe::Arena* arena, int number, signal_safe::ProbeClock clock,
         const ClockScale& scale, bool ticks, bool resting = false);
  Probes(const Probes&) = delete;
  Probes& operator=(const Probes&) = delete;

  // For TreeCollector or FlatCollector.
  signal_safe::Arena* arena() const { return arena_; }

  // Internal name of the class that rewritten methods call, and of that which counts blocks.
  const std::string& class_name() const { return class_name_; }
  const std::string& block_class_name() const { return block_class_name_; }

  // Makes the arena the one that ReadPosition reads.
  void Publish() const;

  // From CompiledMethodLoad (any tier). Decides for activations in C1-compiled code, which cannot
  // detect that themselves; they count as jitted while this is set, and so do interpreted
  // activations of the same method meanwhile. Any thread.
  void SetCompiled(uint32_t routine, bool compiled) const;
  // No routine below `limit` has compiled code.
  void ClearCompiled(uint32_t limit) const;

  // Bytes taken for trees and counters so far.
  uint64_t memory_used() const;

  // The clock in use: the requested one, or the next best that this machine and JVM have.
  signal_safe::ProbeClock clock() const { return clock_; }
  // Must be called if the defined classes read System.nanoTime, because the counter is unavailable.
  void UseNanoTime();

  // Begin starts the thread that advances Arena::tick, if the options need one; End ends it and
  // rests the probes. After End no recording runs.
  void Begin();
  void End();
  // Resting probes count from EnableCounting to DisableCounting or End; others always do. Any
  // thread.
  void EnableCounting();
  void DisableCounting();

  // The scale of the clock's units. The writer thread updates it.
  ClockScale& scale() { return scale_; }

 private:
  signal_safe::Arena* arena_;
  const std::string class_name_;
  const std::string block_class_name_;
  signal_safe::ProbeClock clock_;
  ClockScale scale_;
  const bool ticks_;                                // clock=coarse, but not clock=manual
  std::unique_ptr<CoarseClockThread> tick_thread_;  // while in use
};

// Internal name of the probe class with that number, "java/lang/invoke/JTraceProbe" being 0.
std::string ProbeClassName(int number);

// Defines the probe class with that number (below 8) into java.base and publishes its arena to
// ReadPosition. Each number once per JVM, in VMInit or later, before any class with its probes is
// defined, and after DefineCounters if there are metrics. `blocks`: null: blocks are not counted.
// Nothing is printed; no Java exception is left pending. Errors: ResourceExhausted without address
// space; FailedPrecondition if the JVM rejects the class or lacks something it uses.
absl::StatusOr<std::unique_ptr<Probes>> DefineProbes(jvmtiEnv* jvmti, JNIEnv* jni,
                                                     const ProbeOptions& options, int number = 0,
                                                     const BasicBlockCounters* blocks = nullptr);

}  // namespace jtrace::calls
