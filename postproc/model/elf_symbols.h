// Function symbols of an ELF file (x86-64): .symtab and .dynsym, by address.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace jtrace::postproc {

class ElfSymbols {
 public:
  // `content` is the whole file and must outlive this; every offset in it is checked.
  static absl::StatusOr<ElfSymbols> Parse(std::string_view content);

  // The function that the byte at `file_offset` belongs to, as the linker spells it; empty: none.
  std::string_view FindByFileOffset(uint64_t file_offset) const;
  // The same by the address that the file is linked for.
  std::string_view FindByAddress(uint64_t address) const;
  // Where the byte at `file_offset` is linked to be; none outside the loaded segments.
  std::optional<uint64_t> AddressOf(uint64_t file_offset) const;
  // NT_GNU_BUILD_ID; may be empty.
  std::string_view build_id() const { return build_id_; }
  // .gnu_debuglink: the name of the file with the symbols that were stripped off, and the CRC-32 of
  // its content; empty: none.
  std::string_view debug_link() const { return debug_link_; }
  uint32_t debug_link_crc() const { return debug_link_crc_; }
  // Whether .symtab is there, and not only what other files link to.
  bool has_all_symbols() const { return has_all_symbols_; }
  size_t size() const { return symbols_.size(); }

 private:
  struct Segment {
    uint64_t file_offset = 0;
    uint64_t address = 0;
    uint64_t size = 0;
  };
  struct Symbol {
    uint64_t address = 0;
    uint64_t size = 0;
    std::string_view name;
    uint8_t binding = 0;
  };
  void ParseSegments(std::string_view content);
  void ParseSections(std::string_view content);
  void AddSymbols(std::string_view table, std::string_view names);
  void ParseDebugLink(std::string_view section);
  void SortSymbols();

  std::vector<Segment> segments_;
  std::vector<Symbol> symbols_;  // by address, one an address
  std::string_view build_id_;
  std::string_view debug_link_;
  uint32_t debug_link_crc_ = 0;
  bool has_all_symbols_ = false;
};

}  // namespace jtrace::postproc
