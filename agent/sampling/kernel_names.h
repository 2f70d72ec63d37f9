// A table of the kernel's functions by address, made from the text of /proc/kallsyms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jtrace::sampling {

// A plain value; not thread-safe.
struct KernelNames {
  // Who a function belongs to: the kernel itself, a module (numbered from 1), or what may come and
  // go at any moment, such as BPF programs.
  static constexpr uint32_t kKernel = 0;
  static constexpr uint32_t kPassing = ~0u;

  struct Symbol {
    uint64_t address;
    uint32_t name;  // in `names`
    uint32_t owner;
  };
  std::vector<Symbol> symbols;  // by address
  std::string names;            // each ends with '\0'

  // The function that covers the address, "" if unknown.
  std::string_view Find(uint64_t address) const;
  // The same, but only if it will be right as long as the kernel and its modules stay: between two
  // functions of one owner there can be no other. `address` may have another name later if false.
  bool IsLasting(uint64_t address) const;
};

// Reads the file, which may be large; only functions, and nothing if their addresses are hidden
// (kptr_restrict) or there is no such file.
KernelNames ReadKernelNames(const std::string& path);

// Whether names can be read at all. Reads the table up to its first function.
bool KernelNamesReadable(const std::string& path);

}  // namespace jtrace::sampling
