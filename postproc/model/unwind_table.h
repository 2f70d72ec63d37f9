// Where functions begin and end, by the unwind tables of an ELF file (x86-64), which stripped files
// have too.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/elf_image.h"

namespace jtrace::postproc {

// What one FDE covers.
struct UnwindRange {
  uint64_t start = 0;
  uint64_t end = 0;
  // What the kernel made a signal handler return to: its caller is what was interrupted.
  bool is_signal_frame = false;
  // No function's entry: the stack has been changed already where it begins. So begin the rarely
  // run parts that a compiler puts elsewhere (foo.cold), and the lazy binding of the loader.
  bool is_fragment = false;
};

// The binary-search table of .eh_frame_hdr; read where it lies, every offset checked. Without one
// (as linkers make it: 4-byte offsets) nothing is found.
class UnwindTable {
 public:
  explicit UnwindTable(const ElfImage& image);

  // The range that holds `address`. `image` is the same.
  std::optional<UnwindRange> Find(const ElfImage& image, uint64_t address) const;

 private:
  uint64_t header_ = 0;       // what the table's offsets are relative to
  std::string_view entries_;  // pairs of offsets: function, its FDE
};

}  // namespace jtrace::postproc
