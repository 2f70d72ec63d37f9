// Function symbols of an ELF file (x86-64): .symtab and .dynsym, by address.
#pragma once

#include <array>
#include <cstdint>
#include <string>
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
  // NT_GNU_BUILD_ID; may be empty.
  std::string_view build_id() const { return build_id_; }
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
  void SortSymbols();

  std::vector<Segment> segments_;
  std::vector<Symbol> symbols_;  // by address, one an address
  std::string_view build_id_;
};

// C++ names as people write them; others as they are.
std::string Demangle(std::string_view name);

}  // namespace jtrace::postproc
