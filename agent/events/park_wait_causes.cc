#include "agent/events/park_wait_causes.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/base/clock.h"
#include "agent/jvm/jvmti_calls.h"
#include "proto/trace_format.h"

namespace jtrace::events {
namespace {

// The last park of the Java thread that runs on this native one, if an unpark ended it.
struct LastPark {
  uint64_t java_tid = 0;  // 0: there is none
  int32_t object = 0;
  std::vector<WaitInterval> intervals;
};
// Without destructors: code that runs after those of the thread still finds valid values.
constinit thread_local LastPark* t_last_park = nullptr;
constinit thread_local bool t_is_ending = false;
struct LastParkKeeper {
  ~LastParkKeeper() {
    delete std::exchange(t_last_park, nullptr);
    t_is_ending = true;
  }
};

void SetLastPark(LastPark last) {
  if (t_is_ending) return;
  thread_local LastParkKeeper keeper;
  if (t_last_park == nullptr) t_last_park = new LastPark;
  *t_last_park = std::move(last);
}

// Whether the park's time limit has passed.
bool IsOver(const ParkCall& call) {
  constexpr int64_t kMilli = 1'000'000;
  if (call.is_absolute) return static_cast<int64_t>(UnixNanos()) / kMilli >= call.time;
  return call.time < 0 ||
         (call.time > 0 && static_cast<int64_t>(call.end_ns - call.begin_ns) >= call.time);
}

}  // namespace

absl::Status ParkWaitCauses::Listen() {
  JNIEnv* jni = nullptr;
  if (environment_.Open() == nullptr ||
      context_.vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_8) != JNI_OK) {
    return absl::InternalError("no environment of the JVM's tool interface");
  }
  if (thread_class_ == nullptr) {
    const jvm::LocalRef<jclass> klass(jni, jni->FindClass("java/lang/Thread"));
    thread_class_ = static_cast<jclass>(jni->NewGlobalRef(klass.get()));
    park_blocker_ = jni->GetFieldID(thread_class_, "parkBlocker", "Ljava/lang/Object;");
    if (jni->ExceptionCheck()) jni->ExceptionClear();
    // Only JDKs with virtual threads have this method.
    current_carrier_ =
        jni->GetStaticMethodID(thread_class_, "currentCarrierThread", "()Ljava/lang/Thread;");
    if (jni->ExceptionCheck()) jni->ExceptionClear();
  }
  unparks_.Clear();
  return ListenToParks(environment_.get(), jni, *this);
}

absl::Span<const Code> ParkWaitCauses::codes() const {
  static constexpr Code kCodes[] = {Code::kUnpark};
  return kCodes;
}

void ParkWaitCauses::Start(const EventCodeSet&) {
  const absl::Status status = Listen();
  if (status.ok()) return;
  context_.losses.Add("events.unparks", Severity::kWarning, 1,
                      absl::StrCat("kind of event that this JVM does not offer: who unparked (",
                                   status.message(), ")"));
}

void ParkWaitCauses::Unparks(JNIEnv* jni, jobject target) {
  jthread current = nullptr;
  Unpark unpark;
  if (environment_.get()->GetCurrentThread(&current) == JVMTI_ERROR_NONE) {
    const jvm::LocalRef<jthread> thread(jni, current);
    const jvm::TraceThreadIds numbers = context_.threads.FindRunning(jni, current).numbers;
    unpark.by = {numbers.number, numbers.java_tid, writer_.RoutineOf(numbers.java_tid)};
    if (t_last_park != nullptr && t_last_park->java_tid == numbers.java_tid) {
      unpark.object = t_last_park->object;
      unpark.intervals = t_last_park->intervals;
    }
  }
  unparks_.Add(context_.threads.JavaTid(jni, target), std::move(unpark));
}

// Returns which thread was unparked. A virtual thread parks in this native only if it cannot leave
// its carrier, and then the carrier is unparked.
uint64_t ParkWaitCauses::ParkedTid(JNIEnv* jni, const jvm::RunningThread& running) {
  if (running.java_thread != 0 || current_carrier_ == nullptr) return running.numbers.java_tid;
  const jvm::LocalRef<jobject> carrier(
      jni, jni->CallStaticObjectMethod(thread_class_, current_carrier_));
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return carrier.get() != nullptr ? context_.threads.JavaTid(jni, carrier.get())
                                  : running.numbers.java_tid;
}

proto::WaitEvent ParkWaitCauses::EndOf(uint64_t parked_tid, uint64_t java_tid, int32_t object,
                                       const ParkCall& call, bool is_recorded) {
  if (t_last_park != nullptr) t_last_park->java_tid = 0;
  const std::optional<Unpark> unpark = unparks_.Remove(parked_tid);
  if (!unpark.has_value()) {
    if (ThreadHasState(environment_.get(), nullptr, JVMTI_THREAD_STATE_INTERRUPTED)) {
      return MakeWaitEvent(proto::WaitEvent::INTERRUPTED);
    }
    return MakeWaitEvent(IsOver(call) ? proto::WaitEvent::TIMED_OUT : proto::WaitEvent::UNKNOWN);
  }
  std::vector<WaitInterval> intervals = IntervalsOf(*unpark, object, call.begin_ns, call.end_ns);
  const Releaser by = CauseOfLongest(intervals, call.begin_ns);
  SetLastPark({java_tid, object, std::move(intervals)});
  const bool needs_number = is_recorded && by.thread == 0 && by.java_tid != 0;
  proto::WaitEvent wait =
      MakeWaitEvent(proto::WaitEvent::UNPARKED,
                    needs_number ? context_.threads.NumberOfEphemeral(by.java_tid) : by.thread);
  wait.set_by_routine(by.routine);
  return wait;
}

void ParkWaitCauses::Parked(JNIEnv* jni, const ParkCall& call) {
  jthread current = nullptr;
  if (environment_.get()->GetCurrentThread(&current) != JVMTI_ERROR_NONE) return;
  const jvm::LocalRef<jthread> thread(jni, current);
  const jvm::LocalRef<jobject> blocker(
      jni, park_blocker_ != nullptr ? jni->GetObjectField(current, park_blocker_) : nullptr);
  jint object = 0;
  const bool is_recorded_whole = call.begin_ns >= context_.clock.start();
  if (is_recorded_whole && blocker.get() != nullptr) {
    environment_.get()->GetObjectHashCode(blocker.get(), &object);
  }
  const jvm::RunningThread running = context_.threads.FindRunning(jni, current);
  const uint64_t end = context_.clock.Since(call.end_ns);
  const bool is_recorded = is_recorded_whole && context_.limits.Count(Code::kUnpark, end);
  // Without a record, too: the park has used up the permit.
  proto::WaitEvent wait =
      EndOf(ParkedTid(jni, running), running.numbers.java_tid, object, call, is_recorded);
  if (is_recorded_whole) context_.limits.Ended(Code::kUnpark, call.end_ns - call.begin_ns);
  if (!is_recorded) return;
  writer_.Add(environment_.get(), jni, current,
              {format::kWaitedPark, context_.clock.Since(call.begin_ns), end, blocker.get()},
              std::move(wait));
}

}  // namespace jtrace::events
