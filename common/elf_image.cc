#include "common/elf_image.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "common/build_id.h"

namespace jtrace {

std::string_view StringAt(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return rest.substr(0, std::min(rest.find('\0'), rest.size()));
}

absl::StatusOr<ElfImage> ElfImage::Parse(std::string_view content) {
  const std::optional<Elf64_Ehdr> header = ReadAt<Elf64_Ehdr>(content, 0);
  if (!header.has_value() || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return absl::InvalidArgumentError("not a 64-bit ELF file");
  }
  ElfImage image;
  image.content_ = content;
  image.ParseSections();
  image.ParseSegments();
  return image;
}

void ElfImage::ParseSegments() {
  const Elf64_Ehdr header = *ReadAt<Elf64_Ehdr>(content_, 0);
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return;
  const uint64_t size = header.e_phnum * uint64_t{sizeof(Elf64_Phdr)};
  program_headers_ = Slice(content_, header.e_phoff, size).value_or(std::string_view());
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    if (header.e_phoff > content_.size()) return;
    const auto segment = ReadAt<Elf64_Phdr>(content_, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment.has_value()) return;
    if (segment->p_type == PT_GNU_EH_FRAME) unwind_header_ = segment->p_vaddr;
    if (segment->p_type == PT_NOTE && build_id_.empty()) {
      const auto notes = Slice(content_, segment->p_offset, segment->p_filesz);
      build_id_ = FindBuildId(notes.value_or(std::string_view()), segment->p_align);
    }
    if (segment->p_type != PT_LOAD) continue;
    // What would reach beyond the address space is loaded nowhere.
    if (segment->p_filesz > std::numeric_limits<uint64_t>::max() - segment->p_vaddr) continue;
    segments_.push_back(
        {segment->p_offset, segment->p_vaddr, segment->p_filesz, (segment->p_flags & PF_X) != 0});
  }
}

void ElfImage::ParseSections() {
  const Elf64_Ehdr header = *ReadAt<Elf64_Ehdr>(content_, 0);
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > content_.size()) return;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = ReadAt<Elf64_Shdr>(content_, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section.has_value()) return;
    const bool has_bytes = section->sh_type != SHT_NOBITS;
    const auto bytes = Slice(content_, section->sh_offset, has_bytes ? section->sh_size : 0);
    sections_.push_back({section->sh_type, section->sh_link, bytes.value_or(std::string_view())});
    if (section->sh_type == SHT_NOTE && build_id_.empty()) {
      build_id_ = FindBuildId(sections_.back().bytes, section->sh_addralign);
    }
  }
}

void ElfImage::ForEachSymbol(
    uint32_t table_type, absl::FunctionRef<void(std::string_view, const Elf64_Sym&)> visit) const {
  const auto table = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& it) { return it.type == table_type; });
  if (table == sections_.end() || table->link >= sections_.size()) return;
  const std::string_view names = sections_[table->link].bytes;
  const size_t count = table->bytes.size() / sizeof(Elf64_Sym);
  for (size_t i = 0; i < count; ++i) {
    const Elf64_Sym symbol = *ReadAt<Elf64_Sym>(table->bytes, i * sizeof(Elf64_Sym));
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size()) continue;
    visit(names.substr(symbol.st_name), symbol);
  }
}

const ElfImage::Segment* ElfImage::FindSegment(uint64_t address) const {
  for (const Segment& it : segments_) {
    if (address >= it.address && address - it.address < it.size) return &it;
  }
  return nullptr;
}

std::optional<uint64_t> ElfImage::AddressOf(uint64_t file_offset) const {
  for (const Segment& it : segments_) {
    if (file_offset >= it.file_offset && file_offset - it.file_offset < it.size) {
      return it.address + (file_offset - it.file_offset);
    }
  }
  return std::nullopt;
}

std::optional<uint64_t> ElfImage::FileOffsetOf(uint64_t address) const {
  const Segment* segment = FindSegment(address);
  if (segment == nullptr) return std::nullopt;
  return segment->file_offset + (address - segment->address);
}

std::string_view ElfImage::BytesAt(uint64_t address) const {
  const Segment* segment = FindSegment(address);
  if (segment == nullptr) return {};
  const uint64_t skipped = address - segment->address;
  const uint64_t offset = segment->file_offset + skipped;
  if (offset < skipped || offset >= content_.size()) return {};
  return content_.substr(offset, segment->size - skipped);
}

bool ElfImage::IsCode(uint64_t address) const {
  const Segment* segment = FindSegment(address);
  return segment != nullptr && segment->is_code;
}

}  // namespace jtrace
