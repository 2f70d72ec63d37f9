// What an ELF file (x86-64) takes from other files and gives to them, by name.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "common/elf_image.h"

namespace jtrace::postproc {

class ElfImports {
 public:
  // `image`'s content must outlive this.
  explicit ElfImports(const ElfImage& image);

  // The name of the function whose address the loader puts into the slot at `address`; empty: none.
  std::string_view NameOfSlot(uint64_t address) const;

 private:
  void AddSlots(std::string_view relocations, std::string_view symbols, std::string_view names);

  absl::flat_hash_map<uint64_t, std::string_view> slots_;
};

// Where the function that other files find by `name` begins. 0: there is none, there are several
// (versions), the loader asks the file which one it is (IFUNC), or the file has no GNU hash table.
uint64_t FindExported(const ElfImage& image, std::string_view name);

}  // namespace jtrace::postproc
