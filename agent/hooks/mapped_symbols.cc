#include "agent/hooks/mapped_symbols.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>

#include "absl/types/span.h"

namespace jtrace::hooks {
namespace {

// The part of an object's memory that is readable according to its headers.
class Memory {
 public:
  Memory(const LoadedObject& object, const Elf64_Dyn* dynamic)
      : object_(object), dynamic_(dynamic) {}

  // The value of an entry of the dynamic section; 0: there is none.
  uint64_t Value(int64_t tag) const {
    for (const Elf64_Dyn* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == tag) return entry->d_un.d_val;
    }
    return 0;
  }
  // The same for addresses: glibc's loader has already added the bias, others do not.
  uintptr_t Address(int64_t tag) const {
    const uint64_t value = Value(tag);
    return value < object_.bias ? object_.bias + value : value;
  }
  // `count` of them at `address`; empty: not all of them are in the object.
  template <typename T>
  absl::Span<const T> At(uintptr_t address, uint64_t count) const {
    const auto holds = [&](const Elf64_Phdr& segment) {
      const uintptr_t begin = object_.bias + segment.p_vaddr;
      return segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0 && address >= begin &&
             address - begin <= segment.p_memsz &&
             count <= (segment.p_memsz - (address - begin)) / sizeof(T);
    };
    if (address % alignof(T) != 0 ||
        std::none_of(object_.headers.begin(), object_.headers.end(), holds)) {
      return {};
    }
    return {reinterpret_cast<const T*>(address), static_cast<size_t>(count)};
  }

 private:
  const LoadedObject& object_;
  const Elf64_Dyn* dynamic_;
};

// DT_GNU_HASH ends with a chain for each bucket, whose last element is odd.
uint64_t CountByGnuHash(const Memory& memory, uintptr_t table) {
  const auto header = memory.At<uint32_t>(table, 4);
  if (header.empty()) return 0;
  const uint64_t first = header[1];
  const uintptr_t buckets_at = table + 4 * sizeof(uint32_t) + header[2] * sizeof(uint64_t);
  const auto buckets = memory.At<uint32_t>(buckets_at, header[0]);
  if (buckets.empty()) return 0;
  uint64_t last = *std::max_element(buckets.begin(), buckets.end());
  if (last < first) return first;
  const uintptr_t chains = buckets_at + buckets.size() * sizeof(uint32_t);
  while (true) {
    const auto chain = memory.At<uint32_t>(chains + (last - first) * sizeof(uint32_t), 1);
    if (chain.empty()) return 0;
    ++last;
    if ((chain[0] & 1) != 0) return last;
  }
}

// No table says how many symbols there are.
uint64_t CountSymbols(const Memory& memory) {
  if (memory.Value(DT_HASH) != 0) {
    const auto header = memory.At<uint32_t>(memory.Address(DT_HASH), 2);
    return header.empty() ? 0 : header[1];
  }
  if (memory.Value(DT_GNU_HASH) == 0) return 0;
  return CountByGnuHash(memory, memory.Address(DT_GNU_HASH));
}

}  // namespace

void ForEachMappedSymbol(const LoadedObject& object,
                         absl::FunctionRef<void(const char*, const Elf64_Sym&)> visit) {
  const link_map* map = nullptr;
  const ObjectHandle held = Hold(object, &map);
  if (held == nullptr || map->l_ld == nullptr) return;
  const Memory memory(object, map->l_ld);
  const auto strings = memory.At<char>(memory.Address(DT_STRTAB), memory.Value(DT_STRSZ));
  for (const Elf64_Sym& symbol :
       memory.At<Elf64_Sym>(memory.Address(DT_SYMTAB), CountSymbols(memory))) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= strings.size()) continue;
    const char* const name = &strings[symbol.st_name];
    if (std::memchr(name, 0, strings.size() - symbol.st_name) != nullptr) visit(name, symbol);
  }
}

}  // namespace jtrace::hooks
