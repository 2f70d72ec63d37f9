// Int3 instructions in the program's code: places and removes them, and keeps the original
// instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "agent/native_hooks/code_writer.h"
#include "agent/signal_safe/patch_sites.h"

namespace jtrace::native_hooks {

// The process' sites (signal_safe::patch_sites). One thread at a time; threads of the program run
// the code meanwhile. Sites are never freed: a thread may have hit an int3 just before its removal,
// and continues through its slot.
class PatchSiteTable {
 public:
  // The site of an instruction, without its int3; created if there is none yet. Its object is no
  // longer unloaded (Pin). Errors: FailedPrecondition: it cannot be displaced; others as in
  // SlotPages.
  absl::StatusOr<signal_safe::PatchSite*> Make(uintptr_t address);
  // Sets what threads do at the site from now on. No use: nothing, and the int3 is removed.
  absl::Status SetDuty(signal_safe::PatchSite& site, signal_safe::HookDuty duty);

  // By number, from 1 on.
  signal_safe::PatchSite& site(uint32_t number) const { return *sites_[number - 1].site; }

 private:
  struct Known {
    signal_safe::PatchSite* site;
    std::vector<uint8_t> instruction;  // as it was before the int3
    bool is_in;
  };
  absl::StatusOr<signal_safe::PatchSite*> MakeNew(uintptr_t address);
  absl::Status Insert(Known& known);
  absl::Status Remove(Known& known);

  SlotPages pages_;
  std::vector<Known> sites_;
  absl::flat_hash_map<uintptr_t, uint32_t> by_address_;
};

// At most `most` bytes of the program at `address`, with our int3 replaced by the original bytes;
// fewer if the mapping ends.
std::vector<uint8_t> ReadCode(uintptr_t address, size_t most);

}  // namespace jtrace::native_hooks
