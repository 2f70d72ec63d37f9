// A cache of compiled frames by pc, which the handlers of all threads share.
#pragma once

#include <cstdint>

#include "agent/samples/walk/chain.h"
#include "agent/samples/walk/huge_pages.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::samples {

// A compiled frame at some pc: where its caller is found, and the methods that are active there.
// All of it follows from code and debug information, so it is valid as long as the nmethod is.
//
// Hardly anything that a walk reads is in the processor's caches. To analyse a frame takes some
// thirty cold lines (heap, blob, nmethod, code, a search in the PcDescs, scopes, methods and their
// ids), to look it up two or three.
struct CachedFrame {
  static constexpr uint32_t kMaxMethods = 12;
  static constexpr int32_t kOwnFp = INT32_MIN;

  uintptr_t nmethod;
  // True: offsets count from the value of the word at sp, not from sp (SavedSp::kOnTop).
  bool sp_on_top;
  uint32_t return_offset;  // of the return address' slot from sp, bytes
  int32_t fp_offset;   // of the saved rbp's from sp, bytes; kOwnFp: the caller's rbp is this one's
  bool sp_misaligned;  // sp is not a multiple of 16 here
  uint32_t count;      // of methods, at least 1
  Frame methods[kMaxMethods];

  // Whether a method had no jmethodID when the frame was kept. It may have one now.
  bool LacksIds() const {
    for (uint32_t i = 0; i < count; ++i) {
      if ((methods[i].flags & kFrameRawMethod) != 0) return true;
    }
    return false;
  }
};

// Returns the cache's memory, to be put on huge pages.
MemoryRange FrameCacheMemory();

// Looks `pc` up. It is interrupted or a return address, which are kept separately: an interrupted
// pc may be in an entry or an exit. Returns false if the frame is not known, or if another nmethod
// or compilation is there now. Lock-free, async-signal-safe.
bool FindCachedFrame(const VmLayout& vm, uintptr_t pc, bool interrupted, CachedFrame* frame);

// Begins to load the data that FindCachedFrame will read.
void PrefetchCachedFrame(uintptr_t pc, bool interrupted);

// Keeps `frame` for `pc` in place of the frame that shares its entry. Frames are not kept if they
// do not fit (more methods, bytecode indexes above 32,766, offsets of 8 MiB and more), or if the
// JVM's nmethods have no number. Lock-free, async-signal-safe.
void CacheFrame(const VmLayout& vm, uintptr_t pc, bool interrupted, const CachedFrame& frame);

// Forgets the frames of the nmethod at that address. Not in a handler.
void EvictCachedFrames(uintptr_t nmethod);
void EvictAllFrames();

}  // namespace jtrace::samples
