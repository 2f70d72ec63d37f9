// The walker's offsets and addresses in HotSpot. Handlers read them.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/signal_safe/address_table.h"
#include "agent/signal_safe/heap_layout.h"

namespace jtrace::samples {

// An offset in bytes, or kAbsent where this JVM has no such field.
using Offset = int32_t;
inline constexpr Offset kAbsent = -1;
// A constant that this JVM does not export; it has no negative ones.
inline constexpr int32_t kNoValue = -1;

// A named piece of generated code: a stub of StubRoutines, a runtime stub, a codelet.
struct StubRange {
  uintptr_t begin;
  uintptr_t end;
  bool method_entry;  // an interpreter method entry codelet
};

// Sorted by begin, without overlaps; immutable once published.
struct StubTable {
  uint32_t count;
  const StubRange* ranges;

  const StubRange* Find(uintptr_t pc) const {
    uint32_t low = 0, high = count;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (ranges[middle].begin <= pc) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low != 0 && pc < ranges[low - 1].end ? &ranges[low - 1] : nullptr;
  }
};

// Filled by agent/jvm/hotspot/vm_layout_resolver from the tables that libjvm exports
// (gHotSpotVMStructs and its siblings, as the Serviceability Agent uses them), field by field: an
// absent field is kAbsent, not a version check. Immutable once published, except for the atomic
// fields.
struct VmLayout {
  static constexpr int kMaxHeaps = 8;

  struct CodeHeap {
    const uintptr_t* low;  // point to the JVM's own variables, because a heap grows
    const uintptr_t* high;
    const uintptr_t* segment_map;
    uint32_t segment_shift;
  };
  // The whole code cache.
  const uintptr_t* code_low = nullptr;
  const uintptr_t* code_high = nullptr;
  CodeHeap heaps[kMaxHeaps] = {};
  int heap_count = 0;
  uint32_t heap_block_header = 0;  // sizeof(HeapBlock)
  Offset heap_block_used = kAbsent;

  struct {
    Offset name = kAbsent;
    Offset size = kAbsent;
    Offset frame_size = kAbsent;      // words, with return address and saved rbp
    Offset frame_complete = kAbsent;  // bytes from the code's begin
    bool frame_complete_is_short = false;
    Offset code_offset = kAbsent;  // int from the blob; else:
    Offset code_begin = kAbsent;   // pointer
    Offset kind = kAbsent;         // byte, from JDK 24 on; else by name
    Offset mutable_data = kAbsent;
    Offset relocation_size = kAbsent;
  } blob;

  struct {
    Offset method = kAbsent;
    Offset comp_level = kAbsent;
    Offset compile_id = kAbsent;  // int, unique to each compilation
    Offset orig_pc_offset = kAbsent;
    Offset osr_entry = kAbsent;
    Offset stub_offset = kAbsent;
    Offset scopes_pcs_offset = kAbsent;
    Offset scopes_data_offset = kAbsent;   // int; from JDK 23 on in immutable_data; else:
    Offset scopes_data_begin = kAbsent;    // pointer
    Offset dependencies_offset = kAbsent;  // end of the PcDescs where they precede it
    Offset metadata_offset = kAbsent;      // int from the nmethod; else at mutable_data
    Offset immutable_data = kAbsent;
    Offset verified_entry = kAbsent;         // pointer; else:
    Offset verified_entry_offset = kAbsent;  // u2 from the code's begin
    Offset deopt_handler = kAbsent;          // pointer; else:
    Offset deopt_handler_offset = kAbsent;   // int from the nmethod
    Offset deopt_mh_handler = kAbsent;
    Offset deopt_mh_handler_offset = kAbsent;
  } nmethod;
  // False: nmethods differ from what the JVM reports (agent/jvm/hotspot/compiled_code_check), so
  // that frames of compiled code are not walked.
  std::atomic<bool> compiled_code_readable{true};
  // What is added to bytes of debug information: 1 from JDK 20 on, where UNSIGNED5 has no zero
  // bytes. The JVM's reports of compiled code decide (agent/jvm/hotspot/debug_info_check).
  std::atomic<uint32_t> unsigned5_bias{0};
  // False: debug information differs from the JVM's reports, so that inlined methods are unknown.
  std::atomic<bool> debug_info_readable{true};

  struct {
    Offset const_method = kAbsent;
    Offset constants = kAbsent;      // in ConstMethod
    Offset id_number = kAbsent;      // u2 in ConstMethod
    Offset code_size = kAbsent;      // u2 in ConstMethod
    uint32_t const_method_size = 0;  // sizeof(ConstMethod): the bytecodes follow it
    Offset pool_holder = kAbsent;
    Offset jmethod_ids = kAbsent;
    bool ids_point_to_methods = true;  // *jmethodID == Method*, up to JDK 25
    // Whether frames must have jmethodIDs, because some methods are known only by these. Else
    // frames have the Methods: to find that one has no id takes five dependent loads of memory that
    // nothing else in a sample needs.
    std::atomic<bool> ids_are_needed{true};
  } method;

  struct {
    Offset stack_base = kAbsent;  // highest address
    Offset stack_size = kAbsent;
    // To the ContinuationEntry of a mounted virtual thread; set later where no table has it.
    std::atomic<Offset> continuation_entry{kAbsent};
    Offset saved_exception_pc = kAbsent;
    Offset monitor_owner_id = kAbsent;
    Offset os_thread = kAbsent;
    Offset os_thread_id = kAbsent;     // in OSThread
    Offset os_thread_state = kAbsent;  // in OSThread: one of the next three, or something else
    int32_t os_runnable = kNoValue;    // for checks of the layout
    int32_t os_monitor_wait = kNoValue;
    int32_t os_condvar_wait = kNoValue;
    int32_t os_object_wait = kNoValue;
    Offset thread_state = kAbsent;  // of JavaThread
    int32_t thread_blocked = kNoValue;
    int32_t thread_in_native = kNoValue;  // for checks of the layout
    intptr_t jni_env = 0;                 // JNIEnv* minus JavaThread*; 0: unknown
  } thread;
  std::atomic<uint32_t> continuation_entry_size{0};

  uintptr_t call_stub_return = 0;
  uintptr_t interpreter_low = 0;
  uintptr_t interpreter_high = 0;
  // The return address of code that returns into a frozen frame; 0 before JDK 19.
  std::atomic<uintptr_t> continuation_return_barrier{0};

  signal_safe::HeapLayout heap;

  std::atomic<const StubTable*> stubs{nullptr};
  // C2's compilations (CompilationKey) whose debug information was checked, and those of them where
  // it is wrong except at safepoints (agent/jvm/hotspot/debug_non_safepoints); null: nobody checks.
  const std::atomic<const signal_safe::AddressTable*>* checked_code = nullptr;
  const std::atomic<const signal_safe::AddressTable*>* unreliable_code = nullptr;

  bool InCodeCache(uintptr_t pc) const { return pc >= *code_low && pc < *code_high; }
  bool InInterpreter(uintptr_t pc) const { return pc >= interpreter_low && pc < interpreter_high; }
};

}  // namespace jtrace::samples
