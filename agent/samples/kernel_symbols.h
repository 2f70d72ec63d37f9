// Names of the kernel's functions, from /proc/kallsyms. Not for signal handlers.
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
  // The owner of a function: the kernel itself, a module (numbered from 1), or code that may come
  // and go at any moment, such as BPF programs.
  static constexpr uint32_t kKernel = 0;
  static constexpr uint32_t kTransient = ~0u;

  struct Symbol {
    uint64_t address;
    uint32_t name;  // its offset in `names`
    uint32_t owner;
  };
  std::vector<Symbol> symbols;  // by address
  std::string names;            // each ends with '\0'

  // Returns the name of the function that covers the address, "" if it is unknown.
  std::string_view Find(uint64_t address) const;
  // Whether the name of the address stays the same as long as the kernel and its modules stay. That
  // is certain only between two functions of one owner, because no other function can appear there.
  bool IsLasting(uint64_t address) const;
};

// Reads the functions of the file, which may be large. Returns none if their addresses are hidden
// (kptr_restrict) or there is no such file.
KernelNames ReadKernelNames(const std::string& path);

// Whether names can be read at all. Reads the file up to its first function.
bool KernelNamesReadable(const std::string& path);

// Keeps the kernel's names in a file of the user's cache folder, for as long as the kernel and its
// modules stay: most programs need only a few names, and the kernel takes 35 ms to print its table.
//
// Every failure, such as a read-only file system, counts as an empty cache. One thread at a time;
// several processes may use one folder.
class KernelNamesFile {
 public:
  // Where the file is, and which files identify the running kernel.
  struct Paths {
    // Created if it is missing, with its parent. It must be this user's, and no other user may be
    // able to write to it. "": nothing is kept.
    std::string folder;
    std::string boot_id = "/proc/sys/kernel/random/boot_id";
    std::string modules = "/proc/modules";
  };
  // "…/jtrace" in $XDG_CACHE_HOME, or in ~/.cache.
  static Paths UsersPaths();

  explicit KernelNamesFile(Paths paths) : paths_(std::move(paths)) {}

  // Identifies the running kernel and the addresses of its modules; "" if that is unknown.
  std::string Key() const;
  // Returns the names that were saved under this key.
  std::optional<KernelNames> Load(const std::string& key) const;
  // `key` is from before the names were read, so that it does not match if a module came meanwhile.
  void Save(const std::string& key, const KernelNames& names) const;

 private:
  const Paths paths_;
};

// Names kernel addresses. The first query loads the user's cache, which takes 1 ms. The kernel's
// own table takes 40 ms. It is read when the cache does not have an address, and again for unknown
// addresses, at most every ten seconds, because modules are loaded and unloaded. One thread at a
// time.
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
  bool was_read_ = false;   // names_ is the kernel's own table
  bool was_kept_ = false;   // names_ is from the cache
  bool was_asked_ = false;  // the cache was queried
  KernelNames names_;
};

}  // namespace jtrace::samples
