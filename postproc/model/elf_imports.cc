#include "postproc/model/elf_imports.h"

#include <elf.h>

#include <algorithm>
#include <optional>

namespace jtrace::postproc {
namespace {

// Linkers make two: for data and for calls. More are read, but not as many as a file may claim.
constexpr int kMostRelocationTables = 8;

std::string_view BytesOf(const ElfImage& image, uint32_t section) {
  const auto& sections = image.sections();
  return section < sections.size() ? sections[section].bytes : std::string_view();
}

// A .gnu.hash section: 16 bytes, a filter of 64-bit words, buckets, and for each hashed symbol its
// hash, whose lowest bit ends the bucket's row.
class HashTable {
 public:
  explicit HashTable(std::string_view bytes) : bytes_(bytes) {}

  // Calls visit(index) for the symbols that may have this name.
  template <typename Visit>
  void ForEach(std::string_view name, Visit visit) const {
    constexpr uint64_t kHeaderSize = 16;
    const uint32_t buckets = Word(0);
    const uint32_t first_symbol = Word(4);
    const uint64_t at = kHeaderSize + uint64_t{Word(8)} * 8;
    if (buckets == 0) return;
    const uint32_t hash = Hash(name);
    uint64_t symbol = Word(at + hash % buckets * uint64_t{4});
    if (symbol < first_symbol || symbol == 0) return;
    const uint64_t hashes = at + buckets * uint64_t{4};
    while (true) {
      const std::optional<uint32_t> found =
          ReadAt<uint32_t>(bytes_, hashes + (symbol - first_symbol) * 4);
      if (!found.has_value()) return;
      if ((*found | 1) == (hash | 1)) visit(symbol);
      if ((*found & 1) != 0) return;
      ++symbol;
    }
  }

 private:
  uint32_t Word(uint64_t offset) const { return ReadAt<uint32_t>(bytes_, offset).value_or(0); }
  static uint32_t Hash(std::string_view name) {
    uint32_t hash = 5381;
    for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
    return hash;
  }

  std::string_view bytes_;
};

}  // namespace

ElfImports::ElfImports(const ElfImage& image) {
  int tables = 0;
  for (const ElfImage::Section& section : image.sections()) {
    if (section.type != SHT_RELA || section.link >= image.sections().size()) continue;
    const ElfImage::Section& symbols = image.sections()[section.link];
    if (symbols.type != SHT_DYNSYM || ++tables > kMostRelocationTables) continue;
    AddSlots(section.bytes, symbols.bytes, BytesOf(image, symbols.link));
  }
}

void ElfImports::AddSlots(std::string_view relocations, std::string_view symbols,
                          std::string_view names) {
  for (uint64_t left = relocations.size() / sizeof(Elf64_Rela); left-- > 0;) {
    const auto it = *ReadAt<Elf64_Rela>(relocations, left * sizeof(Elf64_Rela));
    const auto type = ELF64_R_TYPE(it.r_info);
    // Linkers put those without a name, mostly far more, in front of the others.
    if (type == R_X86_64_RELATIVE) return;
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
    const auto symbol =
        ReadAt<Elf64_Sym>(symbols, ELF64_R_SYM(it.r_info) * uint64_t{sizeof(Elf64_Sym)});
    if (!symbol.has_value()) continue;
    const std::string_view name = StringAt(names, symbol->st_name);
    if (!name.empty()) slots_.try_emplace(it.r_offset, name);
  }
}

std::string_view ElfImports::NameOfSlot(uint64_t address) const {
  const auto found = slots_.find(address);
  return found == slots_.end() ? std::string_view() : found->second;
}

uint64_t FindExported(const ElfImage& image, std::string_view name) {
  const auto& sections = image.sections();
  const auto table = std::find_if(sections.begin(), sections.end(),
                                  [](const auto& it) { return it.type == SHT_GNU_HASH; });
  if (table == sections.end() || table->link >= sections.size()) return 0;
  const ElfImage::Section& symbols = sections[table->link];
  const std::string_view names = BytesOf(image, symbols.link);
  std::optional<uint64_t> address;
  bool is_certain = true;
  HashTable(table->bytes).ForEach(name, [&](uint64_t index) {
    const auto it = ReadAt<Elf64_Sym>(symbols.bytes, index * sizeof(Elf64_Sym));
    if (!it.has_value() || StringAt(names, it->st_name) != name) return;
    const bool is_function = ELF64_ST_TYPE(it->st_info) == STT_FUNC;
    is_certain &= is_function && it->st_shndx != SHN_UNDEF;
    is_certain &= address.value_or(it->st_value) == it->st_value;
    address = it->st_value;
  });
  return is_certain ? address.value_or(0) : 0;
}

}  // namespace jtrace::postproc
