// Names of the kernel's functions, from /proc/kallsyms.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jtrace::sampling {

// Reads the table (a few MB) at the first query, and again, at most every ten seconds, for an
// unknown address: modules are loaded and unloaded. One thread at a time.
class KernelSymbols {
 public:
  explicit KernelSymbols(std::string path = "/proc/kallsyms") : path_(std::move(path)) {}

  // "do_syscall_64"; "[0xffffffff81…]" if unknown.
  std::string NameOf(uint64_t address);

  // Whether names can be read at all; kptr_restrict shows every address as 0. Reads the table up to
  // its first function: all of it takes 40 ms, which a program's start would pay.
  bool readable() const;

 private:
  struct Symbol {
    uint64_t address;
    uint32_t name;  // in names_
  };
  void Read();
  void ReadIfOld();
  std::string_view Find(uint64_t address) const;

  const std::string path_;
  std::chrono::steady_clock::time_point read_at_;
  bool was_read_ = false;
  std::vector<Symbol> symbols_;  // by address
  std::string names_;            // each ends with '\0'
};

}  // namespace jtrace::sampling
