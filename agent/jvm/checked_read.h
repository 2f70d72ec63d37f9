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

// Copies `bytes` from `address`; false if not all of them can be read, and then `to` has no
// meaning. The kernel copies (process_vm_readv; where a sandbox forbids that, through a pipe).
bool CheckedCopy(uintptr_t address, void* to, size_t bytes);

// Reads many small pieces of memory that does not change meanwhile, a page at a time. One thread.
class PageReader {
 public:
  PageReader();

  bool Copy(uintptr_t address, void* to, size_t bytes);
  // T{} if it cannot be read.
  template <typename T>
  T Load(uintptr_t address) {
    T value{};
    return Copy(address, &value, sizeof value) ? value : T{};
  }
  // A string that a zero ends, of at most `most` characters; "" if it cannot be read.
  std::string Text(uintptr_t address, size_t most = 512);

 private:
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kPages = 64;
  struct Page {
    uintptr_t begin = 1;  // never a page's
    bool readable = false;
    std::array<char, kPageBytes> bytes;  // not touched before it is read
  };
  const Page& PageAt(uintptr_t address);

  std::unique_ptr<std::array<Page, kPages>> pages_;
};

// Reads of the JVM's own variables, at addresses that its tables give.
//
// For cold code on any thread; a system call each. Handlers read through signal_safe/safe_read.h.

// T{} if it cannot be read: for chains of pointers, where 0 fails the next step anyway.
template <typename T>
T Load(uintptr_t address) {
  T value{};
  return CheckedCopy(address, &value, sizeof value) ? value : T{};
}

}  // namespace jtrace::jvm
