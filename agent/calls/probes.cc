#include "agent/calls/probes.h"

#include <algorithm>
#include <chrono>

#include "absl/status/status.h"
#include "agent/base/clock.h"
#include "agent/calls/clocks/clock_scale.h"
#include "agent/calls/clocks/rseq_clock.h"
#include "agent/calls/embedded_classes.h"
#include "agent/calls/probe_class.h"
#include "agent/calls/probe_natives.h"
#include "agent/calls/trees/arena_reservation.h"
#include "agent/calls/trees/basic_block_counters.h"
#include "agent/calls/trees/thread_spare.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/probe_clock.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/signal_safe/thread_state.h"

namespace jtrace::calls {
namespace {

// A tick costs about 20 us of a processor, 2 % of one at this period (docs/DESIGN.md, Clocks).
constexpr std::chrono::milliseconds kTickPeriod{1};
// Holds isCompileConstant, which the probes call.
constexpr char kCompileConstantClass[] = "java/lang/invoke/MethodHandleImpl";

// Checks that the JVM has the method; initializes its class as well.
absl::Status CheckCompileConstant(JNIEnv* jni) {
  jclass loaded = jni->FindClass(kCompileConstantClass);
  const bool found =
      loaded != nullptr &&
      jni->GetStaticMethodID(loaded, "isCompileConstant", "(Ljava/lang/Object;)Z") != nullptr;
  if (!found) jni->ExceptionClear();
  jni->DeleteLocalRef(loaded);
  return found ? absl::OkStatus()
               : absl::FailedPreconditionError(
                     "this JVM cannot run the probes: no usable "
                     "MethodHandleImpl.isCompileConstant");
}

// Returns the clock that was requested, or the next best that this machine and kernel have.
signal_safe::ProbeClock UsableClock(signal_safe::ProbeClock wanted,
                                    const signal_safe::Arena& arena) {
  using signal_safe::ProbeClock;
  const bool fine = wanted == ProbeClock::kTsc || wanted == ProbeClock::kCpu;
  if (fine && !TicksAreSteady()) return ProbeClock::kNano;
  if (wanted == ProbeClock::kCpu && !RseqShowsSwitches(arena.rseq)) return ProbeClock::kTsc;
  return wanted;
}

ClockScale ScaleOf(signal_safe::ProbeClock clock) {
  const bool counter =
      clock == signal_safe::ProbeClock::kTsc || clock == signal_safe::ProbeClock::kCpu;
  ClockScale scale = counter ? ClockScale::TimeStampCounter() : ClockScale::Nanoseconds();
  scale.Update();
  return scale;
}

}  // namespace

std::string ProbeClassName(int number) { return NumberedName(kProbeClass, number); }

void Probes::Publish() const {
  signal_safe::published_arena.store(arena_, std::memory_order_release);
}

void Probes::ClearCompiled(uint32_t limit) const {
  for (uint32_t routine = 0; routine < std::min(limit, signal_safe::kMaxRoutines); ++routine) {
    SetCompiled(routine, false);
  }
}

Probes::Probes(signal_safe::Arena* arena, int number, signal_safe::ProbeClock clock,
               const ClockScale& scale, bool ticks, bool resting)
    : arena_(arena),
      class_name_(resting ? NumberedName(kRestingClass, number) : ProbeClassName(number)),
      block_class_name_(NumberedName(kBlocksClass, number)),
      clock_(clock),
      scale_(scale),
      ticks_(ticks) {
  const uint64_t now = MonotonicNanos();
  signal_safe::WriteRelaxed(arena->tick, now - now % 1000);
}

void Probes::Begin() {
  if (ticks_ && tick_thread_ == nullptr) {
    tick_thread_ = std::make_unique<CoarseClockThread>(arena_->tick, kTickPeriod);
  }
}

void Probes::End() {
  DisableCounting();
  tick_thread_.reset();
}

void Probes::EnableCounting() { signal_safe::WriteRelaxed(arena_->counts, uint32_t{1}); }

void Probes::DisableCounting() { signal_safe::WriteRelaxed(arena_->counts, uint32_t{0}); }

void Probes::UseNanoTime() {
  if (clock_ == signal_safe::ProbeClock::kTsc) clock_ = signal_safe::ProbeClock::kNano;
  scale_ = ClockScale::Nanoseconds();
}

void Probes::SetCompiled(uint32_t routine, bool compiled) const {
  if (routine < signal_safe::kMaxRoutines) {
    signal_safe::WriteRelaxed(arena_->compiled[routine], static_cast<uint8_t>(compiled));
  }
}

uint64_t Probes::memory_used() const { return ArenaBytesUsed(*arena_); }

absl::StatusOr<std::unique_ptr<Probes>> DefineProbes(jvmtiEnv* jvmti, JNIEnv* jni,
                                                     const ProbeOptions& options, int number,
                                                     const BasicBlockCounters* blocks) {
  absl::StatusOr<signal_safe::Arena*> arena = ReserveArena(options.memory_limit, options.max_depth);
  if (!arena.ok()) return arena.status();
  InitializeRseqDescriptor((*arena)->rseq);
  (*arena)->always_on = reinterpret_cast<uintptr_t>(&(*arena)->rseq);
  (*arena)->sink_state.rseq = reinterpret_cast<uintptr_t>(&(*arena)->always_on);
  (*arena)->sink_state.counters = reinterpret_cast<uintptr_t>(&(*arena)->sink_counters);
  (*arena)->sink_state.metrics = reinterpret_cast<uintptr_t>(&(*arena)->sink_charged);
  const uint64_t shared_blocks = blocks != nullptr ? blocks->shared_address() : 0;
  (*arena)->sink_state.blocks = (*arena)->shared.state.blocks = shared_blocks;
  const signal_safe::ProbeClock clock = UsableClock(options.clock, **arena);
  const bool ticks = clock == signal_safe::ProbeClock::kCoarse && options.clock_ticks;
  auto probes =
      std::make_unique<Probes>(*arena, number, clock, ScaleOf(clock), ticks, options.resting);
  probes->Begin();
  // Each probe set has its own eight of the spare bytes.
  const uint64_t spare = FindThreadPadding(jvmti, jni);
  const ProbeClassSetup setup = {
      .number = number,
      .probe = {.arena = reinterpret_cast<uintptr_t>(*arena),
                .flat = options.flat,
                .thread_spare = spare == 0 ? 0 : spare + 8ull * number,
                .log = options.log,
                .clock = clock,
                .metrics = options.metrics.Packed(),
                .blocks = shared_blocks,
                .block_owners = options.path_blocks ? blocks->owners_address() : 0,
                .call_sites = options.call_sites},
      .clock = {.ticks_function = reinterpret_cast<uintptr_t>(&jtrace_ticks),
                .ticks_per_nano = probes->scale().ticks_per_nano()},
      .exit_share = options.exit_percent / 100,
      .resting = options.resting};
  absl::Status status = CheckCompileConstant(jni);
  if (status.ok() && clock != signal_safe::ProbeClock::kNone) status = DefineNativeClock(jni);
  bool counts_ticks = false;
  if (status.ok()) status = DefineProbeClasses(jni, setup, &counts_ticks);
  if (!status.ok()) return status;
  if (!counts_ticks) probes->UseNanoTime();
  probes->Publish();
  return probes;
}

}  // namespace jtrace::calls
