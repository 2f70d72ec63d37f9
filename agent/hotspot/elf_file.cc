#include "agent/hotspot/elf_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace jtrace::sampling {

ElfFile::ElfFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat info;
  if (fstat(fd, &info) == 0 && info.st_size > 0) {
    void* const at =
        mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (at != MAP_FAILED) {
      data_ = static_cast<const std::byte*>(at);
      size_ = static_cast<size_t>(info.st_size);
    }
  }
  close(fd);
}

ElfFile::~ElfFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

template <typename T>
absl::Span<const T> ElfFile::Array(uint64_t offset, uint64_t count) const {
  if (data_ == nullptr || offset > size_ || count > (size_ - offset) / sizeof(T) ||
      offset % alignof(T) != 0) {
    return {};
  }
  return {reinterpret_cast<const T*>(data_ + offset), static_cast<size_t>(count)};
}

const Elf64_Ehdr* ElfFile::Header() const {
  const auto header = Array<Elf64_Ehdr>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64) {
    return nullptr;
  }
  return &header[0];
}

absl::Span<const Elf64_Shdr> ElfFile::Sections() const {
  const Elf64_Ehdr* const header = Header();
  if (header == nullptr) return {};
  return Array<Elf64_Shdr>(header->e_shoff, header->e_shnum);
}

absl::Span<const Elf64_Phdr> ElfFile::ProgramHeaders() const {
  const Elf64_Ehdr* const header = Header();
  if (header == nullptr) return {};
  return Array<Elf64_Phdr>(header->e_phoff, header->e_phnum);
}

std::string ElfFile::BuildId() const {
  for (const Elf64_Phdr& segment : ProgramHeaders()) {
    if (segment.p_type != PT_NOTE) continue;
    std::string id =
        BuildIdIn(Array<std::byte>(segment.p_offset, segment.p_filesz), segment.p_align);
    if (!id.empty()) return id;
  }
  return "";
}

void ElfFile::ForEachSymbol(uint32_t section_type,
                            absl::FunctionRef<void(Name, const Elf64_Sym&)> visit) const {
  const auto sections = Sections();
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != section_type || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& string_section = sections[section.sh_link];
    const auto strings = Array<char>(string_section.sh_offset, string_section.sh_size);
    for (const Elf64_Sym& symbol :
         Array<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= strings.size()) continue;
      visit({&strings[symbol.st_name], strings.size() - symbol.st_name}, symbol);
    }
  }
}

std::string BuildIdIn(absl::Span<const std::byte> notes, uint64_t alignment) {
  constexpr size_t kOwner = sizeof(ELF_NOTE_GNU);
  const uint64_t unit = alignment == 8 ? 8 : 4;
  const auto padded = [unit](uint64_t size) { return (size + unit - 1) / unit * unit; };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof note);
    const uint64_t text = padded(sizeof note + note.n_namesz);
    if (text > notes.size() || note.n_descsz > notes.size() - text) return "";
    const std::byte* const owner = notes.data() + sizeof note;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == kOwner &&
        std::memcmp(owner, ELF_NOTE_GNU, kOwner) == 0) {
      return std::string(reinterpret_cast<const char*>(notes.data() + text), note.n_descsz);
    }
    notes.remove_prefix(std::min<uint64_t>(text + padded(note.n_descsz), notes.size()));
  }
  return "";
}

}  // namespace jtrace::sampling
