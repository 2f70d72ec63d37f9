// The kernel's names as an earlier program of this user read them since the machine started.
//
// The kernel takes 35 ms to print its table, and most programs that start need a few names of it.
// So the table is kept in the user's cache folder, for as long as the kernel and its modules stay.
#pragma once

#include <optional>
#include <string>

#include "agent/sampling/kernel_names.h"

namespace jtrace::sampling {

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
  void Keep(const std::string& key, const KernelNames& names) const;

 private:
  const Paths paths_;
};

}  // namespace jtrace::sampling
