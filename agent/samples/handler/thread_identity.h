// The Java thread that runs on the calling thread.
#pragma once

#include <cstdint>

#include "agent/samples/handler/sample_handler.h"
#include "agent/samples/handler/thread_slot.h"

namespace jtrace::samples {

struct Identity {
  uint64_t java_tid;
  bool known;  // false: no Java thread, or a virtual one that cannot be determined
};

// The virtual thread, if one is mounted. `slot`: the calling thread's. Async-signal-safe.
Identity CurrentJavaThread(const SampleHandlerConfig& config, const ThreadSlot& slot);

}  // namespace jtrace::samples
