// Names of the kernel's functions, from /proc/kallsyms.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "agent/sampling/kernel_names.h"
#include "agent/sampling/kernel_names_file.h"

namespace jtrace::sampling {

// Reads the table at the first query, from the user's cache if it is there, which takes 1 ms. The
// kernel's own takes 40 ms: it is read if the cache does not have the address, and again, at most
// every ten seconds, for an unknown one: modules are loaded and unloaded. One thread at a time.
class KernelSymbols {
 public:
  explicit KernelSymbols(std::string path = "/proc/kallsyms",
                         KernelNamesFile::Paths kept = KernelNamesFile::UsersPaths())
      : path_(std::move(path)), file_(std::move(kept)) {}

  // "do_syscall_64"; "[0xffffffff81…]" if unknown.
  std::string NameOf(uint64_t address);

  // Whether names can be read at all; kptr_restrict shows every address as 0.
  bool readable() const { return KernelNamesReadable(path_); }

 private:
  void ReadKept();
  void ReadIfOld();

  const std::string path_;
  const KernelNamesFile file_;
  std::chrono::steady_clock::time_point read_at_;
  bool was_read_ = false;  // the kernel's own table
  bool was_kept_ = false;  // names_ are what an earlier program kept
  bool was_asked_ = false;
  KernelNames names_;
};

}  // namespace jtrace::sampling
