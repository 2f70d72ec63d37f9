#include "agent/samples/walk/object_lookup.h"

#include <features.h>

#if __GLIBC_PREREQ(2, 35)
#include <dlfcn.h>
#endif

#include <algorithm>
#include <atomic>

#include "agent/signal_safe/safe_read.h"
#include "common/old_glibc/find_object.h"

namespace jtrace::samples {
namespace {

#if __GLIBC_PREREQ(2, 35)
int FindLoadedObject(void* code, void* result) {
  return _dl_find_object(code, static_cast<dl_find_object*>(result));
}
static_assert(sizeof(dl_find_object) <= sizeof(ObjectOfCode));
static_assert(offsetof(dl_find_object, dlfo_map_start) == offsetof(ObjectOfCode, begin));
static_assert(offsetof(dl_find_object, dlfo_eh_frame) == offsetof(ObjectOfCode, eh_frame_header));
constinit std::atomic<LoaderLookup> loader_lookup{&FindLoadedObject};
#else
// Built for an older C library: whoever starts the handlers looks for the system's function.
constinit std::atomic<LoaderLookup> loader_lookup{nullptr};
#endif

// The copy of the loader's list, a seqlock: `changes` is odd while it is written, and readers that
// saw a change find nothing. Words are stored after `changes` became odd (release) and loaded
// before it is read again (acquire).
struct SharedObject {
  std::atomic<uintptr_t> begin;
  std::atomic<uintptr_t> end;
  std::atomic<uintptr_t> eh_frame_hdr;
  std::atomic<uintptr_t> word;
};
constinit SharedObject copies[kMaxMappedDsos];
constinit std::atomic<size_t> copied{0};
constinit std::atomic<uint64_t> changes{0};

bool Is(const SharedObject& copy, uintptr_t pc) {
  return pc >= copy.begin.load(std::memory_order_acquire) &&
         pc < copy.end.load(std::memory_order_acquire);
}

// The last object that begins at or before `pc`.
const SharedObject* LastBefore(uintptr_t pc) {
  size_t low = 0;
  size_t high = std::min(copied.load(std::memory_order_acquire), kMaxMappedDsos);
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (copies[middle].begin.load(std::memory_order_acquire) <= pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? nullptr : &copies[low - 1];
}

bool FindInCopy(uintptr_t pc, MappedDso* found) {
  const uint64_t before = changes.load(std::memory_order_acquire);
  const SharedObject* copy = LastBefore(pc);
  if (copy == nullptr || !Is(*copy, pc)) return false;
  *found = {.begin = copy->begin.load(std::memory_order_acquire),
            .end = copy->end.load(std::memory_order_acquire),
            .eh_frame_hdr = copy->eh_frame_hdr.load(std::memory_order_acquire)};
  const uintptr_t expected = copy->word.load(std::memory_order_acquire);
  if (before % 2 != 0 || changes.load(std::memory_order_relaxed) != before) return false;
  uintptr_t word;
  return signal_safe::SafeReadWord(found->WordAddress(), &word) && word == expected;
}

}  // namespace

bool FindMappedDso(uintptr_t pc, MappedDso* found) {
  const LoaderLookup lookup = loader_lookup.load(std::memory_order_relaxed);
  if (lookup == nullptr) return FindInCopy(pc, found);
  ObjectOfCode object;
  if (lookup(reinterpret_cast<void*>(pc), &object) != 0) return false;
  *found = {.begin = reinterpret_cast<uintptr_t>(object.begin),
            .end = reinterpret_cast<uintptr_t>(object.end),
            .eh_frame_hdr = reinterpret_cast<uintptr_t>(object.eh_frame_header)};
  return true;
}

void SetLoaderLookup(LoaderLookup lookup) {
  loader_lookup.store(lookup, std::memory_order_relaxed);
}

bool LoaderFindsObjects() { return loader_lookup.load(std::memory_order_relaxed) != nullptr; }

size_t PublishMappedDsos(std::span<const CopiedDso> objects) {
  const size_t count = std::min(objects.size(), kMaxMappedDsos);
  changes.fetch_add(1, std::memory_order_relaxed);
  for (size_t i = 0; i < count; ++i) {
    const auto& [object, word] = objects[i];
    copies[i].begin.store(object.begin, std::memory_order_release);
    copies[i].end.store(object.end, std::memory_order_release);
    copies[i].eh_frame_hdr.store(object.eh_frame_hdr, std::memory_order_release);
    copies[i].word.store(word, std::memory_order_release);
  }
  copied.store(count, std::memory_order_release);
  changes.fetch_add(1, std::memory_order_release);
  return count;
}

}  // namespace jtrace::samples
