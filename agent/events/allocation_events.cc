#include "agent/events/allocation_events.h"

namespace jtrace::events {
namespace {

jvmtiEventCallbacks AllocationCallbacks() {
  jvmtiEventCallbacks callbacks = {};
  callbacks.SampledObjectAlloc = jvm::kCallback<&AllocationEvents::Allocated>;
  return callbacks;
}

}  // namespace

AllocationEvents::AllocationEvents(const EventContext& context)
    : JvmtiEventSource(context, this, AllocationCallbacks()) {}

absl::Span<const Code> AllocationEvents::codes() const {
  static constexpr Code kCodes[] = {Code::kAllocation};
  return kCodes;
}

void AllocationEvents::Start(const CodeSet&) {
  jvmtiCapabilities wanted = {};
  wanted.can_generate_sampled_object_alloc_events = 1;
  const bool is_offered = Open(wanted).can_generate_sampled_object_alloc_events != 0;
  Enable(is_offered, "allocations", "allocations", {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC});
}

void AllocationEvents::Allocated(JNIEnv* jni, jthread thread, jobject, jclass klass, jlong size) {
  const uint64_t now = context().clock.Now();
  if (!context().limits.Count(Code::kAllocation, now)) return;
  Add(Code::kAllocation, {.time_ns = now, .value = size}, jni, thread, klass);
}

}  // namespace jtrace::events
