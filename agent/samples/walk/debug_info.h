// Reads the debug information of compiled methods: which methods are inlined at a pc.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/samples/walk/chain.h"
#include "agent/samples/walk/code_cache.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::samples {

// A byte stream in memory that may be unmapped. After a fault, reads give 0 and ok() is false.
class GuardedBytes {
 public:
  explicit GuardedBytes(uintptr_t address) : at_(address) {}
  bool ok() const { return ok_; }
  uint8_t Next();

  // HotSpot's UNSIGNED5: 1 to 5 bytes, low first, 6 bits each from the second on; a byte below 192
  // ends the number. `bias` is subtracted from each byte: 1 where zero bytes are excluded.
  uint32_t Unsigned5(uint32_t bias);

 private:
  uintptr_t at_;
  uintptr_t word_at_ = 1;  // none loaded: never a word's address
  uintptr_t word_ = 0;
  bool ok_ = true;
};

// The debug information of one nmethod.
class DebugInfo {
 public:
  DebugInfo(const VmLayout& vm, const CodeBlob& nmethod)
      : DebugInfo(vm, nmethod, vm.unsigned5_bias.load(std::memory_order_relaxed)) {}
  // The same with another bias than the layout's.
  DebugInfo(const VmLayout& vm, const CodeBlob& nmethod, uint32_t unsigned5_bias);

  // A method that is active at a pc, and the offset of its caller's scope in the debug information.
  struct Scope {
    uintptr_t method = 0;  // HotSpot's Method
    int32_t bci = -1;
    int32_t sender = 0;  // offset of the caller's scope; 0: this is the method that was compiled
  };
  // A described pc, and the offset of its innermost scope.
  struct PcDesc {
    int32_t pc;     // bytes from the begin of the code
    int32_t scope;  // 0 and less: none
  };
  // The number of PcDescs; reads the `index`-th, false if memory is unmapped. They ascend by pc.
  int count() const { return count_; }
  bool ReadPcDesc(int index, PcDesc* desc) const;
  // Returns the offset of the innermost scope at exactly `pc`; 0 if there is none.
  int32_t ScopeAt(uintptr_t pc) const;
  // Reads the scope at that offset; false if memory is unmapped or does not look like a scope.
  bool ReadScope(int32_t scope, Scope* found) const;

  // Whether a PcDesc describes exactly `pc`.
  bool Describes(uintptr_t pc) const;

  // Pushes the methods that are active at `pc`, the innermost first; the last one, which was
  // compiled, as kCompiled, the others as kInlined. Returns false if nothing was pushed.
  //
  // `interrupted`: pc is not a return address. For code that is unreliable between safepoints
  // (VmLayout::unreliable_code), the methods are then those of the next safepoint. A PcDesc is at
  // the end of the code that it describes, for example at a call's return address. An interrupted
  // pc is looked up in the same way, so that a pc between two methods' code belongs to the one
  // before it: a timer's interrupt arrives when a slow instruction has just retired.
  bool PushScopes(uintptr_t pc, bool interrupted, uint8_t flags, Chain& chain) const;

 private:
  // Finds the first PcDesc at or after `pc`. Returns its index; count_: none, or unmapped memory.
  int LowerBound(int32_t pc, PcDesc* found) const;
  // Finds the first PcDesc of a safepoint from `index` on; keeps `found` if none is near.
  void NextSafepoint(int index, PcDesc* found) const;
  // Whether a scope describes where locals, expressions and monitors are: only safepoints' do.
  bool DescribesValues(int32_t scope) const;

  const VmLayout& vm_;
  const uint32_t bias_;
  uintptr_t nmethod_;
  uintptr_t code_;
  int32_t code_bytes_ = 0;  // about: for LowerBound's first guess
  uintptr_t pc_descs_ = 0;
  int count_ = 0;
  uintptr_t scopes_ = 0;
  uintptr_t metadata_ = 0;
};

// Returns what identifies a compilation in VmLayout::checked_code and unreliable_code. The address
// of an nmethod does not suffice: its memory is used again.
uintptr_t CompilationKey(const VmLayout& vm, uintptr_t nmethod);

}  // namespace jtrace::samples
