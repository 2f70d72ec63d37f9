// A test's own machine code, to run and to hook.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace jtrace::native_hooks {

class CodeBuffer {
 public:
  CodeBuffer(std::initializer_list<uint8_t> bytes) {
    memory_ = static_cast<uint8_t*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memcpy(memory_, bytes.begin(), bytes.size());
  }
  // Never unmapped: sites are never freed.
  CodeBuffer(const CodeBuffer&) = delete;

  uintptr_t address(size_t offset = 0) const {
    return reinterpret_cast<uintptr_t>(memory_) + offset;
  }
  // The address of `target` at `offset`.
  void PutAddress(size_t offset, size_t target) { PutValue(offset, address(target)); }
  void PutValue(size_t offset, uintptr_t value) {
    std::memcpy(memory_ + offset, &value, sizeof value);
  }
  // edi = x, rcx = counter.
  int Run(int x, uint64_t counter) const {
    return reinterpret_cast<int (*)(int, uint64_t, uint64_t, uint64_t)>(memory_)(x, 0, 0, counter);
  }

 private:
  static constexpr size_t kBytes = 4096;
  uint8_t* memory_;
};

}  // namespace jtrace::native_hooks
