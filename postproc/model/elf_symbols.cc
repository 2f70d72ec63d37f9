#include "postproc/model/elf_symbols.h"

#include <algorithm>
#include <tuple>

namespace jtrace::postproc {
namespace {

size_t LeadingUnderscores(std::string_view name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

}  // namespace

ElfSymbols::ElfSymbols(const ElfImage& image) { Add(image); }

void ElfSymbols::Add(const ElfImage& image) {
  for (const uint32_t type : {uint32_t{SHT_SYMTAB}, uint32_t{SHT_DYNSYM}}) {
    image.ForEachSymbol(type, [this](std::string_view names, const Elf64_Sym& symbol) {
      AddSymbol(StringAt(names, 0), symbol);
    });
  }
  SortSymbols();
}

void ElfSymbols::AddSymbol(std::string_view name, const Elf64_Sym& symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  // Hand-written assembly often has no type.
  const bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
  if (!is_code || symbol.st_value == 0 || name.empty()) return;
  if (type == STT_NOTYPE && symbol.st_size == 0) return;
  symbols_.push_back(
      {symbol.st_value, symbol.st_size, name, static_cast<uint8_t>(ELF64_ST_BIND(symbol.st_info))});
}

void ElfSymbols::SortSymbols() {
  // Of several names for one address the one that people use: global before weak before local,
  // with a size, few leading underscores, short.
  const auto rank = [](const Symbol& symbol) {
    const int binding = symbol.binding == STB_GLOBAL ? 0 : symbol.binding == STB_WEAK ? 1 : 2;
    return std::tuple(symbol.size == 0, binding, LeadingUnderscores(symbol.name),
                      symbol.name.size(), symbol.name);
  };
  std::sort(symbols_.begin(), symbols_.end(), [&](const Symbol& a, const Symbol& b) {
    return a.address != b.address ? a.address < b.address : rank(a) < rank(b);
  });
  symbols_.erase(
      std::unique(symbols_.begin(), symbols_.end(),
                  [](const Symbol& a, const Symbol& b) { return a.address == b.address; }),
      symbols_.end());
}

const ElfSymbols::Symbol* ElfSymbols::Find(uint64_t address) const {
  const auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](uint64_t a, const Symbol& symbol) { return a < symbol.address; });
  if (after == symbols_.begin()) return nullptr;
  const Symbol& symbol = *std::prev(after);
  return symbol.size != 0 && address - symbol.address >= symbol.size ? nullptr : &symbol;
}

std::vector<uint64_t> ElfSymbols::Named(std::string_view name) const {
  std::vector<uint64_t> addresses;
  for (const Symbol& symbol : symbols_) {
    if (symbol.name == name) addresses.push_back(symbol.address);
  }
  return addresses;
}

}  // namespace jtrace::postproc
