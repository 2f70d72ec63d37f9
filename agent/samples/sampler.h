// Samples the threads of the JVM by timers. Owns the timers, the installed handler and the rings.
#pragma once

#include <jni.h>
#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "agent/base/perf_event_table.h"
#include "agent/jvm/hot_spot_internals.h"
#include "agent/jvm/hotspot/address_set.h"
#include "agent/jvm/hotspot/stub_registry.h"
#include "agent/samples/handler/sample_handler.h"
#include "agent/samples/handler/sample_record.h"
#include "agent/samples/handler_cost.h"
#include "agent/samples/kernel_symbols.h"
#include "agent/samples/ring_drainer.h"
#include "agent/samples/sample_backlog.h"
#include "agent/samples/sample_corrector.h"
#include "agent/samples/sample_losses.h"
#include "agent/samples/thread_slot_pool.h"
#include "agent/samples/thread_timers.h"
#include "agent/samples/ticker.h"
#include "agent/samples/unsampled_threads.h"
#include "agent/samples/wall_clock.h"
#include "agent/signal_safe/position.h"

namespace jtrace::samples {

// The settings of a Sampler.
struct SamplerOptions : TimerChoice {
  StackMode stack = StackMode::kFull;
  // Frames kept of a chain; of deeper chains the leaf half and the root half are kept.
  uint32_t max_frames = 2048;
  // Bytes of each thread's sample ring, a power of two. Must hold at least one full chain.
  uint32_t ring_bytes = 512 * 1024;
  // Bytes of the queue into which filling rings are emptied, a power of two, at least a ring's.
  uint32_t backlog_bytes = 8u << 20;
  // Threads that can be attached at the same time.
  uint32_t max_threads = 16384;
  // Reads the thread's position in its call tree; null: every sample says position_known = false.
  signal_safe::PositionReader read_position = nullptr;
  // Walk every stack again without the memory of the last walk, and count differences as the loss
  // "sample.last_walk_wrong". For tests.
  bool check_last_walk = false;
};

// Life: Create (OnLoad or attach) → Start (VMInit) → attach/detach of threads → Stop → Reconfigure
// → Start … One Sampler at a time in a process (a signal has one handler).
//
// Threads: the Attach/Detach functions may be called from any thread at any time; Drain from one
// thread at a time (the writer); Create and Start on the thread of a start, Stop on that of a stop
// or on the writer's.
class Sampler {
 public:
  // Reserves memory; arms nothing. `jvm` must live as long as handlers may run.
  static absl::StatusOr<std::unique_ptr<Sampler>> Create(const SamplerOptions& options,
                                                         jvm::HotSpotInternals& jvm);
  // Stops if necessary; leaks what handlers might still use.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Sets options for the next Start, which resets the counts of losses. Only options of timers, the
  // signal, the stack mode and the position can change. FailedPrecondition while it runs;
  // Unavailable while a handler of the last recording runs.
  absl::Status Reconfigure(const SamplerOptions& options);

  // What is known of the JVM; its layout after ResolveJvm or Start.
  jvm::HotSpotInternals& jvm() { return jvm_; }

  // Resolves the JVM's layout for the lookups of jvm(), in VMInit or later. Start does this, too.
  absl::Status ResolveJvm(JNIEnv* env);
  // Installs the signal handler; from now on threads may be attached. If the JVM's layout is
  // unknown, samples have native frames only and jvm().problem() says why.
  absl::Status Start(JNIEnv* env);

  // Attaches the calling thread (JVMTI ThreadStart). java_tid 0: it is not a Java thread. The
  // agent's own threads are never attached.
  absl::Status AttachCurrentThread(JNIEnv* env, uint32_t thread_number, uint64_t java_tid);
  // Attaches a running thread. If it is attached already, its data are updated, but those of a Java
  // thread stay if java_tid is 0. java_thread: Thread.eetop of a Java thread, else 0.
  absl::Status AttachThread(pid_t tid, uint32_t thread_number, uint64_t java_tid,
                            uintptr_t java_thread);
  // Whether the thread is attached; it no longer is after it left the JVM, for example.
  bool IsAttached(pid_t tid) const;
  // Detaches the calling thread, which ends (JVMTI ThreadEnd) or must not be sampled.
  void DetachCurrentThread();
  // Detaches the thread if it has ended: its kernel id may soon be another thread's.
  void DetachIfEnded(pid_t tid);
  // Detaches threads that ended without notice (compiler and GC threads), and looks for threads
  // that use CPU time but have no samples (unsampled_threads.h). Called about once a second by the
  // thread that drains.
  void SweepEndedThreads();

