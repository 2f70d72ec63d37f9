#include "agent/metrics/jvm_metrics.h"

#include <stdarg.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "agent/base/clock.h"
#include "agent/calls/classfile/probe_code.h"
#include "agent/jvm/env.h"
#include "agent/jvm/environment.h"
#include "agent/samples/handler/own_work.h"

namespace jtrace::metrics {
namespace {

uint64_t Bits(const std::vector<uint32_t>& metrics) {
  uint64_t bits = 0;
  for (const uint32_t metric : metrics) bits |= IsElapsed(metric) ? 0 : 1ull << metric;
  return bits;
}

bool IsCharged(uint32_t metric) {
  // Users' counters are, and those for all threads.
  if (metric >= kFirstUser) return true;
  return IsChargedToPaths(InfoOf(static_cast<Metric>(metric)));
}

// When the calling thread began to wait for a monitor; 0: it does not wait.
[[gnu::tls_model("initial-exec")]] constinit thread_local uint64_t tls_wait_began = 0;

void JNICALL OnException(jvmtiEnv* env, JNIEnv*, jthread, jmethodID method, jlocation bci, jobject,
                         jmethodID, jlocation) {
  // The JDK's code that the agent calls throws some, too: then this is not its only work.
  if (samples::tls_own_work > 1) return;
  jvm::OwnerOf<EventSources>(env)->Thrown(method, bci);
}

jvmtiEventCallbacks EventCallbacks() {
  jvmtiEventCallbacks callbacks = {};
  callbacks.Exception = samples::kAsOwn<OnException>;
  callbacks.MonitorContendedEnter = jvm::kCallback<&EventSources::ContendedEnter>;
  callbacks.MonitorContendedEntered = jvm::kCallback<&EventSources::ContendedEntered>;
  return callbacks;
}

// HotSpot's extension events take (jvmtiEnv*, JNIEnv*, jthread).
void JNICALL OnMount(jvmtiEnv* env, ...) {
  va_list arguments;
  va_start(arguments, env);
  JNIEnv* jni = va_arg(arguments, JNIEnv*);
  jthread thread = va_arg(arguments, jthread);
  va_end(arguments);
  samples::AsOwn([&] { jvm::OwnerOf<EventSources>(env)->Mounted(jni, thread); });
}
void JNICALL OnUnmount(jvmtiEnv* env, ...) {
  samples::AsOwn([&] { jvm::OwnerOf<EventSources>(env)->Unmounted(); });
}

}  // namespace

JvmMetrics* JvmMetrics::Create(JavaVM* vm) {
  return new JvmMetrics(
      vm, jvm::ReadJavaThreadLayout(reinterpret_cast<const void*>(vm->functions->GetEnv)));
}

void JvmMetrics::CheckAllocations(JNIEnv* jni, Losses& losses) {
  if (std::exchange(allocations_checked_, true) || layout_.allocated.allocated_bytes == 0) return;
  if (jvm::CountsAllocations(jni, layout_.allocated)) return;
  layout_.allocated = {};
  counters_.ForgetAllocations();
  losses.Add("jvm.allocation", Severity::kWarning, 1,
             "part of this JVM that is not as its tables say (the bytes that a thread has "
             "allocated): alloc.bytes is unknown",
             "use an OpenJDK from 11 to 27");
}

void JvmMetrics::Define(JNIEnv* jni, Losses& losses) {
  CheckAllocations(jni, losses);
  const absl::Status status = calls::DefineCounters(jni, this);
  is_defined_ = status.ok();
  if (is_defined_) return;
  losses.Add("metrics.no_queries", Severity::kWarning, 1, status.message());
}

bool JvmMetrics::CanCharge(JNIEnv* jni, Losses& losses) const {
  if (!is_defined_) return false;
  const absl::Status status = calls::InitializeCounters(jni);
  if (!status.ok()) losses.Add("metrics.no_paths", Severity::kWarning, 1, status.message());
  return status.ok();
}

absl::StatusOr<std::vector<uint32_t>> JvmMetrics::Numbers(const std::vector<std::string>& names) {
  std::vector<uint32_t> numbers;
  for (absl::string_view name : names) {
    const uint32_t elapsed = absl::ConsumePrefix(&name, kElapsedPrefix) ? signal_safe::kElapsed : 0;
    if (const std::optional<Metric> metric = FindMetric(name)) {
      numbers.push_back(static_cast<uint32_t>(*metric) + elapsed);
      continue;
    }
    const auto user = counters_.users().Register(absl::StripPrefix(name, "user."), "");
    if (!user.ok()) return user.status();
    numbers.push_back(*user + elapsed);
  }
  if (static_cast<size_t>(std::count_if(numbers.begin(), numbers.end(), IsCharged)) >
      signal_safe::kPathMetrics) {
    return absl::InvalidArgumentError(absl::StrCat("option 'metrics': at most ",
                                                   signal_safe::kPathMetrics,
                                                   " metrics that are charged to call paths"));
  }
  return numbers;
}

void JvmMetrics::Prepare(const std::vector<uint32_t>& metrics) {
  sources_.Prepare(Bits(metrics));
  objects_.Prepare(Bits(metrics));
}

void JvmMetrics::Begin(const std::vector<uint32_t>& metrics, bool live, bool has_trees,
                       Losses& losses) {
  live_.store(live);
  began_ns_.store(MonotonicNanos());
  const uint64_t wanted = Bits(metrics);
  std::string refused;
  const uint64_t of_kernel = kernel_events_.Start(wanted, refused);
  counters_.SetCounted(sources_.Start(wanted) | objects_.Start(wanted, has_trees) | of_kernel |
                       (wanted & kOfProbes) | Bit(Metric::kGc));
  for (const uint32_t metric : metrics) {
    if (IsElapsed(metric) || counters_.Check(metric).ok()) continue;
    const std::string name = counters_.NameOf(metric);
    if ((Bit(static_cast<Metric>(metric)) & kOfKernelEvents) != 0) {
      losses.Add(absl::StrCat("metrics.", name), Severity::kWarning, 1,
                 absl::StrCat("metric that needs the kernel's events: ", name), refused);
      continue;
    }
    losses.Add(absl::StrCat("metrics.", name), Severity::kWarning, 1,
               absl::StrCat("metric that this JVM does not report: ", name),
               live ? "load the agent with -agentpath instead of attaching it" : "");
  }
  const bool has_paths = has_trees && (wanted & kLives) != 0;
  if (has_paths || std::any_of(metrics.begin(), metrics.end(), IsCharged)) FollowVirtualThreads();
}

void JvmMetrics::StopSources(Losses& losses) {
  kernel_events_.Stop();
  sources_.Stop();
  objects_.Stop();
  losses.Set("metrics.path.unattached", Severity::kWarning, kernel_events_.unattached(),
             "kernel's events of threads without a descriptor: path.* metrics lack them",
             "raise ulimit -n");
}

void JvmMetrics::End() {
  counters_.SetCounted(0);
  objects_.Forget();
}

calls::PathMetrics JvmMetrics::PathMetricsOf(const std::vector<uint32_t>& metrics) const {
  calls::PathMetrics chosen = {.numbers = {}, .layout = layout_.allocated};
  for (const uint32_t metric : metrics) {
    const bool is_known =
        metric % signal_safe::kElapsed != static_cast<uint32_t>(Metric::kAllocBytes) ||
        layout_.allocated.allocated_bytes != 0;
    if (IsCharged(metric) && is_known && chosen.numbers.size() < signal_safe::kPathMetrics) {
      chosen.numbers.push_back(static_cast<uint8_t>(metric));
    }
  }
  // alloc.bytes is always first, regardless of the order of names.
  std::sort(chosen.numbers.begin(), chosen.numbers.end());
  return chosen;
}

calls::MetricValues JvmMetrics::SinceCharged(const calls::PathMetrics& metrics,
                                             const signal_safe::ThreadState& state) const {
  calls::MetricValues values = {};
  counters_.WithLive(state.tid, [&](const signal_safe::CounterBlock&) {
    values = calls::SinceCharged(metrics, state);
  });
  return values;
}

std::string JvmMetrics::NameOf(uint8_t number) const {
  return absl::StrCat(IsElapsed(number) ? kElapsedPrefix : "",
                      counters_.NameOf(number % signal_safe::kElapsed));
}

void JvmMetrics::ThreadStart(JNIEnv* jni, jthread thread) {
  const jvm::ThreadIdentity identity = fields_.Of(jni, thread);
  if (identity.java_tid == 0) return;
  counters_.Start(identity.java_tid, identity.java_thread, /*is_partial=*/false);
  kernel_events_.Attach(gettid());
}

void JvmMetrics::GcFinish(uint64_t now_ns) {
  if (gc_began_ == 0) return;
  counters_.AddToProcess(static_cast<uint32_t>(Metric::kGc),
                         static_cast<int64_t>(now_ns - gc_began_));
  gc_began_ = 0;
}

void JvmMetrics::Adopt(JNIEnv* jni, jthread thread) {
  const jvm::ThreadIdentity identity = fields_.Of(jni, thread);
  if (identity.java_thread == 0) return;
  const pid_t os_tid = jvm::OsThreadIdOf(layout_, identity.java_thread);
  counters_.Adopt(identity.java_tid, os_tid, identity.java_thread);
  if (os_tid > 0) kernel_events_.Attach(os_tid);
}

bool JvmMetrics::RegisterThread(JNIEnv* jni, jthread thread) {
  const jvm::ThreadIdentity identity = fields_.Of(jni, thread);
  if (identity.java_tid == 0) return false;
  const bool is_virtual = identity.java_thread == 0;
  return BlockOf(identity.java_tid, is_virtual, identity.java_thread) != nullptr;
}

absl::StatusOr<int64_t> JvmMetrics::TotalOf(JNIEnv* jni, jthread thread, uint32_t metric) {
  Adopt(jni, thread);
  return counters_.Of(fields_.JavaTid(jni, thread), metric);
}

signal_safe::CounterBlock* JvmMetrics::BlockOf(uint64_t java_tid, bool is_virtual,
                                               uint64_t java_thread) {
  if (is_virtual) sources_.FollowVirtualThreads();
  return counters_.BlockOf(java_tid, is_virtual, java_thread);
}

bool JvmMetrics::RanBefore(const signal_safe::CounterBlock& block) const {
  return live_.load() && (block.is_partial != 0 || block.start_ns < began_ns_.load());
}

EventSources::EventSources(JavaVM* vm, events::IoCalls& io, ThreadCounters& counters)
    : io_(io), counters_(counters), env_(vm, this, EventCallbacks()) {}

uint64_t EventSources::StartIo(uint64_t wanted) {
  constexpr uint64_t kAll =
      Bit(Metric::kJavaReadBytes) | Bit(Metric::kJavaWrittenBytes) | Bit(Metric::kJavaIo);
  if ((wanted & kAll) == 0 || !io_.Listen(events::IoUse::kCounts, *this).ok()) return 0;
  return wanted & kAll;
}

uint64_t EventSources::Start(uint64_t wanted) { return StartIo(wanted) | StartEvents(wanted); }

void EventSources::Prepare(uint64_t wanted) {
  if ((wanted & Bit(Metric::kExceptions)) == 0 || env_.Open() == nullptr) return;
  jvmtiCapabilities asked = {};
  asked.can_generate_exception_events = 1;
  env_.AddCapabilities(asked);
}

uint64_t EventSources::StartEvents(uint64_t wanted) {
  constexpr uint64_t kAll = Bit(Metric::kExceptions) | Bit(Metric::kMonitorWait);
  if ((wanted & kAll) == 0 || env_.Open() == nullptr) return 0;
  jvmtiCapabilities asked = {};
  asked.can_generate_exception_events = (wanted & Bit(Metric::kExceptions)) != 0;
  asked.can_get_bytecodes = asked.can_generate_exception_events;
  asked.can_generate_monitor_events = (wanted & Bit(Metric::kMonitorWait)) != 0;
  const jvmtiCapabilities held = env_.AddCapabilities(asked);
  uint64_t counted = 0;
  if (held.can_generate_exception_events && env_.Enable({JVMTI_EVENT_EXCEPTION}).ok()) {
    counted |= Bit(Metric::kExceptions);
  }
  if (held.can_generate_monitor_events &&
      env_.Enable({JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED})
          .ok()) {
    counted |= Bit(Metric::kMonitorWait);
  }
  return counted & wanted;
}

// Virtual threads are still followed.
void EventSources::Stop() {
  io_.Ignore(events::IoUse::kCounts);
  env_.Stop();
}

// ---- Virtual threads ------------------------------------------------------------------------

bool EventSources::FollowVirtualThreads() {
  if (follows_.load(std::memory_order_acquire)) return true;
  const absl::MutexLock lock(&follow_mutex_);
  if (follows_.load(std::memory_order_relaxed)) return true;
  if (env_.Open() == nullptr || !env_.AddVirtualThreads()) return false;
  const bool follows =
      env_.EnableExtension("com.sun.hotspot.events.VirtualThreadUnmount", OnUnmount) &&
      env_.EnableExtension("com.sun.hotspot.events.VirtualThreadMount", OnMount);
  follows_.store(follows, std::memory_order_release);
  return follows;
}

void EventSources::Mounted(JNIEnv* jni, jthread thread) {
  const uint64_t java_tid = fields_.JavaTid(jni, thread);
  if (java_tid != 0) counters_.Mount(java_tid);
}

void EventSources::Unmounted() { counters_.Unmount(); }

// ---- Events ---------------------------------------------------------------------------------

// A probe that an exception passes throws it again, and the JVM reports that as well.
void EventSources::Thrown(jmethodID method, jlocation bci) {
  jint size = 0;
  jvmtiEnv* const env = env_.get();
  jvm::Allocated<unsigned char> code(env);
  const bool is_known = env->GetBytecodes(method, &size, code.out()) == JVMTI_ERROR_NONE;
  if (is_known && classfile::IsOwnRethrow({code.get(), static_cast<size_t>(size)},
                                          static_cast<uint64_t>(bci))) {
    return;
  }
  counters_.Add(static_cast<uint32_t>(Metric::kExceptions), 1);
}

void EventSources::ContendedEnter(JNIEnv*, jthread, jobject) { tls_wait_began = MonotonicNanos(); }

// A virtual thread may have changed its carrier meanwhile: then the start of the wait is unknown.
void EventSources::ContendedEntered(JNIEnv*, jthread, jobject) {
  if (tls_wait_began == 0) return;
  counters_.Add(static_cast<uint32_t>(Metric::kMonitorWait),
                static_cast<int64_t>(MonotonicNanos() - tls_wait_began));
  tls_wait_began = 0;
}

void EventSources::Ended(JNIEnv*, const events::IoCall& call) {
  counters_.Add(static_cast<uint32_t>(Metric::kJavaIo),
                static_cast<int64_t>(call.end_ns - call.begin_ns));
  if (call.bytes <= 0) return;
  const Metric metric =
      call.kind == events::IoKind::kRead ? Metric::kJavaReadBytes : Metric::kJavaWrittenBytes;
  counters_.Add(static_cast<uint32_t>(metric), call.bytes);
}

}  // namespace jtrace::metrics
