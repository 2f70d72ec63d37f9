#include "agent/events/allocation_events.h"

#include <array>
#include <string>
#include <utility>

#include "agent/jvm/jvmti_calls.h"
#include "proto/trace_format.h"

namespace jtrace::events {
namespace {

// HotSpot's default interval in bytes.
constexpr jint kUsualInterval = 512 * 1024;

// The most records that may wait for the writer, in bytes of the file. In memory they take ten
// times as much.
constexpr size_t kMaxPendingBytes = size_t{16} << 20;

// How many frames are searched for one in scope: the inner ones may be the JDK's.
constexpr jint kMaxFrames = 64;

jvmtiEventCallbacks AllocationCallbacks() {
  jvmtiEventCallbacks callbacks = {};
  callbacks.SampledObjectAlloc = jvm::kCallback<&AllocationEvents::Allocated>;
  return callbacks;
}

}  // namespace

AllocationEvents::AllocationEvents(const EventContext& context)
    : JvmtiEventRecorder(context, this, AllocationCallbacks()) {}

absl::Span<const Code> AllocationEvents::codes() const {
  static constexpr Code kCodes[] = {Code::kAllocation, Code::kEachAllocation};
  return kCodes;
}

bool AllocationEvents::OpenForEvents() {
  jvmtiCapabilities wanted = {};
  wanted.can_generate_sampled_object_alloc_events = 1;
  wanted.can_get_line_numbers = 1;
  return Open(wanted).can_generate_sampled_object_alloc_events != 0;
}

void AllocationEvents::Prepare(const EventCodeSet& codes) {
  if (!codes.Has(Code::kEachAllocation) || !OpenForEvents()) return;
  has_set_interval_ = env()->SetHeapSamplingInterval(0) == JVMTI_ERROR_NONE;
  jvmtiPhase phase;
  is_before_program_ = env()->GetPhase(&phase) == JVMTI_ERROR_NONE && phase == JVMTI_PHASE_ONLOAD;
}

void AllocationEvents::Start(const EventCodeSet& codes) {
  const bool is_offered = OpenForEvents();
  records_each_.store(codes.Has(Code::kEachAllocation));
  Enable(is_offered, "allocations", "allocations", {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC});
  // The main thread has a local buffer from before the event was on, and what it allocates there is
  // not reported. A collection takes the buffers from all threads. It is short now; in a running
  // program it might not be.
  if (has_set_interval_ && is_before_program_) env()->ForceGarbageCollection();
}

void AllocationEvents::Stop() {
  if (std::exchange(has_set_interval_, false)) env()->SetHeapSamplingInterval(kUsualInterval);
  JvmtiEventRecorder::Stop();
}

void AllocationEvents::Allocated(JNIEnv* jni, jthread thread, jobject, jclass klass, jlong size) {
  records_each_.load() ? AddEach(jni, thread, klass, size) : AddSample(jni, thread, klass, size);
}

void AllocationEvents::AddSample(JNIEnv* jni, jthread thread, jclass klass, jlong size) {
  const uint64_t now = context().clock.Now();
  if (!context().limits.Count(Code::kAllocation, now)) return;
  Add(Code::kAllocation, {.time_ns = now, .value = size}, jni, thread, klass);
}

void AllocationEvents::AddEach(JNIEnv* jni, jthread thread, jclass klass, jlong size) {
  const uint64_t now = context().clock.Now();
  if (context().encoder.pending_bytes() > kMaxPendingBytes) {
    context().losses.Add("events.each_alloc", Severity::kWarning, 1,
                         "allocations without a record: there were more than could be written",
                         "write to a faster disk, or record a sample: codes=+alloc");
    return;
  }
  std::optional<proto::AllocationEvent> requester = AllocatingMethod();
  if (!requester.has_value()) return;
  const std::string name = jvm::ClassName(env(), klass);
  context().encoder.AddAllocationEvent({.time_ns = now,
                                        .thread = context().NumberOf(jni, thread),
                                        .major = format::kAllocation,
                                        .minor = format::kEachAllocation,
                                        .value = size,
                                        .text = name},
                                       *std::move(requester));
}

std::optional<proto::AllocationEvent> AllocationEvents::AllocatingMethod() {
  proto::AllocationEvent requester;
  std::array<jvmtiFrameInfo, kMaxFrames> frames;
  jint count = 0;
  if (env()->GetStackTrace(/*thread=*/nullptr, 0, kMaxFrames, frames.data(), &count) !=
      JVMTI_ERROR_NONE) {
    return requester;
  }
  for (jint i = 0; i < count; ++i) {
    // In some recordings methods get a number only when something names them (NumberMethodsLazily).
    const jvm::MethodKey method = jvm::KeyOf(frames[i].method);
    jvm::ClassRegistry& classes = context().classes;
    if (classes.MethodOf(method) == 0) classes.DefineMethod(frames[i].method);
    if (classes.IsProbe(classes.MethodOf(method))) return std::nullopt;
    const uint32_t routine = classes.RoutineOf(method);
    if (routine == 0) continue;
    requester.set_routine(routine);
    requester.set_line(LineOf(frames[i]));
    break;
  }
  return requester;
}

uint32_t AllocationEvents::LineOf(const jvmtiFrameInfo& frame) {
  jint size = 0;
  jvm::Allocated<jvmtiLineNumberEntry> table(env());
  if (env()->GetLineNumberTable(frame.method, &size, table.out()) != JVMTI_ERROR_NONE) return 0;
  uint32_t line = 0;
  jlocation begin = -1;
  for (jint i = 0; i < size; ++i) {
    const jvmtiLineNumberEntry& row = table[i];
    if (row.start_location > frame.location || row.start_location < begin) continue;
    begin = row.start_location;
    line = static_cast<uint32_t>(row.line_number);
  }
  return line;
}

}  // namespace jtrace::events
