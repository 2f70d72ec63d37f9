// How to find a native frame's caller: one row of the DWARF call frame information (x86-64).
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/samples/walk/huge_pages.h"

namespace jtrace::samples {

// How the canonical frame address is computed. The call pushed the return address at CFA - 8.
enum class CfaRule : uint8_t {
  kNoRow,        // no unwind information for this pc
  kUnsupported,  // a rule that this reader does not support
  kRsp,          // rsp + cfa_offset
  kRbp,          // rbp + cfa_offset
  kRbx,          // rbx + cfa_offset: the dynamic loader's lazy binding
  kR10,          // r10 + cfa_offset: stack realignment, before rbp has it
  kAtRbp,        // *(rbp + cfa_offset): stack realignment
  kPlt,          // procedure linkage table entry: rsp + 8, + 8 if (pc & 15) >= cfa_offset
};

// How the caller's rbp is found.
enum class RbpRule : uint8_t {
  kSame,   // unchanged
  kAtCfa,  // *(CFA + rbp_offset)
  kAtRbp,  // *(rbp + rbp_offset)
  kLost,   // undefined
};

// How the caller's rbx is found.
enum class RbxRule : uint8_t {
  kSame,   // unchanged
  kAtCfa,  // *(CFA + rbx_offset)
  kLost,   // anything else
};

// The rules for the caller's registers at one pc.
struct CfiRow {
  CfaRule cfa = CfaRule::kNoRow;
  RbpRule rbp = RbpRule::kSame;
  RbxRule rbx = RbxRule::kSame;
  bool outermost = false;     // return address undefined: the thread's first frame
  bool signal_frame = false;  // the frame of a signal: the caller's registers are in a ucontext
  int32_t cfa_offset = 0;
  int32_t rbp_offset = 0;
  int32_t rbx_offset = 0;

  bool operator==(const CfiRow&) const = default;
};

// Code that has one row, [begin, end).
struct RowRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// Interprets .eh_frame for `pc`, found over the sorted table of `eh_frame_hdr` (mapped in memory).
// Returns kNoRow if no entry covers pc, kUnsupported if one does but needs more than this reader
// knows. Sets `range` to the code around pc for which the row is known to hold, or to an empty
// range if there is no row. Reads only the unwind tables of that object. Async-signal-safe.
CfiRow ReadCfiRow(const std::byte* eh_frame_hdr, uintptr_t pc, RowRange* range);

// As ReadCfiRow for the object mapped at `pc`, with a cache shared by all threads. For one walk.
class CfiLookup {
 public:
  // Returns false if no loaded object is at `pc`. Async-signal-safe.
  bool Find(uintptr_t pc, CfiRow* row);

 private:
  // The object found last: most frames in a row are of the same library.
  uintptr_t map_begin_ = 0;
  uintptr_t map_end_ = 0;
  const void* eh_frame_hdr_ = nullptr;
};

// Returns the cache's memory, to be put on huge pages.
MemoryRange CfiRowMemory();

}  // namespace jtrace::samples
