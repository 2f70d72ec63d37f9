// The one reader of ELF files (64 bits, little-endian): segments, sections, symbols, build id. The
// bytes are untrusted: every offset in them is checked. Pure; any thread, not in signal handlers.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace jtrace {

// The bytes [offset, offset + size), or none if they are not all there.
inline std::optional<std::string_view> Slice(std::string_view content, uint64_t offset,
                                             uint64_t size) {
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

// The text at `offset` up to a 0 byte or the end; empty if that is outside.
std::string_view StringAt(std::string_view table, uint64_t offset);

// "Address" means the linker's, before the file is mapped anywhere.
class ElfImage {
 public:
  struct Section {
    uint32_t type = 0;
    uint32_t link = 0;
    std::string_view bytes;  // none of SHT_NOBITS
  };

  // `content` is the whole file and must outlive this; every offset in it is checked.
  static absl::StatusOr<ElfImage> Parse(std::string_view content);

  // Where a byte of the file is loaded, and the other way round.
  std::optional<uint64_t> AddressOf(uint64_t file_offset) const;
  std::optional<uint64_t> FileOffsetOf(uint64_t address) const;
  // The file's bytes from `address` to the end of its segment; empty: none are loaded there.
  std::string_view BytesAt(uint64_t address) const;
  bool IsCode(uint64_t address) const;

  // Calls `visit` with the symbols that the file defines in its table of this type, SHT_SYMTAB or
  // SHT_DYNSYM; a file has at most one of each. `names` begins with the symbol's name: StringAt(
  // names, 0), which is left to the caller because most look at few names.
  void ForEachSymbol(
      uint32_t table_type,
      absl::FunctionRef<void(std::string_view names, const Elf64_Sym& symbol)> visit) const;

  // In the file's order, so that Section.link is an index; up to the first that is not there.
  const std::vector<Section>& sections() const { return sections_; }
  // Where .eh_frame_hdr is loaded.
  std::optional<uint64_t> unwind_header() const { return unwind_header_; }
  // As in the file; empty if they are not all there.
  std::string_view program_headers() const { return program_headers_; }
  // FindBuildId; may be empty.
  std::string_view build_id() const { return build_id_; }

 private:
  struct Segment {
    uint64_t file_offset = 0;
    uint64_t address = 0;
    uint64_t size = 0;  // in the file
    bool is_code = false;
  };
  void ParseSegments();
  void ParseSections();
  const Segment* FindSegment(uint64_t address) const;

  std::string_view content_;
  std::vector<Segment> segments_;
  std::vector<Section> sections_;
  std::optional<uint64_t> unwind_header_;
  std::string_view program_headers_;
  std::string_view build_id_;
};

}  // namespace jtrace
