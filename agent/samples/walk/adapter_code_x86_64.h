// Finds the caller of HotSpot's adapters between the calling conventions of compiled and
// interpreted code. They have no frame, and move the return address. Async-signal-safe.
#pragma once

#include <cstdint>

namespace jtrace::samples {

// Where an interrupted adapter has the return address and the caller's rsp.
struct AdapterState {
  enum Kind : uint8_t {
    kUnknown,
    kOnStack,  // at rsp + offset
    kAtR13,    // where r13 points: rsp at the entry, kept over a call into the JVM
    kInRax,    // taken off the stack to be put back below the arguments
  };
  Kind kind = kUnknown;
  int32_t offset = 0;
  // True: the caller's frame begins at r13, above the arguments. False: it begins above the return
  // address or, if that is in rax, at rsp.
  bool caller_in_r13 = false;
};

// Follows the code of an adapter, up to its `end`, from `pc` to the jump into the callee.
AdapterState FollowAdapter(uintptr_t pc, uintptr_t end);

}  // namespace jtrace::samples
