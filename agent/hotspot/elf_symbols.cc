#include "agent/hotspot/elf_symbols.h"

#include <cstring>

#include "agent/hotspot/elf_file.h"

namespace jtrace::sampling {

std::vector<uint64_t> FindElfSymbols(const std::string& path,
                                     absl::Span<const std::string_view> names) {
  std::vector<uint64_t> values(names.size(), 0);
  ElfFile(path).ForEachSymbol(SHT_SYMTAB, [&](ElfFile::Name name, const Elf64_Sym& symbol) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].size() < name.left && name.text[names[i].size()] == 0 &&
          std::memcmp(name.text, names[i].data(), names[i].size()) == 0) {
        values[i] = symbol.st_value;
      }
    }
  });
  return values;
}

}  // namespace jtrace::sampling
