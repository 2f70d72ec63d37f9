// When a thread goes on and off the processors, as the kernel records it (perf_event_open(2),
// PERF_RECORD_SWITCH).
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace jtrace::sampling {

struct ThreadSwitch {
  uint64_t monotonic_ns = 0;
  bool is_on = false;
};

// The kernel's records of one thread, also after its end. One thread uses an object at a time.
class SwitchRing {
 public:
  // Records begin now. The error says what forbids them, and the remedy.
  static absl::StatusOr<SwitchRing> Open(pid_t tid);
  SwitchRing(SwitchRing&& other) noexcept;
  SwitchRing& operator=(SwitchRing&& other) noexcept;
  ~SwitchRing();

  // Visits the records since the last call, in their order. Returns how many had no room.
  uint64_t Read(absl::FunctionRef<void(const ThreadSwitch&)> visit);

 private:
  explicit SwitchRing(void* memory) : memory_(memory) {}

  void* memory_ = nullptr;
};

}  // namespace jtrace::sampling
