#include "common/build_id.h"

#include <algorithm>

#include "common/elf_image.h"

namespace jtrace {
namespace {

// Notes are mapped only where a segment covers them.
bool IsMapped(absl::Span<const Elf64_Phdr> headers, const Elf64_Phdr& part) {
  return std::any_of(headers.begin(), headers.end(), [&](const Elf64_Phdr& segment) {
    return segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0 &&
           part.p_vaddr >= segment.p_vaddr && part.p_memsz <= segment.p_filesz &&
           part.p_vaddr - segment.p_vaddr <= segment.p_filesz - part.p_memsz;
  });
}

}  // namespace

std::string_view FindBuildId(std::string_view notes, uint64_t alignment) {
  const uint64_t unit = alignment == 8 ? 8 : 4;
  const auto padded = [unit](uint64_t size) { return (size + unit - 1) / unit * unit; };
  uint64_t offset = 0;
  while (const auto note = ReadAt<Elf64_Nhdr>(notes, offset)) {
    const uint64_t text_offset = offset + padded(sizeof *note + note->n_namesz);
    if (note->n_type == NT_GNU_BUILD_ID &&
        Slice(notes, offset + sizeof *note, note->n_namesz) == std::string_view("GNU\0", 4)) {
      return Slice(notes, text_offset, note->n_descsz).value_or(std::string_view());
    }
    offset = text_offset + padded(note->n_descsz);
  }
  return {};
}

std::string_view FindMappedBuildId(absl::Span<const Elf64_Phdr> headers, uintptr_t bias) {
  for (const Elf64_Phdr& part : headers) {
    if (part.p_type != PT_NOTE || !IsMapped(headers, part)) continue;
    const auto* const notes = reinterpret_cast<const char*>(bias + part.p_vaddr);
    const std::string_view id = FindBuildId({notes, part.p_memsz}, part.p_align);
    if (!id.empty()) return id;
  }
  return {};
}

}  // namespace jtrace
