#include "agent/samples/loaded_objects_copy.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <mutex>
#include <span>
#include <vector>

#include "agent/samples/walk/object_lookup.h"

namespace jtrace::samples {
namespace {

// The vector does not grow here: an allocator may unwind, which takes the loader's lock.
int AddObject(dl_phdr_info* info, size_t, void* data) {
  auto& objects = *static_cast<std::vector<CopiedDso>*>(data);
  if (objects.size() == objects.capacity()) return 1;
  MappedDso object{.begin = UINTPTR_MAX};
  for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    const uintptr_t at = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME) object.eh_frame_hdr = at;
    if (segment.p_type != PT_LOAD) continue;
    object.begin = std::min(object.begin, at);
    object.end = std::max(object.end, at + segment.p_memsz);
  }
  if (object.begin >= object.end) return 0;
  // dl_iterate_phdr holds the loader's lock, so the object stays mapped.
  const auto* const word = reinterpret_cast<const uintptr_t*>(object.WordAddress());
  objects.push_back({object, *word});
  return 0;
}

}  // namespace

void CopyDsos() {
  std::vector<CopiedDso> objects;
  objects.reserve(kMaxMappedDsos);  // more are not kept
  dl_iterate_phdr(AddObject, &objects);
  std::sort(objects.begin(), objects.end(),
            [](const auto& a, const auto& b) { return a.object.begin < b.object.begin; });
  PublishMappedDsos(objects);
}

void RefreshDsoCopy() {
  static std::mutex mutex;
  static const bool loader_finds_objects = [] {
    if (LoaderFindsObjects()) return true;
    // Only a product that was built with an older C library gets here.
    SetLoaderLookup(reinterpret_cast<LoaderLookup>(dlsym(RTLD_DEFAULT, "_dl_find_object")));
    return LoaderFindsObjects();
  }();
  if (loader_finds_objects) return;
  const std::lock_guard lock(mutex);
  CopyDsos();
}

}  // namespace jtrace::samples
