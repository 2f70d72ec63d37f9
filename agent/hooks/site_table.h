// Int3 instructions in the program's code: puts them in, takes them out, and knows what stood
// there.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "agent/hooks/slot_pages.h"
#include "agent/hot/hook_sites.h"

namespace jtrace::hooks {

// The process' sites (hot::hook_sites). One thread at a time; threads of the program run through
// the code meanwhile. Sites are never freed: a thread may have met an int3 just before it was taken
// out, and goes on by its slot.
class SiteTable {
 public:
  // The site of an instruction, without its int3: made if there is none yet. `is_entry`: a
  // function's first one. Errors: FailedPrecondition: it cannot be displaced; others as SlotPages.
  absl::StatusOr<hot::HookSite*> Make(uintptr_t address, bool is_entry);
  // Threads that come to the site do `use` from now on; 0: nothing, and the int3 goes.
  absl::Status SetUse(hot::HookSite& site, uint32_t use);

  // By number, from 1 on.
  hot::HookSite& site(uint32_t number) const { return *sites_[number - 1].site; }

 private:
  struct Known {
    hot::HookSite* site;
    uint8_t byte;  // that the int3 stands for
    bool is_in;
  };
  absl::StatusOr<hot::HookSite*> MakeNew(uintptr_t address, bool is_entry);
  absl::Status Insert(Known& known);
  absl::Status TakeOut(Known& known);

  SlotPages pages_;
  std::vector<Known> sites_;
  absl::flat_hash_map<uintptr_t, uint32_t> by_address_;
};

}  // namespace jtrace::hooks
