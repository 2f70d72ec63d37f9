#include "postproc/model/elf_symbols.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <tuple>

#include "absl/status/status.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// The bytes [offset, offset + size), or none if they are not all there.
std::optional<std::string_view> Slice(std::string_view content, uint64_t offset, uint64_t size) {
  if (offset > content.size() || size > content.size() - offset) return std::nullopt;
  return content.substr(offset, size);
}

// A copy, since the file aligns nothing.
template <typename T>
std::optional<T> ReadAt(std::string_view content, uint64_t offset) {
  const std::optional<std::string_view> bytes = Slice(content, offset, sizeof(T));
  if (!bytes.has_value()) return std::nullopt;
  T value;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

std::string_view StringAt(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return rest.substr(0, std::min(rest.find('\0'), rest.size()));
}

std::string_view FindBuildId(std::string_view notes) {
  uint64_t offset = 0;
  while (const auto note = ReadAt<Elf64_Nhdr>(notes, offset)) {
    const auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
    const uint64_t name_offset = offset + sizeof(Elf64_Nhdr);
    const uint64_t text_offset = name_offset + padded(note->n_namesz);
    if (note->n_type == NT_GNU_BUILD_ID &&
        Slice(notes, name_offset, note->n_namesz) == std::string_view("GNU\0", 4)) {
      return Slice(notes, text_offset, note->n_descsz).value_or(std::string_view());
    }
    offset = text_offset + padded(note->n_descsz);
  }
  return {};
}

size_t LeadingUnderscores(std::string_view name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

}  // namespace

absl::StatusOr<ElfSymbols> ElfSymbols::Parse(std::string_view content) {
  const std::optional<Elf64_Ehdr> header = ReadAt<Elf64_Ehdr>(content, 0);
  if (!header.has_value() || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return absl::InvalidArgumentError("not a 64-bit ELF file");
  }
  ElfSymbols symbols;
  symbols.ParseSegments(content);
  symbols.ParseSections(content);
  symbols.SortSymbols();
  return symbols;
}

void ElfSymbols::ParseSegments(std::string_view content) {
  const Elf64_Ehdr header = *ReadAt<Elf64_Ehdr>(content, 0);
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    if (header.e_phoff > content.size()) return;
    const auto segment = ReadAt<Elf64_Phdr>(content, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment.has_value()) return;
    if (segment->p_type != PT_LOAD) continue;
    segments_.push_back({segment->p_offset, segment->p_vaddr, segment->p_filesz});
  }
}

void ElfSymbols::ParseSections(std::string_view content) {
  const Elf64_Ehdr header = *ReadAt<Elf64_Ehdr>(content, 0);
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > content.size()) return;
  const auto section_at = [&](uint64_t index) {
    return index < header.e_shnum
               ? ReadAt<Elf64_Shdr>(content, header.e_shoff + index * sizeof(Elf64_Shdr))
               : std::nullopt;
  };
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = section_at(i);
    if (!section.has_value()) return;
    const auto bytes = Slice(content, section->sh_offset, section->sh_size);
    if (!bytes.has_value() || section->sh_type == SHT_NOBITS) continue;
    if (section->sh_type == SHT_NOTE && build_id_.empty()) build_id_ = FindBuildId(*bytes);
    if (section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM) continue;
    const auto names_section = section_at(section->sh_link);
    if (!names_section.has_value()) continue;
    const auto names = Slice(content, names_section->sh_offset, names_section->sh_size);
    if (names.has_value()) AddSymbols(*bytes, *names);
  }
}

void ElfSymbols::AddSymbols(std::string_view table, std::string_view names) {
  const size_t count = table.size() / sizeof(Elf64_Sym);
  symbols_.reserve(symbols_.size() + count);
  for (size_t i = 0; i < count; ++i) {
    const Elf64_Sym symbol = *ReadAt<Elf64_Sym>(table, i * sizeof(Elf64_Sym));
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    // Hand-written assembly often has no type.
    const bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
    if (!is_code || symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) continue;
    const std::string_view name = StringAt(names, symbol.st_name);
    if (name.empty() || (type == STT_NOTYPE && symbol.st_size == 0)) continue;
    symbols_.push_back({symbol.st_value, symbol.st_size, name,
                        static_cast<uint8_t>(ELF64_ST_BIND(symbol.st_info))});
  }
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

std::string_view ElfSymbols::FindByFileOffset(uint64_t file_offset) const {
  for (const Segment& segment : segments_) {
    if (file_offset < segment.file_offset || file_offset - segment.file_offset >= segment.size) {
      continue;
    }
    const uint64_t address = segment.address + (file_offset - segment.file_offset);
    auto after =
        std::upper_bound(symbols_.begin(), symbols_.end(), address,
                         [](uint64_t a, const Symbol& symbol) { return a < symbol.address; });
    if (after == symbols_.begin()) return {};
    const Symbol& symbol = *std::prev(after);
    // A symbol without a size reaches to the next one.
    if (symbol.size != 0 && address - symbol.address >= symbol.size) return {};
    return symbol.name;
  }
  return {};
}

std::string Demangle(std::string_view name) {
  std::string text(name);
  if (!name.starts_with("_Z")) return text;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && demangled != nullptr ? std::string(demangled.get()) : text;
}

}  // namespace jtrace::postproc
