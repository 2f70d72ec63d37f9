// Timer samples of every thread of the JVM. Owns timers, handler and rings.
#pragma once

#include <jni.h>
#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/hot/position.h"
#include "agent/hot/sample_record.h"
#include "agent/hot/stack_mode.h"
#include "agent/hotspot/address_set.h"
#include "agent/hotspot/intrinsic_names.h"
#include "agent/hotspot/known_objects_check.h"
#include "agent/sampling/code_reader.h"
#include "agent/sampling/kernel_names.h"
#include "agent/sampling/perf_events.h"
#include "agent/sampling/sample_totals.h"

namespace jtrace::sampling {

// The trigger of samples.
enum class TimerKind {
  kAuto,   // perf events if the kernel allows them and they are cheap here, else POSIX timers
  kPerf,   // perf_event_open: precise at any interval
  kPosix,  // timer_create: at most one signal a kernel tick, weighted by its overruns
  kWall,   // real time, including waiting threads (wall_clock.h)
  kEvent,  // a perf event requested by name
};

// The settings of a Sampler.
struct SamplerOptions {
  // CPU time of a thread between two samples, at least 10 µs; kWall: real time, at least 1 ms.
  std::chrono::nanoseconds interval = std::chrono::milliseconds(1);
  TimerKind timer = TimerKind::kAuto;
  // kEvent: which event, and, if it is not a clock, how many between two samples.
  const PerfEvent* event = nullptr;
  uint64_t period = 0;
  // Samples at random moments of their intervals; none: where the timer can.
  std::optional<bool> jitter;
  hot::StackMode stack = hot::StackMode::kFull;
  // Must not be a real-time signal: a full signal queue would turn into SIGIO, which kills.
  int signal = SIGPROF;
  // Frames kept of a chain; of deeper chains the leaf half and the root half are kept.
  uint32_t max_frames = 2048;
  // Bytes of each thread's sample ring, a power of two. Must hold at least one full chain.
  uint32_t ring_bytes = 512 * 1024;
  // Bytes of the queue into which filling rings are emptied, a power of two, at least a ring's.
  uint32_t backlog_bytes = 8u << 20;
  // Threads that can be attached at the same time.
  uint32_t max_threads = 16384;
  // Reads the thread's position in its call tree; null: every sample says position_known = false.
  hot::PositionReader read_position = nullptr;
  // Walk every stack twice, with and without the memory of the previous walk, and count differences
  // as the loss "sample.memory_wrong". For tests.
  bool check_memory = false;
  // Decides who stops perf events (event_stop_choice.h). Tests make it up.
  std::string kernel_release = KernelRelease();
};

// Life: Create (OnLoad or attach) → AddDynamicCode as the JVM reports it → Start (VMInit) →
// attach/detach of threads → Stop → Reconfigure → Start … One Sampler at a time in a process (a
// signal has one handler).
//
// Threads: the Attach/Detach functions may be called from any thread at any time; Drain from one
// thread at a time (the writer); Create, Start and Stop from the session's thread.
class Sampler : public CodeReader {
 public:
  // Reserves memory and reads the JVM's symbol tables; arms nothing. `libjvm_address`: any address
  // in libjvm, e.g. (*vm)->functions->GetEnv.
  static absl::StatusOr<std::unique_ptr<Sampler>> Create(const SamplerOptions& options,
                                                         const void* libjvm_address);
  // Stops if necessary; leaks what handlers might still use.
  ~Sampler() override;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Sets options for the next Start, which resets the counts of losses. Only options of timers, the
  // signal, the stack mode and the position can change. FailedPrecondition while it runs.
  absl::Status Reconfigure(const SamplerOptions& options);

  // JVMTI DynamicCodeGenerated: a stub lies at [address, address + length). Before Start or after.
  void AddDynamicCode(std::string_view name, const void* address, uint32_t length);
  // The name of the stub or interpreter codelet at `address`; "" if there is none.
  std::string StubName(uint64_t address) const;
  // The method of class MethodHandle that a frame has as a Method*, if it is one.
  std::optional<IntrinsicMethod> IntrinsicMethodAt(uint64_t method) const;

