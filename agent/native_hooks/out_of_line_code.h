// Writes code that other threads may run, and allocates memory for new code. Not in handlers.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/signal_safe/patch_sites.h"

namespace jtrace::native_hooks {

// Writes one byte, which threads see in its old or new state. Intel's and AMD's manuals allow no
// other change of code that threads run at the same time. Errors: PermissionDenied.
absl::Status WriteCodeByte(uintptr_t address, uint8_t byte);

// Writes bytes that no thread runs yet. Errors: PermissionDenied.
absl::Status WriteNewCode(uintptr_t address, std::span<const uint8_t> bytes);

// Makes every processor that runs this process execute a serializing instruction (membarrier), so
// that none runs old code afterwards. Does nothing if the kernel has no such command.
void SerializeProcessors();

// Executable memory for displaced instructions. A slot is near the original code, because memory
// that an instruction addresses relative to rip must stay in reach. Pages are mapped readable and
// executable, and never unmapped. One thread at a time.
class OutOfLineCode {
 public:
  // Returns a free slot less than 2 GB from `address`, if there is one, else anywhere. Errors:
  // Unavailable: the system gives no executable memory; ResourceExhausted: no slots are left.
  absl::StatusOr<uintptr_t> Allocate(uintptr_t address);
  // Takes back the slot that Allocate returned last, whose code no thread can have run.
  void Release(uintptr_t slot);
  // Publishes the site of a slot whose code is written: OriginalPc looks it up for threads that are
  // interrupted there.
  void Publish(uintptr_t slot, signal_safe::PatchSite* site);

 private:
  struct Page {
    uintptr_t begin;
    uint32_t used;
  };
  // Returns a page with a free slot less than `reach` from `address`; null: there is none.
  Page* PageWithRoom(uintptr_t address, uintptr_t reach);
  // Publishes a page that was mapped at `begin`; 0: mmap has failed.
  absl::StatusOr<Page*> AddPage(uintptr_t begin);

  Page pages_[signal_safe::kMaxHookPages] = {};
};

}  // namespace jtrace::native_hooks
