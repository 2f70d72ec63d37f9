// Writes to code that other threads run, and memory for new code.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/signal_safe/patch_sites.h"

namespace jtrace::native_hooks {

// Writes one byte, which threads see in its old or new state: the only cross-modifying code that
// Intel's and AMD's manuals allow without stopping other threads. Errors: PermissionDenied.
absl::Status WriteCodeByte(uintptr_t address, uint8_t byte);

// Writes bytes that no thread runs yet.
absl::Status WriteNewCode(uintptr_t address, std::span<const uint8_t> bytes);

// From here on no processor runs the old code: all have executed a serializing instruction
// (membarrier).
void SerializeProcessors();

// Executable memory for displaced instructions, near their original code: memory that an
// instruction addresses relative to its place must stay in reach.

// Pages are readable and executable, never writable, never unmapped. One thread at a time.
class SlotPages {
 public:
  // A free slot within 2 GB of `address`, if there is one, else anywhere. Errors: Unavailable: the
  // system gives no executable memory; ResourceExhausted: no slots are left.
  absl::StatusOr<uintptr_t> Allocate(uintptr_t address);
  // The slot's code is written. Publishes its site, for threads that are interrupted there.
  void Publish(uintptr_t slot, signal_safe::PatchSite* site);

 private:
  struct Page {
    uintptr_t begin;
    uint32_t used;
  };
  absl::StatusOr<Page*> NewPage(uintptr_t address);

  Page pages_[signal_safe::kMaxHookPages] = {};
};

}  // namespace jtrace::native_hooks
