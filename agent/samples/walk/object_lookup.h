// Which loaded object (program, shared library, vdso) a native pc belongs to.
//
// The C library answers that without a lock from version 2.35 on. For older ones, ordinary code
// keeps a copy of the loader's list here; objects that were loaded after that are not found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace jtrace::samples {

struct MappedDso {
  uintptr_t begin = 0;         // of its first segment
  uintptr_t end = 0;           // of its last one; there may be gaps between
  uintptr_t eh_frame_hdr = 0;  // the index of its unwind tables; 0: it has none

  // The address of a word of the object. If the word has its old value, the object is still there.
  uintptr_t WordAddress() const {
    return (eh_frame_hdr != 0 ? eh_frame_hdr : begin) & ~uintptr_t{7};
  }
};

// An object in the copy: `word` was read at WordAddress() while the object could not be unloaded.
struct CopiedDso {
  MappedDso object;
  uintptr_t word = 0;
};

// Returns false if no object is known at `pc`. Lock-free, async-signal-safe.
bool FindMappedDso(uintptr_t pc, MappedDso* found);

// The C library's _dl_find_object(3); `result` is an ObjectOfCode (common/old_glibc/find_object.h).
using LoaderLookup = int (*)(void* code, void* result);

// Sets the function that FindMappedDso calls; null: it uses the copy. Not while handlers run.
void SetLoaderLookup(LoaderLookup lookup);
bool LoaderFindsObjects();

// Replaces the copy; sorted by `begin`. Returns how many objects were kept, kMaxMappedDsos at
// most. One thread at a time. Handlers find the old objects meanwhile, the new ones, or none.
inline constexpr size_t kMaxMappedDsos = 2048;
size_t PublishMappedDsos(std::span<const CopiedDso> objects);

}  // namespace jtrace::samples
