// Function symbols of an ELF file (x86-64): .symtab and .dynsym, by address.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/elf_image.h"

namespace jtrace::postproc {

class ElfSymbols {
 public:
  struct Symbol {
    uint64_t address = 0;
    uint64_t size = 0;      // 0: unknown
    std::string_view name;  // as the linker spells it
    uint8_t binding = 0;
  };

  // `image`'s content must outlive this.
  explicit ElfSymbols(const ElfImage& image);

  // Those of another file with the same addresses, whose content must outlive this, too.
  void Add(const ElfImage& image);

  // The function that the byte at `address` belongs to, or null. One without a size reaches to the
  // next one.
  const Symbol* Find(uint64_t address) const;
  // Where functions of this name begin. Of several names of one address only one is known.
  std::vector<uint64_t> Named(std::string_view name) const;

 private:
  void AddSymbol(std::string_view name, const Elf64_Sym& symbol);
  void SortSymbols();

  std::vector<Symbol> symbols_;  // by address, one an address
};

}  // namespace jtrace::postproc
