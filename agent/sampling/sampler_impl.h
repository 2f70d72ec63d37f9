// The implementation of Sampler: a recording's timers, slots and threads. Sampler's header says
// what may be called when; the folder's README says what runs where.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "agent/hot/sample_handler.h"
#include "agent/hotspot/address_set.h"
#include "agent/hotspot/jvm_view.h"
#include "agent/sampling/kernel_names.h"
#include "agent/sampling/sample_backlog.h"
#include "agent/sampling/sample_corrector.h"
#include "agent/sampling/sample_totals.h"
#include "agent/sampling/sampler.h"
#include "agent/sampling/slot_pool.h"
#include "agent/sampling/thread_timers.h"
#include "agent/sampling/tick_watch.h"
#include "agent/sampling/wall_clock.h"

namespace jtrace::sampling {

class Sampler::Impl {
 public:
  static absl::StatusOr<std::unique_ptr<Impl>> Create(const SamplerOptions& options,
                                                      const void* libjvm_address);

  absl::Status Reconfigure(const SamplerOptions& options);
  JvmView& jvm() { return jvm_; }
  absl::Status LearnJvm(JNIEnv* env);
  absl::Status Start(JNIEnv* env);
  absl::Status Attach(pid_t tid, uint32_t thread_number, uint64_t java_tid, uintptr_t java_thread);
  bool IsAttached(pid_t tid) const;
  void Detach(pid_t tid);
  void SweepEndedThreads();
  void Drain(absl::FunctionRef<void(const hot::SampleView&)> take);
  absl::Status Stop(std::chrono::milliseconds patience);
  TimerKind timer_in_use() const { return timers_->kind(); }
  bool has_jitter() const { return timers_->has_jitter(); }
  bool has_kernel_frames() const { return timers_->has_kernel_frames(); }
  bool kernel_frames_allowed() const { return timers_->kernel_frames_allowed(); }
  bool Owns(pid_t tid) const { return tid == ticker_.os_tid() || tid == ring_watch_.os_tid(); }
  int SignalError() const;
  hot::IdleTicks TakeIdle(uint32_t thread_slot, uint32_t number);
  AddressSet& app_methods() { return app_methods_; }
  KernelSymbols& kernel_symbols() { return kernel_symbols_; }
  std::vector<SampleLoss> Losses() const;
  HandlerCost Cost() const { return CostSince(times_at_start_); }

 private:
  explicit Impl(const SamplerOptions& options) : options_(options) {}
  void Identify(hot::ThreadSlot* slot, uint32_t thread_number, uint64_t java_tid,
                uintptr_t java_thread);
  void DetachLocked(hot::ThreadSlot* slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // timer=wall: counts the ticks of a slot that no handler took.
  void LoseDueTicks(hot::ThreadSlot* slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static absl::Status Check(const SamplerOptions& options);
  // The CPU time without a sample that indicates an error; 0: CPU time indicates nothing.
  std::chrono::nanoseconds Silence() const;
  static TimerChoice ChoiceOf(const SamplerOptions& options);
  hot::SamplerState* NewState() const;
  // On the ticker's thread.
  void Tick(uint32_t ticks);
  // Empties the rings into the backlog; any thread. False: it is full.
  bool EmptyRings();
  uint32_t UsedSlots();
  // Checks whether the handler is still ours.
  void CheckHandler();
  void DisarmAll();
  void DetachAll();
  std::vector<SampleLoss> Totals() const;

  SamplerOptions options_;
  std::vector<SampleLoss> totals_at_start_;
  HandlerTimes times_at_start_;
  JvmView jvm_;
  AddressSet app_methods_;
  KernelSymbols kernel_symbols_;
  SampleCorrector corrector_;  // of the thread that drains

  mutable absl::Mutex mutex_;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<SlotPool> pool_;        // content guarded by mutex_
  std::unique_ptr<ThreadTimers> timers_;  // content guarded by mutex_
  absl::flat_hash_map<pid_t, hot::ThreadSlot*> slot_by_tid_ ABSL_GUARDED_BY(mutex_);
  TickWatch watch_;                                  // its counts are guarded by mutex_
  uint64_t lost_ticks_ ABSL_GUARDED_BY(mutex_) = 0;  // in addition to the handler's
  AttachFailures failures_ ABSL_GUARDED_BY(mutex_);
  uint64_t handlers_replaced_ ABSL_GUARDED_BY(mutex_) = 0;
  bool handler_replaced_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<WallClock> wall_clock_;  // content guarded by mutex_
  // Who holds it is the one that empties rings and adds to the backlog. Before mutex_.
  absl::Mutex emptying_;
  std::unique_ptr<SampleBacklog> backlog_;
  RingWatch ring_watch_;
  Ticker ticker_;
};

}  // namespace jtrace::sampling
