// Executable memory for displaced instructions, near their original code: memory that an
// instruction addresses relative to its place must stay in reach.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "agent/hot/memory/hook_sites.h"

namespace jtrace::hooks {

// Pages are readable and executable, never writable (code_writer.h), never unmapped. One thread at
// a time.
class SlotPages {
 public:
  // A free slot within 2 GB of `address`, if there is one, else anywhere. Errors: Unavailable: the
  // system gives no executable memory; ResourceExhausted: no slots are left.
  absl::StatusOr<uintptr_t> Take(uintptr_t address);
  // The slot's code is written. Publishes its site, for threads that are interrupted there.
  void Publish(uintptr_t slot, hot::HookSite* site);

 private:
  struct Page {
    uintptr_t begin;
    uint32_t used;
  };
  absl::StatusOr<Page*> NewPage(uintptr_t address);

  Page pages_[hot::kMostHookPages] = {};
};

}  // namespace jtrace::hooks
