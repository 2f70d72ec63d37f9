#include "common/old_glibc/find_object.h"

#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace jtrace {
namespace {

struct Search {
  std::uintptr_t code;
  ObjectOfCode* found;
};

void* Pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

// One loaded object; a value other than 0 ends the search.
int Visit(dl_phdr_info* object, std::size_t, void* data) {
  const Search& search = *static_cast<Search*>(data);
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
  std::uintptr_t header = 0;
  bool contains = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    const std::uintptr_t at = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME) header = at;
    if (segment.p_type != PT_LOAD) continue;
    begin = std::min(begin, at);
    end = std::max(end, at + segment.p_memsz);
    contains |= search.code >= at && search.code < at + segment.p_memsz;
  }
  if (!contains) return 0;
  if (header == 0) return -1;
  *search.found = ObjectOfCode();
  search.found->begin = Pointer(begin);
  search.found->end = Pointer(end);
  search.found->eh_frame_header = Pointer(header);
  return 1;
}

}  // namespace

int FindObjectOfCode(void* code, ObjectOfCode* found) {
  Search search{reinterpret_cast<std::uintptr_t>(code), found};
  return dl_iterate_phdr(Visit, &search) == 1 ? 0 : -1;
}

}  // namespace jtrace