  // Passes every finished sample to `take`, those of one thread oldest first. Also recycles the
  // slots of ended threads.
  void Drain(absl::FunctionRef<void(const SampleView&)> take);

  // timer=wall: returns, once, the ticks that the thread of a slot (SampleView::thread_slot) spent
  // as in its sample `number`, unless a later sample has them.
  IdleTicks CollectIdle(uint32_t thread_slot, uint32_t number);

  // Methods (jmethodIDs) of the application, for the stack modes that need them.
  jvm::AddressSet& app_methods() { return *app_methods_; }
  // Writer thread.
  KernelSymbols& kernel_symbols() { return kernel_symbols_; }

  // Disarms all timers and waits for running handlers. DeadlineExceeded if one did not end in time:
  // its memory is leaked. The handler stays installed (signals.h) and drops late signals of ours.
  // Drain must be called once more afterwards.
  absl::Status Stop(absl::Duration timeout = absl::Milliseconds(500));

  TimerKind timer_in_use() const { return timers_->kind(); }
  // Whether samples are at random moments of their intervals.
  bool has_jitter() const { return timers_->has_jitter(); }
  // Whether samples include the kernel's frames.
  bool has_kernel_frames() const { return timers_->has_kernel_frames(); }
  // Whether samples would include them with TimerKind::kCpuPerf.
  bool kernel_frames_allowed() const { return timers_->kernel_frames_allowed(); }
  // Returns why the kernel does not let the ticker signal threads, as errno; 0: it does, or there
  // is none. After Start.
  int SignalError() const;
  // The losses of the current recording, or of the last one, without zeros.
  std::vector<LossRow> Losses() const;
  // The handler's cost in the current recording, or in the last one.
  HandlerCost Cost() const { return CostSince(times_at_start_); }

 private:
  Sampler(const SamplerOptions& options, jvm::HotSpotInternals& jvm);
  void SetThreadIdentity(ThreadSlot* slot, uint32_t thread_number, uint64_t java_tid,
                         uintptr_t java_thread);
  void DetachLocked(ThreadSlot* slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DetachAndRelease(ThreadSlot* slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // timer=wall: counts the ticks of a slot that no handler took as lost.
  void DiscardDueTicks(ThreadSlot* slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static absl::Status Validate(const SamplerOptions& options);
  // The CPU time without a sample that indicates an error; 0: the timer counts other events.
  absl::Duration SilenceLimit() const;
  SampleHandlerConfig* NewConfig() const;
  // On the ticker's thread.
  void Tick(uint32_t ticks);
  // Empties the rings into the backlog; any thread. False: it is full.
  bool EmptyRings();
  uint32_t UsedSlots();
  // Checks whether the handler is still ours.
  void DisarmIfReplaced();
  void DisarmAll();
  void DetachAll();

  SamplerOptions options_;
  // What the process had counted when the recording started.
  std::vector<uint64_t> losses_at_start_;
  HandlerTimes times_at_start_;
  jvm::HotSpotInternals& jvm_;
  std::unique_ptr<jvm::AddressSet> app_methods_;
  KernelSymbols kernel_symbols_;
  SampleCorrector corrector_;  // used by the thread that drains

  mutable absl::Mutex mutex_;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  SamplerCounters counters_;              // content guarded by mutex_
  std::unique_ptr<ThreadSlotPool> pool_;  // content guarded by mutex_
  std::unique_ptr<ThreadTimers> timers_;  // content guarded by mutex_
  absl::flat_hash_map<pid_t, ThreadSlot*> slot_by_tid_ ABSL_GUARDED_BY(mutex_);
  UnsampledThreads unsampled_threads_{counters_};
  bool handler_replaced_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<WallClock> wall_clock_;  // content guarded by mutex_
  // Held while rings are emptied into the backlog. Acquired before mutex_.
  absl::Mutex emptying_;
  std::unique_ptr<SampleBacklog> backlog_;
  RingDrainer ring_drainer_;
  Ticker ticker_;
};

// The threads of this process, from /proc/self/task.
std::vector<pid_t> ListThreads();

}  // namespace jtrace::samples
