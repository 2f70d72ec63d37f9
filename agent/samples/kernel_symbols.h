// Names of the kernel's functions, from /proc/kallsyms.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jtrace::samples {

// A table of functions by address. A plain value; not thread-safe.
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

// The kernel's names as an earlier program of this user read them since the machine started.
//
// The kernel takes 35 ms to print its table, and most programs that start need a few names of it.
// So the table is kept in the user's cache folder, for as long as the kernel and its modules stay.

// Every failure, such as a file system that is read-only, is the same as an empty cache. One thread
// at a time; several processes may use one folder.
class KernelNamesFile {
 public:
  // Where it is, and what says that the kernel is still the same.
  struct Paths {
    // It is made, with the folder above it. It must be this user's, and no other may be able to
    // write to it. "": nothing is kept.
    std::string folder;
    std::string boot_id = "/proc/sys/kernel/random/boot_id";
    std::string modules = "/proc/modules";
  };
  // "…/jtrace" in $XDG_CACHE_HOME, or in ~/.cache.
  static Paths UsersPaths();

  explicit KernelNamesFile(Paths paths) : paths_(std::move(paths)) {}

  // Which kernel runs, with which modules at which addresses; "" if that is unknown.
  std::string Key() const;
  // What was kept for this key.
  std::optional<KernelNames> Load(const std::string& key) const;
  // `key`: from before the names were read.
  void Save(const std::string& key, const KernelNames& names) const;

 private:
  const Paths paths_;
};

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

}  // namespace jtrace::samples
