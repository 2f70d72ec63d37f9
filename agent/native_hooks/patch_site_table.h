// Places and removes int3 instructions in the program's code, and keeps the original instructions.
// Under Hooks' mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "agent/native_hooks/out_of_line_code.h"
#include "agent/signal_safe/patch_sites.h"

namespace jtrace::native_hooks {

// The process' sites (signal_safe::patch_sites). Threads of the program run the code meanwhile.
// Sites are never freed: a thread may have hit an int3 just before its removal, and continues
// through its slot.
class PatchSiteTable {
 public:
  // Returns the site of an instruction, made if there is none yet; places no int3. The caller has
  // pinned the object, because sites stay. Errors: FailedPrecondition, OutOfRange: the instruction
  // cannot be displaced; others as in out_of_line_code.h.
  absl::StatusOr<signal_safe::PatchSite*> Make(uintptr_t address);
  // Sets what threads do at the site from now on, and places the int3; without actions it is
  // removed.
  absl::Status SetBinding(signal_safe::PatchSite& site, signal_safe::SiteBinding binding);

  // By number, from 1 on.
  signal_safe::PatchSite& site(uint32_t number) const { return *sites_[number - 1].site; }

 private:
  struct Patch {
    signal_safe::PatchSite* site;
    std::vector<uint8_t> instruction;  // as it was before the int3
    bool has_int3;                     // the int3 is in the code
  };
  absl::StatusOr<signal_safe::PatchSite*> MakeNew(uintptr_t address);
  absl::Status Insert(Patch& patch);
  absl::Status Remove(Patch& patch);

  OutOfLineCode pages_;
  std::vector<Patch> sites_;
  absl::flat_hash_map<uintptr_t, uint32_t> by_address_;
};

// Returns `most` bytes of the program at `address`, with the original bytes in place of our int3;
// fewer if the mapping ends.
std::vector<uint8_t> ReadCode(uintptr_t address, size_t most);

}  // namespace jtrace::native_hooks
