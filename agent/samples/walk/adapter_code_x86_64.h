// The adapters between HotSpot's calling conventions: where they keep their caller.
#pragma once

#include <cstdint>

namespace jtrace::samples {

// The place of the return address when an adapter is interrupted, and of its caller's rsp.
struct AdapterState {
  enum Kind : uint8_t {
    kUnknown,
    kOnStack,  // at rsp + offset
    kAtR13,    // where r13 points: rsp at the entry, kept over a call into the JVM
    kInRax,    // taken off the stack to be put back below the arguments
  };
  Kind kind = kUnknown;
  int32_t offset = 0;
  // The arguments are between the return address and the caller's frame, which begins at r13. Else
  // it begins above the return address or, if that is in rax, at rsp.
  bool caller_in_r13 = false;
};

// Follows the code from `pc`, in an adapter that ends at `end`, to the jump into the callee.
// Signal-safe.
AdapterState FollowAdapter(uintptr_t pc, uintptr_t end);

}  // namespace jtrace::samples
