// Finds and classifies the blobs of HotSpot's code cache: the memory that code is allocated in.
#pragma once

#include <cstdint>

#include "agent/samples/walk/vm_layout.h"

namespace jtrace::samples {

// The kinds of blobs that the walker distinguishes.
enum class BlobKind : uint8_t {
  kUnknown,
  kNmethod,        // compiled Java
  kNativeNmethod,  // the wrapper of a native method
  kInterpreter,
  kStubRoutines,
  kRuntimeStub,  // framed: runtime stubs, deoptimisation, safepoint, exception, uncommon trap
  kVtable,       // frameless: vtable and itable stubs, inline cache stubs
  kAdapter,      // between interpreted and compiled calling conventions
  kMethodHandle,
  kUpcall,
  kOther,
};

// A blob's addresses, frame size and kind.
struct CodeBlob {
  uintptr_t address;   // of the CodeBlob object
  uintptr_t code;      // begin of its code
  uintptr_t end;       // end of the blob
  int32_t frame_size;  // words, with return address and saved rbp; 0: no frame or not known
  BlobKind kind;

  bool IsCompiled() const { return kind == BlobKind::kNmethod || kind == BlobKind::kNativeNmethod; }
};

// Reads a field of an object in the code cache. Unguarded: the code cache stays mapped.
template <typename T>
T FieldAt(uintptr_t object, Offset offset) {
  return *reinterpret_cast<const T*>(object + static_cast<uintptr_t>(offset));
}

// Finds the blob that covers `pc`; false if pc is in no heap or in a free part. Async-signal-safe.
// The JVM may free the blob meanwhile, so the result is only plausible.
bool FindBlob(const VmLayout& vm, uintptr_t pc, CodeBlob* blob);

}  // namespace jtrace::samples
