#include "agent/sampling/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace jtrace::sampling {
namespace {

// A file mapped for reading.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
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
  ~MappedFile() {
    if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // `count` objects of type T at `offset`; empty if they do not lie in the file.
  template <typename T>
  absl::Span<const T> Array(uint64_t offset, uint64_t count) const {
    if (data_ == nullptr || offset > size_ || count > (size_ - offset) / sizeof(T) ||
        offset % alignof(T) != 0) {
      return {};
    }
    return {reinterpret_cast<const T*>(data_ + offset), static_cast<size_t>(count)};
  }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// The section headers; empty if the file is not a 64-bit ELF file.
absl::Span<const Elf64_Shdr> Sections(const MappedFile& file) {
  const auto header = file.Array<Elf64_Ehdr>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64) {
    return {};
  }
  return file.Array<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum);
}

}  // namespace

std::vector<uint64_t> FindElfSymbols(const std::string& path,
                                     absl::Span<const std::string_view> names) {
  std::vector<uint64_t> values(names.size(), 0);
  const MappedFile file(path);
  const auto sections = Sections(file);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& string_section = sections[section.sh_link];
    const auto strings = file.Array<char>(string_section.sh_offset, string_section.sh_size);
    for (const Elf64_Sym& symbol :
         file.Array<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= strings.size()) continue;
      const size_t left = strings.size() - symbol.st_name;
      for (size_t i = 0; i < names.size(); ++i) {
        if (names[i].size() < left && strings[symbol.st_name + names[i].size()] == 0 &&
            std::memcmp(&strings[symbol.st_name], names[i].data(), names[i].size()) == 0) {
          values[i] = symbol.st_value;
        }
      }
    }
  }
  return values;
}

}  // namespace jtrace::sampling
