// The functions of an ELF file (x86-64) and what their calls call, from its symbols, unwind tables
// and code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/elf_image.h"

namespace jtrace::postproc {

// What an ELF file (x86-64) takes from other files and gives to them, by name.
class ElfImports {
 public:
  // `image`'s content must outlive this.
  explicit ElfImports(const ElfImage& image);

  // The name of the function whose address the loader puts into the slot at `address`; empty: none.
  std::string_view NameOfSlot(uint64_t address) const;

 private:
  void AddSlots(std::string_view relocations, std::string_view symbols, std::string_view names);

  absl::flat_hash_map<uint64_t, std::string_view> slots_;
};

// Where the function that other files find by `name` begins. 0: there is none, there are several
// (versions), the loader asks the file which one it is (IFUNC), or the file has no GNU hash table.
uint64_t FindExported(const ElfImage& image, std::string_view name);

// Function symbols of an ELF file (x86-64): .symtab and .dynsym, by address.
class ElfSymbols {
 public:
  struct Symbol {
    uint64_t address = 0;
    uint64_t size = 0;      // 0: unknown
    std::string_view name;  // as the linker spells it
    uint8_t binding = 0;
  };

  // `image`'s content must outlive this.
  explicit ElfSymbols(const ElfImage& image);

  // Those of another file with the same addresses, whose content must outlive this, too.
  void Add(const ElfImage& image);

  // The function that the byte at `address` belongs to, or null. One without a size reaches to the
  // next one.
  const Symbol* Find(uint64_t address) const;
  // Where functions of this name begin. Of several names of one address only one is known.
  std::vector<uint64_t> Named(std::string_view name) const;

 private:
  void AddSymbol(std::string_view name, const Elf64_Sym& symbol);
  void SortSymbols();

  std::vector<Symbol> symbols_;  // by address, one an address
};

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
