// The functions of an ELF file (x86-64) and what their calls call, from its symbols, unwind tables
// and code.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/elf_image.h"
#include "postproc/model/elf_imports.h"
#include "postproc/model/elf_symbols.h"
#include "postproc/model/unwind_table.h"

namespace jtrace::postproc {

struct ElfFunction {
  uint64_t start = 0;       // 0: not known
  std::string_view symbol;  // empty: it has none
  // What the kernel made a signal handler return to: its caller is what was interrupted.
  bool is_signal_frame = false;
};

// The callee of a call: a function of the same file, or by name a function of any file; neither if
// it is unknown.
struct ElfCall {
  ElfFunction function;  // by name: the entry of the linkage table
  std::string_view import;
};

class ElfFunctions {
 public:
  // `content` is the whole file and must outlive this; every offset in it is checked.
  static absl::StatusOr<ElfFunctions> Parse(std::string_view content);

  // Those of the file with its debug information, whose content must outlive this.
  void AddSymbols(const ElfImage& debug);
  const ElfImage& image() const { return image_; }
  // The function that the byte at `address` belongs to: the symbol's, else the unwind table's,
  // else the C library's clone3.
  ElfFunction At(uint64_t address) const;
  // Of the call in front of a return address.
  ElfCall CallBefore(uint64_t return_address);
  // Whether it is the C library's function whose callee is a new thread's first function.
  static bool StartsThreads(const ElfFunction& function);
  // What other files find by this name.
  ElfFunction Exported(std::string_view name) const;
  // True unless a jump from `other` to `code` leaves a function: parts that the compiler put
  // elsewhere belong to the function that they are of, if that is known, else to any.
  bool IsPartOf(const ElfFunction& code, const ElfFunction& other) const;

 private:
  explicit ElfFunctions(ElfImage image);
  bool IsEntry(uint64_t address, const ElfFunction& function) const;

  ElfImage image_;
  ElfSymbols symbols_;
  UnwindTable unwind_;
  std::optional<ElfImports> imports_;  // when first needed
};

}  // namespace jtrace::postproc