  // In VMInit or later: resolves the JVM's layout, for the lookups below; Start does this too.
  absl::Status LearnJvm(JNIEnv* env);
  // Installs the signal handler; from now on threads may be attached. If the JVM's layout is
  // unknown, samples have native frames only and JavaLayoutProblem says why.
  absl::Status Start(JNIEnv* env);
  const std::string& JavaLayoutProblem() const;
  // Parts of the JVM's data that are not as its tables say, and so are not read.
  const std::vector<PartProblem>& JvmProblems() const;
  // False: frames of compiled code are not walked, because its data differs from what the JVM
  // reports. Any thread.
  bool SeesCompiledCode() const;
  // False: of compiled code only the compiled method is known, because its decoded debug
  // information differs from what the JVM reports. Any thread.
  bool SeesInlinedMethods() const;

  // On the thread itself (JVMTI ThreadStart). java_tid 0: not a Java thread. The agent's own
  // threads are simply never attached.
  absl::Status AttachCurrentThread(JNIEnv* env, uint32_t thread_number, uint64_t java_tid);
  // Attaches a running thread. If it is already attached, only updates its data, and nothing if it
  // is a Java thread and java_tid is 0. java_thread: Thread.eetop of a Java thread, else 0.
  absl::Status AttachThread(pid_t tid, uint32_t thread_number, uint64_t java_tid,
                            uintptr_t java_thread);
  // Whether it has a timer. False again after it was detached, for example when it left the JVM.
  bool IsAttached(pid_t tid) const;
  // The OS thread id of a JavaThread (Thread.eetop); 0 if unknown.
  pid_t OsThreadId(uintptr_t java_thread) const;
  // The JVM's Method of a jmethodID, which a sample's frames contain when the method no longer has
  // an id; 0 if unknown.
  uintptr_t MethodBehind(jmethodID id) const;
  // The calling thread ends (JVMTI ThreadEnd), or must not be sampled.
  void DetachCurrentThread();
  // Detaches threads that ended without notice (compiler and GC threads), and looks for threads
  // that use the processor but are not sampled (tick_watch.h). Cheap; call it about once a second,
  // from the thread that drains.
  void SweepEndedThreads();

  // Hands every finished sample to `take`, thread by thread, oldest first. Also recycles the slots
  // of ended threads.
  void Drain(absl::FunctionRef<void(const hot::SampleView&)> take);

  // timer=wall: the ticks that the thread of a slot (SampleView::thread_slot) spent as in its
  // sample `number` and that no later sample will contain. They are returned once.
  hot::IdleTicks TakeIdle(uint32_t thread_slot, uint32_t number);

  // JVMTI CompiledMethodLoad: compares what the JVM reports with what samples read of compiled
  // code.
  void NoteCompiledCode(const void* address, const void* compile_info);
  bool NeedsCompiledCode() const override;
  // After Start.
  bool KeepDebugInfo() override;
  void StopKeepingDebugInfo() override;

  // Whether some methods are known by their jmethodIDs only, as all are at first. Otherwise frames
  // have the JVM's Methods. Any thread.
  void NeedMethodIds(bool needed);

  // Methods (jmethodIDs) of the application, for the stack modes that need them.
  AddressSet& app_methods();
  // Writer thread.
  KernelSymbols& kernel_symbols();

  // Disarms all timers and waits for running handlers; DeadlineExceeded if one did not end in time
  // (then its memory is leaked). The handler stays installed (signals.h) and drops our late
  // signals. Call Drain once more afterwards.
  absl::Status Stop(std::chrono::milliseconds patience = std::chrono::milliseconds(500));

  TimerKind timer_in_use() const;
  // Whether samples are at random moments of their intervals.
  bool has_jitter() const;
  // Whether samples include the kernel's frames.
  bool has_kernel_frames() const;
  // Whether they would with TimerKind::kPerf.
  bool kernel_frames_allowed() const;
  // Whether it is a thread of the sampler. Any thread.
  bool Owns(pid_t tid) const;
  // Why the kernel does not let the ticker signal threads, as errno; 0: it does, or there is no
  // ticker. After Start.
  int SignalError() const;
  std::vector<SampleLoss> Losses() const;
  // Of the current recording, or of the last one.
  HandlerCost Cost() const;

 private:
  class Impl;
  explicit Sampler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The threads of this process, from /proc/self/task.
std::vector<pid_t> ListThreads();

}  // namespace jtrace::sampling
