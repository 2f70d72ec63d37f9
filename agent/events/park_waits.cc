#include "agent/events/park_waits.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/base/clock.h"
#include "agent/events/boot_call.h"
#include "agent/jvm/env.h"
#include "agent/jvm/environment.h"
#include "agent/signal_safe/own_work.h"
#include "proto/trace_format.h"

namespace jtrace::events {
namespace {

// The last park of the thread that runs on this one, if an unpark ended it.
struct LastPark {
  uint64_t java_tid = 0;  // 0: there is none
  int32_t object = 0;
  std::vector<Part> parts;
};
// Code that runs after the thread's destructors finds both as they left them.
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

// Whether a park would have ended without an unpark.
bool IsOver(const ParkCall& call) {
  constexpr int64_t kMilli = 1'000'000;
  if (call.is_absolute) return static_cast<int64_t>(UnixNanos()) / kMilli >= call.time;
  return call.time < 0 ||
         (call.time > 0 && static_cast<int64_t>(call.end_ns - call.begin_ns) >= call.time);
}

using ParkFunction = void(JNICALL*)(JNIEnv*, jobject, jboolean, jlong);
using UnparkFunction = void(JNICALL*)(JNIEnv*, jobject, jobject);
using RegisterFunction = jint(JNICALL*)(JNIEnv*, jclass, const JNINativeMethod*, jint);

// The JVM's own functions; known before the replacements can be called.
constinit std::atomic<ParkFunction> g_park{nullptr};
constinit std::atomic<UnparkFunction> g_unpark{nullptr};
constinit std::atomic<ParkListener*> g_listener{nullptr};
// JNI's own function, while Collect is in its place.
constinit std::atomic<RegisterFunction> g_register{nullptr};
// The thread whose natives Collect keeps.
constinit thread_local bool t_collects = false;

void JNICALL ParkInPlace(JNIEnv* jni, jobject unsafe, jboolean is_absolute, jlong time) {
  const ParkFunction original = g_park.load(std::memory_order_acquire);
  ParkListener* const listener = g_listener.load(std::memory_order_acquire);
  if (listener == nullptr) return original(jni, unsafe, is_absolute, time);
  ParkCall call = {
      .begin_ns = MonotonicNanos(), .is_absolute = is_absolute == JNI_TRUE, .time = time};
  original(jni, unsafe, is_absolute, time);
  signal_safe::AsOwn([&] {
    call.end_ns = MonotonicNanos();
    listener->Parked(jni, call);
  });
}

void JNICALL UnparkInPlace(JNIEnv* jni, jobject unsafe, jobject thread) {
  const UnparkFunction original = g_unpark.load(std::memory_order_acquire);
  ParkListener* const listener = g_listener.load(std::memory_order_acquire);
  // First: the thread may end its park, and look who it was, as soon as it is unparked.
  if (listener != nullptr && thread != nullptr) {
    signal_safe::AsOwn([&] { listener->Unparks(jni, thread); });
  }
  original(jni, unsafe, thread);
}

// In place of RegisterNatives, while the JVM registers the natives of Unsafe once more: notes two
// of them, and registers none.
jint JNICALL Collect(JNIEnv* jni, jclass klass, const JNINativeMethod* methods, jint count) {
  if (!t_collects) return g_register.load(std::memory_order_acquire)(jni, klass, methods, count);
  for (jint i = 0; i < count; ++i) {
    const std::string_view name = methods[i].name;
    if (name == "park") g_park.store(reinterpret_cast<ParkFunction>(methods[i].fnPtr));
    if (name == "unpark") g_unpark.store(reinterpret_cast<UnparkFunction>(methods[i].fnPtr));
  }
  return JNI_OK;
}

// A copy of JNI's functions as they are now, other agents' changes included.
absl::Status ReadTable(jvmtiEnv* env, jvm::Allocated<jniNativeInterface>& table) {
  const jvmtiError error = env->GetJNIFunctionTable(table.out());
  return error == JVMTI_ERROR_NONE ? absl::OkStatus()
                                   : jvm::ToStatus(env, error, "GetJNIFunctionTable");
}

absl::Status SetRegister(jvmtiEnv* env, jniNativeInterface& table, RegisterFunction function) {
  table.RegisterNatives = function;
  const jvmtiError error = env->SetJNIFunctionTable(&table);
  return error == JVMTI_ERROR_NONE ? absl::OkStatus()
                                   : jvm::ToStatus(env, error, "SetJNIFunctionTable");
}

// Another agent may have changed the table meanwhile. One that replaced Collect calls it, which
// then only calls JNI's function.
absl::Status RestoreRegister(jvmtiEnv* env) {
  jvm::Allocated<jniNativeInterface> table(env);
  if (absl::Status status = ReadTable(env, table); !status.ok()) return status;
  if (table.get()->RegisterNatives != &Collect) return absl::OkStatus();
  return SetRegister(env, *table.get(), g_register.load());
}

// HotSpot's functions have no symbols, and nothing reports a native that is bound already.
absl::Status CollectOriginals(jvmtiEnv* env, JNIEnv* jni, jclass unsafe) {
  const jmethodID registers = jni->GetStaticMethodID(unsafe, "registerNatives", "()V");
  if (registers == nullptr) return absl::FailedPreconditionError("its natives are not known");
  jvm::Allocated<jniNativeInterface> table(env);
  absl::Status status = ReadTable(env, table);
  if (!status.ok()) return status;
  g_register.store(table.get()->RegisterNatives);
  status = SetRegister(env, *table.get(), &Collect);
  if (!status.ok()) return status;
  t_collects = true;
  jni->CallStaticVoidMethod(unsafe, registers);
  t_collects = false;
  status = RestoreRegister(env);
  if (!status.ok()) return status;
  if (g_park.load() != nullptr && g_unpark.load() != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError("its natives are not known");
}

absl::Status Replace(jvmtiEnv* env, JNIEnv* jni) {
  const jvm::LocalRef<jclass> unsafe(jni, jni->FindClass("jdk/internal/misc/Unsafe"));
  absl::Status status = absl::FailedPreconditionError("it has no jdk.internal.misc.Unsafe");
  if (unsafe.get() != nullptr) status = CollectOriginals(env, jni, unsafe.get());
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  if (!status.ok()) return status;
  const std::array natives = {
      JNINativeMethod{const_cast<char*>("park"), const_cast<char*>("(ZJ)V"),
                      reinterpret_cast<void*>(&ParkInPlace)},
      JNINativeMethod{const_cast<char*>("unpark"), const_cast<char*>("(Ljava/lang/Object;)V"),
                      reinterpret_cast<void*>(&UnparkInPlace)}};
  bool is_registered = false;
  status = CallFromBootClass(jni, [&] {
    is_registered = jni->RegisterNatives(unsafe.get(), natives.data(), natives.size()) == JNI_OK;
    if (!is_registered) jni->ExceptionClear();
  });
  if (!status.ok() || is_registered) return status;
  return absl::FailedPreconditionError("it rejects other natives");
}

// Of more parts the oldest are forgotten: hundreds of threads may queue for a lock.
constexpr size_t kMostParts = 64;

}  // namespace

absl::Status ParkWaits::Listen() {
  JNIEnv* jni = nullptr;
  if (env_ == nullptr) env_ = jvm::NewEnvironment(vm_, this, {});
  if (env_ == nullptr || vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_8) != JNI_OK) {
    return absl::InternalError("no environment of the JVM's tool interface");
  }
  if (thread_class_ == nullptr) {
    const jvm::LocalRef<jclass> klass(jni, jni->FindClass("java/lang/Thread"));
    thread_class_ = static_cast<jclass>(jni->NewGlobalRef(klass.get()));
    park_blocker_ = jni->GetFieldID(thread_class_, "parkBlocker", "Ljava/lang/Object;");
    if (jni->ExceptionCheck()) jni->ExceptionClear();
    // Since virtual threads exist.
    current_carrier_ =
        jni->GetStaticMethodID(thread_class_, "currentCarrierThread", "()Ljava/lang/Thread;");
    if (jni->ExceptionCheck()) jni->ExceptionClear();
  }
  unparks_.Clear();
  return ListenToParks(env_, jni, *this);
}

void ParkWaits::Start(const CodeSet& codes) {
  if (!codes.Has(Code::kUnpark)) return;
  const absl::Status status = Listen();
  if (status.ok()) return;
  losses_.Add("events.unparks", Severity::kWarning, 1,
              absl::StrCat("kind of event that this JVM does not offer: who unparked (",
                           status.message(), ")"));
}

void ParkWaits::Unparks(JNIEnv* jni, jobject target) {
  jthread current = nullptr;
  Unpark unpark;
  if (env_->GetCurrentThread(&current) == JVMTI_ERROR_NONE) {
    const jvm::LocalRef<jthread> thread(jni, current);
    const jvm::ThreadNumbers numbers = writer_.threads().FindRunning(jni, current).numbers;
    unpark.by = {numbers.number, numbers.java_tid, writer_.RoutineOf(numbers.java_tid)};
    if (t_last_park != nullptr && t_last_park->java_tid == numbers.java_tid) {
      unpark.object = t_last_park->object;
      unpark.parts = t_last_park->parts;
    }
  }
  unparks_.Note(writer_.threads().JavaTid(jni, target), std::move(unpark));
}

// A virtual thread is parked here if it cannot leave its carrier: then that is unparked.
uint64_t ParkWaits::ParkedTid(JNIEnv* jni, const jvm::RunningThread& running) {
  if (running.java_thread != 0 || current_carrier_ == nullptr) return running.numbers.java_tid;
  const jvm::LocalRef<jobject> carrier(
      jni, jni->CallStaticObjectMethod(thread_class_, current_carrier_));
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return carrier.get() != nullptr ? writer_.threads().JavaTid(jni, carrier.get())
                                  : running.numbers.java_tid;
}

proto::WaitEvent ParkWaits::EndOf(uint64_t parked_tid, uint64_t java_tid, int32_t object,
                                  const ParkCall& call, bool is_recorded) {
  if (t_last_park != nullptr) t_last_park->java_tid = 0;
  const std::optional<Unpark> unpark = unparks_.Take(parked_tid);
  if (!unpark.has_value()) {
    if (HasState(env_, nullptr, JVMTI_THREAD_STATE_INTERRUPTED)) {
      return WaitFor(proto::WaitEvent::INTERRUPTED);
    }
    return WaitFor(IsOver(call) ? proto::WaitEvent::TIMED_OUT : proto::WaitEvent::UNKNOWN);
  }
  std::vector<Part> parts = PartsOf(*unpark, object, call.begin_ns, call.end_ns);
  const Releaser by = LongestOf(parts, call.begin_ns);
  SetLastPark({java_tid, object, std::move(parts)});
  const bool needs_number = is_recorded && by.thread == 0 && by.java_tid != 0;
  proto::WaitEvent wait =
      WaitFor(proto::WaitEvent::UNPARKED,
              needs_number ? writer_.threads().NumberOfPassing(by.java_tid) : by.thread);
  wait.set_by_routine(by.routine);
  return wait;
}

void ParkWaits::Parked(JNIEnv* jni, const ParkCall& call) {
  jthread current = nullptr;
  if (env_->GetCurrentThread(&current) != JVMTI_ERROR_NONE) return;
  const jvm::LocalRef<jthread> thread(jni, current);
  const jvm::LocalRef<jobject> blocker(
      jni, park_blocker_ != nullptr ? jni->GetObjectField(current, park_blocker_) : nullptr);
  jint object = 0;
  const bool is_recorded_whole = call.begin_ns >= clock_.start();
  if (is_recorded_whole && blocker.get() != nullptr) {
    env_->GetObjectHashCode(blocker.get(), &object);
  }
  const jvm::RunningThread running = writer_.threads().FindRunning(jni, current);
  const uint64_t end = clock_.Since(call.end_ns);
  const bool is_recorded = is_recorded_whole && limits_.Count(trace::LimitedEvent::kUnpark, end);
  // The permit is used in any case.
  proto::WaitEvent wait =
      EndOf(ParkedTid(jni, running), running.numbers.java_tid, object, call, is_recorded);
  if (is_recorded_whole) limits_.Ended(trace::LimitedEvent::kUnpark, call.end_ns - call.begin_ns);
  if (!is_recorded) return;
  writer_.Add(env_, jni, current,
              {format::kWaitedPark, clock_.Since(call.begin_ns), end, blocker.get()},
              std::move(wait));
}

absl::Status ListenToParks(jvmtiEnv* env, JNIEnv* jni, ParkListener& listener) {
  static bool is_replaced = false;
  if (!is_replaced) {
    if (absl::Status status = Replace(env, jni); !status.ok()) return status;
    is_replaced = true;
  }
  g_listener.store(&listener, std::memory_order_release);
  return absl::OkStatus();
}

void IgnoreParks() { g_listener.store(nullptr, std::memory_order_release); }

std::vector<Part> PartsOf(const Unpark& unpark, int32_t object, uint64_t begin_ns,
                          uint64_t end_ns) {
  std::vector<Part> parts;
  if (object != 0 && object == unpark.object) {
    const size_t forgotten = std::max(unpark.parts.size(), kMostParts - 1) - (kMostParts - 1);
    for (size_t i = forgotten; i < unpark.parts.size(); ++i) {
      const Part& part = unpark.parts[i];
      if (part.until_ns > begin_ns && part.until_ns < end_ns) parts.push_back(part);
    }
  }
  parts.push_back({end_ns, unpark.by});
  return parts;
}

const Releaser& LongestOf(const std::vector<Part>& parts, uint64_t begin_ns) {
  size_t longest = 0;
  uint64_t most = 0;
  uint64_t begin = begin_ns;
  for (size_t i = 0; i < parts.size(); ++i) {
    const uint64_t time = parts[i].until_ns - begin;
    if (time > most) {
      most = time;
      longest = i;
    }
    begin = parts[i].until_ns;
  }
  return parts[longest].by;
}

void UnparkTable::Note(uint64_t target, const Unpark& unpark) {
  Shard& shard = ShardOf(target);
  absl::MutexLock lock(&shard.mutex);
  if (shard.unparks.size() >= kMostInShard) shard.unparks.clear();
  shard.unparks.try_emplace(target, unpark);
}

std::optional<Unpark> UnparkTable::Take(uint64_t target) {
  Shard& shard = ShardOf(target);
  absl::MutexLock lock(&shard.mutex);
  const auto found = shard.unparks.find(target);
  if (found == shard.unparks.end()) return std::nullopt;
  Unpark unpark = std::move(found->second);
  shard.unparks.erase(found);
  return unpark;
}

void UnparkTable::Clear() {
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    shard.unparks.clear();
  }
}

}  // namespace jtrace::events
