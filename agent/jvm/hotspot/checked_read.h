// Reads of memory that may not be mapped: they fail instead of ending the process.
//
// For cold code on any thread; a read is a system call. Handlers read through
// signal_safe/safe_read.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace jtrace::jvm {

// Copies `bytes` bytes from `address`. Returns false if not all of them can be read; `to` is then
// undefined. The kernel copies (process_vm_readv; where a sandbox forbids that, through a pipe).
bool CheckedCopy(uintptr_t address, void* to, size_t bytes);

// Reads many small pieces of memory that does not change meanwhile. Keeps the pages that it has
// copied, so that most reads need no system call. Not thread-safe.
class PageReader {
 public:
  PageReader();

  bool Copy(uintptr_t address, void* to, size_t bytes);
  // Returns T{} if the memory cannot be read.
  template <typename T>
  T Load(uintptr_t address) {
    T value{};
    return Copy(address, &value, sizeof value) ? value : T{};
  }
  // Returns the zero-terminated string at `address`, cut at `most` bytes; "" if it cannot be read.
  std::string Text(uintptr_t address, size_t most = 512);

 private:
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kPages = 64;
  struct Page {
    uintptr_t begin = 1;  // odd: no page begins here
    bool readable = false;
    std::array<char, kPageBytes> bytes;  // uninitialised before the first copy
  };
  const Page& PageAt(uintptr_t address);

  std::unique_ptr<std::array<Page, kPages>> pages_;
};

// Loads one of the JVM's own variables, at an address that its tables give; a system call. Returns
// T{} if it cannot be read: in a chain of pointers, 0 fails the next step anyway.
template <typename T>
T Load(uintptr_t address) {
  T value{};
  return CheckedCopy(address, &value, sizeof value) ? value : T{};
}

}  // namespace jtrace::jvm
