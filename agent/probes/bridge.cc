#include "agent/probes/bridge.h"

#include <algorithm>
#include <chrono>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/hot/clock.h"
#include "agent/hot/thread_state.h"
#include "agent/probes/arena_memory.h"
#include "agent/probes/layout_check.h"
#include "agent/probes/native_clock.h"
#include "agent/probes/probe_class.h"
#include "agent/probes/rseq_word.h"
#include "agent/probes/thread_spare.h"

namespace jtrace {
namespace {

constexpr char kProbeClass[] = "java/lang/invoke/JTraceProbe";
constexpr char kClockClass[] = "java/lang/invoke/JTraceClock";
constexpr char kLogClass[] = "java/lang/invoke/JTraceLog";
// README.md has the measurements.
constexpr std::chrono::microseconds kTickPeriod{100};
// Holds isCompileConstant, which the probes call.
constexpr char kCompileConstantClass[] = "java/lang/invoke/MethodHandleImpl";

absl::Status PendingException(JNIEnv* jni, absl::string_view what) {
  jni->ExceptionClear();
  return absl::FailedPreconditionError(absl::StrCat("this JVM cannot run the probes: ", what));
}

// Initializes the class, so that no probe has to.
absl::Status Initialize(JNIEnv* jni, jclass loaded, const char* method, const char* descriptor) {
  if (jni->GetStaticMethodID(loaded, method, descriptor) == nullptr) {
    return PendingException(jni, absl::StrCat("no usable ", method, descriptor));
  }
  return absl::OkStatus();
}

absl::Status CheckCompileConstant(JNIEnv* jni) {
  jclass loaded = jni->FindClass(kCompileConstantClass);
  if (loaded == nullptr) return PendingException(jni, kCompileConstantClass);
  absl::Status status = Initialize(jni, loaded, "isCompileConstant", "(Ljava/lang/Object;)Z");
  jni->DeleteLocalRef(loaded);
  return status;
}

std::string NumberedName(const char* name, int number) {
  return number == 0 ? name : absl::StrCat(name, number + 1);
}

// `bytes`: as embedded, but for the constants. The classes refer to one another by name.
absl::Status Define(JNIEnv* jni, const char* name, int number,
                    absl::StatusOr<std::vector<uint8_t>> bytes, jclass* defined) {
  if (!bytes.ok()) return bytes.status();
  for (const char* referred : {kProbeClass, kClockClass, kLogClass}) {
    if (number == 0) break;
    absl::Status status = RenameProbeClass(*bytes, referred, NumberedName(referred, number));
    if (!status.ok()) return status;
  }
  // Loader null is the boot loader; the package belongs to java.base, and so the class does.
  *defined = jni->DefineClass(NumberedName(name, number).c_str(), nullptr,
                              reinterpret_cast<const jbyte*>(bytes->data()),
                              static_cast<jsize>(bytes->size()));
  return *defined != nullptr ? absl::OkStatus()
                             : PendingException(jni, absl::StrCat("cannot define ", name));
}

bool CallBoolean(JNIEnv* jni, jclass loaded, const char* method) {
  const jmethodID id = jni->GetStaticMethodID(loaded, method, "()Z");
  const bool result = jni->CallStaticBooleanMethod(loaded, id) == JNI_TRUE;
  if (jni->ExceptionCheck() == JNI_FALSE) return result;
  jni->ExceptionClear();
  return false;
}

// What the JVM gets: constants filled in, and what the clock needs besides.
struct Setup {
  int number;
  ProbeConstants probe;
  ClockConstants clock;
};

// All three before any is initialized: they refer to one another.
// `counts_ticks`: whether the JVM reads the time-stamp counter.
absl::Status DefineProbeClasses(JNIEnv* jni, const Setup& setup, bool* counts_ticks) {
  const absl::Span<const uint8_t> log_bytes = EmbeddedLogClass();
  jclass probe_class = nullptr, clock_class = nullptr, log_class = nullptr;
  absl::Status status = Define(jni, kProbeClass, setup.number,
                               PatchProbeClass(EmbeddedProbeClass(), setup.probe), &probe_class);
  if (status.ok()) {
    status = Define(jni, kClockClass, setup.number,
                    PatchClockClass(EmbeddedClockClass(), setup.clock), &clock_class);
  }
  if (status.ok()) {
    status = Define(jni, kLogClass, setup.number,
                    std::vector<uint8_t>(log_bytes.begin(), log_bytes.end()), &log_class);
  }
  if (status.ok()) status = Initialize(jni, probe_class, "enter", "(I)J");
  if (status.ok()) status = CheckJavaLayout(jni, probe_class, ProbeConstantsInJava());
  const bool uses_clock = setup.probe.clock != hot::ProbeClock::kNone;
  if (status.ok() && (uses_clock || setup.probe.log)) {
    status = Initialize(jni, clock_class, "countsTicks", "()Z");
    if (status.ok()) status = CheckJavaLayout(jni, clock_class, ClockConstantsInJava());
    if (status.ok()) *counts_ticks = CallBoolean(jni, clock_class, "countsTicks");
    if (status.ok()) status = Initialize(jni, log_class, "begin", "(JJJ)V");
    if (status.ok()) status = CheckJavaLayout(jni, log_class, LogConstantsInJava());
  }
  for (jclass defined : {probe_class, clock_class, log_class}) jni->DeleteLocalRef(defined);
  return status;
}

// What can be used of what was asked for, before the JVM is asked.
hot::ProbeClock UsableClock(hot::ProbeClock wanted, const hot::Arena& arena) {
  using hot::ProbeClock;
  const bool fine = wanted == ProbeClock::kTsc || wanted == ProbeClock::kCpu;
  if (fine && !TicksAreSteady()) return ProbeClock::kNano;
  if (wanted == ProbeClock::kCpu && !RseqTellsSwitches(arena.rseq)) return ProbeClock::kTsc;
  return wanted;
}

TickScale ScaleOf(hot::ProbeClock clock) {
  const bool counter = clock == hot::ProbeClock::kTsc || clock == hot::ProbeClock::kCpu;
  TickScale scale = counter ? TickScale::TimeStampCounter() : TickScale::Nanoseconds();
  scale.Update();
  return scale;
}

}  // namespace

std::string ProbeClassName(int number) { return NumberedName(kProbeClass, number); }

bool IsProbeClass(absl::string_view internal_name) {
  return absl::StartsWith(internal_name, kProbeClass);
}

void Probes::Publish() const { hot::published_arena.store(arena_, std::memory_order_release); }

void Probes::ClearCompiled(uint32_t limit) const {
  for (uint32_t routine = 0; routine < std::min(limit, hot::kMaxRoutines); ++routine) {
    SetCompiled(routine, false);
  }
}

Probes::Probes(hot::Arena* arena, std::string class_name, hot::ProbeClock clock,
               const TickScale& scale)
    : arena_(arena), class_name_(std::move(class_name)), clock_(clock), scale_(scale) {
  const uint64_t now = hot::MonotonicNanos();
  hot::WriteRelaxed(arena->tick, now - now % 1000);
}

void Probes::StartTicking() {
  tick_thread_ = std::make_unique<TickThread>(arena_->tick, kTickPeriod);
}

void Probes::UseNanoTime() {
  if (clock_ == hot::ProbeClock::kTsc) clock_ = hot::ProbeClock::kNano;
  scale_ = TickScale::Nanoseconds();
}

void Probes::SetCompiled(uint32_t routine, bool compiled) const {
  if (routine < hot::kMaxRoutines) {
    hot::WriteRelaxed(arena_->compiled[routine], static_cast<uint8_t>(compiled));
  }
}

uint64_t Probes::memory_used() const { return ArenaBytesUsed(*arena_); }

absl::StatusOr<std::unique_ptr<Probes>> Install(jvmtiEnv* jvmti, JNIEnv* jni,
                                                const ProbeOptions& options, int number) {
  absl::StatusOr<hot::Arena*> arena = ReserveArena(options.memory_limit);
  if (!arena.ok()) return arena.status();
  InitializeRseqDescriptor((*arena)->rseq);
  (*arena)->always_on = reinterpret_cast<uintptr_t>(&(*arena)->rseq);
  const hot::ProbeClock clock = UsableClock(options.clock, **arena);
  auto probes = std::make_unique<Probes>(*arena, ProbeClassName(number), clock, ScaleOf(clock));
  if (clock == hot::ProbeClock::kCoarse && options.clock_ticks) probes->StartTicking();
  // Each class has eight spare bytes of its own.
  const uint64_t spare = FindThreadSpare(jvmti, jni);
  const Setup setup = {.number = number,
                       .probe = {.arena = reinterpret_cast<uintptr_t>(*arena),
                                 .flat = options.flat,
                                 .thread_spare = spare == 0 ? 0 : spare + 8ull * number,
                                 .log = options.log,
                                 .clock = clock},
                       .clock = {.ticks_function = reinterpret_cast<uintptr_t>(&jtrace_ticks),
                                 .ticks_per_nano = probes->scale().ticks_per_nano()}};
  absl::Status status = CheckCompileConstant(jni);
  if (status.ok() && clock != hot::ProbeClock::kNone) status = DefineNativeClock(jni);
  bool counts_ticks = false;
  if (status.ok()) status = DefineProbeClasses(jni, setup, &counts_ticks);
  if (!status.ok()) return status;
  if (!counts_ticks) probes->UseNanoTime();
  probes->Publish();
  return probes;
}

}  // namespace jtrace
