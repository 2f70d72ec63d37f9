// An ELF file mapped for reading: its sections and symbols, by the file alone.
#ifndef JTRACE_AGENT_SAMPLING_ELF_FILE_H_
#define JTRACE_AGENT_SAMPLING_ELF_FILE_H_

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace jtrace::sampling {

// Immutable: any thread. A file that cannot be read is one without symbols.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  // A name in the file: `left` bytes from `text` on can be read, and it ends with a 0 if it is
  // whole.
  struct Name {
    const char* text;
    size_t left;
  };
  // Empty if this is not a 64-bit ELF file.
  absl::Span<const Elf64_Phdr> ProgramHeaders() const;
  // What names this build of it among all others; "" if it has no such note.
  std::string BuildId() const;
  // Calls `visit` with the defined symbols of sections of this type, SHT_SYMTAB or SHT_DYNSYM.
  void ForEachSymbol(uint32_t section_type,
                     absl::FunctionRef<void(Name, const Elf64_Sym&)> visit) const;

 private:
  // `count` objects of type T at `offset`; empty if they do not lie in the file.
  template <typename T>
  absl::Span<const T> Array(uint64_t offset, uint64_t count) const;
  // Null if this is not a 64-bit ELF file.
  const Elf64_Ehdr* Header() const;
  absl::Span<const Elf64_Shdr> Sections() const;

  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// The build id in the notes of one segment, which `alignment` (p_align) pads; "": it has none.
std::string BuildIdIn(absl::Span<const std::byte> notes, uint64_t alignment);

}  // namespace jtrace::sampling

#endif  // JTRACE_AGENT_SAMPLING_ELF_FILE_H_
